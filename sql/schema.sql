-- Generated from the migrations; UPDATE=1 bun test test/database/schema.test.ts writes it.

create table account (
  workspace_id integer not null,
  month date not null,
  used bigint not null default 0,
  from_pack bigint not null default 0,
  quota bigint not null,
  pack bigint not null default 0,
  constraint account_pkey PRIMARY KEY (workspace_id),
  constraint account_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint account_check CHECK (((from_pack >= 0) AND (from_pack <= used))),
  constraint account_pack_check CHECK ((pack >= 0)),
  constraint account_quota_check CHECK ((quota >= 0)),
  constraint account_used_check CHECK ((used >= 0))
);

create table api_key (
  id integer not null generated always as identity,
  workspace_id integer not null,
  kind text not null,
  name text not null,
  secret_sha256 bytea not null,
  hint text not null,
  scopes text[] not null,
  ip_allow_list text[],
  app_list text[],
  expires_at timestamp with time zone,
  paused_at timestamp with time zone,
  revoked_at timestamp with time zone,
  leaked_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_secret_sha256_key UNIQUE (secret_sha256),
  constraint api_key_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint api_key_kind_check CHECK ((kind = ANY (ARRAY['live'::text, 'test'::text])))
);
CREATE INDEX api_key_workspace ON api_key USING btree (workspace_id, id);

create table attempt (
  id bigint not null generated always as identity,
  at timestamp with time zone not null,
  kind text not null,
  subject text not null,
  storefront text not null,
  platform text not null,
  source text not null,
  outcome text not null,
  detail text,
  constraint attempt_pkey PRIMARY KEY (id),
  constraint attempt_kind_subject_storefront_platform_source_at_key UNIQUE (kind, subject, storefront, platform, source, at),
  constraint attempt_outcome_check CHECK ((outcome = ANY (ARRAY['blocked'::text, 'rate_limited'::text, 'not_found'::text, 'changed'::text, 'failed'::text])))
);
CREATE INDEX attempt_at ON attempt USING btree (at, id);

create table audit (
  id bigint not null generated always as identity,
  at timestamp with time zone not null default now(),
  workspace_id integer not null,
  key_id integer not null,
  request_id text not null,
  action text not null,
  target text not null,
  app_id text,
  args jsonb not null,
  preview jsonb not null,
  credits integer not null,
  result jsonb,
  job_id text,
  constraint audit_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_at ON audit USING btree (at, id);
CREATE INDEX audit_workspace ON audit USING btree (workspace_id, at, id);

create table confirm_token (
  sha256 bytea not null,
  workspace_id integer not null,
  key_id integer not null,
  action text not null,
  args jsonb not null,
  seen text not null,
  created_at timestamp with time zone not null default now(),
  used_at timestamp with time zone,
  constraint confirm_token_pkey PRIMARY KEY (sha256),
  constraint confirm_token_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id),
  constraint confirm_token_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id)
);
CREATE INDEX confirm_token_created ON confirm_token USING btree (created_at);
CREATE INDEX confirm_token_key ON confirm_token USING btree (key_id, created_at);

create table hive_day (
  workspace_id integer not null,
  day date not null,
  used integer not null default 0,
  constraint hive_day_pkey PRIMARY KEY (workspace_id, day),
  constraint hive_day_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id)
);
CREATE INDEX hive_day_day ON hive_day USING btree (day, workspace_id);

create table instance (
  key text not null,
  value text not null,
  constraint instance_pkey PRIMARY KEY (key)
);

create table job (
  id text not null,
  workspace_id integer not null,
  key_id integer not null,
  request_id text not null,
  action text not null,
  target text not null,
  app_id text,
  shown jsonb not null,
  args jsonb not null,
  before jsonb,
  status text not null default 'queued'::text,
  attempts integer not null default 0,
  next_at timestamp with time zone not null default now(),
  lease uuid,
  lease_until timestamp with time zone,
  sent_at timestamp with time zone,
  result jsonb,
  error jsonb,
  created_at timestamp with time zone not null default now(),
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint job_pkey PRIMARY KEY (id),
  constraint job_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id),
  constraint job_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint job_attempts_check CHECK ((attempts >= 0)),
  constraint job_check CHECK (((status = 'running'::text) = (lease IS NOT NULL))),
  constraint job_check1 CHECK (((lease IS NULL) = (lease_until IS NULL))),
  constraint job_check2 CHECK (((status = ANY (ARRAY['done'::text, 'failed'::text, 'unknown'::text])) = (finished_at IS NOT NULL))),
  constraint job_check3 CHECK (((status = 'failed'::text) = (error IS NOT NULL))),
  constraint job_check4 CHECK (((sent_at IS NULL) OR (status <> 'queued'::text))),
  constraint job_check5 CHECK (((sent_at IS NOT NULL) OR (status <> ALL (ARRAY['done'::text, 'unknown'::text])))),
  constraint job_id_check CHECK ((id ~ '^job_'::text)),
  constraint job_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text, 'failed'::text, 'unknown'::text])))
);
CREATE INDEX job_due ON job USING btree (next_at, id) WHERE (status = 'queued'::text);
CREATE INDEX job_leased ON job USING btree (lease_until, id) WHERE (status = 'running'::text);
CREATE INDEX job_status ON job USING btree (status, finished_at, id);
CREATE UNIQUE INDEX job_unfinished ON job USING btree (workspace_id, target) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));

create table key_month (
  key_id integer not null,
  workspace_id integer not null,
  month date not null,
  used bigint not null default 0,
  budget bigint,
  constraint key_month_pkey PRIMARY KEY (key_id),
  constraint key_month_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id),
  constraint key_month_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint key_month_budget_check CHECK ((budget >= 0)),
  constraint key_month_used_check CHECK ((used >= 0))
);

create table ledger (
  id bigint not null generated always as identity,
  at timestamp with time zone not null default now(),
  month date not null,
  workspace_id integer not null,
  key_id integer not null,
  operation text not null,
  cost integer not null,
  from_pack integer not null default 0,
  request_id text not null,
  constraint ledger_pkey PRIMARY KEY (id),
  constraint ledger_cost_check CHECK ((cost <> 0))
);
CREATE INDEX ledger_workspace ON ledger USING btree (workspace_id, at, id);

create table ledger_month (
  workspace_id integer not null,
  month date not null,
  operation text not null,
  cost bigint not null,
  from_pack bigint not null,
  entries bigint not null,
  constraint ledger_month_pkey PRIMARY KEY (workspace_id, month, operation),
  constraint ledger_month_entries_check CHECK ((entries > 0))
);

create table list (
  id integer not null generated always as identity,
  platform text not null,
  storefront text not null,
  term text not null,
  first_day date,
  last_day date,
  constraint list_pkey PRIMARY KEY (id),
  constraint list_platform_storefront_term_key UNIQUE (platform, storefront, term),
  constraint list_platform_check CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text])))
);

create table list_month (
  list_id integer not null,
  month date not null,
  sources bytea not null,
  depths bytea not null,
  constraint list_month_pkey PRIMARY KEY (list_id, month),
  constraint list_month_depths_check CHECK ((length(depths) = 31)),
  constraint list_month_sources_check CHECK ((length(sources) = 31))
) partition by RANGE (month);

create table rank_month (
  app_id integer not null,
  list_id integer not null,
  month date not null,
  ranks bytea not null,
  constraint rank_month_pkey PRIMARY KEY (app_id, list_id, month),
  constraint rank_month_ranks_check CHECK ((length(ranks) = 31))
) partition by RANGE (month);

create table rating_count (
  app_id integer not null,
  storefront text not null,
  day date not null,
  source text not null,
  seen_at timestamp with time zone not null,
  origin text not null,
  ratings bigint,
  rating real,
  constraint rating_count_pkey PRIMARY KEY (app_id, storefront, day, source),
  constraint rating_count_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id)
);

create table schema_migration (
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone not null default now(),
  constraint schema_migration_pkey PRIMARY KEY (name)
);

create table search_results (
  list_id integer not null,
  day date not null,
  source smallint not null,
  seen_at timestamp with time zone not null,
  depth smallint not null,
  complete boolean not null,
  parser smallint not null,
  origin text not null,
  egress text,
  sha256 bytea not null,
  app_ids integer[] not null,
  constraint search_results_pkey PRIMARY KEY (list_id, day, source, seen_at),
  constraint search_results_list_id_fkey FOREIGN KEY (list_id) REFERENCES list(id),
  constraint search_results_depth_check CHECK (((depth >= 1) AND (depth <= 250)))
) partition by RANGE (day);

create table store_app (
  id integer not null generated always as identity,
  platform text not null,
  store_id text not null,
  name text,
  icon_url text,
  developer text,
  bundle_id text,
  seen_at timestamp with time zone,
  source text,
  origin text,
  constraint store_app_pkey PRIMARY KEY (id),
  constraint store_app_platform_store_id_key UNIQUE (platform, store_id),
  constraint store_app_platform_check CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text])))
);

create table tracked_app (
  id text not null,
  workspace_id integer not null,
  name text,
  ios_app integer,
  android_app integer,
  countries text[] not null,
  manual_rivals text[],
  keyword_tags jsonb,
  buried_keywords text[],
  goal text,
  tasks_done text[],
  origin text not null default 'own'::text,
  created_at timestamp with time zone not null default now(),
  constraint tracked_app_pkey PRIMARY KEY (id),
  constraint tracked_app_android_app_fkey FOREIGN KEY (android_app) REFERENCES store_app(id),
  constraint tracked_app_ios_app_fkey FOREIGN KEY (ios_app) REFERENCES store_app(id),
  constraint tracked_app_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint tracked_app_check CHECK (((ios_app IS NOT NULL) OR (android_app IS NOT NULL))),
  constraint tracked_app_countries_check CHECK ((cardinality(countries) > 0)),
  constraint tracked_app_goal_check CHECK ((goal = ANY (ARRAY['downloads'::text, 'rank'::text, 'revenue'::text]))),
  constraint tracked_app_id_check CHECK ((id !~ ':'::text))
);
CREATE INDEX tracked_app_android ON tracked_app USING btree (android_app);
CREATE INDEX tracked_app_ios ON tracked_app USING btree (ios_app);
CREATE INDEX tracked_app_workspace ON tracked_app USING btree (workspace_id, created_at, id);

create table tracked_term (
  app_id text not null,
  country text not null,
  term text not null,
  "position" integer not null,
  added_at timestamp with time zone not null default now(),
  constraint tracked_term_pkey PRIMARY KEY (app_id, country, term),
  constraint tracked_term_app_id_fkey FOREIGN KEY (app_id) REFERENCES tracked_app(id) ON DELETE CASCADE
);
CREATE INDEX tracked_term_term ON tracked_term USING btree (country, term);

create table workspace (
  id integer not null generated always as identity,
  name text not null,
  plan text not null,
  explorer boolean not null default false,
  ip_list_required boolean not null default false,
  overrides jsonb not null default '{}'::jsonb,
  suspended_at timestamp with time zone,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  constraint workspace_pkey PRIMARY KEY (id),
  constraint workspace_plan_check CHECK ((plan = ANY (ARRAY['free'::text, 'pro'::text, 'studio'::text, 'enterprise'::text])))
);
CREATE UNIQUE INDEX workspace_name ON workspace USING btree (name) WHERE (deleted_at IS NULL);

create function charge(w integer, k integer, cost integer, op text, request text) returns TABLE(refused text, month date, used bigint, from_pack bigint, quota bigint, pack bigint, key_used bigint, budget bigint) language plpgsql as $$
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

create function open_month(any_day date) returns void language plpgsql as $$
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

create function refund(w integer, k integer, request text, since timestamp with time zone DEFAULT (now() - '01:00:00'::interval)) returns boolean language plpgsql as $$
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

create function refund_failed_job() returns trigger language plpgsql as $$
begin
  perform refund(new.workspace_id, new.key_id, new.request_id, new.created_at);
  return null;
end $$;

create function refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('appmeter.audit_retention', true) = 'on' then
    return null;
  end if;
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create function refuse_young() returns trigger language plpgsql as $$
begin
  if old.at > now() - interval '365 days' then
    raise exception '% keeps every row for a year', tg_table_name using errcode = 'restrict_violation';
  end if;
  return old;
end $$;

CREATE TRIGGER audit_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER audit_kept_a_year BEFORE DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_young();

CREATE TRIGGER job_failed AFTER UPDATE OF status ON job FOR EACH ROW WHEN ((new.status = 'failed'::text)) EXECUTE FUNCTION refund_failed_job();
