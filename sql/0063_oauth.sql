-- Assistants sign in by OAuth 2.1. What one was let do is a key of kind 'grant'; all its tokens are one family.

-- A client that registered itself (RFC 7591), or whose document stands at the address that is its id.
create table oauth_client (
  id text primary key check (length(id) between 1 and 500),
  name text not null check (length(name) between 1 and 200),
  redirect_uris text[] not null check (cardinality(redirect_uris) between 1 and 20),
  created_at timestamptz not null default now(),
  -- of whom registers: registrations of one address are counted for an hour; null of a document
  from_sha256 bytea check (length(from_sha256) = 32),
  -- of a document: until when it need not be fetched again; null of a registration
  fresh_until timestamptz,
  -- when an owner last agreed; registrations that nobody agreed to go after a day
  agreed_at timestamptz,
  check ((from_sha256 is null) <> (fresh_until is null))
);
create index oauth_client_from on oauth_client (from_sha256, created_at) where from_sha256 is not null;
create index oauth_client_unused on oauth_client (created_at, id) where agreed_at is null;

-- What an owner agreed to, until the client fetches its tokens: once, within a minute.
create table oauth_code (
  sha256 bytea primary key check (length(sha256) = 32),
  workspace_id int not null references workspace,
  client_id text not null,
  redirect_uri text not null,
  -- PKCE, S256
  challenge text not null check (length(challenge) = 43),
  resource text not null,
  -- of the grant that is made of it
  name text not null,
  hint text not null,
  scopes text[] not null,
  app_list text[],
  expires_at timestamptz not null,
  used_at timestamptz,
  -- the grant; a second use of the code revokes it
  key_id int references api_key
);
create index oauth_code_expires on oauth_code (expires_at, sha256);

create table oauth_grant (
  key_id int primary key references api_key,
  client_id text not null,
  resource text not null,
  -- of which, with a refresh token, the next one is made: the same for who asks twice
  salt bytea not null check (length(salt) = 32),
  -- however often it is renewed
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
  -- when it was changed for the next; a second use long after that revokes the family
  used_at timestamptz
);
create index refresh_token_expires on refresh_token (expires_at, sha256);
