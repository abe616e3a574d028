-- What a workspace connects of its own: its consoles, what they may say, and what their reports said.

create table connected_account (
  id text primary key,
  workspace_id int not null references workspace,
  kind text not null check (kind in ('app-store-connect')),
  -- as much of the key as may be shown
  shown text not null,
  -- what reports are asked with; not a secret
  vendor text not null,
  -- null = removed: the secret is destroyed, what was read stays
  sealed text,
  state text not null default 'connecting'
    check (state in ('connecting', 'ok', 'limited', 'agreement_required', 'revoked', 'paused', 'removed')),
  state_since timestamptz not null default now(),
  -- why it is not ok, in a sentence of ours
  why text,
  created_at timestamptz not null default now(),
  last_ok timestamptz,
  last_failure timestamptz,
  failure text,
  failures int not null default 0 check (failures >= 0),
  -- since when a freshly signed token is refused; null = the last was taken
  refused_since timestamptz,
  checked_at timestamptz,
  -- null = nothing is due
  next_at timestamptz default now(),
  lease uuid,
  lease_until timestamptz,
  check ((lease is null) = (lease_until is null)),
  check ((sealed is null) = (state = 'removed'))
);
create index connected_account_workspace_idx on connected_account (workspace_id);
create index connected_account_next_idx on connected_account (next_at) where next_at is not null;

create table account_right (
  account_id text not null references connected_account on delete cascade,
  name text not null,
  state text not null check (state in ('ok', 'denied', 'unknown')),
  why text,
  seen_at timestamptz not null default now(),
  primary key (account_id, name)
);

-- The apps of an account, and which tracked app each is.
create table account_app (
  account_id text not null references connected_account on delete cascade,
  outside_id text not null,
  sku text not null,
  name text not null,
  bundle_id text not null,
  app_id text references tracked_app on delete set null,
  -- by a person's hand: no look at the account changes it
  by_hand boolean not null default false,
  primary key (account_id, outside_id)
);
create index account_app_app_idx on account_app (app_id) where app_id is not null;
