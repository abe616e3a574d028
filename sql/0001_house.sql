-- Workspaces, keys and what they spend; the world's apps and a workspace's; search results and the ranks derived from them.

create table workspace (
  id int generated always as identity primary key,
  name text not null,
  plan text not null check (plan in ('free', 'pro', 'studio', 'enterprise')),
  explorer boolean not null default false,
  ip_list_required boolean not null default false,
  -- entitlements that differ from the plan's, by name (src/access/plans.ts)
  overrides jsonb not null default '{}',
  suspended_at timestamptz,
  deleted_at timestamptz,
  created_at timestamptz not null default now()
);
-- a deleted workspace gives its name free
create unique index workspace_name on workspace (name) where deleted_at is null;

create table api_key (
  id int generated always as identity primary key,
  workspace_id int not null references workspace,
  kind text not null check (kind in ('live', 'test')),
  name text not null,
  -- the secret itself is shown once and never stored
  secret_sha256 bytea not null unique,
  hint text not null,
  scopes text[] not null,
  ip_allow_list text[],
  app_list text[],
  expires_at timestamptz,
  paused_at timestamptz,
  revoked_at timestamptz,
  leaked_at timestamptz,
  created_at timestamptz not null default now()
);
create index api_key_workspace on api_key (workspace_id, id);

-- used counts from the month's start, whoever paid; from_pack is the part of it that packs paid, the rest is on quota.
-- pack is what is left of bought credits: spent once quota is used up, and carried over. A row of an earlier month reads
-- as used 0, from_pack 0.
create table account (
  workspace_id int primary key references workspace,
  month date not null,
  used bigint not null default 0 check (used >= 0),
  from_pack bigint not null default 0 check (from_pack between 0 and used),
  quota bigint not null check (quota >= 0),
  pack bigint not null default 0 check (pack >= 0)
);

create table key_month (
  key_id int primary key references api_key,
  workspace_id int not null references workspace,
  month date not null,
  used bigint not null default 0 check (used >= 0),
  budget bigint check (budget >= 0)
);

-- Append-only; the costs of a workspace's month add up to its used. A refund repeats its charge with both amounts negated.
create table ledger (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  month date not null,
  workspace_id int not null,
  key_id int not null,
  operation text not null,
  cost int not null check (cost <> 0),
  from_pack int not null default 0,
  request_id text not null
);
create index ledger_workspace on ledger (workspace_id, at, id);

-- Daily Hive calls, where no Redis counts them.
create table hive_day (
  workspace_id int not null references workspace,
  day date not null,
  used int not null default 0,
  primary key (workspace_id, day)
);

-- charge: all or nothing, exact under concurrency. Whoever writes a workspace's account or key months locks its account row first.
-- refused is null when paid, else the fault code; the rest is account and key as they stand after the call.
create function charge(w int, k int, cost int, op text, request text)
returns table (
  refused text, month date, used bigint, from_pack bigint, quota bigint, pack bigint, key_used bigint, budget bigint
)
language plpgsql as $$
#variable_conflict use_column
declare
  a account%rowtype;
  b key_month%rowtype;
  monthly bigint;
  from_pack_now bigint;
begin
  select * into strict a from account where workspace_id = w for update;
  select * into strict b from key_month where key_id = k and workspace_id = w;
  -- greatest: a transaction from before the turn that waited for the lock must not turn the month back
  charge.month := greatest(a.month, date_trunc('month', now() at time zone 'utc')::date);
  if a.month < charge.month then
    a.used := 0;
    a.from_pack := 0;
  end if;
  if b.month < charge.month then b.used := 0; end if;

  monthly := greatest(0, a.quota - (a.used - a.from_pack));
  if b.used + charge.cost > b.budget then
    refused := 'key_budget_reached';
  elsif charge.cost > monthly + a.pack then
    refused := 'credits_exhausted';
  else
    from_pack_now := greatest(0, charge.cost - monthly);
    a.used := a.used + charge.cost;
    a.from_pack := a.from_pack + from_pack_now;
    a.pack := a.pack - from_pack_now;
    b.used := b.used + charge.cost;
    update account set
      month = charge.month, used = a.used, from_pack = a.from_pack, pack = a.pack
    where workspace_id = w;
    update key_month set month = charge.month, used = b.used where key_id = k;
    insert into ledger (month, workspace_id, key_id, operation, cost, from_pack, request_id)
    values (charge.month, w, k, op, charge.cost, from_pack_now, request);
  end if;
  return query select refused, charge.month, a.used, a.from_pack, a.quota, a.pack, b.used, b.budget;
end $$;

-- refund: gives back the charge that a request made at or after `since`, once, to where it was taken from. False when there
-- is none, or when it was given back before. A request lasts seconds: an hour is ample, and bounds what is read.
create function refund(w int, k int, request text, since timestamptz default now() - interval '1 hour') returns boolean
language plpgsql as $$
declare
  a account%rowtype;
  paid ledger%rowtype;
  same_month boolean;
begin
  select * into strict a from account where workspace_id = w for update;
  select * into paid
  from ledger
  where workspace_id = w and at >= since and key_id = k and request_id = request
  order by at desc, id desc
  limit 1;
  if not found or paid.cost < 0 then return false; end if;

  same_month := paid.month = a.month;
  update account set
    used = case when same_month then used - paid.cost else used end,
    from_pack = case when same_month then from_pack - paid.from_pack else from_pack end,
    pack = pack + paid.from_pack
  where workspace_id = w;
  update key_month set used = used - paid.cost where key_id = k and month = paid.month;
  insert into ledger (month, workspace_id, key_id, operation, cost, from_pack, request_id)
  values (paid.month, w, k, paid.operation, -paid.cost, -paid.from_pack, request);
  return true;
end $$;

-- The world's app on one store. Ids are small so that a day's results fit one row; never burn them (no "on conflict").
create table store_app (
  id int generated always as identity primary key,
  platform text not null check (platform in ('ios', 'android')),
  store_id text not null,
  name text,
  icon_url text,
  developer text,
  bundle_id text,
  -- when the facts above were seen, and by what
  seen_at timestamptz,
  source text,
  origin text,
  unique (platform, store_id)
);

create table rating_count (
  app_id int not null references store_app,
  storefront text not null,
  day date not null,
  source text not null,
  seen_at timestamptz not null,
  origin text not null,
  ratings bigint,
  rating real,
  primary key (app_id, storefront, day, source)
);

create table tracked_app (
  id text primary key check (id !~ ':'),
  workspace_id int not null references workspace,
  -- null = as the store shows it, once it was seen
  name text,
  ios_app int references store_app,
  android_app int references store_app,
  countries text[] not null check (cardinality(countries) > 0),
  manual_rivals text[],
  keyword_tags jsonb,
  buried_keywords text[],
  goal text check (goal in ('downloads', 'rank', 'revenue')),
  tasks_done text[],
  origin text not null default 'own',
  created_at timestamptz not null default now(),
  check (ios_app is not null or android_app is not null)
);
create index tracked_app_workspace on tracked_app (workspace_id, created_at, id);
create index tracked_app_ios on tracked_app (ios_app);
create index tracked_app_android on tracked_app (android_app);

-- A list is what a store answers for one term in one storefront on one platform.
create table list (
  id int generated always as identity primary key,
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  term text not null,
  -- the first and the latest day with a complete reading; null while there is none
  first_day date,
  last_day date,
  unique (platform, storefront, term)
);

create table tracked_term (
  app_id text not null references tracked_app on delete cascade,
  country text not null,
  term text not null,
  position int not null,
  added_at timestamptz not null default now(),
  primary key (app_id, country, term)
);
create index tracked_term_term on tracked_term (country, term);

-- The truth about ranks: what the store answered, rank = position in app_ids. Several readings of a day are kept.
create table search_results (
  list_id int not null references list,
  day date not null,
  -- src/observations/types.ts; the lower code is preferred
  source smallint not null,
  seen_at timestamptz not null,
  -- how many places were read; app_ids may hold fewer when the store had no more
  depth smallint not null check (depth between 1 and 250),
  -- false when the reading broke off: kept, but it answers no day, for what it lacks may not be absent
  complete boolean not null,
  parser smallint not null,
  origin text not null,
  egress text,
  sha256 bytea not null,
  app_ids int[] not null,
  primary key (list_id, day, source, seen_at)
) partition by range (day);

-- Derived, for tracked pairs only: one byte a day. 0 = measured and absent, 1..250 = rank, 255 = not measured.
create table rank_month (
  app_id int not null,
  list_id int not null,
  month date not null,
  ranks bytea not null check (length(ranks) = 31),
  primary key (app_id, list_id, month)
) partition by range (month);

-- Derived, for tracked lists only: the source and the depth of each day's answer, one byte a day. Source 255 = not measured.
create table list_month (
  list_id int not null,
  month date not null,
  sources bytea not null check (length(sources) = 31),
  depths bytea not null check (length(depths) = 31),
  primary key (list_id, month)
) partition by range (month);

-- open_month: the partitions of a month, made once whoever asks first. A table made apart and then attached blocks nobody;
-- "create ... partition of" blocked plain reads for 1.7 s behind an open cursor. Month rows are rewritten daily: at
-- fillfactor 100 they grew to 474 MB where 50 kept 32 MB, and closed months are rewritten by back-fills.
create function open_month(any_day date) returns void
language plpgsql as $$
declare
  first_day date := date_trunc('month', any_day);
  parent text;
  part text;
begin
  perform pg_advisory_xact_lock(hashtextextended('open_month', 0));
  foreach parent in array array['search_results', 'rank_month', 'list_month'] loop
    part := parent || to_char(first_day, '_YYYY_MM');
    continue when to_regclass(part) is not null;
    execute format('create table %I (like %I including all) with (fillfactor = %s)',
      part, parent, case parent when 'search_results' then 100 else 50 end);
    execute format('alter table %I attach partition %I for values from (%L) to (%L)',
      parent, part, first_day, (first_day + interval '1 month')::date);
  end loop;
end $$;

-- Reads that failed. A failed read is not an observation and changes no rank.
create table attempt (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  kind text not null,
  subject text not null,
  storefront text not null,
  platform text not null,
  source text not null,
  outcome text not null check (outcome in ('blocked', 'rate_limited', 'not_found', 'changed', 'failed')),
  detail text,
  unique (kind, subject, storefront, platform, source, at)
);

-- What this instance must remember of itself, such as that the demo was loaded once.
create table instance (
  key text primary key,
  value text not null
);
