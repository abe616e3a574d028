-- The answer that a text was judged from, by its hash: kept as bodies of sources are, so that better checks can judge it again.

alter table writer_text add column answer bytea check (octet_length(answer) = 32);
-- of the checks; null = it was judged before they had one
alter table writer_text add column checks smallint;
