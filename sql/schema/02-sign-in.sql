-- How people and assistants sign in: an owner by passphrase or code, an assistant by OAuth 2.1. Each sign-in calls with
-- a key of kind 'grant' (01-workspaces.sql).

-- The passphrase of a workspace's owner.
create table owner_passphrase (
  workspace_id int primary key references workspace,
  -- Argon2id, as a PHC string.
  hashed text not null check (hashed like '$argon2id$%'),
  set_at timestamptz not null default now()
);

-- Made at the command line. Valid once, until expires_at by the clock of this database.
create table sign_in_code (
  sha256 bytea primary key check (length(sha256) = 32),
  workspace_id int not null references workspace,
  expires_at timestamptz not null
);
create index sign_in_code_expires on sign_in_code (expires_at, sha256);

-- A browser's session. Its cookie is stored as a hash.
create table owner_session (
  sha256 bytea primary key check (length(sha256) = 32),
  workspace_id int not null references workspace,
  -- The grant that the owner's pages call with. The session ends when it is revoked.
  key_id int not null references api_key,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint owner_session_expires_at_check check (expires_at > created_at)
);
create index owner_session_workspace on owner_session (workspace_id);
create index owner_session_expires on owner_session (expires_at, sha256);

-- Attempts at passphrases, sign-in codes and passwords of links.
create table secret_try (
  -- A hash of what is counted (an address and what it tries, or one secret), so that the table reveals no address.
  sha256 bytea primary key check (length(sha256) = 32),
  tries int not null check (tries >= 0),
  -- After that the next attempt is the first again.
  counts_until timestamptz not null,
  -- When the next attempt is allowed.
  free_at timestamptz not null default now()
);
create index secret_try_over on secret_try (counts_until, sha256);

-- A client that registered itself (RFC 7591), or whose metadata document is at the address that is its id.
create table oauth_client (
  id text primary key check (length(id) between 1 and 500),
  name text not null check (length(name) between 1 and 200),
  redirect_uris text[] not null check (cardinality(redirect_uris) between 1 and 20),
  created_at timestamptz not null default now(),
  -- A hash of the registering address: registrations are limited per address and hour. Null for a document.
  from_sha256 bytea check (length(from_sha256) = 32),
  -- Until when the document need not be fetched again. Null for a registration.
  fresh_until timestamptz,
  -- When an owner last agreed. A registration that nobody agrees to is deleted after a day.
  agreed_at timestamptz,
  constraint oauth_client_registered_or_document check ((from_sha256 is null) <> (fresh_until is null))
);
create index oauth_client_from on oauth_client (from_sha256, created_at) where from_sha256 is not null;
create index oauth_client_unused on oauth_client (created_at, id) where agreed_at is null;

-- Consent of an owner, until the client fetches its tokens: once, within a minute.
create table oauth_code (
  sha256 bytea primary key check (length(sha256) = 32),
  workspace_id int not null references workspace,
  client_id text not null,
  redirect_uri text not null,
  -- PKCE, S256.
  challenge text not null check (length(challenge) = 43),
  resource text not null,
  -- The name, hint, scopes and apps of the grant that is made from the code.
  name text not null,
  hint text not null,
  scopes text[] not null,
  app_list text[],
  expires_at timestamptz not null,
  used_at timestamptz,
  -- The grant. A second use of the code revokes it.
  key_id int references api_key
);
create index oauth_code_expires on oauth_code (expires_at, sha256);

-- Access that an owner gave an assistant. All its tokens are one family.
create table oauth_grant (
  key_id int primary key references api_key,
  client_id text not null,
  resource text not null,
  -- The next refresh token is derived from this and the current one, so that a repeated request gets the same one.
  salt bytea not null check (length(salt) = 32),
  -- The end of the grant, however often it is renewed.
  ends_at timestamptz not null
);

create table access_token (
  sha256 bytea primary key check (length(sha256) = 32),
  key_id int not null references api_key,
  resource text not null,
  scopes text[] not null,
  expires_at timestamptz not null
);
create index access_token_expires on access_token (expires_at, sha256);

create table refresh_token (
  sha256 bytea primary key check (length(sha256) = 32),
  key_id int not null references api_key,
  expires_at timestamptz not null,
  -- When it was exchanged for the next one. A second use long after that revokes all tokens of the grant.
  used_at timestamptz
);
create index refresh_token_expires on refresh_token (expires_at, sha256);
