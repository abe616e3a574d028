-- Links to a public page that shows an app as it stood when the link was made.

-- The link's token is shown once and stored as its hash. The page is there until expires_at by this database's clock, and
-- taken away from here on by the clean-up; nothing here refers to the app: once it is removed, the page stays what it was.
create table share_link (
  sha256 bytea primary key check (length(sha256) = 32),
  workspace_id int not null references workspace,
  app_id text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null check (expires_at > created_at),
  -- argon2id, as a PHC string; null = who has the link needs no more
  password text check (password like '$argon2id$%'),
  -- src/observations/shared-report.ts says what it holds
  content jsonb not null check (length(content::text) <= 1000000)
);
create index share_link_workspace on share_link (workspace_id, expires_at);
create index share_link_expires on share_link (expires_at, sha256);

-- Passwords tried at a link from one address, in the minute that the first of them began. The hash is of the link's token
-- and the address together, so that who reads this table alone learns no address.
create table share_try (
  sha256 bytea primary key check (length(sha256) = 32),
  started_at timestamptz not null default now(),
  tries int not null check (tries >= 0)
);
create index share_try_started on share_try (started_at, sha256);
