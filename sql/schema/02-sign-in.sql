-- How people and assistants sign in: a person by passphrase, code or invitation, an assistant by OAuth 2.1. Each
-- sign-in calls with a key of kind 'grant' (01-workspaces.sql).

-- Made at the command line. Valid once, until expires_at by the clock of this database.
create table sign_in_code (
  sha256 bytea primary key check (length(sha256) = 32),
  person_id int not null,
  workspace_id int not null,
  expires_at timestamptz not null,
  foreign key (person_id, workspace_id) references membership on delete cascade
);
create index sign_in_code_expires on sign_in_code (expires_at, sha256);

-- A link that makes whoever opens it a member of the workspace. Valid once, until expires_at.
create table invitation (
  id int generated always as identity primary key,
  sha256 bytea not null unique check (length(sha256) = 32),
  workspace_id int not null references workspace,
  -- The suggested name of the invited person.
  name text not null check (length(name) between 1 and 100),
  scopes text[] not null,
  app_list text[],
  -- The sender. The invitation ends with their membership. Null: it was created on the machine.
  invited_by int,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  foreign key (invited_by, workspace_id) references membership (person_id, workspace_id) on delete cascade
);
create index invitation_workspace on invitation (workspace_id, id);
create index invitation_expires on invitation (expires_at, id);

-- A browser's session. Its cookie is stored as a hash.
create table person_session (
  sha256 bytea primary key check (length(sha256) = 32),
  -- Identifies the session where sessions are listed and ended. It cannot be used to sign in.
  id int generated always as identity unique,
  person_id int not null,
  -- The workspace that the pages show.
  workspace_id int not null,
  -- How the person signed in. A session that a proxy signed in is valid only while that proxy names the person.
  via text not null check (via in ('passphrase', 'code', 'invitation', 'proxy', 'oidc')),
  -- The name by which the browser identifies itself.
  agent text not null,
  created_at timestamptz not null default now(),
  -- The last use, with a precision of an hour. Each use renews the session.
  used_at timestamptz not null default now(),
  -- When the person last typed a passphrase or a code. Sensitive changes need it to be recent.
  proved_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint person_session_expires_at_check check (expires_at > created_at),
  foreign key (person_id, workspace_id) references membership on delete cascade
);
create index person_session_person on person_session (person_id, workspace_id);
create index person_session_expires on person_session (expires_at, sha256);

-- A person's second factor: the one-time codes of an app (RFC 6238), which the sign-in asks for after the passphrase.
create table second_factor (
  person_id int primary key references person,
  -- The secret that the app shares, encrypted with SECRET_KEY.
  sealed text not null,
  -- Null until the person has typed a code of the app: a secret that no app has would lock them out.
  confirmed_at timestamptz,
  -- The 30-second period whose code was accepted last. Neither its code nor an earlier one is accepted again.
  last_step bigint not null default 0,
  -- SHA-256 of the unused recovery codes, as hex.
  recovery text[] not null default '{}'
);

-- A sign-in whose passphrase or code was right and whose second factor is missing. Its cookie opens no page.
create table pending_sign_in (
  sha256 bytea primary key check (length(sha256) = 32),
  person_id int not null,
  workspace_id int not null,
  via text not null check (via in ('passphrase', 'code')),
  expires_at timestamptz not null,
  foreign key (person_id, workspace_id) references membership on delete cascade
);
create index pending_sign_in_person on pending_sign_in (person_id, workspace_id);
create index pending_sign_in_expires on pending_sign_in (expires_at, sha256);

-- The subject by which an OpenID provider knows a person. A person is found by issuer and subject only: an e-mail
-- address can change hands, and some providers do not verify it.
create table person_identity (
  issuer text not null check (length(issuer) between 1 and 2000),
  subject text not null check (length(subject) between 1 and 255),
  person_id int not null references person,
  -- The person's name at the provider, shown in the person's own list.
  label text not null check (length(label) between 1 and 200),
  created_at timestamptz not null default now(),
  primary key (issuer, subject)
);
create index person_identity_person on person_identity (person_id);

-- A redirect to the OpenID provider from which the person has not returned yet. Valid once, in the browser that has its
-- cookie.
create table oidc_visit (
  sha256 bytea primary key check (length(sha256) = 32),
  -- The path that opens after the sign-in.
  next text not null check (length(next) between 1 and 4000),
  -- The session whose person links their identity. Null: somebody signs in.
  session_id int references person_session (id) on delete cascade,
  -- The invitation that is accepted by signing in, and the name of the new person.
  invitation_id int references invitation on delete cascade,
  name text check (length(name) between 1 and 100),
  expires_at timestamptz not null,
  constraint oidc_visit_invitation_has_name check ((invitation_id is null) = (name is null)),
  constraint oidc_visit_one_purpose check (session_id is null or invitation_id is null)
);
create index oidc_visit_expires on oidc_visit (expires_at, sha256);

-- Attempts at passphrases, sign-in codes and passwords of links.
create table secret_try (
  -- A hash of what is counted (an address and what it tries, or one secret), so that the table reveals no address.
  sha256 bytea primary key check (length(sha256) = 32),
  tries int not null check (tries >= 0),
  -- From this time on, the next attempt counts as the first again.
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
  -- When a person last agreed. A registration that nobody agrees to is deleted after a day.
  agreed_at timestamptz,
  constraint oauth_client_registered_or_document check ((from_sha256 is null) <> (fresh_until is null))
);
create index oauth_client_from on oauth_client (from_sha256, created_at) where from_sha256 is not null;
create index oauth_client_unused on oauth_client (created_at, id) where agreed_at is null;

-- Consent of a person, until the client fetches its tokens: once, within a minute.
create table oauth_code (
  sha256 bytea primary key check (length(sha256) = 32),
  person_id int not null references person,
  workspace_id int not null references workspace,
  client_id text not null,
  redirect_uri text not null,
  -- The PKCE code challenge (method S256).
  challenge text not null check (length(challenge) = 43),
  resource text not null,
  -- The name, hint, scopes and apps of the grant that is made from the code.
  name text not null,
  hint text not null,
  scopes text[] not null,
  app_list text[],
  expires_at timestamptz not null,
  used_at timestamptz,
  -- The grant that was made from the code. A second use of the code revokes it.
  key_id int references api_key
);
create index oauth_code_expires on oauth_code (expires_at, sha256);

-- The access that a person gave to an assistant. All tokens of the grant are one family.
create table oauth_grant (
  key_id int primary key references api_key,
  client_id text not null,
  resource text not null,
  -- The next refresh token is derived from this value and the current token, so that a repeated request gets the same
  -- token.
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
  -- When the token was exchanged for the next token. A second use long after that time revokes all tokens of the grant.
  used_at timestamptz
);
create index refresh_token_expires on refresh_token (expires_at, sha256);

-- Where a person gets mail, in all workspaces. An address counts once the person typed the code that was mailed there.
create table mail_address (
  person_id int primary key references person,
  -- The confirmed address. Null: no address was confirmed yet.
  address text check (length(address) between 6 and 254),
  -- An address to confirm by a code. It gets no other mail.
  pending text check (length(pending) between 6 and 254),
  code_sha256 bytea check (length(code_sha256) = 32),
  code_until timestamptz,
  -- Codes mailed since `codes_from`. Few are allowed per day, so that nobody can flood another person's mailbox.
  codes smallint not null default 0 check (codes >= 0),
  codes_from timestamptz not null default now(),
  -- Why the mail server refused the address permanently. Nothing is sent there until the person tries the address
  -- again.
  refused text,
  refused_at timestamptz,
  constraint mail_address_code check (
    (pending is null) = (code_sha256 is null) and (pending is null) = (code_until is null)
  ),
  constraint mail_address_refused_when check ((refused is null) = (refused_at is null)),
  constraint mail_address_natural_key unique (person_id, address)
);
