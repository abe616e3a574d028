-- Generated from the migrations; UPDATE=1 bun test test/database/schema.test.ts writes it.

create table access_token (
  sha256 bytea not null,
  key_id integer not null,
  resource text not null,
  scopes text[] not null,
  expires_at timestamp with time zone not null,
  constraint access_token_pkey PRIMARY KEY (sha256),
  constraint access_token_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id),
  constraint access_token_sha256_check CHECK ((length(sha256) = 32))
);
CREATE INDEX access_token_expires ON access_token USING btree (expires_at, sha256);

create table account (
  workspace_id integer not null,
  month date not null,
  used bigint not null default 0,
  from_pack bigint not null default 0,
  quota bigint not null,
  pack bigint not null default 0,
  pack_bought_at timestamp with time zone,
  constraint account_pkey PRIMARY KEY (workspace_id),
  constraint account_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint account_check CHECK (((from_pack >= 0) AND (from_pack <= used))),
  constraint account_pack_check CHECK ((pack >= 0)),
  constraint account_quota_check CHECK ((quota >= 0)),
  constraint account_used_check CHECK ((used >= 0))
);

create table account_app (
  account_id text not null,
  outside_id text not null,
  sku text not null,
  name text not null,
  bundle_id text not null,
  app_id text,
  by_hand boolean not null default false,
  constraint account_app_pkey PRIMARY KEY (account_id, outside_id),
  constraint account_app_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE,
  constraint account_app_app_id_fkey FOREIGN KEY (app_id) REFERENCES tracked_app(id) ON DELETE SET NULL
);
CREATE INDEX account_app_app_idx ON account_app USING btree (app_id) WHERE (app_id IS NOT NULL);

create table account_offer (
  account_id text not null,
  app text not null,
  product text not null,
  kind text not null,
  offer text not null,
  name text,
  mode text,
  duration text,
  periods integer,
  active boolean,
  codes integer,
  countries text[],
  starts date,
  ends date,
  first_seen timestamp with time zone not null default now(),
  last_seen timestamp with time zone not null default now(),
  constraint account_offer_pkey PRIMARY KEY (account_id, app, product, kind, offer),
  constraint account_offer_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE,
  constraint account_offer_kind_check CHECK ((kind = ANY (ARRAY['introductory'::text, 'promotional'::text, 'code'::text])))
);

create table account_product (
  account_id text not null,
  app text not null,
  product text not null,
  sold_as text not null,
  sku text not null,
  name text not null,
  period text,
  listed_at timestamp with time zone,
  constraint account_product_pkey PRIMARY KEY (account_id, app, product),
  constraint account_product_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE,
  constraint account_product_sold_as_check CHECK ((sold_as = ANY (ARRAY['app'::text, 'purchase'::text, 'subscription'::text])))
);

create table account_right (
  account_id text not null,
  name text not null,
  state text not null,
  why text,
  seen_at timestamp with time zone not null default now(),
  constraint account_right_pkey PRIMARY KEY (account_id, name),
  constraint account_right_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE,
  constraint account_right_state_check CHECK ((state = ANY (ARRAY['ok'::text, 'denied'::text, 'unknown'::text])))
);

create table account_task (
  account_id text not null,
  task text not null,
  subject text not null,
  day date,
  state text not null default 'due'::text,
  read_at timestamp with time zone,
  tries integer not null default 0,
  failure text,
  put_aside text,
  asked_at timestamp with time zone,
  next_at timestamp with time zone default now(),
  constraint account_task_pkey PRIMARY KEY (account_id, task, subject),
  constraint account_task_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE,
  constraint account_task_state_check CHECK ((state = ANY (ARRAY['due'::text, 'read'::text, 'empty'::text, 'late'::text, 'denied'::text, 'gone'::text, 'not_requested'::text, 'stopped'::text])))
);
CREATE INDEX account_task_next_idx ON account_task USING btree (account_id, next_at) WHERE (next_at IS NOT NULL);

create view ads_campaign (
  account_id text,
  campaign text,
  app text,
  name text,
  status text,
  serving text,
  reasons text[],
  countries text[],
  budget numeric,
  currency text,
  bidding text,
  placement text
);

create table ads_campaign_row (
  account_id text not null,
  campaign text not null,
  app text not null,
  name text not null,
  status text not null,
  serving text,
  reasons text[] not null,
  countries text[] not null,
  budget numeric,
  currency text,
  bidding text,
  placement text,
  set_id bigint not null default 0,
  constraint ads_campaign_row_pkey PRIMARY KEY (account_id, campaign, set_id),
  constraint ads_campaign_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE
);
CREATE INDEX ads_campaign_app_idx ON ads_campaign_row USING btree (account_id, app);
CREATE INDEX ads_campaign_set_idx ON ads_campaign_row USING btree (set_id) WHERE (set_id > 0);

create view ads_change_fact (
  account_id text,
  day date,
  place integer,
  change text,
  at timestamp with time zone,
  changed_by text,
  event text,
  entity text,
  entity_id text,
  campaign text,
  name text,
  field text,
  before text,
  after text
);

create table ads_change_fact_row (
  account_id text not null,
  day date not null,
  place integer not null,
  change text not null,
  at timestamp with time zone not null,
  changed_by text not null,
  event text not null,
  entity text not null,
  entity_id text not null,
  campaign text,
  name text,
  field text not null,
  before text,
  after text,
  set_id bigint not null default 0,
  constraint ads_change_fact_row_pkey PRIMARY KEY (account_id, day, set_id, place),
  constraint ads_change_fact_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE,
  constraint ads_change_fact_changed_by_check CHECK ((changed_by = ANY (ARRAY['dashboard'::text, 'api'::text, 'apple'::text, 'other'::text])))
);
CREATE INDEX ads_change_fact_at_idx ON ads_change_fact_row USING btree (account_id, campaign, at DESC);
CREATE INDEX ads_change_fact_set_idx ON ads_change_fact_row USING btree (set_id) WHERE (set_id > 0);

create view ads_day_fact (
  account_id text,
  campaign text,
  day date,
  place integer,
  ad_group text,
  keyword text,
  country text,
  impressions integer,
  taps integer,
  installs integer,
  new_downloads integer,
  spend numeric,
  currency text
);

create table ads_day_fact_row (
  account_id text not null,
  campaign text not null,
  day date not null,
  place integer not null,
  ad_group text,
  keyword text,
  country text not null,
  impressions integer,
  taps integer,
  installs integer,
  new_downloads integer,
  spend numeric,
  currency text not null,
  set_id bigint not null default 0,
  constraint ads_day_fact_row_pkey PRIMARY KEY (account_id, campaign, day, set_id, place),
  constraint ads_day_fact_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE
);
CREATE INDEX ads_day_fact_set_idx ON ads_day_fact_row USING btree (set_id) WHERE (set_id > 0);

create table ads_report (
  account_id text not null,
  report text not null,
  about text not null,
  day date not null,
  digest bytea not null,
  source text not null,
  seen_at timestamp with time zone not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  rows jsonb,
  pieces bigint,
  constraint ads_report_pkey PRIMARY KEY (account_id, report, about, day, digest),
  constraint ads_report_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE,
  constraint ads_report_pieces_fkey FOREIGN KEY (pieces) REFERENCES report_set(id),
  constraint ads_report_rows_check CHECK (((rows IS NULL) <> (pieces IS NULL)))
);
CREATE INDEX ads_report_pieces_idx ON ads_report USING btree (pieces) WHERE (pieces IS NOT NULL);
CREATE INDEX ads_report_seen_idx ON ads_report USING btree (seen_at);

create view ads_term_fact (
  account_id text,
  campaign text,
  place integer,
  day date,
  ad_group text,
  keyword text,
  term text,
  origin text,
  country text,
  impressions integer,
  taps integer,
  installs integer,
  new_downloads integer,
  spend numeric,
  currency text
);

create table ads_term_fact_row (
  account_id text not null,
  campaign text not null,
  place integer not null,
  day date not null,
  ad_group text,
  keyword text,
  term text,
  origin text not null,
  country text not null,
  impressions integer,
  taps integer,
  installs integer,
  new_downloads integer,
  spend numeric,
  currency text not null,
  set_id bigint not null default 0,
  constraint ads_term_fact_row_pkey PRIMARY KEY (account_id, campaign, set_id, place),
  constraint ads_term_fact_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE
);
CREATE INDEX ads_term_fact_set_idx ON ads_term_fact_row USING btree (set_id) WHERE (set_id > 0);

create view ads_term_popularity (
  account_id text,
  country text,
  term text,
  genre text,
  day date,
  rank integer,
  in_genre integer,
  overall_100 integer,
  overall_5 integer
);

create table ads_term_popularity_row (
  account_id text not null,
  country text not null,
  term text not null,
  genre text not null,
  day date not null,
  rank integer not null,
  in_genre integer not null,
  overall_100 integer not null,
  overall_5 integer not null,
  set_id bigint not null default 0,
  constraint ads_term_popularity_row_pkey PRIMARY KEY (account_id, country, term, genre, set_id),
  constraint ads_term_popularity_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE
);
CREATE INDEX ads_term_popularity_rank_idx ON ads_term_popularity_row USING btree (account_id, country, genre, rank);
CREATE INDEX ads_term_popularity_set_idx ON ads_term_popularity_row USING btree (set_id) WHERE (set_id > 0);

create view ads_thing (
  account_id text,
  campaign text,
  thing text,
  id text,
  ad_group text,
  name text,
  text text,
  match text,
  status text,
  bid numeric,
  currency text,
  automatic boolean
);

create table ads_thing_row (
  account_id text not null,
  campaign text not null,
  thing text not null,
  id text not null,
  ad_group text,
  name text,
  text text,
  match text,
  status text not null,
  bid numeric,
  currency text,
  automatic boolean,
  set_id bigint not null default 0,
  constraint ads_thing_row_pkey PRIMARY KEY (account_id, campaign, thing, id, set_id),
  constraint ads_thing_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE,
  constraint ads_thing_thing_check CHECK ((thing = ANY (ARRAY['group'::text, 'keyword'::text, 'negative'::text])))
);
CREATE INDEX ads_thing_set_idx ON ads_thing_row USING btree (set_id) WHERE (set_id > 0);

create table ai_check (
  id text not null,
  workspace_id integer not null,
  app_id text not null,
  storefronts text[] not null,
  began_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  outcome text,
  request_id text not null,
  returned_at timestamp with time zone,
  constraint ai_check_pkey PRIMARY KEY (id),
  constraint ai_check_app_id_fkey FOREIGN KEY (app_id) REFERENCES tracked_app(id) ON DELETE CASCADE,
  constraint ai_check_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint ai_check_check CHECK (((ended_at IS NULL) = (outcome IS NULL))),
  constraint ai_check_outcome_check CHECK ((outcome = ANY (ARRAY['measured'::text, 'failed'::text])))
);
CREATE INDEX ai_check_app ON ai_check USING btree (app_id, began_at);
CREATE INDEX ai_check_began ON ai_check USING btree (began_at);
CREATE UNIQUE INDEX ai_check_running ON ai_check USING btree (app_id) WHERE (ended_at IS NULL);

create table ai_check_turn (
  check_id text not null,
  turn_id bigint not null,
  shared boolean not null,
  constraint ai_check_turn_pkey PRIMARY KEY (check_id, turn_id),
  constraint ai_check_turn_check_id_fkey FOREIGN KEY (check_id) REFERENCES ai_check(id) ON DELETE CASCADE,
  constraint ai_check_turn_turn_id_fkey FOREIGN KEY (turn_id) REFERENCES assistant_turn(id) ON DELETE CASCADE
);
CREATE INDEX ai_check_turn_turn ON ai_check_turn USING btree (turn_id);

create table alert (
  id bigint not null generated always as identity,
  workspace_id integer not null,
  app_id text,
  type text not null,
  platform text,
  storefront text,
  subject text not null,
  day date not null,
  at timestamp with time zone not null,
  found_at timestamp with time zone not null default now(),
  facts jsonb not null,
  origin text not null default 'own'::text,
  read_at timestamp with time zone,
  history boolean not null default false,
  withdrawn_at timestamp with time zone,
  constraint alert_pkey PRIMARY KEY (id),
  constraint alert_workspace_id_app_id_type_platform_storefront_subject__key UNIQUE NULLS NOT DISTINCT (workspace_id, app_id, type, platform, storefront, subject, day),
  constraint alert_app_id_fkey FOREIGN KEY (app_id) REFERENCES tracked_app(id) ON DELETE CASCADE,
  constraint alert_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint alert_platform_check CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text]))),
  constraint alert_type_check CHECK ((type = ANY (ARRAY['dropped_out'::text, 'rank_drop'::text, 'rank_rise'::text, 'entered'::text, 'rival_passed'::text, 'rival_beaten'::text, 'rival_event'::text, 'asa_rule'::text, 'chart_drop'::text, 'chart_enter'::text, 'featured'::text, 'review_wave'::text, 'ai_mention_lost'::text, 'off_topic'::text, 'weekly'::text, 'discovery'::text, 'ads_fee'::text])))
);
CREATE INDEX alert_at ON alert USING btree (at, id);
CREATE INDEX alert_feed ON alert USING btree (workspace_id, at DESC, id DESC);
CREATE INDEX alert_of_app ON alert USING btree (app_id, at DESC, id DESC);
CREATE INDEX alert_read ON alert USING btree (workspace_id, at DESC, id DESC) WHERE (read_at IS NOT NULL);
CREATE INDEX alert_unread ON alert USING btree (workspace_id, app_id) WHERE (read_at IS NULL);

create table alert_rule (
  workspace_id integer not null,
  type text not null,
  channels text[] not null,
  drop_by smallint,
  keyword_scope text,
  rival_scope text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  created_by integer not null,
  constraint alert_rule_pkey PRIMARY KEY (workspace_id, type),
  constraint alert_rule_created_by_fkey FOREIGN KEY (created_by) REFERENCES api_key(id),
  constraint alert_rule_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint alert_rule_channels_check CHECK ((channels <@ ARRAY['telegram'::text, 'slack'::text, 'webhook'::text])),
  constraint alert_rule_check CHECK (((drop_by IS NOT NULL) = (type = 'rank_drop'::text))),
  constraint alert_rule_drop_by_check CHECK (((drop_by >= 3) AND (drop_by <= 50))),
  constraint alert_rule_keyword_scope_check CHECK ((keyword_scope = ANY (ARRAY['all'::text, 'tagged'::text]))),
  constraint alert_rule_rival_scope_check CHECK ((rival_scope = ANY (ARRAY['all'::text, 'manual'::text]))),
  constraint alert_rule_type_check CHECK ((type = ANY (ARRAY['dropped_out'::text, 'rank_drop'::text, 'rank_rise'::text, 'entered'::text, 'rival_passed'::text, 'rival_beaten'::text, 'rival_event'::text, 'asa_rule'::text, 'chart_drop'::text, 'chart_enter'::text, 'featured'::text, 'review_wave'::text, 'ai_mention_lost'::text, 'off_topic'::text, 'weekly'::text])))
);

create table alert_to_deliver (
  alert_id bigint not null,
  constraint alert_to_deliver_pkey PRIMARY KEY (alert_id),
  constraint alert_to_deliver_alert_id_fkey FOREIGN KEY (alert_id) REFERENCES alert(id) ON DELETE CASCADE
);

create table allowance_unit (
  workspace_id integer not null,
  allowance text not null,
  subject text not null,
  period date not null,
  opened_at timestamp with time zone not null default now(),
  open_until timestamp with time zone not null,
  requests text[],
  answered boolean not null default false,
  constraint allowance_unit_pkey PRIMARY KEY (workspace_id, allowance, subject),
  constraint allowance_unit_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint allowance_unit_check CHECK ((open_until >= opened_at))
);

create table allowance_used (
  workspace_id integer not null,
  allowance text not null,
  period date not null,
  used integer not null,
  constraint allowance_used_pkey PRIMARY KEY (workspace_id, allowance, period),
  constraint allowance_used_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint allowance_used_allowance_check CHECK ((allowance = ANY (ARRAY['discovery'::text, 'aiQuestions'::text, 'reviewAi'::text, 'aiWriting'::text, 'aiVisibility'::text, 'spy'::text, 'listingWrites'::text, 'listingWritesEver'::text, 'hive'::text, 'measurements'::text]))),
  constraint allowance_used_used_check CHECK ((used >= 0))
) with (fillfactor=50);
CREATE INDEX allowance_used_daily ON allowance_used USING btree (period, workspace_id) WHERE (allowance = ANY (ARRAY['hive'::text, 'measurements'::text]));

create table analytics_day (
  account_id text not null,
  app text not null,
  report text not null,
  day date not null,
  processed date not null,
  source text not null,
  seen_at timestamp with time zone not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  rows jsonb,
  pieces bigint,
  constraint analytics_day_pkey PRIMARY KEY (account_id, app, report, day, processed),
  constraint analytics_day_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE,
  constraint analytics_day_pieces_fkey FOREIGN KEY (pieces) REFERENCES report_set(id),
  constraint analytics_day_rows_check CHECK (((rows IS NULL) <> (pieces IS NULL)))
);
CREATE INDEX analytics_day_pieces_idx ON analytics_day USING btree (pieces) WHERE (pieces IS NOT NULL);

create table analytics_instance (
  account_id text not null,
  app text not null,
  report text not null,
  processed date not null,
  instance text not null,
  read_at timestamp with time zone,
  constraint analytics_instance_pkey PRIMARY KEY (account_id, app, report, processed),
  constraint analytics_instance_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE
);

create table answered_country (
  upstream text not null,
  egress text not null,
  asked text not null,
  answered text not null,
  reads bigint not null default 1,
  first_at timestamp with time zone not null,
  last_at timestamp with time zone not null,
  constraint answered_country_pkey PRIMARY KEY (upstream, egress, asked, answered),
  constraint answered_country_reads_check CHECK ((reads > 0))
);

create table api_key (
  id integer not null generated always as identity,
  workspace_id integer not null,
  kind text not null,
  name text not null,
  secret_sha256 bytea,
  hint text not null,
  scopes text[] not null,
  ip_allow_list text[],
  app_list text[],
  expires_at timestamp with time zone,
  paused_at timestamp with time zone,
  revoked_at timestamp with time zone,
  leaked_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  approve_outside text[] not null default '{}'::text[],
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_secret_sha256_key UNIQUE (secret_sha256),
  constraint api_key_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint api_key_kind_check CHECK ((kind = ANY (ARRAY['live'::text, 'test'::text, 'grant'::text]))),
  constraint api_key_secret_check CHECK (((kind = 'grant'::text) = (secret_sha256 IS NULL)))
);
CREATE INDEX api_key_workspace ON api_key USING btree (workspace_id, id);

create table app_ads (
  app_id integer not null,
  day date not null,
  seen_at timestamp with time zone not null,
  source text not null,
  domain text,
  state text not null,
  records jsonb not null,
  variables jsonb not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  constraint app_ads_pkey PRIMARY KEY (app_id, day),
  constraint app_ads_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id),
  constraint app_ads_state_check CHECK ((state = ANY (ARRAY['records'::text, 'no_file'::text, 'no_site'::text, 'unreachable'::text])))
);

create table app_estimate (
  app_id integer not null,
  version bigint not null,
  made_at timestamp with time zone not null,
  formula smallint not null,
  day date,
  markets smallint not null default 0,
  days smallint,
  basis text,
  pairs integer,
  coverage double precision,
  downloads double precision,
  downloads_low double precision,
  downloads_high double precision,
  downloads_under double precision,
  revenue double precision,
  revenue_low double precision,
  revenue_high double precision,
  revenue_under double precision,
  revenue_markets smallint,
  growth double precision,
  growth_low double precision,
  growth_high double precision,
  genre text,
  revenue_by text,
  constraint app_estimate_pkey PRIMARY KEY (app_id),
  constraint app_estimate_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id) ON DELETE CASCADE,
  constraint app_estimate_basis_check CHECK ((basis = ANY (ARRAY['measured'::text, 'own'::text, 'genre'::text, 'prior'::text]))),
  constraint app_estimate_check CHECK ((((downloads IS NULL) = (downloads_low IS NULL)) AND ((downloads IS NULL) = (downloads_high IS NULL)))),
  constraint app_estimate_check1 CHECK (((downloads IS NULL) OR (downloads_under IS NULL))),
  constraint app_estimate_check2 CHECK ((((revenue IS NULL) = (revenue_low IS NULL)) AND ((revenue IS NULL) = (revenue_high IS NULL)))),
  constraint app_estimate_check3 CHECK (((revenue IS NULL) OR (revenue_under IS NULL))),
  constraint app_estimate_check4 CHECK ((((growth IS NULL) = (growth_low IS NULL)) AND ((growth IS NULL) = (growth_high IS NULL)))),
  constraint app_estimate_downloads_check CHECK ((downloads >= (0)::double precision)),
  constraint app_estimate_downloads_under_check CHECK ((downloads_under > (0)::double precision)),
  constraint app_estimate_markets_check CHECK ((markets >= 0)),
  constraint app_estimate_revenue_by_check CHECK ((revenue_by = ANY (ARRAY['price'::text, 'place'::text]))),
  constraint app_estimate_revenue_check CHECK ((revenue >= (0)::double precision)),
  constraint app_estimate_revenue_under_check CHECK ((revenue_under > (0)::double precision))
);
CREATE INDEX app_estimate_version_idx ON app_estimate USING btree (version, app_id);

create table app_first_seen (
  app_id integer not null,
  storefront text not null,
  day date not null,
  baseline boolean not null,
  chart_id integer not null,
  constraint app_first_seen_pkey PRIMARY KEY (app_id, storefront),
  constraint app_first_seen_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id),
  constraint app_first_seen_chart_id_fkey FOREIGN KEY (chart_id) REFERENCES chart(id)
);
CREATE INDEX app_first_seen_new ON app_first_seen USING btree (storefront, day) WHERE (NOT baseline);

create table app_rival (
  app_id text not null,
  platform text not null,
  storefront text not null,
  rival integer not null,
  manual boolean not null,
  terms integer not null,
  day date,
  constraint app_rival_pkey PRIMARY KEY (app_id, platform, storefront, rival),
  constraint app_rival_app_id_fkey FOREIGN KEY (app_id) REFERENCES tracked_app(id) ON DELETE CASCADE,
  constraint app_rival_rival_fkey FOREIGN KEY (rival) REFERENCES store_app(id),
  constraint app_rival_platform_check CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text]))),
  constraint app_rival_terms_check CHECK ((terms >= 0))
);
CREATE INDEX app_rival_rival ON app_rival USING btree (rival, storefront);

create table app_storefront (
  app_id integer not null,
  storefront text not null,
  source text not null,
  seen_at timestamp with time zone not null,
  available boolean not null,
  name text,
  version text,
  price numeric,
  currency text,
  genre text,
  released_at timestamp with time zone,
  updated_at timestamp with time zone,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  languages text[],
  size_bytes bigint,
  newest_release timestamp with time zone,
  newest_release_seen_at timestamp with time zone,
  stale_at timestamp with time zone,
  constraint app_storefront_pkey PRIMARY KEY (app_id, storefront, source),
  constraint app_storefront_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id)
);

create table app_text (
  app_id integer not null,
  formula smallint not null,
  folded text collate "C" not null,
  grams integer[] not null,
  constraint app_text_pkey PRIMARY KEY (app_id),
  constraint app_text_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id) ON DELETE CASCADE
);
CREATE INDEX app_text_grams ON app_text USING gin (grams) WITH (gin_pending_list_limit='512');

create table approval (
  id text not null,
  token_sha256 bytea not null,
  workspace_id integer not null,
  shown jsonb not null,
  created_at timestamp with time zone not null default now(),
  verdict text,
  decided_by text,
  decided_at timestamp with time zone,
  constraint approval_pkey PRIMARY KEY (id),
  constraint approval_token_sha256_key UNIQUE (token_sha256),
  constraint approval_token_sha256_fkey FOREIGN KEY (token_sha256) REFERENCES confirm_token(sha256) ON DELETE CASCADE,
  constraint approval_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint approval_check CHECK (((verdict IS NULL) = (decided_at IS NULL))),
  constraint approval_check1 CHECK (((verdict IS NULL) = (decided_by IS NULL))),
  constraint approval_id_check CHECK ((id ~ '^ap_'::text)),
  constraint approval_verdict_check CHECK ((verdict = ANY (ARRAY['approved'::text, 'declined'::text])))
);
CREATE INDEX approval_workspace ON approval USING btree (workspace_id, created_at, id);

create table assistant_answer (
  storefront text not null,
  term text not null,
  source text not null,
  model text not null,
  phrasing text not null,
  run smallint not null,
  seen_at timestamp with time zone not null,
  day date not null,
  language text not null,
  text text not null,
  searched boolean not null,
  cited jsonb not null,
  answered_by text,
  input_tokens integer,
  output_tokens integer,
  searches integer,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  constraint assistant_answer_pkey PRIMARY KEY (storefront, term, source, model, phrasing, run, seen_at),
  constraint assistant_answer_source_check CHECK ((source = ANY (ARRAY['openai'::text, 'anthropic'::text, 'google'::text, 'perplexity'::text])))
);
CREATE INDEX assistant_answer_day ON assistant_answer USING btree (day);

create table assistant_turn (
  id bigint not null generated always as identity,
  storefront text not null,
  term text not null,
  language text not null,
  assistant text not null,
  model text not null,
  phrasing text not null,
  run smallint not null,
  state text not null default 'due'::text,
  created_at timestamp with time zone not null default now(),
  next_at timestamp with time zone not null,
  tries smallint not null default 0,
  lease uuid,
  lease_until timestamp with time zone,
  failure text,
  answered_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint assistant_turn_pkey PRIMARY KEY (id),
  constraint assistant_turn_assistant_check CHECK ((assistant = ANY (ARRAY['openai'::text, 'anthropic'::text, 'google'::text, 'perplexity'::text]))),
  constraint assistant_turn_check CHECK (((lease IS NULL) = (lease_until IS NULL))),
  constraint assistant_turn_check1 CHECK (((state = 'due'::text) = (ended_at IS NULL))),
  constraint assistant_turn_check2 CHECK (((state = 'answered'::text) = (answered_at IS NOT NULL))),
  constraint assistant_turn_state_check CHECK ((state = ANY (ARRAY['due'::text, 'answered'::text, 'failed'::text])))
);
CREATE INDEX assistant_turn_answered ON assistant_turn USING btree (storefront, term, assistant, model, phrasing, run, answered_at) WHERE (state = 'answered'::text);
CREATE UNIQUE INDEX assistant_turn_due ON assistant_turn USING btree (storefront, term, assistant, model, phrasing, run) WHERE (state = 'due'::text);
CREATE INDEX assistant_turn_ended ON assistant_turn USING btree (ended_at);
CREATE INDEX assistant_turn_next ON assistant_turn USING btree (assistant, next_at) WHERE (state = 'due'::text);

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
  sha256 bytea,
  constraint attempt_pkey PRIMARY KEY (id),
  constraint attempt_kind_subject_storefront_platform_source_at_key UNIQUE (kind, subject, storefront, platform, source, at),
  constraint attempt_outcome_check CHECK ((outcome = ANY (ARRAY['blocked'::text, 'rate_limited'::text, 'not_found'::text, 'changed'::text, 'mismatched'::text, 'failed'::text])))
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
  approved_by text,
  constraint audit_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_at ON audit USING btree (at, id);
CREATE INDEX audit_workspace ON audit USING btree (workspace_id, at, id);

create table billing_event (
  account_id text not null,
  event_id text not null,
  type text not null,
  counts_as text not null,
  environment text not null,
  store text not null,
  happened_at timestamp with time zone not null,
  product text,
  country text,
  country_is text,
  currency text,
  price numeric,
  price_usd numeric,
  offer text,
  source text not null,
  seen_at timestamp with time zone not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  quantity integer not null default 1,
  constraint billing_event_pkey PRIMARY KEY (account_id, event_id),
  constraint billing_event_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE
);
CREATE INDEX billing_event_happened_idx ON billing_event USING btree (account_id, happened_at);
CREATE INDEX billing_event_seen_idx ON billing_event USING btree (account_id, seen_at);

create table billing_metric_day (
  account_id text not null,
  day date not null,
  currency text not null,
  rows jsonb not null,
  source text not null,
  seen_at timestamp with time zone not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  constraint billing_metric_day_pkey PRIMARY KEY (account_id, day),
  constraint billing_metric_day_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE
);

create table channel (
  id text not null,
  workspace_id integer not null,
  kind text not null,
  shown text not null,
  sealed text not null,
  sealed_earlier text,
  earlier_until timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  disabled text,
  disabled_at timestamp with time zone,
  last_ok timestamp with time zone,
  last_failure timestamp with time zone,
  failure text,
  failures integer not null default 0,
  paused_until timestamp with time zone,
  next_at timestamp with time zone,
  lease uuid,
  lease_until timestamp with time zone,
  constraint channel_pkey PRIMARY KEY (id),
  constraint channel_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint channel_check CHECK (((sealed_earlier IS NULL) = (earlier_until IS NULL))),
  constraint channel_check1 CHECK (((disabled IS NULL) = (disabled_at IS NULL))),
  constraint channel_check2 CHECK (((lease IS NULL) = (lease_until IS NULL))),
  constraint channel_failures_check CHECK ((failures >= 0)),
  constraint channel_kind_check CHECK ((kind = ANY (ARRAY['webhook'::text, 'telegram'::text, 'slack'::text])))
);
CREATE INDEX channel_due ON channel USING btree (next_at, id) WHERE ((next_at IS NOT NULL) AND (disabled IS NULL));
CREATE INDEX channel_workspace ON channel USING btree (workspace_id, created_at, id);

create table chart (
  id integer not null generated always as identity,
  platform text not null,
  storefront text not null,
  device text not null,
  chart text not null,
  genre text not null,
  first_day date,
  last_day date,
  constraint chart_pkey PRIMARY KEY (id),
  constraint chart_platform_storefront_device_chart_genre_key UNIQUE (platform, storefront, device, chart, genre),
  constraint chart_chart_check CHECK ((chart = ANY (ARRAY['free'::text, 'paid'::text, 'grossing'::text]))),
  constraint chart_device_check CHECK ((device = ANY (ARRAY['iphone'::text, 'ipad'::text]))),
  constraint chart_platform_check CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text])))
);

create table chart_first_seen (
  app_id integer not null,
  chart_id integer not null,
  day date not null,
  constraint chart_first_seen_pkey PRIMARY KEY (app_id, chart_id),
  constraint chart_first_seen_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id),
  constraint chart_first_seen_chart_id_fkey FOREIGN KEY (chart_id) REFERENCES chart(id)
);
CREATE INDEX chart_first_seen_day ON chart_first_seen USING btree (chart_id, day);

create table chart_now (
  chart_id integer not null,
  day date not null,
  source smallint not null,
  depth smallint not null,
  seen_at timestamp with time zone not null,
  constraint chart_now_pkey PRIMARY KEY (chart_id),
  constraint chart_now_chart_id_fkey FOREIGN KEY (chart_id) REFERENCES chart(id)
) with (fillfactor=50);

create table chart_place (
  app_id integer not null,
  chart_id integer not null,
  rank smallint not null,
  day date not null,
  constraint chart_place_pkey PRIMARY KEY (app_id, chart_id),
  constraint chart_place_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id),
  constraint chart_place_chart_id_fkey FOREIGN KEY (chart_id) REFERENCES chart(id),
  constraint chart_place_rank_check CHECK ((rank > 0))
) with (fillfactor=70);
CREATE INDEX chart_place_chart ON chart_place USING btree (chart_id);

create table chart_results (
  chart_id integer not null,
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
  constraint chart_results_pkey PRIMARY KEY (chart_id, day, source, seen_at),
  constraint chart_results_chart_id_fkey FOREIGN KEY (chart_id) REFERENCES chart(id),
  constraint chart_results_depth_check CHECK (((depth >= 0) AND (depth <= 1000)))
) partition by RANGE (day);

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

create table connected_account (
  id text not null,
  workspace_id integer not null,
  kind text not null,
  shown text not null,
  part text not null,
  sealed text,
  state text not null default 'connecting'::text,
  state_since timestamp with time zone not null default now(),
  why text,
  created_at timestamp with time zone not null default now(),
  last_ok timestamp with time zone,
  last_failure timestamp with time zone,
  failure text,
  failures integer not null default 0,
  refused_since timestamp with time zone,
  checked_at timestamp with time zone,
  next_at timestamp with time zone default now(),
  lease uuid,
  lease_until timestamp with time zone,
  zone text,
  currency text,
  writes boolean not null default false,
  sealed_write text,
  shown_write text,
  write_limits jsonb not null default '{}'::jsonb,
  report_versions jsonb not null default '{}'::jsonb,
  constraint connected_account_pkey PRIMARY KEY (id),
  constraint connected_account_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint connected_account_check CHECK (((lease IS NULL) = (lease_until IS NULL))),
  constraint connected_account_check2 CHECK (((sealed_write IS NULL) OR (sealed IS NOT NULL))),
  constraint connected_account_check3 CHECK (((sealed_write IS NULL) = (shown_write IS NULL))),
  constraint connected_account_demo_check CHECK (((state <> 'demo'::text) OR ((next_at IS NULL) AND (NOT writes)))),
  constraint connected_account_failures_check CHECK ((failures >= 0)),
  constraint connected_account_sealed_check CHECK (((sealed IS NULL) = (state = ANY (ARRAY['removed'::text, 'demo'::text])))),
  constraint connected_account_state_check CHECK ((state = ANY (ARRAY['connecting'::text, 'ok'::text, 'limited'::text, 'agreement_required'::text, 'revoked'::text, 'paused'::text, 'removed'::text, 'demo'::text])))
);
CREATE UNIQUE INDEX connected_account_demo_idx ON connected_account USING btree (workspace_id, kind) WHERE (state = 'demo'::text);
CREATE INDEX connected_account_next_idx ON connected_account USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX connected_account_workspace_idx ON connected_account USING btree (workspace_id);

create table delivery (
  id text not null,
  channel_id text not null,
  alert_id bigint not null,
  state text not null,
  attempts integer not null default 0,
  created_at timestamp with time zone not null default now(),
  next_at timestamp with time zone,
  ended_at timestamp with time zone,
  failure text,
  constraint delivery_pkey PRIMARY KEY (id),
  constraint delivery_channel_id_alert_id_key UNIQUE (channel_id, alert_id),
  constraint delivery_alert_id_fkey FOREIGN KEY (alert_id) REFERENCES alert(id) ON DELETE CASCADE,
  constraint delivery_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channel(id) ON DELETE CASCADE,
  constraint delivery_attempts_check CHECK ((attempts >= 0)),
  constraint delivery_check CHECK (((state = 'waiting'::text) = (next_at IS NOT NULL))),
  constraint delivery_check1 CHECK (((state = 'waiting'::text) = (ended_at IS NULL))),
  constraint delivery_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'delivered'::text, 'undelivered'::text])))
);
CREATE INDEX delivery_alert ON delivery USING btree (alert_id, channel_id);
CREATE INDEX delivery_next ON delivery USING btree (channel_id, next_at) WHERE (state = 'waiting'::text);
CREATE INDEX delivery_undelivered ON delivery USING btree (channel_id, ended_at) WHERE (state = 'undelivered'::text);
CREATE INDEX delivery_waiting ON delivery USING btree (channel_id, ((attempts > 0)), alert_id) WHERE (state = 'waiting'::text);

create table developer_shelf (
  platform text not null,
  storefront text not null,
  developer_id text not null,
  source text not null,
  seen_at timestamp with time zone not null,
  complete boolean not null,
  app_ids integer[] not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  constraint developer_shelf_pkey PRIMARY KEY (platform, storefront, developer_id, source),
  constraint developer_shelf_platform_check CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text])))
);

create table due (
  kind text not null,
  platform text not null,
  storefront text not null,
  subject text not null,
  priority smallint not null default 2,
  next_at timestamp with time zone not null default now(),
  failures integer not null default 0,
  failure text,
  failed_at timestamp with time zone,
  measured_at timestamp with time zone,
  lease uuid,
  lease_until timestamp with time zone,
  asked_by integer,
  asked_until timestamp with time zone,
  constraint due_pkey PRIMARY KEY (platform, storefront, subject, kind),
  constraint due_check CHECK (((lease IS NULL) = (lease_until IS NULL))),
  constraint due_check1 CHECK (((failure IS NULL) = (failed_at IS NULL))),
  constraint due_failures_check CHECK ((failures >= 0)),
  constraint due_kind_check CHECK ((kind = ANY (ARRAY['search'::text, 'app'::text, 'hints'::text, 'difficulty'::text, 'canary'::text, 'listing'::text, 'reviews'::text, 'chart'::text, 'chart_apps'::text, 'genres'::text, 'developer'::text, 'app_ads'::text, 'app_names'::text, 'findings'::text]))),
  constraint due_platform_check CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text]))),
  constraint due_priority_check CHECK (((priority >= 0) AND (priority <= 5)))
);
CREATE INDEX due_asked ON due USING btree (asked_by) WHERE (asked_by IS NOT NULL);
CREATE INDEX due_canary ON due USING btree (platform, storefront, subject) WHERE (kind = 'canary'::text);
CREATE INDEX due_keyword ON due USING btree (hashtextextended(subject, hashtextextended(storefront, (0)::bigint))) WHERE (kind = ANY (ARRAY['search'::text, 'hints'::text, 'difficulty'::text]));
CREATE INDEX due_leased ON due USING btree (lease, lease_until) WHERE (lease IS NOT NULL);
CREATE INDEX due_next ON due USING btree (kind, platform, priority, next_at, storefront, subject) WHERE (lease IS NULL);
CREATE INDEX due_storefront ON due USING btree (kind, platform, storefront, priority, next_at, subject) WHERE (lease IS NULL);

create table estimate_due (
  app_id integer not null,
  next_at timestamp with time zone default now(),
  made_at timestamp with time zone,
  wanted_until timestamp with time zone,
  constraint estimate_due_pkey PRIMARY KEY (app_id),
  constraint estimate_due_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id) ON DELETE CASCADE
) with (fillfactor=70);
CREATE INDEX estimate_due_next_idx ON estimate_due USING btree (next_at) WHERE (next_at IS NOT NULL);

create table estimate_grade (
  month date not null,
  app_id integer not null,
  formula smallint not null,
  ratings integer not null,
  storefronts text[] not null,
  value double precision,
  low double precision not null,
  high double precision not null,
  under double precision,
  truth double precision,
  constraint estimate_grade_pkey PRIMARY KEY (month, app_id),
  constraint estimate_grade_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id) ON DELETE CASCADE,
  constraint estimate_grade_check CHECK (((value IS NULL) <> (under IS NULL))),
  constraint estimate_grade_ratings_check CHECK ((ratings >= 0)),
  constraint estimate_grade_truth_check CHECK ((truth >= (0)::double precision)),
  constraint estimate_grade_value_check CHECK ((value > (0)::double precision))
);

create table estimate_month (
  month date not null,
  graded_to integer not null default 0,
  graded_at timestamp with time zone,
  score jsonb,
  calibration jsonb,
  constraint estimate_month_pkey PRIMARY KEY (month)
);

create table export (
  id bigint not null generated always as identity,
  sha256 bytea not null,
  workspace_id integer not null,
  created_at timestamp with time zone not null default now(),
  app_id text not null,
  dataset text not null,
  format text not null,
  platform text not null,
  country text not null,
  from_day date,
  to_day date,
  columns text[] not null,
  rows integer not null,
  constraint export_pkey PRIMARY KEY (id),
  constraint export_sha256_key UNIQUE (sha256),
  constraint export_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint export_check CHECK (((from_day IS NULL) = (to_day IS NULL))),
  constraint export_check1 CHECK ((from_day <= to_day)),
  constraint export_dataset_check CHECK ((dataset = ANY (ARRAY['keywords'::text, 'history'::text, 'reviews'::text]))),
  constraint export_format_check CHECK ((format = ANY (ARRAY['csv'::text, 'json'::text]))),
  constraint export_platform_check CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text]))),
  constraint export_rows_check CHECK ((rows > 0)),
  constraint export_sha256_check CHECK ((length(sha256) = 32))
);
CREATE INDEX export_created ON export USING btree (created_at, id);

create table export_part (
  export_id bigint not null,
  place integer not null,
  lines text not null,
  constraint export_part_pkey PRIMARY KEY (export_id, place),
  constraint export_part_export_id_fkey FOREIGN KEY (export_id) REFERENCES export(id)
);

create table fact_set (
  account_id text not null,
  report text not null,
  about text not null,
  day date not null,
  set_id bigint not null,
  constraint fact_set_pkey PRIMARY KEY (account_id, report, about, day),
  constraint fact_set_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE,
  constraint fact_set_set_id_fkey FOREIGN KEY (set_id) REFERENCES report_set(id)
);
CREATE INDEX fact_set_set_idx ON fact_set USING btree (set_id);

create table figure_due (
  platform text not null,
  storefront text not null,
  kind text not null,
  subject text not null,
  constraint figure_due_pkey PRIMARY KEY (kind, platform, storefront, subject),
  constraint figure_due_kind_check CHECK ((kind = ANY (ARRAY['term'::text, 'hint'::text, 'app'::text, 'name'::text]))),
  constraint figure_due_platform_check CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text])))
);

create view followed_chart (
  id integer,
  storefront text
);

create view funnel_fact (
  account_id text,
  app text,
  report text,
  day date,
  place integer,
  country text,
  came_from text,
  counts_as text,
  count integer
);

create table funnel_fact_row (
  account_id text not null,
  app text not null,
  report text not null,
  day date not null,
  place integer not null,
  country text,
  came_from text not null,
  counts_as text not null,
  count integer not null,
  set_id bigint not null default 0,
  constraint funnel_fact_row_pkey PRIMARY KEY (account_id, app, report, day, set_id, place),
  constraint funnel_fact_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE,
  constraint funnel_fact_counts_as_check CHECK ((counts_as = ANY (ARRAY['impressions'::text, 'pageViews'::text, 'taps'::text, 'firstDownloads'::text, 'redownloads'::text, 'other'::text])))
);
CREATE INDEX funnel_fact_set_idx ON funnel_fact_row USING btree (set_id) WHERE (set_id > 0);

create table genre (
  platform text not null,
  storefront text not null,
  genre text not null,
  name text not null,
  parent text,
  place smallint not null,
  seen_at timestamp with time zone not null,
  source text not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  constraint genre_pkey PRIMARY KEY (platform, storefront, genre),
  constraint genre_platform_check CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text])))
);

create table hint_answer (
  platform text not null,
  storefront text not null,
  prefix text not null,
  day date not null,
  source text not null,
  seen_at timestamp with time zone not null,
  terms text[] not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  constraint hint_answer_pkey PRIMARY KEY (platform, storefront, prefix, day, source),
  constraint hint_answer_platform_check CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text])))
);
CREATE INDEX hint_answer_day ON hint_answer USING btree (day);

create table imported_days (
  app_id text not null,
  platform text not null,
  storefront text not null,
  from_day date not null,
  to_day date not null,
  derived_with jsonb,
  constraint imported_days_pkey PRIMARY KEY (app_id, platform, storefront),
  constraint imported_days_app_id_fkey FOREIGN KEY (app_id) REFERENCES tracked_app(id) ON DELETE CASCADE,
  constraint imported_days_check CHECK ((from_day <= to_day)),
  constraint imported_days_platform_check CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text])))
);

create table instance (
  key text not null,
  value text not null,
  constraint instance_pkey PRIMARY KEY (key)
);

create table instance_alert (
  id bigint not null generated always as identity,
  kind text not null,
  subject text not null,
  detail text not null,
  at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  constraint instance_alert_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX instance_alert_open ON instance_alert USING btree (kind, subject) WHERE (ended_at IS NULL);

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
  account_id text,
  proof_at timestamp with time zone,
  proofs jsonb not null default '[]'::jsonb,
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
  constraint job_check6 CHECK (((proof_at IS NULL) OR (status = 'unknown'::text))),
  constraint job_id_check CHECK ((id ~ '^job_'::text)),
  constraint job_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text, 'failed'::text, 'unknown'::text])))
);
CREATE INDEX job_account ON job USING btree (account_id, created_at) WHERE (account_id IS NOT NULL);
CREATE INDEX job_due ON job USING btree (next_at, id) WHERE (status = 'queued'::text);
CREATE INDEX job_leased ON job USING btree (lease_until, id) WHERE (status = 'running'::text);
CREATE INDEX job_proof ON job USING btree (proof_at, id) WHERE (proof_at IS NOT NULL);
CREATE INDEX job_status ON job USING btree (status, finished_at, id);
CREATE UNIQUE INDEX job_unfinished ON job USING btree (workspace_id, target) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));

create table job_step (
  job_id text not null,
  n smallint not null,
  what text not null,
  change jsonb not null,
  sent_at timestamp with time zone not null default now(),
  answered_at timestamp with time zone,
  outcome text,
  constraint job_step_pkey PRIMARY KEY (job_id, n),
  constraint job_step_job_id_fkey FOREIGN KEY (job_id) REFERENCES job(id) ON DELETE CASCADE,
  constraint job_step_n_check CHECK ((n > 0)),
  constraint job_step_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'refused'::text, 'unsure'::text])))
);

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

create table keyword_metric (
  list_id integer not null,
  metric text not null,
  day date not null,
  source text not null,
  seen_at timestamp with time zone not null,
  score real,
  formula smallint not null,
  parts jsonb not null,
  constraint keyword_metric_pkey PRIMARY KEY (list_id, metric, day, source),
  constraint keyword_metric_list_id_fkey FOREIGN KEY (list_id) REFERENCES list(id),
  constraint keyword_metric_metric_check CHECK ((metric = ANY (ARRAY['popularity'::text, 'difficulty'::text, 'demand'::text, 'hints'::text])))
);
CREATE INDEX keyword_metric_old ON keyword_metric USING btree (day) WHERE (formula > 0);
CREATE INDEX keyword_metric_published ON keyword_metric USING btree (list_id, metric, day) WHERE (formula = 0);

create table keyword_now (
  list_id integer not null,
  demand real,
  demand_day date,
  demand_at timestamp with time zone,
  hints real,
  hints_day date,
  hints_at timestamp with time zone,
  difficulty real,
  difficulty_day date,
  difficulty_at timestamp with time zone,
  estimate real,
  estimate_day date,
  estimate_at timestamp with time zone,
  published real,
  published_day date,
  published_at timestamp with time zone,
  published_by text,
  constraint keyword_now_pkey PRIMARY KEY (list_id),
  constraint keyword_now_list_id_fkey FOREIGN KEY (list_id) REFERENCES list(id),
  constraint keyword_now_check CHECK ((((demand_day IS NULL) = (demand_at IS NULL)) AND ((demand IS NULL) OR (demand_day IS NOT NULL)))),
  constraint keyword_now_check1 CHECK ((((hints_day IS NULL) = (hints_at IS NULL)) AND ((hints IS NULL) OR (hints_day IS NOT NULL)))),
  constraint keyword_now_check2 CHECK ((((difficulty_day IS NULL) = (difficulty_at IS NULL)) AND ((difficulty IS NULL) OR (difficulty_day IS NOT NULL)))),
  constraint keyword_now_check3 CHECK ((((estimate_day IS NULL) = (estimate_at IS NULL)) AND ((estimate IS NULL) OR (estimate_day IS NOT NULL)))),
  constraint keyword_now_check4 CHECK ((((published_day IS NULL) = (published_at IS NULL)) AND ((published_day IS NULL) = (published_by IS NULL)) AND ((published IS NULL) OR (published_day IS NOT NULL))))
) with (fillfactor=70);

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
CREATE INDEX list_beginning ON list USING btree (platform, storefront, term text_pattern_ops);

create table list_month (
  list_id integer not null,
  month date not null,
  sources bytea not null,
  depths bytea not null,
  constraint list_month_pkey PRIMARY KEY (list_id, month),
  constraint list_month_depths_check CHECK ((length(depths) = 31)),
  constraint list_month_sources_check CHECK ((length(sources) = 31))
) partition by RANGE (month);

create table list_now (
  list_id integer not null,
  day date not null,
  seen_at timestamp with time zone not null,
  source smallint not null,
  depth smallint not null,
  popularity smallint,
  popular_until date,
  platform text not null,
  storefront text not null,
  origin text not null default 'own'::text,
  term text collate "C" not null,
  app_ids integer[] not null,
  constraint list_now_pkey PRIMARY KEY (list_id),
  constraint list_now_list_id_fkey FOREIGN KEY (list_id) REFERENCES list(id),
  constraint list_now_check CHECK (((popular_until IS NULL) OR (popularity IS NOT NULL)))
) with (fillfactor=70);
CREATE INDEX list_now_apps ON list_now USING gin (app_ids);
CREATE INDEX list_now_first_ten ON list_now USING gin ((app_ids[1:10])) WITH (gin_pending_list_limit='512');
CREATE INDEX list_now_keyword ON list_now USING btree (hashtextextended(term, hashtextextended(storefront, (0)::bigint)));
CREATE INDEX list_now_shallow ON list_now USING btree (storefront, platform) WHERE ((depth < 10) AND (cardinality(app_ids) >= depth));

create table listing_change (
  app_id integer not null,
  at timestamp with time zone not null,
  storefront text not null,
  source text not null,
  kind text not null,
  subject text not null,
  before jsonb,
  after jsonb,
  before_seen_at timestamp with time zone not null,
  origin text not null,
  constraint listing_change_pkey PRIMARY KEY (app_id, at, storefront, source, kind, subject),
  constraint listing_change_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id),
  constraint listing_change_check CHECK ((before_seen_at < at)),
  constraint listing_change_kind_check CHECK ((kind = ANY (ARRAY['version'::text, 'name'::text, 'subtitle'::text, 'icon'::text, 'price'::text, 'screenshots'::text, 'description'::text, 'promotional_text'::text, 'event_started'::text, 'event_ended'::text, 'featured'::text, 'unfeatured'::text, 'rating_jump'::text, 'ratings_jump'::text])))
);
CREATE INDEX listing_change_of_page ON listing_change USING btree (app_id, storefront, kind, subject, at) WHERE (source = 'apple-app-page'::text);

create table listing_content (
  app_id integer not null,
  storefront text not null,
  source text not null,
  section text not null,
  digest bytea not null,
  content jsonb not null,
  constraint listing_content_pkey PRIMARY KEY (app_id, storefront, source, section, digest),
  constraint listing_content_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id),
  constraint listing_content_digest_check CHECK ((length(digest) = 16)),
  constraint listing_content_section_check CHECK ((section = ANY (ARRAY['page'::text, 'similar'::text, 'developer'::text, 'stale'::text])))
);

create table listing_item (
  app_id integer not null,
  storefront text not null,
  source text not null,
  kind text not null,
  item_id text not null,
  first_seen_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  title text,
  label text,
  text text,
  starts_at timestamp with time zone,
  ends_at timestamp with time zone,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  constraint listing_item_pkey PRIMARY KEY (app_id, storefront, source, kind, item_id),
  constraint listing_item_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id),
  constraint listing_item_kind_check CHECK ((kind = ANY (ARRAY['event'::text, 'story'::text, 'collection'::text])))
);

create table listing_run (
  app_id integer not null,
  storefront text not null,
  source text not null,
  section text not null,
  first_seen_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  moments timestamp with time zone[] not null,
  sha256s bytea[] not null,
  digest bytea not null,
  parser smallint not null,
  origin text not null,
  released_at timestamp with time zone,
  constraint listing_run_pkey PRIMARY KEY (app_id, storefront, source, section, first_seen_at),
  constraint listing_run_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id),
  constraint listing_run_app_id_storefront_source_section_digest_fkey FOREIGN KEY (app_id, storefront, source, section, digest) REFERENCES listing_content(app_id, storefront, source, section, digest),
  constraint listing_run_check CHECK ((cardinality(moments) = cardinality(sha256s))),
  constraint listing_run_check1 CHECK (((first_seen_at = moments[1]) AND (seen_at = moments[cardinality(moments)])))
);

create table listing_translation (
  app_id text not null,
  locale text not null,
  digest text not null,
  begun_at timestamp with time zone not null default now(),
  allowance text not null,
  unit text not null,
  keeps_unit boolean not null,
  constraint listing_translation_pkey PRIMARY KEY (app_id, locale),
  constraint listing_translation_app_id_fkey FOREIGN KEY (app_id) REFERENCES tracked_app(id) ON DELETE CASCADE,
  constraint listing_translation_allowance_check CHECK ((allowance = ANY (ARRAY['listingWrites'::text, 'listingWritesEver'::text])))
);

create table listing_version (
  app_id integer not null,
  storefront text not null,
  source text not null,
  version text not null,
  digest bytea not null,
  released_at timestamp with time zone,
  notes text,
  language text,
  first_seen_at timestamp with time zone not null,
  parser smallint not null,
  origin text not null,
  constraint listing_version_pkey PRIMARY KEY (app_id, storefront, source, version, digest),
  constraint listing_version_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id),
  constraint listing_version_digest_check CHECK ((length(digest) = 16))
);

create table live_share (
  workspace_id integer not null,
  upstream text not null,
  used_until timestamp with time zone not null,
  constraint live_share_pkey PRIMARY KEY (workspace_id, upstream)
);

create table market_app (
  app_id integer not null,
  storefront text not null,
  store_id bigint not null,
  first_day date,
  rank smallint not null,
  free smallint,
  paid smallint,
  grossing smallint,
  ipad smallint,
  downloads double precision,
  downloads_under double precision,
  revenue double precision,
  revenue_under double precision,
  growth double precision,
  genre text,
  by_prior boolean not null,
  revenue_by text,
  constraint market_app_pkey PRIMARY KEY (app_id, storefront),
  constraint market_app_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id)
) with (fillfactor=80);
CREATE INDEX market_app_storefront ON market_app USING btree (storefront);

create table market_fact (
  app_id integer not null,
  storefront text not null,
  source text not null,
  day date not null,
  seen_at timestamp with time zone not null,
  installs bigint,
  has_in_app_purchases boolean,
  in_app_least numeric,
  in_app_most numeric,
  in_app_currency text,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  constraint market_fact_pkey PRIMARY KEY (app_id, storefront, source, day),
  constraint market_fact_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id),
  constraint market_fact_installs_check CHECK ((installs >= 0))
);

create table market_storefront (
  storefront text not null,
  genres text[] not null,
  since date not null,
  constraint market_storefront_pkey PRIMARY KEY (storefront),
  constraint market_storefront_genres_check CHECK ((cardinality(genres) > 0))
);

create view market_subject (
  kind text,
  platform text,
  storefront text,
  subject text
);

create view measured_app (
  id text,
  ios_app integer,
  android_app integer,
  countries text[],
  priority integer,
  created_at timestamp with time zone,
  workspace_id integer
);

create table name_search (
  seen_at timestamp with time zone not null,
  parser smallint not null,
  platform text not null,
  storefront text not null,
  text text not null,
  source text not null,
  origin text not null,
  sha256 bytea not null,
  app_ids integer[] not null,
  constraint name_search_pkey PRIMARY KEY (platform, storefront, text, source),
  constraint name_search_platform_check CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text])))
);
CREATE INDEX name_search_seen ON name_search USING btree (seen_at);

create table oauth_client (
  id text not null,
  name text not null,
  redirect_uris text[] not null,
  created_at timestamp with time zone not null default now(),
  from_sha256 bytea,
  fresh_until timestamp with time zone,
  agreed_at timestamp with time zone,
  constraint oauth_client_pkey PRIMARY KEY (id),
  constraint oauth_client_check CHECK (((from_sha256 IS NULL) <> (fresh_until IS NULL))),
  constraint oauth_client_from_sha256_check CHECK ((length(from_sha256) = 32)),
  constraint oauth_client_id_check CHECK (((length(id) >= 1) AND (length(id) <= 500))),
  constraint oauth_client_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  constraint oauth_client_redirect_uris_check CHECK (((cardinality(redirect_uris) >= 1) AND (cardinality(redirect_uris) <= 20)))
);
CREATE INDEX oauth_client_from ON oauth_client USING btree (from_sha256, created_at) WHERE (from_sha256 IS NOT NULL);
CREATE INDEX oauth_client_unused ON oauth_client USING btree (created_at, id) WHERE (agreed_at IS NULL);

create table oauth_code (
  sha256 bytea not null,
  workspace_id integer not null,
  client_id text not null,
  redirect_uri text not null,
  challenge text not null,
  resource text not null,
  name text not null,
  hint text not null,
  scopes text[] not null,
  app_list text[],
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  key_id integer,
  constraint oauth_code_pkey PRIMARY KEY (sha256),
  constraint oauth_code_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id),
  constraint oauth_code_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint oauth_code_challenge_check CHECK ((length(challenge) = 43)),
  constraint oauth_code_sha256_check CHECK ((length(sha256) = 32))
);
CREATE INDEX oauth_code_expires ON oauth_code USING btree (expires_at, sha256);

create table oauth_grant (
  key_id integer not null,
  client_id text not null,
  resource text not null,
  salt bytea not null,
  ends_at timestamp with time zone not null,
  constraint oauth_grant_pkey PRIMARY KEY (key_id),
  constraint oauth_grant_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id),
  constraint oauth_grant_salt_check CHECK ((length(salt) = 32))
);

create view offer_redemption_fact (
  account_id text,
  day date,
  place integer,
  app text,
  country text,
  product text,
  offer text,
  redemptions integer
);

create table offer_redemption_fact_row (
  account_id text not null,
  day date not null,
  place integer not null,
  app text not null,
  country text not null,
  product text not null,
  offer text not null,
  redemptions integer not null,
  set_id bigint not null default 0,
  constraint offer_redemption_fact_row_pkey PRIMARY KEY (account_id, day, set_id, place),
  constraint offer_redemption_fact_row_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE
);
CREATE INDEX offer_redemption_fact_app_idx ON offer_redemption_fact_row USING btree (account_id, app, day);
CREATE INDEX offer_redemption_fact_set_idx ON offer_redemption_fact_row USING btree (set_id) WHERE (set_id > 0);

create table operator_action (
  id bigint not null generated always as identity,
  at timestamp with time zone not null default now(),
  actor text not null,
  command text not null,
  typed text not null,
  ended_at timestamp with time zone,
  exit_code smallint,
  constraint operator_action_pkey PRIMARY KEY (id),
  constraint operator_action_check CHECK (((ended_at IS NULL) = (exit_code IS NULL)))
);
CREATE INDEX operator_action_at ON operator_action USING btree (at, id);

create table owner_passphrase (
  workspace_id integer not null,
  hashed text not null,
  set_at timestamp with time zone not null default now(),
  constraint owner_passphrase_pkey PRIMARY KEY (workspace_id),
  constraint owner_passphrase_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint owner_passphrase_hashed_check CHECK ((hashed ~~ '$argon2id$%'::text))
);

create table owner_session (
  sha256 bytea not null,
  workspace_id integer not null,
  key_id integer not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint owner_session_pkey PRIMARY KEY (sha256),
  constraint owner_session_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id),
  constraint owner_session_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint owner_session_check CHECK ((expires_at > created_at)),
  constraint owner_session_sha256_check CHECK ((length(sha256) = 32))
);
CREATE INDEX owner_session_expires ON owner_session USING btree (expires_at, sha256);
CREATE INDEX owner_session_workspace ON owner_session USING btree (workspace_id);

create table pace (
  upstream text not null,
  egress text not null,
  next_at timestamp with time zone not null default now(),
  base_gap_ms integer not null,
  gap_ms integer not null,
  refusals integer not null default 0,
  answers integer not null default 0,
  refused_at timestamp with time zone,
  constraint pace_pkey PRIMARY KEY (upstream, egress),
  constraint pace_answers_check CHECK ((answers >= 0)),
  constraint pace_base_gap_ms_check CHECK ((base_gap_ms >= 0)),
  constraint pace_check CHECK ((gap_ms >= base_gap_ms)),
  constraint pace_refusals_check CHECK ((refusals >= 0))
);

create table plan_task (
  app_id text not null,
  task_id text not null,
  platform text not null,
  storefront text not null,
  field text not null,
  current_text text not null,
  proposed_text text not null,
  page_seen_at timestamp with time zone not null,
  keywords jsonb not null,
  expected_value real not null,
  goal text,
  first_told_at timestamp with time zone not null default now(),
  last_told_at timestamp with time zone not null default now(),
  constraint plan_task_pkey PRIMARY KEY (app_id, task_id),
  constraint plan_task_app_id_fkey FOREIGN KEY (app_id) REFERENCES tracked_app(id) ON DELETE CASCADE,
  constraint plan_task_field_check CHECK ((field = ANY (ARRAY['name'::text, 'subtitle'::text]))),
  constraint plan_task_platform_check CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text])))
);

create table price_day (
  account_id text not null,
  app text not null,
  product text not null,
  day date not null,
  sold_as text not null,
  sku text not null,
  name text not null,
  period text,
  source text not null,
  seen_at timestamp with time zone not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  rows jsonb not null,
  constraint price_day_pkey PRIMARY KEY (account_id, app, product, day),
  constraint price_day_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE
);

create table price_period (
  account_id text not null,
  app text not null,
  product text not null,
  country text not null,
  from_day date not null,
  since_known boolean not null,
  currency text,
  price numeric,
  proceeds numeric,
  proceeds_year2 numeric,
  automatic boolean,
  constraint price_period_pkey PRIMARY KEY (account_id, app, product, country, from_day),
  constraint price_period_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE,
  constraint price_period_check CHECK (((price IS NULL) = (currency IS NULL)))
);

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
  parser smallint,
  sha256 bytea,
  stars bigint[],
  constraint rating_count_pkey PRIMARY KEY (app_id, storefront, day, source),
  constraint rating_count_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id),
  constraint rating_count_stars_check CHECK ((cardinality(stars) = 5))
);

create view rating_day (
  app_id integer,
  storefront text,
  quarter date,
  until date,
  day date,
  source text,
  seen_at timestamp with time zone,
  origin text,
  ratings bigint,
  rating real,
  parser smallint,
  sha256 bytea
);

create table rating_quarter (
  app_id integer not null,
  storefront text not null,
  quarter date not null,
  source text not null,
  origin text not null,
  millions integer not null,
  days bigint[] not null,
  constraint rating_quarter_pkey PRIMARY KEY (app_id, storefront, quarter, source, origin, millions),
  constraint rating_quarter_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id),
  constraint rating_quarter_days_check CHECK (((cardinality(days) >= 1) AND (cardinality(days) <= 92))),
  constraint rating_quarter_millions_check CHECK ((millions >= '-1'::integer)),
  constraint rating_quarter_quarter_check CHECK ((quarter = (date_trunc('quarter'::text, (quarter)::timestamp without time zone))::date))
);

create table reader (
  process uuid not null,
  egress text not null,
  reads jsonb not null,
  seen_at timestamp with time zone not null default now(),
  constraint reader_pkey PRIMARY KEY (process)
);

create table refresh_token (
  sha256 bytea not null,
  key_id integer not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint refresh_token_pkey PRIMARY KEY (sha256),
  constraint refresh_token_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id),
  constraint refresh_token_sha256_check CHECK ((length(sha256) = 32))
);
CREATE INDEX refresh_token_expires ON refresh_token USING btree (expires_at, sha256);

create table report_day (
  account_id text not null,
  report text not null,
  day date not null,
  digest bytea not null,
  source text not null,
  seen_at timestamp with time zone not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  rows jsonb,
  pieces bigint,
  units jsonb,
  constraint report_day_pkey PRIMARY KEY (account_id, report, day, digest),
  constraint report_day_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE,
  constraint report_day_pieces_fkey FOREIGN KEY (pieces) REFERENCES report_set(id),
  constraint report_day_rows_check CHECK (((rows IS NULL) <> (pieces IS NULL)))
);
CREATE INDEX report_day_pieces_idx ON report_day USING btree (pieces) WHERE (pieces IS NOT NULL);
CREATE INDEX report_day_said ON report_day USING btree (account_id, report, day) INCLUDE (seen_at);

create table report_piece (
  set_id bigint not null,
  place integer not null,
  rows jsonb not null,
  constraint report_piece_pkey PRIMARY KEY (set_id, place),
  constraint report_piece_set_id_fkey FOREIGN KEY (set_id) REFERENCES report_set(id) ON DELETE CASCADE
);

create table report_set (
  id bigint not null generated always as identity,
  account_id text not null,
  holds text not null,
  begun_at timestamp with time zone not null default now(),
  constraint report_set_pkey PRIMARY KEY (id),
  constraint report_set_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE
);
CREATE INDEX report_set_account_idx ON report_set USING btree (account_id);

create view review (
  app_id integer,
  feed text,
  review_id text,
  stars smallint,
  title text,
  text text,
  version text,
  at timestamp with time zone,
  first_seen_at timestamp with time zone,
  seen_at timestamp with time zone,
  source text,
  parser smallint,
  origin text,
  sha256 bytea
);

create table review_day (
  app_id integer not null,
  feed text not null,
  day date not null,
  reviews integer not null,
  oldest_at timestamp with time zone not null,
  oldest_first_seen_at timestamp with time zone not null,
  first_seen_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  gap_seen_at timestamp with time zone,
  versions text[] not null,
  stars smallint[] not null,
  counts integer[] not null,
  constraint review_day_pkey PRIMARY KEY (app_id, feed, day),
  constraint review_day_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id),
  constraint review_day_check CHECK (((cardinality(versions) = cardinality(counts)) AND (cardinality(stars) = cardinality(counts)))),
  constraint review_day_reviews_check CHECK ((reviews > 0))
) with (fillfactor=70);

create table review_feed (
  app_id integer not null,
  feed text not null,
  read_at timestamp with time zone,
  complete boolean not null,
  empty boolean not null,
  complete_at timestamp with time zone,
  constraint review_feed_pkey PRIMARY KEY (app_id, feed),
  constraint review_feed_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id),
  constraint review_feed_check CHECK (((read_at IS NOT NULL) OR (NOT (complete OR empty OR (complete_at IS NOT NULL)))))
) with (fillfactor=70);

create table review_read (
  app_id integer not null,
  feed text not null,
  source text not null,
  complete boolean not null,
  seen_at timestamp with time zone not null,
  pages smallint not null,
  empty boolean not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  constraint review_read_pkey PRIMARY KEY (app_id, feed, source, complete),
  constraint review_read_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id),
  constraint review_read_check CHECK ((complete OR (NOT empty))),
  constraint review_read_pages_check CHECK ((pages > 0))
);

create table review_version (
  app_id integer not null,
  feed text not null,
  review_id text not null,
  digest bytea not null,
  current boolean not null,
  stars smallint not null,
  title text,
  text text not null,
  version text,
  at timestamp with time zone not null,
  first_seen_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  source text not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  folded text,
  constraint review_version_pkey PRIMARY KEY (app_id, feed, review_id, digest),
  constraint review_version_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id),
  constraint review_version_digest_check CHECK ((length(digest) = 16)),
  constraint review_version_stars_check CHECK (((stars >= 1) AND (stars <= 5)))
);
CREATE INDEX review_app_version ON review_version USING btree (app_id, feed, version, at DESC, review_id) WHERE current;
CREATE UNIQUE INDEX review_current ON review_version USING btree (app_id, feed, review_id) WHERE current;
CREATE INDEX review_newest ON review_version USING btree (app_id, feed, at DESC, review_id) WHERE current;
CREATE INDEX review_stars ON review_version USING btree (app_id, feed, stars, at DESC, review_id) WHERE current;

create view sales_fact (
  account_id text,
  day date,
  place integer,
  app text,
  country text,
  product text,
  title text,
  counts_as text,
  units integer,
  refunds integer,
  currency text,
  gross numeric,
  proceeds_currency text,
  proceeds numeric,
  free_units integer,
  refunded numeric
);

create table sales_fact_row (
  account_id text not null,
  day date not null,
  place integer not null,
  app text not null,
  country text not null,
  product text not null,
  title text not null,
  counts_as text not null,
  units integer not null,
  refunds integer not null,
  currency text not null,
  gross numeric not null,
  proceeds_currency text not null,
  proceeds numeric not null,
  free_units integer,
  refunded numeric,
  set_id bigint not null default 0,
  constraint sales_fact_row_pkey PRIMARY KEY (account_id, day, set_id, place),
  constraint sales_fact_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE,
  constraint sales_fact_counts_as_check CHECK ((counts_as = ANY (ARRAY['download'::text, 'redownload'::text, 'update'::text, 'purchase'::text, 'subscription'::text, 'other'::text])))
);
CREATE INDEX sales_fact_app_idx ON sales_fact_row USING btree (account_id, app, day);
CREATE INDEX sales_fact_set_idx ON sales_fact_row USING btree (set_id) WHERE (set_id > 0);

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

create table secret_try (
  sha256 bytea not null,
  tries integer not null,
  counts_until timestamp with time zone not null,
  free_at timestamp with time zone not null default now(),
  constraint secret_try_pkey PRIMARY KEY (sha256),
  constraint secret_try_sha256_check CHECK ((length(sha256) = 32)),
  constraint secret_try_tries_check CHECK ((tries >= 0))
);
CREATE INDEX secret_try_over ON secret_try USING btree (counts_until, sha256);

create table share_link (
  sha256 bytea not null,
  workspace_id integer not null,
  app_id text not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  password text,
  content jsonb not null,
  constraint share_link_pkey PRIMARY KEY (sha256),
  constraint share_link_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint share_link_check CHECK ((expires_at > created_at)),
  constraint share_link_content_check CHECK ((length((content)::text) <= 1000000)),
  constraint share_link_password_check CHECK ((password ~~ '$argon2id$%'::text)),
  constraint share_link_sha256_check CHECK ((length(sha256) = 32))
);
CREATE INDEX share_link_expires ON share_link USING btree (expires_at, sha256);
CREATE INDEX share_link_workspace ON share_link USING btree (workspace_id, expires_at);

create table sign_in_code (
  sha256 bytea not null,
  workspace_id integer not null,
  expires_at timestamp with time zone not null,
  constraint sign_in_code_pkey PRIMARY KEY (sha256),
  constraint sign_in_code_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint sign_in_code_sha256_check CHECK ((length(sha256) = 32))
);
CREATE INDEX sign_in_code_expires ON sign_in_code USING btree (expires_at, sha256);

create table source_hour (
  source text not null,
  hour timestamp with time zone not null,
  answered integer not null default 0,
  failed integer not null default 0,
  constraint source_hour_pkey PRIMARY KEY (source, hour),
  constraint source_hour_answered_check CHECK ((answered >= 0)),
  constraint source_hour_failed_check CHECK ((failed >= 0))
);

create table source_state (
  source text not null,
  answered_at timestamp with time zone,
  failed_at timestamp with time zone,
  failure text,
  detail text,
  failures integer not null default 0,
  unparsed integer not null default 0,
  refused_since timestamp with time zone,
  mismatched integer not null default 0,
  constraint source_state_pkey PRIMARY KEY (source),
  constraint source_state_failures_check CHECK ((failures >= 0)),
  constraint source_state_mismatched_check CHECK ((mismatched >= 0)),
  constraint source_state_unparsed_check CHECK ((unparsed >= 0))
);

create table store_app (
  id integer not null generated always as identity,
  platform text not null,
  store_id text not null,
  developer text,
  bundle_id text,
  seen_at timestamp with time zone,
  source text,
  origin text,
  genre text,
  developer_id text,
  developer_site text,
  genres text[],
  constraint store_app_pkey PRIMARY KEY (id),
  constraint store_app_platform_store_id_key UNIQUE (platform, store_id),
  constraint store_app_genres_check CHECK (((cardinality(genres) >= 1) AND (cardinality(genres) <= 20))),
  constraint store_app_platform_check CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text])))
);
CREATE INDEX store_app_bundle ON store_app USING btree (bundle_id, id) WHERE ((platform = 'ios'::text) AND (bundle_id IS NOT NULL));
CREATE INDEX store_app_developer ON store_app USING btree (platform, developer_id) WHERE (developer_id IS NOT NULL);

create table store_app_name (
  app_id integer not null,
  name_weight integer,
  icon_weight integer,
  name_at timestamp with time zone,
  icon_at timestamp with time zone,
  storefront text not null,
  name text,
  icon_url text,
  origin text not null,
  constraint store_app_name_pkey PRIMARY KEY (app_id, storefront),
  constraint store_app_name_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id) ON DELETE CASCADE,
  constraint store_app_name_check CHECK (((name IS NOT NULL) OR (icon_url IS NOT NULL))),
  constraint store_app_name_check1 CHECK ((((name IS NULL) = (name_at IS NULL)) AND ((name IS NULL) = (name_weight IS NULL)))),
  constraint store_app_name_check2 CHECK ((((icon_url IS NULL) = (icon_at IS NULL)) AND ((icon_url IS NULL) = (icon_weight IS NULL))))
) with (fillfactor=70);

create table storefront_audit (
  app_id integer not null,
  started_at timestamp with time zone not null default now(),
  storefronts text[] not null,
  priority smallint not null,
  finished_at timestamp with time zone,
  failed boolean not null default false,
  rows jsonb,
  constraint storefront_audit_pkey PRIMARY KEY (app_id, started_at),
  constraint storefront_audit_app_id_fkey FOREIGN KEY (app_id) REFERENCES store_app(id) ON DELETE CASCADE,
  constraint storefront_audit_check CHECK (((finished_at IS NULL) = (rows IS NULL))),
  constraint storefront_audit_check1 CHECK (((NOT failed) OR (finished_at IS NOT NULL))),
  constraint storefront_audit_priority_check CHECK ((priority = ANY (ARRAY[1, 2])))
);
CREATE UNIQUE INDEX storefront_audit_running ON storefront_audit USING btree (app_id) WHERE (finished_at IS NULL);

create view subscription_event_fact (
  account_id text,
  day date,
  place integer,
  app text,
  country text,
  product text,
  event text,
  counts_as text,
  quantity integer
);

create table subscription_event_fact_row (
  account_id text not null,
  day date not null,
  place integer not null,
  app text not null,
  country text not null,
  product text not null,
  event text not null,
  counts_as text not null,
  quantity integer not null,
  set_id bigint not null default 0,
  constraint subscription_event_fact_row_pkey PRIMARY KEY (account_id, day, set_id, place),
  constraint subscription_event_fact_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE
);
CREATE INDEX subscription_event_fact_app_idx ON subscription_event_fact_row USING btree (account_id, app, day);
CREATE INDEX subscription_event_fact_set_idx ON subscription_event_fact_row USING btree (set_id) WHERE (set_id > 0);

create view subscription_stock_fact (
  account_id text,
  day date,
  place integer,
  app text,
  country text,
  product text,
  active integer,
  trials integer,
  grace integer,
  retry integer,
  offers integer
);

create table subscription_stock_fact_row (
  account_id text not null,
  day date not null,
  place integer not null,
  app text not null,
  country text not null,
  product text not null,
  active integer not null,
  trials integer not null,
  grace integer not null,
  retry integer not null,
  offers integer not null,
  set_id bigint not null default 0,
  constraint subscription_stock_fact_row_pkey PRIMARY KEY (account_id, day, set_id, place),
  constraint subscription_stock_fact_account_id_fkey FOREIGN KEY (account_id) REFERENCES connected_account(id) ON DELETE CASCADE
);
CREATE INDEX subscription_stock_fact_app_idx ON subscription_stock_fact_row USING btree (account_id, app, day);
CREATE INDEX subscription_stock_fact_set_idx ON subscription_stock_fact_row USING btree (set_id) WHERE (set_id > 0);

create table tool_question (
  id text not null,
  key_id integer not null,
  asked_at timestamp with time zone not null default now(),
  answer text,
  constraint tool_question_pkey PRIMARY KEY (id),
  constraint tool_question_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id) ON DELETE CASCADE,
  constraint tool_question_answer_check CHECK ((answer = ANY (ARRAY['accept'::text, 'decline'::text, 'cancel'::text])))
);
CREATE INDEX tool_question_asked ON tool_question USING btree (asked_at);

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
  hidden_rivals text[],
  constraint tracked_app_pkey PRIMARY KEY (id),
  constraint tracked_app_android_app_fkey FOREIGN KEY (android_app) REFERENCES store_app(id),
  constraint tracked_app_ios_app_fkey FOREIGN KEY (ios_app) REFERENCES store_app(id),
  constraint tracked_app_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id),
  constraint tracked_app_check CHECK (((ios_app IS NOT NULL) OR (android_app IS NOT NULL))),
  constraint tracked_app_check1 CHECK ((NOT (manual_rivals && hidden_rivals))),
  constraint tracked_app_countries_check CHECK ((cardinality(countries) > 0)),
  constraint tracked_app_goal_check CHECK ((goal = ANY (ARRAY['downloads'::text, 'rank'::text, 'revenue'::text]))),
  constraint tracked_app_id_check CHECK ((id !~ ':'::text))
);
CREATE INDEX tracked_app_android ON tracked_app USING btree (android_app);
CREATE INDEX tracked_app_ios ON tracked_app USING btree (ios_app);
CREATE INDEX tracked_app_manual_rivals ON tracked_app USING gin (manual_rivals);
CREATE INDEX tracked_app_workspace ON tracked_app USING btree (workspace_id, created_at, id);

create view tracked_subject (
  kind text,
  platform text,
  storefront text,
  subject text,
  priority integer,
  app_id text,
  tracked_since timestamp with time zone,
  workspace_id integer
);

create table tracked_term (
  app_id text not null,
  country text not null,
  term text not null,
  "position" integer not null,
  added_at timestamp with time zone not null default now(),
  constraint tracked_term_pkey PRIMARY KEY (app_id, country, term),
  constraint tracked_term_app_id_fkey FOREIGN KEY (app_id) REFERENCES tracked_app(id) ON DELETE CASCADE
);
CREATE INDEX tracked_term_term ON tracked_term USING btree (country, term text_pattern_ops);

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
  approve_outside text[] not null default '{}'::text[],
  asking_approves boolean not null default false,
  constraint workspace_pkey PRIMARY KEY (id),
  constraint workspace_plan_check CHECK ((plan = ANY (ARRAY['free'::text, 'pro'::text, 'studio'::text, 'enterprise'::text])))
);
CREATE UNIQUE INDEX workspace_name ON workspace USING btree (name) WHERE (deleted_at IS NULL);

create table writer_day (
  day date not null,
  input bigint not null,
  output bigint not null,
  constraint writer_day_pkey PRIMARY KEY (day),
  constraint writer_day_input_check CHECK ((input >= 0)),
  constraint writer_day_output_check CHECK ((output >= 0))
);

create table writer_text (
  kind text not null,
  digest text not null,
  created_at timestamp with time zone not null default now(),
  lease uuid,
  lease_until timestamp with time zone,
  value jsonb,
  model text,
  version smallint,
  made_at timestamp with time zone,
  failure text,
  retry_after integer,
  answer bytea,
  checks smallint,
  constraint writer_text_pkey PRIMARY KEY (kind, digest),
  constraint writer_text_answer_check CHECK ((octet_length(answer) = 32)),
  constraint writer_text_check CHECK (((lease IS NULL) = (lease_until IS NULL))),
  constraint writer_text_check1 CHECK ((((value IS NULL) = (made_at IS NULL)) AND ((value IS NULL) OR ((model IS NOT NULL) AND (version IS NOT NULL))))),
  constraint writer_text_failure_check CHECK ((failure = ANY (ARRAY['off'::text, 'spent'::text, 'busy'::text, 'unusable'::text])))
);
CREATE INDEX writer_text_created ON writer_text USING btree (created_at);
CREATE INDEX writer_text_lease ON writer_text USING btree (lease) WHERE (lease IS NOT NULL);

create function allowance_period(what text) returns TABLE(period date, resets_at timestamp with time zone) language sql stable as $$
  select case when what = 'listingWritesEver' then date '0001-01-01' else p.began::date end,
    case when what <> 'listingWritesEver' then (p.began + ('1 ' || u.length)::interval) at time zone 'utc' end
  from (select case when what in ('hive', 'measurements') then 'day' else 'month' end as length) u
  cross join lateral (select date_trunc(u.length, now() at time zone 'utc') as began) p
$$;

create function balance(a account, k key_month) returns TABLE(month date, resets_at timestamp with time zone, used bigint, from_pack bigint, monthly bigint, pack bigint, remaining bigint, total bigint, key_used bigint, budget bigint) language sql stable as $$
  select m.month, (m.month + interval '1 month') at time zone 'utc',
    u.used, u.from_pack, q.monthly, a.pack, q.monthly + a.pack, u.used + q.monthly + a.pack,
    case when k.month < m.month then 0 else k.used end, k.budget
  -- greatest: a transaction that began before the turn of the month must not turn an account back
  from (select greatest(a.month, date_trunc('month', now() at time zone 'utc')::date) as month) m
  cross join lateral (
    select case when a.month < m.month then 0 else a.used end as used,
      case when a.month < m.month then 0 else a.from_pack end as from_pack
  ) u
  -- greatest: a quota that was lowered below what was used leaves nothing of itself, and the packs untouched
  cross join lateral (select greatest(0, a.quota - (u.used - u.from_pack)) as monthly) q
$$;

create function charge(dues jsonb, waits boolean) returns TABLE(place integer, refused text, resets_at timestamp with time zone, used bigint, pack bigint, remaining bigint, total bigint, key_used bigint, budget bigint) language plpgsql as $$
#variable_conflict use_column
declare
  owing int[] := array(select distinct workspace_id from jsonb_to_recordset(dues) d (workspace_id int));
  held int[];
  decided int;
begin
  if waits then
    perform from account where workspace_id = any(owing) order by workspace_id for update;
  end if;
  held := array(
    select workspace_id from account where workspace_id = any(owing) order by workspace_id for update skip locked
  );
  -- a statement of its own: it reads what was committed while a lock was waited for
  return query
    with decided as materialized (
      select * from spend(dues, held)
    ), charged_accounts as (
      update account a
      set month = d.month, used = d.used, from_pack = d.from_pack, pack = d.pack
      from (
        select distinct on (workspace_id) *
        from decided
        where refused is null
        order by workspace_id, used desc
      ) d
      where a.workspace_id = d.workspace_id
    ), charged_keys as (
      update key_month k
      set month = d.month, used = d.key_used
      from (
        select distinct on (key_id) *
        from decided
        where refused is null
        order by key_id, key_used desc
      ) d
      where k.key_id = d.key_id
    ), entries as (
      insert into ledger (month, workspace_id, key_id, operation, cost, from_pack, request_id)
      select month, workspace_id, key_id, operation, cost, of_pack, request_id
      from decided
      where refused is null
      order by place
    )
    select place, refused, resets_at, used, pack, remaining, total, key_used, budget
    from decided;
  get diagnostics decided = row_count;
  if waits and decided < jsonb_array_length(dues) then
    raise no_data_found using message = 'no such account or key';
  end if;
end $$;

create function claim_due(lane_upstream text, lane_egress text, kinds text[], platforms text[], storefronts text[], togethers integer[], beyond integer, lease_for interval) returns TABLE(kind text, platform text, storefront text, subject text, priority integer, lease uuid, claimed_at timestamp with time zone) language plpgsql set plan_cache_mode=force_generic_plan set enable_seqscan=off set enable_bitmapscan=off as $$
#variable_conflict use_column
declare
  gap int;
begin
  if lane_upstream is not null then
    select p.gap_ms into gap
    from pace p
    where p.upstream = lane_upstream and p.egress = lane_egress and p.next_at <= now()
    for update skip locked;
    if not found then return; end if;
  end if;

  return query
  with head as materialized (
    select f.kind, f.platform, f.storefront, k.together
    from unnest(kinds, platforms, storefronts, togethers) k (kind, platform, storefront, together)
    cross join (values (0), (1), (2), (3), (4), (5)) c (priority)
    cross join lateral (
      (
        select kind, platform, storefront, subject, priority, next_at
        from due
        where k.storefront is null and kind = k.kind and platform = k.platform and priority = c.priority
          and lease is null and next_at <= now()
        order by next_at, storefront, subject
        limit 1
      )
      union all
      (
        select kind, platform, storefront, subject, priority, next_at
        from due
        where kind = k.kind and platform = k.platform and storefront = k.storefront and priority = c.priority
          and lease is null and next_at <= now()
        order by next_at, subject
        limit 1
      )
    ) f
    order by f.priority, case when f.kind = 'app' and f.priority = 5 then exists (
      select
      from due
      where kind = 'chart' and platform = f.platform and storefront = f.storefront and priority = f.priority
        and lease is null and next_at <= now()
      offset 0
    ) else false end, f.next_at, f.kind, f.platform, f.storefront, f.subject
    limit 1
  ), near as materialized (
    select d.*, coalesce(d.asked_until > now(), false) or d.kind = 'canary' or exists (
      select
      from tracked_subject s
      where s.kind = d.kind and s.platform = d.platform and s.storefront = d.storefront and s.subject = d.subject
      -- looked up for each: hashed, all that is tracked was read
      offset 0
    ) as wanted
    from (
      select d.*
      from head h
      cross join (values (0), (1), (2), (3), (4), (5)) c (priority)
      cross join lateral (
        select kind, platform, storefront, subject, priority, next_at, asked_until
        from due
        where kind = h.kind and platform = h.platform and storefront = h.storefront and priority = c.priority
          and lease is null and next_at <= now()
        order by next_at, subject
        limit h.together + beyond
      ) d
      order by d.priority, d.next_at, d.subject
      limit (select together + beyond from head)
    ) d
  ), chosen as materialized (
    select d.kind, d.platform, d.storefront, d.subject
    from near n
    join due d using (kind, platform, storefront, subject)
    where n.wanted and d.lease is null and d.next_at <= now()
    order by n.priority, n.next_at, n.subject
    limit (select together from head)
    for update of d skip locked
  ), fresh as materialized (
    select gen_random_uuid() as lease
  ), leased as (
    update due d
    set lease = f.lease, lease_until = now() + lease_for
    from chosen c, fresh f
    where d.kind = c.kind and d.platform = c.platform and d.storefront = c.storefront and d.subject = c.subject
    returning d.kind, d.platform, d.storefront, d.subject, d.priority, d.lease
  ), moved as (
    update pace p
    set next_at = now() + gap * interval '1 millisecond'
    where p.upstream = lane_upstream and p.egress = lane_egress and exists (select from chosen)
  )
  select l.kind, l.platform, l.storefront, l.subject, l.priority::int, l.lease, now()
  from leased l
  union all
  select n.kind, n.platform, n.storefront, n.subject, n.priority::int, null, now()
  from near n
  where not n.wanted
  order by 1, 2, 3, 4;
end $$;

create function follow_changed_app() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, priority)
  select kind, platform, storefront, subject, min(priority)
  from tracked_subject
  where app_id = new.id and kind <> 'difficulty'
  group by kind, platform, storefront, subject
  order by kind, platform, storefront, subject
  on conflict (kind, platform, storefront, subject) do update
  set priority = excluded.priority
  where due.priority > excluded.priority;
  return null;
end $$;

create function follow_charted() returns trigger language plpgsql as $$
begin
  if not exists (
    select
    from (select distinct chart_id from placed) p
    join followed_chart c on c.id = p.chart_id
  ) then
    return null;
  end if;
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, priority)
  select distinct 'app', 'ios', c.storefront, s.store_id, 5
  from placed p
  join followed_chart c on c.id = p.chart_id
  cross join lateral (
    select store_id
    from store_app
    where id = p.app_id
    -- looked up for each: a plan for few was kept for all, or all were read
    offset 0
  ) s
  order by 3, 4
  on conflict (kind, platform, storefront, subject) do nothing;
  return null;
end $$;

create function follow_known_app() returns trigger language plpgsql as $$
begin
  -- a chart tells this of 200 apps at once, of which hardly one is tracked
  if not exists (select from tracked_app where ios_app = new.id) then return null; end if;
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, priority)
  select s.kind, s.platform, s.storefront, s.subject, min(s.priority)
  from tracked_app a
  cross join lateral (
    select kind, platform, storefront, subject, priority
    from tracked_subject
    where app_id = a.id and kind in ('chart', 'developer')
    offset 0
  ) s
  where a.ios_app = new.id
  group by s.kind, s.platform, s.storefront, s.subject
  order by s.kind, s.platform, s.storefront, s.subject
  on conflict (kind, platform, storefront, subject) do nothing;
  return null;
end $$;

create function follow_market() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, priority)
  select s.kind, s.platform, s.storefront, s.subject, 5
  from followed f
  join market_subject s on s.storefront = f.storefront
  where s.kind <> 'app'
  union
  select 'app', 'ios', c.storefront, s.store_id, 5
  from followed f
  join followed_chart c on c.storefront = f.storefront
  join chart_place p on p.chart_id = c.id
  join store_app s on s.id = p.app_id
  order by 1, 2, 3, 4
  on conflict (kind, platform, storefront, subject) do nothing;
  return null;
end $$;

create function follow_rivals() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, priority)
  select k.kind, s.platform, f.storefront, s.store_id, min(case k.kind when 'listing' then 3 else a.priority end)
  from followed f
  join measured_app a on a.id = f.app_id
  join store_app s on s.id = f.rival
  cross join (values ('app'), ('listing')) k (kind)
  where k.kind = 'app' or s.platform = 'ios'
  group by k.kind, s.platform, f.storefront, s.store_id
  order by k.kind, s.platform, f.storefront, s.store_id
  on conflict (kind, platform, storefront, subject) do nothing;
  return null;
end $$;

create function follow_tracked_apps() returns trigger language plpgsql as $$
declare
  kinds text[];
  platforms text[];
  storefronts text[];
  subjects text[];
  priorities int[];
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  select array_agg(kind), array_agg(platform), array_agg(storefront), array_agg(subject), array_agg(priority)
  into kinds, platforms, storefronts, subjects, priorities
  from (
    select s.kind, s.platform, s.storefront, s.subject, min(s.priority) as priority
    from tracked t
    cross join lateral (
      select kind, platform, storefront, subject, priority
      from tracked_subject
      where app_id = t.id and kind not in ('search', 'hints', 'difficulty')
      offset 0
    ) s
    group by s.kind, s.platform, s.storefront, s.subject
    order by s.kind, s.platform, s.storefront, s.subject
  ) s;
  insert into due (kind, platform, storefront, subject, priority)
  select *
  from unnest(kinds, platforms, storefronts, subjects, priorities)
  on conflict (kind, platform, storefront, subject) do nothing;
  -- findings that are due already are not locked: the lists of the app's terms are locked later, and findings after them
  update due d
  set priority = s.priority
  from unnest(kinds, platforms, storefronts, subjects, priorities) s (kind, platform, storefront, subject, priority)
  where d.kind = s.kind and d.platform = s.platform and d.storefront = s.storefront and d.subject = s.subject
    and s.kind <> 'findings' and d.priority > s.priority;
  return null;
end $$;

create function follow_tracked_terms() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, priority)
  select k.kind, p.platform, t.country, t.term, min(a.priority)
  from tracked t
  join measured_app a on a.id = t.app_id
  cross join (values ('search'), ('hints')) k (kind)
  cross join lateral (values ('ios', a.ios_app), ('android', a.android_app)) p (platform, store_app)
  where p.store_app is not null
  group by k.kind, p.platform, t.country, t.term
  order by k.kind, p.platform, t.country, t.term
  on conflict (kind, platform, storefront, subject) do update
  set priority = excluded.priority
  where due.priority > excluded.priority;
  return null;
end $$;

create function follow_workspace() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, priority)
  select kind, platform, storefront, subject, min(priority)
  from tracked_subject
  where workspace_id = new.id and kind <> 'difficulty'
  group by kind, platform, storefront, subject
  order by kind, platform, storefront, subject
  on conflict (kind, platform, storefront, subject) do update
  set priority = excluded.priority
  where due.priority > excluded.priority;
  return null;
end $$;

create function forget_scanned() returns trigger language plpgsql as $$
begin
  if not pg_try_advisory_xact_lock(hashtextextended('tracking followed', 0)) then return null; end if;
  with untracked as materialized (
    select d.ctid
    from store_app s
    cross join unnest(new.storefronts) c (storefront)
    join due d on d.kind = 'listing' and d.platform = s.platform and d.storefront = c.storefront
      and d.subject = s.store_id
    where s.id = new.app_id and d.lease is null and d.priority > 0
      and not exists (
        select
        from tracked_subject t
        where t.kind = 'listing' and t.platform = d.platform and t.storefront = d.storefront and t.subject = d.subject
        offset 0
      )
    order by d.storefront
    for update of d skip locked
  )
  delete from due
  where ctid = any(array(select ctid from untracked));
  return null;
end $$;

create function forget_untracked(k text, p text, s text, subjects text[]) returns integer language plpgsql as $$
declare
  gone int;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('tracking followed', 0)) then return 0; end if;
  with untracked as materialized (
    select d.ctid
    from due d
    where d.kind = k and d.platform = p and d.storefront = s and d.subject = any(subjects)
      and d.lease is null and (d.asked_until is null or d.asked_until <= now()) and d.kind <> 'canary'
      and not exists (
        select
        from tracked_subject t
        where t.kind = d.kind and t.platform = d.platform and t.storefront = d.storefront and t.subject = d.subject
        -- looked up for each: joined, all that is tracked was read (1 s at 10,000 terms before there were statistics)
        offset 0
      )
    order by d.subject
    for update of d skip locked
  )
  delete from due
  where ctid = any(array(select ctid from untracked));
  get diagnostics gone = row_count;
  return gone;
end $$;

create function give_back_allowance(w integer, what text, about text, request text) returns boolean language plpgsql as $$
declare
  counted date;
begin
  perform pg_advisory_xact_lock(hashtextextended('allowance ' || w || ' ' || what, 0));
  update allowance_unit
  set requests = array_remove(requests, request)
  where workspace_id = w and allowance = what and subject = about and request = any(requests);
  delete from allowance_unit
  where workspace_id = w and allowance = what and subject = about and (request is null or cardinality(requests) = 0)
  returning period into counted;
  if counted is null then return false; end if;
  update allowance_used
  set used = used - 1
  where workspace_id = w and allowance = what and period = counted;
  return true;
end $$;

create function open_month(any_day date) returns void language plpgsql as $$
declare
  first_day date := date_trunc('month', any_day);
  parent text;
  part text;
begin
  perform pg_advisory_xact_lock(hashtextextended('open_month', 0));
  foreach parent in array array['search_results', 'rank_month', 'list_month', 'chart_results'] loop
    part := parent || to_char(first_day, '_YYYY_MM');
    continue when to_regclass(part) is not null;
    execute format('create table %I (like %I including all) with (fillfactor = %s)',
      part, parent, case when parent in ('search_results', 'chart_results') then 100 else 50 end);
    execute format('alter table %I attach partition %I for values from (%L) to (%L)',
      parent, part, first_day, (first_day + interval '1 month')::date);
  end loop;
end $$;

create function queue_found_alerts() returns trigger language plpgsql as $$
begin
  insert into alert_to_deliver (alert_id)
  select f.id
  from found f
  where f.origin = 'own' and not f.history
    and exists (select from alert_rule r where r.workspace_id = f.workspace_id and r.type = f.type)
  order by f.id;
  return null;
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

create function said_rows(said jsonb, pieces bigint) returns TABLE(item jsonb, place bigint) language sql stable as $$
  select e.row, e.place
  from jsonb_array_elements(said) with ordinality e (row, place)
  union all
  select e.row, p.place + e.place
  from report_piece p
  cross join lateral jsonb_array_elements(p.rows) with ordinality e (row, place)
  where p.set_id = pieces
$$;

create function scan_storefronts() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, priority)
  select 'listing', s.platform, c.storefront, s.store_id, new.priority
  from store_app s
  cross join unnest(new.storefronts) c (storefront)
  where s.id = new.app_id and c.storefront not in (
    select e.storefront
    from storefront_evidence(new.app_id, new.storefronts, new.started_at - interval '12 hours') e
  )
  order by c.storefront
  on conflict (kind, platform, storefront, subject) do update
  set priority = least(due.priority, excluded.priority),
    next_at = case tg_op when 'INSERT' then least(due.next_at, excluded.next_at) else due.next_at end
  where due.lease is null;
  return null;
end $$;

create function settle_allowance(w integer, what text) returns void language sql as $$
  with abandoned as (
    delete from allowance_unit
    where workspace_id = w and allowance = what and not answered and opened_at < now() - interval '10 minutes'
    returning period
  )
  update allowance_used u
  set used = u.used - a.units
  from (select period, count(*)::int as units from abandoned group by period) a
  where u.workspace_id = w and u.allowance = what and u.period = a.period
$$;

create function spend(dues jsonb, held integer[]) returns TABLE(place integer, workspace_id integer, key_id integer, cost integer, operation text, request_id text, of_pack integer, refused text, month date, resets_at timestamp with time zone, used bigint, from_pack bigint, pack bigint, remaining bigint, total bigint, key_used bigint, budget bigint) language plpgsql stable as $$
#variable_conflict use_column
declare
  due record;
  monthly bigint;
begin
  for due in
    with ordered as materialized (
      select d.*
      from rows from (
        jsonb_to_recordset(dues) as (workspace_id int, key_id int, cost int, operation text, request_id text)
      ) with ordinality d (workspace_id, key_id, cost, operation, request_id, place)
      where d.workspace_id = any(held)
    -- each account is read once, however many dues it has: a row that is updated often is slow to read
    ), balances as materialized (
      select k.workspace_id, k.key_id, b.*
      from (select distinct workspace_id, key_id from ordered) o
      join account a on a.workspace_id = o.workspace_id
      join key_month k on k.key_id = o.key_id and k.workspace_id = o.workspace_id
      cross join lateral balance(a, k) b
    )
    select o.place::int, o.cost, o.operation, o.request_id, b.*
    from ordered o
    join balances b using (workspace_id, key_id)
    order by o.workspace_id, o.key_id, o.place
  loop
    place := due.place;
    cost := due.cost;
    operation := due.operation;
    request_id := due.request_id;
    if workspace_id is distinct from due.workspace_id then
      workspace_id := due.workspace_id;
      month := due.month;
      resets_at := due.resets_at;
      used := due.used;
      from_pack := due.from_pack;
      monthly := due.monthly;
      pack := due.pack;
      total := due.total;
    end if;
    if key_id is distinct from due.key_id then
      key_id := due.key_id;
      key_used := due.key_used;
      budget := due.budget;
    end if;

    of_pack := greatest(0, cost - monthly);
    refused := case
      when key_used + cost > budget then 'key_budget_reached'
      when of_pack > pack then 'credits_exhausted'
    end;
    if refused is null then
      monthly := monthly - (cost - of_pack);
      pack := pack - of_pack;
      used := used + cost;
      from_pack := from_pack + of_pack;
      key_used := key_used + cost;
    end if;
    remaining := monthly + pack;
    return next;
  end loop;
end $$;

create function storefront_evidence(app integer, places text[], since timestamp with time zone) returns TABLE(storefront text, sold boolean, seen_at timestamp with time zone) language sql stable as $$
  select p.storefront, e.sold, e.seen_at
  from store_app a
  cross join unnest(places) p (storefront)
  cross join lateral (
    select w.sold, w.seen_at
    from (
      (
        select true as sold, r.seen_at, r.seen_at > since as counts
        from listing_run r
        where r.app_id = app and r.storefront = p.storefront and r.source = 'apple-app-page' and r.section = 'page'
        order by r.first_seen_at desc
        limit 1
      )
      union all
      (
        select false, t.at, true
        from attempt t
        where t.kind = 'listing' and t.subject = a.store_id and t.storefront = p.storefront and t.platform = 'ios'
          and t.source = 'apple-app-page' and t.at > since and t.outcome = 'not_found'
        order by t.at desc
        limit 1
      )
      union all
      select false, f.seen_at, f.seen_at > since - interval '60 hours'
      from app_storefront f
      where f.app_id = app and f.storefront = p.storefront and f.source = 'itunes-lookup' and not f.available
    ) w
    where w.counts
    order by w.seen_at desc, w.sold desc
    limit 1
  ) e
  where a.id = app
$$;

create function take_allowance(wanted jsonb, waits boolean) returns TABLE(place integer, granted integer, used integer, resets_at timestamp with time zone, open_until timestamp with time zone) language plpgsql as $$
#variable_conflict use_column
declare
  owners text[] := array(
    select distinct workspace_id || ' ' || allowance
    from jsonb_to_recordset(wanted) r (workspace_id int, allowance text)
    order by 1
  );
  held text[];
  want record;
  unit allowance_unit;
begin
  -- no row lock: at the turn of a period two calls would lock two rows
  if waits then
    perform pg_advisory_xact_lock(hashtextextended('allowance ' || o, 0)) from unnest(owners) o;
  end if;
  held := array(
    select o from unnest(owners) o where pg_try_advisory_xact_lock(hashtextextended('allowance ' || o, 0))
  );
  for want in
    select r.*, p.period, p.resets_at
    from rows from (
      jsonb_to_recordset(wanted) as (
        workspace_id int, allowance text, most bigint, count int, subject text, days int, request_id text
      )
    ) with ordinality r (workspace_id, allowance, most, count, subject, days, request_id, place)
    cross join lateral allowance_period(r.allowance) p
    where r.workspace_id || ' ' || r.allowance = any(held)
    order by r.workspace_id, r.allowance, r.place
  loop
    place := want.place;
    resets_at := want.resets_at;
    open_until := null;
    unit := null;
    if want.subject is not null then
      perform settle_allowance(want.workspace_id, want.allowance);
      select * into unit
      from allowance_unit u
      where u.workspace_id = want.workspace_id and u.allowance = want.allowance and u.subject = want.subject;
    end if;
    used := coalesce((
      select u.used
      from allowance_used u
      where u.workspace_id = want.workspace_id and u.allowance = want.allowance and u.period = want.period
    ), 0);

    if unit.open_until > now() then
      granted := want.count;
      open_until := unit.open_until;
      -- `requests` lists who may still give the unit back. Null: it stays.
      if not want.request_id = any(unit.requests) then
        update allowance_unit u
        set requests = case
          when unit.opened_at >= now() - interval '10 minutes' and cardinality(unit.requests) < 500
            then unit.requests || want.request_id
        end
        where u.workspace_id = want.workspace_id and u.allowance = want.allowance and u.subject = want.subject;
      end if;
      return next;
      continue;
    end if;

    granted := greatest(0, least(want.count, want.most - used));
    used := used + granted;
    if granted > 0 then
      insert into allowance_used (workspace_id, allowance, period, used)
      values (want.workspace_id, want.allowance, want.period, used)
      on conflict (workspace_id, allowance, period) do update
      set used = excluded.used;
    end if;
    if granted > 0 and want.subject is not null then
      open_until := now() + want.days * interval '1 day';
      insert into allowance_unit (workspace_id, allowance, subject, period, open_until, requests)
      values (want.workspace_id, want.allowance, want.subject, want.period, open_until, array[want.request_id])
      on conflict (workspace_id, allowance, subject) do update
      set period = excluded.period, opened_at = excluded.opened_at, open_until = excluded.open_until,
        requests = excluded.requests, answered = false;
    end if;
    return next;
  end loop;
end $$;

create function unfollow_left() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('findings ' || new.id || ' ' || p.platform || ' ' || c.storefront, 0))
  from (values ('android'), ('ios')) p (platform)
  cross join lateral unnest(old.countries) c (storefront)
  order by p.platform, c.storefront;
  delete from app_rival r
  where r.app_id = new.id
    and (
      r.storefront <> all(new.countries)
      or case r.platform when 'ios' then new.ios_app else new.android_app end is null
    );
  return null;
end $$;

CREATE TRIGGER alerts_are_delivered AFTER INSERT ON alert REFERENCING NEW TABLE AS found FOR EACH STATEMENT EXECUTE FUNCTION queue_found_alerts();

CREATE TRIGGER rivals_are_due AFTER INSERT ON app_rival REFERENCING NEW TABLE AS followed FOR EACH STATEMENT EXECUTE FUNCTION follow_rivals();

CREATE TRIGGER audit_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER audit_kept_a_year BEFORE DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_young();

CREATE TRIGGER follow_held_places AFTER UPDATE ON chart_place REFERENCING NEW TABLE AS placed FOR EACH STATEMENT EXECUTE FUNCTION follow_charted();

CREATE TRIGGER follow_new_places AFTER INSERT ON chart_place REFERENCING NEW TABLE AS placed FOR EACH STATEMENT EXECUTE FUNCTION follow_charted();

CREATE TRIGGER job_failed AFTER UPDATE OF status ON job FOR EACH ROW WHEN ((new.status = 'failed'::text)) EXECUTE FUNCTION refund_failed_job();

CREATE TRIGGER follow_changed_market AFTER UPDATE ON market_storefront REFERENCING NEW TABLE AS followed FOR EACH STATEMENT EXECUTE FUNCTION follow_market();

CREATE TRIGGER follow_new_market AFTER INSERT ON market_storefront REFERENCING NEW TABLE AS followed FOR EACH STATEMENT EXECUTE FUNCTION follow_market();

CREATE TRIGGER known_apps_are_due AFTER UPDATE OF genre, developer_id ON store_app FOR EACH ROW WHEN ((((new.genre IS DISTINCT FROM old.genre) OR (new.developer_id IS DISTINCT FROM old.developer_id)) AND (new.platform = 'ios'::text))) EXECUTE FUNCTION follow_known_app();

CREATE TRIGGER scans_are_due AFTER INSERT OR UPDATE OF priority ON storefront_audit FOR EACH ROW EXECUTE FUNCTION scan_storefronts();

CREATE TRIGGER scans_are_over AFTER UPDATE OF finished_at ON storefront_audit FOR EACH ROW WHEN (((old.finished_at IS NULL) AND (new.finished_at IS NOT NULL))) EXECUTE FUNCTION forget_scanned();

CREATE TRIGGER apps_leave_rivals AFTER UPDATE OF countries, ios_app, android_app ON tracked_app FOR EACH ROW WHEN ((((new.countries IS DISTINCT FROM old.countries) OR (new.ios_app IS DISTINCT FROM old.ios_app)) OR (new.android_app IS DISTINCT FROM old.android_app))) EXECUTE FUNCTION unfollow_left();

CREATE TRIGGER changed_apps_are_due AFTER UPDATE OF countries, ios_app, android_app, origin ON tracked_app FOR EACH ROW WHEN (((((new.countries IS DISTINCT FROM old.countries) OR (new.ios_app IS DISTINCT FROM old.ios_app)) OR (new.android_app IS DISTINCT FROM old.android_app)) OR (new.origin IS DISTINCT FROM old.origin))) EXECUTE FUNCTION follow_changed_app();

CREATE TRIGGER tracked_apps_are_due AFTER INSERT ON tracked_app REFERENCING NEW TABLE AS tracked FOR EACH STATEMENT EXECUTE FUNCTION follow_tracked_apps();

CREATE TRIGGER tracked_terms_are_due AFTER INSERT ON tracked_term REFERENCING NEW TABLE AS tracked FOR EACH STATEMENT EXECUTE FUNCTION follow_tracked_terms();

CREATE TRIGGER workspaces_come_back AFTER UPDATE OF suspended_at ON workspace FOR EACH ROW WHEN (((old.suspended_at IS NOT NULL) AND (new.suspended_at IS NULL))) EXECUTE FUNCTION follow_workspace();
