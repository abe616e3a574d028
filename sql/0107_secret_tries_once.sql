-- Tries at passphrases, sign-in codes and passwords of links are counted in one table (src/access/tries.ts). Counts of the
-- last hour are forgotten once.
create table secret_try (
  -- of what is counted: an address and what it tries, or one secret; who reads this table alone learns no address
  sha256 bytea primary key check (length(sha256) = 32),
  tries int not null check (tries >= 0),
  -- afterwards the next try is the first again
  counts_until timestamptz not null,
  -- when the next may be looked at
  free_at timestamptz not null default now()
);
create index secret_try_over on secret_try (counts_until, sha256);

drop table sign_in_try;
drop table share_try;
alter table share_link
  drop column tries,
  drop column tried_at,
  drop column free_at;
