-- Passwords tried at a link from wherever: past some tries each must wait longer for the next (src/access/share-tries.ts).
alter table share_link
  -- within an hour after the one before; those that were right are taken back
  add column tries int not null default 0 check (tries >= 0),
  add column tried_at timestamptz not null default '-infinity',
  -- when the next may be looked at
  add column free_at timestamptz not null default '-infinity';
