-- When a pack was bought last: it opens REST for twelve months, also with nothing left of it.
alter table account add column pack_bought_at timestamptz;

update account
set pack_bought_at = now()
where pack > 0 or from_pack > 0;
