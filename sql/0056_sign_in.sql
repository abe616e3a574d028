-- The owner of a workspace signs in; what was let in is a key without a secret.

alter table api_key
  alter column secret_sha256 drop not null,
  drop constraint api_key_kind_check,
  add constraint api_key_kind_check check (kind in ('live', 'test', 'grant')),
  -- who calls by a grant shows something else that stands for it: a session, or an access token
  add constraint api_key_secret_check check ((kind = 'grant') = (secret_sha256 is null));

create table owner_passphrase (
  workspace_id int primary key references workspace,
  -- argon2id, as a PHC string
  hashed text not null check (hashed like '$argon2id$%'),
  set_at timestamptz not null default now()
);

-- Made at the command line, good once and until expires_at by this database's clock.
create table sign_in_code (
  sha256 bytea primary key check (length(sha256) = 32),
  workspace_id int not null references workspace,
  expires_at timestamptz not null
);
create index sign_in_code_expires on sign_in_code (expires_at, sha256);

-- What a browser is signed in as. Its cookie is stored as its hash.
create table owner_session (
  sha256 bytea primary key check (length(sha256) = 32),
  workspace_id int not null references workspace,
  -- the grant that the owner's pages call by; once it is revoked, the session is over
  key_id int not null references api_key,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null check (expires_at > created_at)
);
create index owner_session_workspace on owner_session (workspace_id);
create index owner_session_expires on owner_session (expires_at, sha256);

-- Tries to sign in, from one address in a minute, or at one workspace within an hour of the one before. The hash is of
-- what is counted, so that who reads this table alone learns no address.
create table sign_in_try (
  sha256 bytea primary key check (length(sha256) = 32),
  started_at timestamptz not null default now(),
  tries int not null check (tries >= 0),
  -- when the next may be looked at
  free_at timestamptz not null default now()
);
create index sign_in_try_started on sign_in_try (started_at, sha256);
