-- Generated from sql/; UPDATE=1 bun test test/database/schema.test.ts writes it.

create table access_token (
  sha256 bytea not null,
  key_id integer not null,
  resource text not null,
  scopes text[] not null,
  expires_at timestamp with time zone not null,
  constraint access_token_pkey primary key (sha256),
  constraint access_token_key_id_fkey foreign key (key_id) references api_key(id),
  constraint access_token_sha256_check check ((length(sha256) = 32))
);
create index access_token_expires on access_token using btree (expires_at, sha256);

create table account (
  workspace_id integer not null,
  month date not null,
  used bigint not null default 0,
  from_pack bigint not null default 0,
  quota bigint not null,
  pack bigint not null default 0,
  pack_bought_at timestamp with time zone,
  constraint account_pkey primary key (workspace_id),
  constraint account_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint account_from_pack_check check (((from_pack >= 0) and (from_pack <= used))),
  constraint account_pack_check check ((pack >= 0)),
  constraint account_quota_check check ((quota >= 0)),
  constraint account_used_check check ((used >= 0))
);

create table account_app (
  account_id text not null,
  outside_id text not null,
  sku text not null,
  name text not null,
  bundle_id text not null,
  app_id text,
  by_hand boolean not null default false,
  constraint account_app_pkey primary key (account_id, outside_id),
  constraint account_app_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade,
  constraint account_app_app_id_fkey foreign key (app_id) references tracked_app(id) on delete set null
);
create index account_app_app_idx on account_app using btree (app_id) where (app_id is not null);

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
  constraint account_offer_pkey primary key (account_id, app, product, kind, offer),
  constraint account_offer_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade,
  constraint account_offer_kind_check check ((kind = any (array['introductory'::text, 'promotional'::text, 'code'::text])))
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
  constraint account_product_pkey primary key (account_id, app, product),
  constraint account_product_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade,
  constraint account_product_sold_as_check check ((sold_as = any (array['app'::text, 'purchase'::text, 'subscription'::text])))
);

create table account_right (
  account_id text not null,
  name text not null,
  state text not null,
  why text,
  seen_at timestamp with time zone not null default now(),
  constraint account_right_pkey primary key (account_id, name),
  constraint account_right_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade,
  constraint account_right_state_check check ((state = any (array['ok'::text, 'denied'::text, 'unknown'::text])))
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
  constraint account_task_pkey primary key (account_id, task, subject),
  constraint account_task_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade,
  constraint account_task_state_check check ((state = any (array['due'::text, 'read'::text, 'empty'::text, 'late'::text, 'denied'::text, 'gone'::text, 'not_requested'::text, 'stopped'::text])))
);
create index account_task_next_idx on account_task using btree (account_id, next_at) where (next_at is not null);

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
  constraint ads_campaign_row_pkey primary key (account_id, campaign, set_id),
  constraint ads_campaign_row_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade
);
create index ads_campaign_app_idx on ads_campaign_row using btree (account_id, app);
create index ads_campaign_set_idx on ads_campaign_row using btree (set_id) where (set_id > 0);

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
  constraint ads_change_fact_row_pkey primary key (account_id, day, set_id, place),
  constraint ads_change_fact_row_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade,
  constraint ads_change_fact_row_changed_by_check check ((changed_by = any (array['dashboard'::text, 'api'::text, 'apple'::text, 'other'::text])))
);
create index ads_change_fact_at_idx on ads_change_fact_row using btree (account_id, campaign, at desc);
create index ads_change_fact_set_idx on ads_change_fact_row using btree (set_id) where (set_id > 0);

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
  constraint ads_day_fact_row_pkey primary key (account_id, campaign, day, set_id, place),
  constraint ads_day_fact_row_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade
);
create index ads_day_fact_set_idx on ads_day_fact_row using btree (set_id) where (set_id > 0);

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
  constraint ads_report_pkey primary key (account_id, report, about, day, digest),
  constraint ads_report_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade,
  constraint ads_report_pieces_fkey foreign key (pieces) references report_set(id),
  constraint ads_report_rows_check check (((rows is null) <> (pieces is null)))
);
create index ads_report_pieces_idx on ads_report using btree (pieces) where (pieces is not null);
create index ads_report_seen_idx on ads_report using btree (seen_at);

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
  constraint ads_term_fact_row_pkey primary key (account_id, campaign, set_id, place),
  constraint ads_term_fact_row_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade
);
create index ads_term_fact_set_idx on ads_term_fact_row using btree (set_id) where (set_id > 0);

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
  constraint ads_term_popularity_row_pkey primary key (account_id, country, term, genre, set_id),
  constraint ads_term_popularity_row_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade
);
create index ads_term_popularity_rank_idx on ads_term_popularity_row using btree (account_id, country, genre, rank);
create index ads_term_popularity_set_idx on ads_term_popularity_row using btree (set_id) where (set_id > 0);

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
  constraint ads_thing_row_pkey primary key (account_id, campaign, thing, id, set_id),
  constraint ads_thing_row_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade,
  constraint ads_thing_row_thing_check check ((thing = any (array['group'::text, 'keyword'::text, 'negative'::text])))
);
create index ads_thing_set_idx on ads_thing_row using btree (set_id) where (set_id > 0);

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
  constraint ai_check_pkey primary key (id),
  constraint ai_check_app_id_fkey foreign key (app_id) references tracked_app(id) on delete cascade,
  constraint ai_check_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint ai_check_outcome_check check ((outcome = any (array['measured'::text, 'failed'::text]))),
  constraint ai_check_outcome_when_ended check (((ended_at is null) = (outcome is null)))
);
create index ai_check_app on ai_check using btree (app_id, began_at);
create index ai_check_began on ai_check using btree (began_at);
create unique index ai_check_running on ai_check using btree (app_id) where (ended_at is null);

create table ai_check_turn (
  check_id text not null,
  turn_id bigint not null,
  shared boolean not null,
  constraint ai_check_turn_pkey primary key (check_id, turn_id),
  constraint ai_check_turn_check_id_fkey foreign key (check_id) references ai_check(id) on delete cascade,
  constraint ai_check_turn_turn_id_fkey foreign key (turn_id) references assistant_turn(id) on delete cascade
);
create index ai_check_turn_turn on ai_check_turn using btree (turn_id);

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
  history boolean not null default false,
  read_at timestamp with time zone,
  withdrawn_at timestamp with time zone,
  constraint alert_pkey primary key (id),
  constraint alert_natural_key unique nulls not distinct (workspace_id, app_id, type, platform, storefront, subject, day),
  constraint alert_app_id_fkey foreign key (app_id) references tracked_app(id) on delete cascade,
  constraint alert_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint alert_platform_check check ((platform = any (array['ios'::text, 'android'::text]))),
  constraint alert_type_check check ((type = any (array['dropped_out'::text, 'rank_drop'::text, 'rank_rise'::text, 'entered'::text, 'rival_passed'::text, 'rival_beaten'::text, 'rival_event'::text, 'asa_rule'::text, 'chart_drop'::text, 'chart_enter'::text, 'featured'::text, 'review_wave'::text, 'ai_mention_lost'::text, 'off_topic'::text, 'weekly'::text, 'discovery'::text, 'ads_fee'::text])))
);
create index alert_at on alert using btree (at, id);
create index alert_feed on alert using btree (workspace_id, at desc, id desc);
create index alert_found on alert using btree (workspace_id, found_at desc, id desc) where (not history);
create index alert_of_app on alert using btree (app_id, at desc, id desc);
create index alert_read on alert using btree (workspace_id, at desc, id desc) where (read_at is not null);
create index alert_unread on alert using btree (workspace_id, app_id) where (read_at is null);

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
  constraint alert_rule_pkey primary key (workspace_id, type),
  constraint alert_rule_created_by_fkey foreign key (created_by) references api_key(id),
  constraint alert_rule_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint alert_rule_channels_check check ((channels <@ array['telegram'::text, 'slack'::text, 'webhook'::text, 'ntfy'::text, 'discord'::text, 'teams'::text, 'email'::text])),
  constraint alert_rule_drop_by_check check (((drop_by >= 3) and (drop_by <= 50))),
  constraint alert_rule_drop_by_only_for_rank_drop check (((drop_by is not null) = (type = 'rank_drop'::text))),
  constraint alert_rule_keyword_scope_check check ((keyword_scope = any (array['all'::text, 'tagged'::text]))),
  constraint alert_rule_rival_scope_check check ((rival_scope = any (array['all'::text, 'manual'::text]))),
  constraint alert_rule_type_check check ((type = any (array['dropped_out'::text, 'rank_drop'::text, 'rank_rise'::text, 'entered'::text, 'rival_passed'::text, 'rival_beaten'::text, 'rival_event'::text, 'asa_rule'::text, 'chart_drop'::text, 'chart_enter'::text, 'featured'::text, 'review_wave'::text, 'ai_mention_lost'::text, 'off_topic'::text, 'weekly'::text])))
);

create table alert_to_deliver (
  alert_id bigint not null,
  constraint alert_to_deliver_pkey primary key (alert_id),
  constraint alert_to_deliver_alert_id_fkey foreign key (alert_id) references alert(id) on delete cascade
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
  constraint allowance_unit_pkey primary key (workspace_id, allowance, subject),
  constraint allowance_unit_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint allowance_unit_open_until_check check ((open_until >= opened_at))
);

create table allowance_used (
  workspace_id integer not null,
  allowance text not null,
  period date not null,
  used integer not null,
  constraint allowance_used_pkey primary key (workspace_id, allowance, period),
  constraint allowance_used_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint allowance_used_allowance_check check ((allowance = any (array['discovery'::text, 'aiQuestions'::text, 'reviewAi'::text, 'aiWriting'::text, 'aiVisibility'::text, 'spy'::text, 'listingWrites'::text, 'listingWritesEver'::text, 'hive'::text, 'measurements'::text]))),
  constraint allowance_used_used_check check ((used >= 0))
) with (fillfactor=50);
create index allowance_used_daily on allowance_used using btree (period, workspace_id) where (allowance = any (array['hive'::text, 'measurements'::text]));

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
  constraint analytics_day_pkey primary key (account_id, app, report, day, processed),
  constraint analytics_day_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade,
  constraint analytics_day_pieces_fkey foreign key (pieces) references report_set(id),
  constraint analytics_day_rows_check check (((rows is null) <> (pieces is null)))
);
create index analytics_day_pieces_idx on analytics_day using btree (pieces) where (pieces is not null);

create table analytics_instance (
  account_id text not null,
  app text not null,
  report text not null,
  processed date not null,
  instance text not null,
  read_at timestamp with time zone,
  constraint analytics_instance_pkey primary key (account_id, app, report, processed),
  constraint analytics_instance_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade
);

create table answered_country (
  upstream text not null,
  egress text not null,
  asked text not null,
  answered text not null,
  reads bigint not null default 1,
  first_at timestamp with time zone not null,
  last_at timestamp with time zone not null,
  constraint answered_country_pkey primary key (upstream, egress, asked, answered),
  constraint answered_country_reads_check check ((reads > 0))
);

create table api_key (
  id integer not null generated always as identity,
  workspace_id integer not null,
  person_id integer,
  kind text not null,
  name text not null,
  secret_sha256 bytea,
  hint text not null,
  scopes text[] not null,
  ip_allow_list text[],
  app_list text[],
  approve_outside text[] not null default '{}'::text[],
  expires_at timestamp with time zone,
  paused_at timestamp with time zone,
  revoked_at timestamp with time zone,
  leaked_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  constraint api_key_pkey primary key (id),
  constraint api_key_secret_sha256_key unique (secret_sha256),
  constraint api_key_person_id_fkey foreign key (person_id) references person(id),
  constraint api_key_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint api_key_kind_check check ((kind = any (array['live'::text, 'test'::text, 'grant'::text]))),
  constraint api_key_secret_check check (((kind = 'grant'::text) = (secret_sha256 is null)))
);
create index api_key_person on api_key using btree (person_id, workspace_id) where (person_id is not null);
create index api_key_workspace on api_key using btree (workspace_id, id);

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
  constraint app_ads_pkey primary key (app_id, day),
  constraint app_ads_app_id_fkey foreign key (app_id) references store_app(id),
  constraint app_ads_state_check check ((state = any (array['records'::text, 'no_file'::text, 'no_site'::text, 'unreachable'::text])))
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
  genre text,
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
  revenue_by text,
  revenue_markets smallint,
  growth double precision,
  growth_low double precision,
  growth_high double precision,
  constraint app_estimate_pkey primary key (app_id),
  constraint app_estimate_app_id_fkey foreign key (app_id) references store_app(id) on delete cascade,
  constraint app_estimate_basis_check check ((basis = any (array['measured'::text, 'own'::text, 'genre'::text, 'prior'::text]))),
  constraint app_estimate_downloads_check check ((downloads >= (0)::double precision)),
  constraint app_estimate_downloads_interval_check check ((((downloads is null) = (downloads_low is null)) and ((downloads is null) = (downloads_high is null)))),
  constraint app_estimate_downloads_or_bound_check check (((downloads is null) or (downloads_under is null))),
  constraint app_estimate_downloads_under_check check ((downloads_under > (0)::double precision)),
  constraint app_estimate_growth_interval_check check ((((growth is null) = (growth_low is null)) and ((growth is null) = (growth_high is null)))),
  constraint app_estimate_markets_check check ((markets >= 0)),
  constraint app_estimate_revenue_by_check check ((revenue_by = any (array['price'::text, 'place'::text]))),
  constraint app_estimate_revenue_check check ((revenue >= (0)::double precision)),
  constraint app_estimate_revenue_interval_check check ((((revenue is null) = (revenue_low is null)) and ((revenue is null) = (revenue_high is null)))),
  constraint app_estimate_revenue_or_bound_check check (((revenue is null) or (revenue_under is null))),
  constraint app_estimate_revenue_under_check check ((revenue_under > (0)::double precision))
);
create index app_estimate_version_idx on app_estimate using btree (version, app_id);

create table app_first_seen (
  app_id integer not null,
  storefront text not null,
  day date not null,
  baseline boolean not null,
  chart_id integer not null,
  constraint app_first_seen_pkey primary key (app_id, storefront),
  constraint app_first_seen_app_id_fkey foreign key (app_id) references store_app(id),
  constraint app_first_seen_chart_id_fkey foreign key (chart_id) references chart(id)
);
create index app_first_seen_new on app_first_seen using btree (storefront, day) where (not baseline);

create table app_rival (
  app_id text not null,
  platform text not null,
  storefront text not null,
  rival integer not null,
  manual boolean not null,
  terms integer not null,
  day date,
  constraint app_rival_pkey primary key (app_id, platform, storefront, rival),
  constraint app_rival_app_id_fkey foreign key (app_id) references tracked_app(id) on delete cascade,
  constraint app_rival_rival_fkey foreign key (rival) references store_app(id),
  constraint app_rival_platform_check check ((platform = any (array['ios'::text, 'android'::text]))),
  constraint app_rival_terms_check check ((terms >= 0))
);
create index app_rival_rival on app_rival using btree (rival, storefront);

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
  languages text[],
  size_bytes bigint,
  newest_release timestamp with time zone,
  newest_release_seen_at timestamp with time zone,
  stale_at timestamp with time zone,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  constraint app_storefront_pkey primary key (app_id, storefront, source),
  constraint app_storefront_app_id_fkey foreign key (app_id) references store_app(id)
);

create table app_text (
  app_id integer not null,
  formula smallint not null,
  folded text collate "C" not null,
  grams integer[] not null,
  constraint app_text_pkey primary key (app_id),
  constraint app_text_app_id_fkey foreign key (app_id) references store_app(id) on delete cascade
);
create index app_text_grams on app_text using gin (grams) with (gin_pending_list_limit='512');

create table approval (
  id text not null,
  token_sha256 bytea not null,
  workspace_id integer not null,
  shown jsonb not null,
  scope text not null,
  created_at timestamp with time zone not null default now(),
  verdict text,
  decided_by text,
  decided_at timestamp with time zone,
  constraint approval_pkey primary key (id),
  constraint approval_token_sha256_key unique (token_sha256),
  constraint approval_token_sha256_fkey foreign key (token_sha256) references confirm_token(sha256) on delete cascade,
  constraint approval_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint approval_decided_at_check check (((verdict is null) = (decided_at is null))),
  constraint approval_decided_by_check check (((verdict is null) = (decided_by is null))),
  constraint approval_id_check check ((id ~ '^ap_'::text)),
  constraint approval_verdict_check check ((verdict = any (array['approved'::text, 'declined'::text])))
);
create index approval_workspace on approval using btree (workspace_id, created_at, id);

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
  constraint assistant_answer_pkey primary key (storefront, term, source, model, phrasing, run, seen_at),
  constraint assistant_answer_source_check check ((source = any (array['openai'::text, 'anthropic'::text, 'google'::text, 'perplexity'::text])))
);
create index assistant_answer_day on assistant_answer using btree (day);

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
  constraint assistant_turn_pkey primary key (id),
  constraint assistant_turn_answered_at_check check (((state = 'answered'::text) = (answered_at is not null))),
  constraint assistant_turn_assistant_check check ((assistant = any (array['openai'::text, 'anthropic'::text, 'google'::text, 'perplexity'::text]))),
  constraint assistant_turn_ended_at_check check (((state = 'due'::text) = (ended_at is null))),
  constraint assistant_turn_lease_check check (((lease is null) = (lease_until is null))),
  constraint assistant_turn_state_check check ((state = any (array['due'::text, 'answered'::text, 'failed'::text])))
);
create index assistant_turn_answered on assistant_turn using btree (storefront, term, assistant, model, phrasing, run, answered_at) where (state = 'answered'::text);
create unique index assistant_turn_due on assistant_turn using btree (storefront, term, assistant, model, phrasing, run) where (state = 'due'::text);
create index assistant_turn_ended on assistant_turn using btree (ended_at);
create index assistant_turn_next on assistant_turn using btree (assistant, next_at) where (state = 'due'::text);

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
  constraint attempt_pkey primary key (id),
  constraint attempt_natural_key unique (kind, subject, storefront, platform, source, at),
  constraint attempt_outcome_check check ((outcome = any (array['blocked'::text, 'rate_limited'::text, 'not_found'::text, 'changed'::text, 'mismatched'::text, 'failed'::text])))
);
create index attempt_at on attempt using btree (at, id);

create table audit (
  id bigint not null generated always as identity,
  at timestamp with time zone not null default now(),
  workspace_id integer not null,
  key_id integer not null,
  request_id text not null,
  action text not null,
  scope text not null,
  target text not null,
  app_id text,
  args jsonb not null,
  preview jsonb not null,
  credits integer not null,
  result jsonb,
  job_id text,
  approved_by text,
  constraint audit_pkey primary key (id)
);
create index audit_at on audit using btree (at, id);
create index audit_workspace on audit using btree (workspace_id, at, id);

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
  quantity integer not null default 1,
  offer text,
  source text not null,
  seen_at timestamp with time zone not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  constraint billing_event_pkey primary key (account_id, event_id),
  constraint billing_event_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade
);
create index billing_event_happened_idx on billing_event using btree (account_id, happened_at);
create index billing_event_play_idx on billing_event using btree (account_id, seen_at) where (store = 'play_store'::text);
create index billing_event_seen_idx on billing_event using btree (account_id, seen_at);

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
  constraint billing_metric_day_pkey primary key (account_id, day),
  constraint billing_metric_day_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade
);

create table channel (
  id text not null,
  workspace_id integer not null,
  kind text not null,
  shown text not null,
  person_id integer,
  sealed text not null,
  sealed_earlier text,
  earlier_until timestamp with time zone,
  moved_from text,
  moved_at timestamp with time zone,
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
  constraint channel_pkey primary key (id),
  constraint channel_person_id_shown_fkey foreign key (person_id, shown) references mail_address(person_id, address) on update cascade on delete cascade,
  constraint channel_person_id_workspace_id_fkey foreign key (person_id, workspace_id) references membership(person_id, workspace_id) on delete cascade,
  constraint channel_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint channel_disabled_at_check check (((disabled is null) = (disabled_at is null))),
  constraint channel_earlier_until_check check (((sealed_earlier is null) = (earlier_until is null))),
  constraint channel_failures_check check ((failures >= 0)),
  constraint channel_kind_check check ((kind = any (array['telegram'::text, 'slack'::text, 'webhook'::text, 'ntfy'::text, 'discord'::text, 'teams'::text, 'email'::text]))),
  constraint channel_lease_check check (((lease is null) = (lease_until is null))),
  constraint channel_moved_check check (((moved_from is null) = (moved_at is null))),
  constraint channel_person_id_check check (((kind = 'email'::text) = (person_id is not null)))
);
create index channel_due on channel using btree (next_at, id) where ((next_at is not null) and (disabled is null));
create index channel_person on channel using btree (person_id, workspace_id) where (person_id is not null);
create index channel_workspace on channel using btree (workspace_id, created_at, id);

create table chart (
  id integer not null generated always as identity,
  platform text not null,
  storefront text not null,
  device text not null,
  chart text not null,
  genre text not null,
  first_day date,
  last_day date,
  constraint chart_pkey primary key (id),
  constraint chart_natural_key unique (platform, storefront, device, chart, genre),
  constraint chart_chart_check check ((chart = any (array['free'::text, 'paid'::text, 'grossing'::text]))),
  constraint chart_device_check check ((device = any (array['iphone'::text, 'ipad'::text]))),
  constraint chart_platform_check check ((platform = any (array['ios'::text, 'android'::text])))
);

create table chart_first_seen (
  app_id integer not null,
  chart_id integer not null,
  day date not null,
  constraint chart_first_seen_pkey primary key (app_id, chart_id),
  constraint chart_first_seen_app_id_fkey foreign key (app_id) references store_app(id),
  constraint chart_first_seen_chart_id_fkey foreign key (chart_id) references chart(id)
);
create index chart_first_seen_day on chart_first_seen using btree (chart_id, day);

create table chart_now (
  chart_id integer not null,
  day date not null,
  source smallint not null,
  depth smallint not null,
  seen_at timestamp with time zone not null,
  constraint chart_now_pkey primary key (chart_id),
  constraint chart_now_chart_id_fkey foreign key (chart_id) references chart(id)
) with (fillfactor=50);

create table chart_place (
  app_id integer not null,
  chart_id integer not null,
  rank smallint not null,
  day date not null,
  constraint chart_place_pkey primary key (app_id, chart_id),
  constraint chart_place_app_id_fkey foreign key (app_id) references store_app(id),
  constraint chart_place_chart_id_fkey foreign key (chart_id) references chart(id),
  constraint chart_place_rank_check check ((rank > 0))
) with (fillfactor=70);
create index chart_place_chart on chart_place using btree (chart_id);

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
  constraint chart_results_pkey primary key (chart_id, day, source, seen_at),
  constraint chart_results_chart_id_fkey foreign key (chart_id) references chart(id),
  constraint chart_results_depth_check check (((depth >= 0) and (depth <= 1000)))
) partition by range (day);

create table confirm_token (
  sha256 bytea not null,
  workspace_id integer not null,
  key_id integer not null,
  action text not null,
  args jsonb not null,
  seen text not null,
  created_at timestamp with time zone not null default now(),
  used_at timestamp with time zone,
  constraint confirm_token_pkey primary key (sha256),
  constraint confirm_token_key_id_fkey foreign key (key_id) references api_key(id),
  constraint confirm_token_workspace_id_fkey foreign key (workspace_id) references workspace(id)
);
create index confirm_token_created on confirm_token using btree (created_at);
create index confirm_token_key on confirm_token using btree (key_id, created_at);

create table connected_account (
  id text not null,
  workspace_id integer not null,
  kind text not null,
  shown text not null,
  part text not null,
  zone text,
  currency text,
  sealed text,
  writes boolean not null default false,
  sealed_write text,
  shown_write text,
  write_limits jsonb not null default '{}'::jsonb,
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
  report_versions jsonb not null default '{}'::jsonb,
  constraint connected_account_pkey primary key (id),
  constraint connected_account_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint connected_account_demo_check check (((state <> 'demo'::text) or ((next_at is null) and (not writes)))),
  constraint connected_account_failures_check check ((failures >= 0)),
  constraint connected_account_lease_check check (((lease is null) = (lease_until is null))),
  constraint connected_account_sealed_check check (((sealed is null) = (state = any (array['removed'::text, 'demo'::text])))),
  constraint connected_account_shown_write_check check (((sealed_write is null) = (shown_write is null))),
  constraint connected_account_state_check check ((state = any (array['connecting'::text, 'ok'::text, 'limited'::text, 'agreement_required'::text, 'revoked'::text, 'paused'::text, 'removed'::text, 'demo'::text]))),
  constraint connected_account_write_key_needs_read_key check (((sealed_write is null) or (sealed is not null)))
);
create unique index connected_account_demo_idx on connected_account using btree (workspace_id, kind) where (state = 'demo'::text);
create index connected_account_next_idx on connected_account using btree (next_at) where (next_at is not null);
create index connected_account_workspace_idx on connected_account using btree (workspace_id);

create table console_review (
  account_id text not null,
  app_id integer not null,
  review_id text not null,
  at timestamp with time zone not null,
  language text,
  version text,
  version_code bigint,
  device text,
  android_api integer,
  reply text,
  reply_at timestamp with time zone,
  source text not null,
  seen_at timestamp with time zone not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  constraint console_review_pkey primary key (account_id, app_id, review_id),
  constraint console_review_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade,
  constraint console_review_app_id_fkey foreign key (app_id) references store_app(id),
  constraint console_review_reply_check check (((reply is null) = (reply_at is null)))
);

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
  constraint delivery_pkey primary key (id),
  constraint delivery_natural_key unique (channel_id, alert_id),
  constraint delivery_alert_id_fkey foreign key (alert_id) references alert(id) on delete cascade,
  constraint delivery_channel_id_fkey foreign key (channel_id) references channel(id) on delete cascade,
  constraint delivery_attempts_check check ((attempts >= 0)),
  constraint delivery_ended_at_check check (((state = 'waiting'::text) = (ended_at is null))),
  constraint delivery_next_at_check check (((state = 'waiting'::text) = (next_at is not null))),
  constraint delivery_state_check check ((state = any (array['waiting'::text, 'delivered'::text, 'undelivered'::text])))
);
create index delivery_alert on delivery using btree (alert_id, channel_id);
create index delivery_next on delivery using btree (channel_id, next_at) where (state = 'waiting'::text);
create index delivery_undelivered on delivery using btree (channel_id, ended_at) where (state = 'undelivered'::text);
create index delivery_waiting on delivery using btree (channel_id, ((attempts > 0)), alert_id) where (state = 'waiting'::text);

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
  constraint developer_shelf_pkey primary key (platform, storefront, developer_id, source),
  constraint developer_shelf_platform_check check ((platform = any (array['ios'::text, 'android'::text])))
);

create table digest (
  person_id integer not null,
  workspace_id integer not null,
  every text not null,
  hour smallint not null,
  zone text not null,
  since timestamp with time zone not null default now(),
  constraint digest_pkey primary key (person_id, workspace_id),
  constraint digest_person_id_workspace_id_fkey foreign key (person_id, workspace_id) references membership(person_id, workspace_id) on delete cascade,
  constraint digest_every_check check ((every = any (array['day'::text, 'week'::text]))),
  constraint digest_hour_check check (((hour >= 0) and (hour <= 23))),
  constraint digest_zone_check check (((length(zone) >= 1) and (length(zone) <= 64)))
);

create table digest_mail (
  id text not null,
  person_id integer not null,
  workspace_id integer not null,
  every text not null,
  day date not null,
  state text not null,
  attempts smallint not null default 0,
  lease uuid,
  lease_until timestamp with time zone,
  next_at timestamp with time zone not null default now(),
  failure text,
  created_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  constraint digest_mail_pkey primary key (id),
  constraint digest_mail_natural_key unique (person_id, workspace_id, every, day),
  constraint digest_mail_person_id_workspace_id_fkey foreign key (person_id, workspace_id) references membership(person_id, workspace_id) on delete cascade,
  constraint digest_mail_attempts_check check ((attempts >= 0)),
  constraint digest_mail_every_check check ((every = any (array['day'::text, 'week'::text]))),
  constraint digest_mail_lease_check check (((lease is null) = (lease_until is null))),
  constraint digest_mail_state_check check ((state = any (array['writing'::text, 'sending'::text, 'sent'::text, 'skipped'::text, 'failed'::text, 'unknown'::text])))
);
create index digest_mail_created on digest_mail using btree (created_at, id);
create index digest_mail_open on digest_mail using btree (next_at, id) where (state = any (array['writing'::text, 'sending'::text]));

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
  constraint due_pkey primary key (platform, storefront, subject, kind),
  constraint due_failed_at_check check (((failure is null) = (failed_at is null))),
  constraint due_failures_check check ((failures >= 0)),
  constraint due_kind_check check ((kind = any (array['search'::text, 'app'::text, 'hints'::text, 'difficulty'::text, 'canary'::text, 'listing'::text, 'reviews'::text, 'chart'::text, 'chart_apps'::text, 'genres'::text, 'developer'::text, 'app_ads'::text, 'app_names'::text, 'findings'::text]))),
  constraint due_lease_check check (((lease is null) = (lease_until is null))),
  constraint due_platform_check check ((platform = any (array['ios'::text, 'android'::text]))),
  constraint due_priority_check check (((priority >= 0) and (priority <= 5)))
);
create index due_asked on due using btree (asked_by) where (asked_by is not null);
create index due_canary on due using btree (platform, storefront, subject) where (kind = 'canary'::text);
create index due_keyword on due using btree (hashtextextended(subject, hashtextextended(storefront, (0)::bigint))) where (kind = any (array['search'::text, 'hints'::text, 'difficulty'::text]));
create index due_leased on due using btree (lease, lease_until) where (lease is not null);
create index due_next on due using btree (kind, platform, priority, next_at, storefront, subject) where (lease is null);
create index due_storefront on due using btree (kind, platform, storefront, priority, next_at, subject) where (lease is null);

create table estimate_due (
  app_id integer not null,
  next_at timestamp with time zone default now(),
  made_at timestamp with time zone,
  wanted_until timestamp with time zone,
  constraint estimate_due_pkey primary key (app_id),
  constraint estimate_due_app_id_fkey foreign key (app_id) references store_app(id) on delete cascade
) with (fillfactor=70);
create index estimate_due_next_idx on estimate_due using btree (next_at) where (next_at is not null);

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
  constraint estimate_grade_pkey primary key (month, app_id),
  constraint estimate_grade_app_id_fkey foreign key (app_id) references store_app(id) on delete cascade,
  constraint estimate_grade_ratings_check check ((ratings >= 0)),
  constraint estimate_grade_truth_check check ((truth >= (0)::double precision)),
  constraint estimate_grade_value_check check ((value > (0)::double precision)),
  constraint estimate_grade_value_or_bound_check check (((value is null) <> (under is null)))
);

create table estimate_month (
  month date not null,
  graded_to integer not null default 0,
  graded_at timestamp with time zone,
  score jsonb,
  calibration jsonb,
  constraint estimate_month_pkey primary key (month)
);

create view estimated_sales_fact (
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
  free_units integer,
  refunded numeric
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
  constraint export_pkey primary key (id),
  constraint export_sha256_key unique (sha256),
  constraint export_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint export_dataset_check check ((dataset = any (array['keywords'::text, 'history'::text, 'reviews'::text]))),
  constraint export_days_both_or_none check (((from_day is null) = (to_day is null))),
  constraint export_days_in_order check ((from_day <= to_day)),
  constraint export_format_check check ((format = any (array['csv'::text, 'json'::text]))),
  constraint export_platform_check check ((platform = any (array['ios'::text, 'android'::text]))),
  constraint export_rows_check check ((rows > 0)),
  constraint export_sha256_check check ((length(sha256) = 32))
);
create index export_created on export using btree (created_at, id);

create table export_part (
  export_id bigint not null,
  place integer not null,
  lines text not null,
  constraint export_part_pkey primary key (export_id, place),
  constraint export_part_export_id_fkey foreign key (export_id) references export(id)
);

create table fact_set (
  account_id text not null,
  report text not null,
  about text not null,
  day date not null,
  set_id bigint not null,
  constraint fact_set_pkey primary key (account_id, report, about, day),
  constraint fact_set_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade,
  constraint fact_set_set_id_fkey foreign key (set_id) references report_set(id)
);
create index fact_set_set_idx on fact_set using btree (set_id);

create table feed_link (
  sha256 bytea not null,
  workspace_id integer not null,
  app_id text not null,
  key_id integer,
  dataset text not null,
  format text not null,
  platform text,
  storefront text,
  columns text[],
  created_at timestamp with time zone not null default now(),
  constraint feed_link_pkey primary key (sha256),
  constraint feed_link_app_id_fkey foreign key (app_id) references tracked_app(id) on delete cascade,
  constraint feed_link_key_id_fkey foreign key (key_id) references api_key(id),
  constraint feed_link_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint feed_link_columns_check check ((cardinality(columns) > 0)),
  constraint feed_link_columns_of_csv check (((columns is null) = (format = 'atom'::text))),
  constraint feed_link_dataset_check check ((dataset = any (array['alerts'::text, 'reviews'::text, 'ranks'::text]))),
  constraint feed_link_format_check check ((format = any (array['atom'::text, 'csv'::text]))),
  constraint feed_link_platform_check check ((platform = any (array['ios'::text, 'android'::text]))),
  constraint feed_link_sha256_check check ((length(sha256) = 32)),
  constraint feed_link_side_unless_alerts check ((((platform is null) = (dataset = 'alerts'::text)) and ((storefront is null) = (dataset = 'alerts'::text))))
);
create index feed_link_app on feed_link using btree (app_id);
create index feed_link_workspace on feed_link using btree (workspace_id, created_at);

create table figure_due (
  platform text not null,
  storefront text not null,
  kind text not null,
  subject text not null,
  constraint figure_due_pkey primary key (kind, platform, storefront, subject),
  constraint figure_due_kind_check check ((kind = any (array['term'::text, 'hint'::text, 'app'::text, 'name'::text]))),
  constraint figure_due_platform_check check ((platform = any (array['ios'::text, 'android'::text])))
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
  count integer,
  set_id bigint not null default 0,
  constraint funnel_fact_row_pkey primary key (account_id, app, report, day, set_id, place),
  constraint funnel_fact_row_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade,
  constraint funnel_fact_row_counts_as_check check ((counts_as = any (array['impressions'::text, 'pageViews'::text, 'taps'::text, 'firstDownloads'::text, 'redownloads'::text, 'other'::text])))
);
create index funnel_fact_set_idx on funnel_fact_row using btree (set_id) where (set_id > 0);

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
  constraint genre_pkey primary key (platform, storefront, genre),
  constraint genre_platform_check check ((platform = any (array['ios'::text, 'android'::text])))
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
  constraint hint_answer_pkey primary key (platform, storefront, prefix, day, source),
  constraint hint_answer_platform_check check ((platform = any (array['ios'::text, 'android'::text])))
);
create index hint_answer_day on hint_answer using btree (day);

create table imported_days (
  app_id text not null,
  platform text not null,
  storefront text not null,
  from_day date not null,
  to_day date not null,
  derived_with jsonb,
  constraint imported_days_pkey primary key (app_id, platform, storefront),
  constraint imported_days_app_id_fkey foreign key (app_id) references tracked_app(id) on delete cascade,
  constraint imported_days_in_order check ((from_day <= to_day)),
  constraint imported_days_platform_check check ((platform = any (array['ios'::text, 'android'::text])))
);

create table imported_rank (
  app_id text not null,
  platform text not null,
  storefront text not null,
  term text not null,
  tool text not null,
  day date not null,
  rank integer not null,
  import_id integer not null,
  constraint imported_rank_pkey primary key (app_id, platform, storefront, term, tool, day),
  constraint imported_rank_app_id_fkey foreign key (app_id) references tracked_app(id) on delete cascade,
  constraint imported_rank_import_id_fkey foreign key (import_id) references rank_import(id) on delete cascade,
  constraint imported_rank_rank_check check ((rank > 0))
);
create index imported_rank_import on imported_rank using btree (import_id);

create table instance (
  key text not null,
  value text not null,
  constraint instance_pkey primary key (key)
);

create table instance_alert (
  id bigint not null generated always as identity,
  kind text not null,
  subject text not null,
  detail text not null,
  at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  constraint instance_alert_pkey primary key (id)
);
create unique index instance_alert_open on instance_alert using btree (kind, subject) where (ended_at is null);

create table invitation (
  id integer not null generated always as identity,
  sha256 bytea not null,
  workspace_id integer not null,
  name text not null,
  scopes text[] not null,
  app_list text[],
  invited_by integer,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint invitation_pkey primary key (id),
  constraint invitation_sha256_key unique (sha256),
  constraint invitation_invited_by_workspace_id_fkey foreign key (invited_by, workspace_id) references membership(person_id, workspace_id) on delete cascade,
  constraint invitation_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint invitation_name_check check (((length(name) >= 1) and (length(name) <= 100))),
  constraint invitation_sha256_check check ((length(sha256) = 32))
);
create index invitation_expires on invitation using btree (expires_at, id);
create index invitation_workspace on invitation using btree (workspace_id, id);

create table job (
  id text not null,
  workspace_id integer not null,
  key_id integer not null,
  request_id text not null,
  action text not null,
  scope text not null,
  target text not null,
  app_id text,
  account_id text,
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
  proof_at timestamp with time zone,
  proofs jsonb not null default '[]'::jsonb,
  created_at timestamp with time zone not null default now(),
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint job_pkey primary key (id),
  constraint job_key_id_fkey foreign key (key_id) references api_key(id),
  constraint job_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint job_attempts_check check ((attempts >= 0)),
  constraint job_error_check check (((status = 'failed'::text) = (error is not null))),
  constraint job_finished_at_check check (((status = any (array['done'::text, 'failed'::text, 'unknown'::text])) = (finished_at is not null))),
  constraint job_id_check check ((id ~ '^job_'::text)),
  constraint job_lease_check check (((lease is null) = (lease_until is null))),
  constraint job_outcome_needs_sent_at check (((sent_at is not null) or (status <> all (array['done'::text, 'unknown'::text])))),
  constraint job_proof_at_check check (((proof_at is null) or (status = 'unknown'::text))),
  constraint job_queued_is_unsent check (((sent_at is null) or (status <> 'queued'::text))),
  constraint job_running_has_lease check (((status = 'running'::text) = (lease is not null))),
  constraint job_status_check check ((status = any (array['queued'::text, 'running'::text, 'done'::text, 'failed'::text, 'unknown'::text])))
);
create index job_account on job using btree (account_id, created_at) where (account_id is not null);
create index job_due on job using btree (next_at, id) where (status = 'queued'::text);
create index job_leased on job using btree (lease_until, id) where (status = 'running'::text);
create index job_proof on job using btree (proof_at, id) where (proof_at is not null);
create index job_status on job using btree (status, finished_at, id);
create unique index job_unfinished on job using btree (workspace_id, target) where (status = any (array['queued'::text, 'running'::text]));

create table job_step (
  job_id text not null,
  n smallint not null,
  what text not null,
  change jsonb not null,
  sent_at timestamp with time zone not null default now(),
  answered_at timestamp with time zone,
  outcome text,
  constraint job_step_pkey primary key (job_id, n),
  constraint job_step_job_id_fkey foreign key (job_id) references job(id) on delete cascade,
  constraint job_step_n_check check ((n > 0)),
  constraint job_step_outcome_check check ((outcome = any (array['done'::text, 'refused'::text, 'unsure'::text])))
);

create table key_month (
  key_id integer not null,
  workspace_id integer not null,
  month date not null,
  used bigint not null default 0,
  budget bigint,
  constraint key_month_pkey primary key (key_id),
  constraint key_month_key_id_fkey foreign key (key_id) references api_key(id),
  constraint key_month_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint key_month_budget_check check ((budget >= 0)),
  constraint key_month_used_check check ((used >= 0))
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
  constraint keyword_metric_pkey primary key (list_id, metric, day, source),
  constraint keyword_metric_list_id_fkey foreign key (list_id) references list(id),
  constraint keyword_metric_metric_check check ((metric = any (array['popularity'::text, 'difficulty'::text, 'demand'::text, 'hints'::text])))
);
create index keyword_metric_old on keyword_metric using btree (day) where (formula > 0);
create index keyword_metric_published on keyword_metric using btree (list_id, metric, day) where (formula = 0);

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
  constraint keyword_now_pkey primary key (list_id),
  constraint keyword_now_list_id_fkey foreign key (list_id) references list(id),
  constraint keyword_now_demand_check check ((((demand_day is null) = (demand_at is null)) and ((demand is null) or (demand_day is not null)))),
  constraint keyword_now_difficulty_check check ((((difficulty_day is null) = (difficulty_at is null)) and ((difficulty is null) or (difficulty_day is not null)))),
  constraint keyword_now_estimate_check check ((((estimate_day is null) = (estimate_at is null)) and ((estimate is null) or (estimate_day is not null)))),
  constraint keyword_now_hints_check check ((((hints_day is null) = (hints_at is null)) and ((hints is null) or (hints_day is not null)))),
  constraint keyword_now_published_check check ((((published_day is null) = (published_at is null)) and ((published_day is null) = (published_by is null)) and ((published is null) or (published_day is not null))))
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
  constraint ledger_pkey primary key (id),
  constraint ledger_cost_check check ((cost <> 0))
);
create index ledger_workspace on ledger using btree (workspace_id, at, id);

create table ledger_month (
  workspace_id integer not null,
  month date not null,
  operation text not null,
  cost bigint not null,
  from_pack bigint not null,
  entries bigint not null,
  constraint ledger_month_pkey primary key (workspace_id, month, operation),
  constraint ledger_month_entries_check check ((entries > 0))
);

create table list (
  id integer not null generated always as identity,
  platform text not null,
  storefront text not null,
  term text not null,
  first_day date,
  last_day date,
  constraint list_pkey primary key (id),
  constraint list_natural_key unique (platform, storefront, term),
  constraint list_platform_check check ((platform = any (array['ios'::text, 'android'::text])))
);
create index list_beginning on list using btree (platform, storefront, term text_pattern_ops);

create table list_month (
  list_id integer not null,
  month date not null,
  sources bytea not null,
  depths bytea not null,
  constraint list_month_pkey primary key (list_id, month),
  constraint list_month_depths_check check ((length(depths) = 31)),
  constraint list_month_sources_check check ((length(sources) = 31))
) partition by range (month);

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
  constraint list_now_pkey primary key (list_id),
  constraint list_now_list_id_fkey foreign key (list_id) references list(id),
  constraint list_now_popular_until_check check (((popular_until is null) or (popularity is not null)))
) with (fillfactor=70);
create index list_now_apps on list_now using gin (app_ids);
create index list_now_first_ten on list_now using gin ((app_ids[1:10])) with (gin_pending_list_limit='512');
create index list_now_keyword on list_now using btree (hashtextextended(term, hashtextextended(storefront, (0)::bigint)));
create index list_now_shallow on list_now using btree (storefront, platform) where ((depth < 10) and (cardinality(app_ids) >= depth));

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
  constraint listing_change_pkey primary key (app_id, at, storefront, source, kind, subject),
  constraint listing_change_app_id_fkey foreign key (app_id) references store_app(id),
  constraint listing_change_before_seen_at_check check ((before_seen_at < at)),
  constraint listing_change_kind_check check ((kind = any (array['version'::text, 'name'::text, 'subtitle'::text, 'icon'::text, 'price'::text, 'screenshots'::text, 'description'::text, 'promotional_text'::text, 'event_started'::text, 'event_ended'::text, 'featured'::text, 'unfeatured'::text, 'rating_jump'::text, 'ratings_jump'::text])))
);
create index listing_change_of_page on listing_change using btree (app_id, storefront, kind, subject, at) where (source = 'apple-app-page'::text);

create table listing_content (
  app_id integer not null,
  storefront text not null,
  source text not null,
  section text not null,
  digest bytea not null,
  content jsonb not null,
  constraint listing_content_pkey primary key (app_id, storefront, source, section, digest),
  constraint listing_content_app_id_fkey foreign key (app_id) references store_app(id),
  constraint listing_content_digest_check check ((length(digest) = 16)),
  constraint listing_content_section_check check ((section = any (array['page'::text, 'similar'::text, 'developer'::text, 'stale'::text])))
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
  constraint listing_item_pkey primary key (app_id, storefront, source, kind, item_id),
  constraint listing_item_app_id_fkey foreign key (app_id) references store_app(id),
  constraint listing_item_kind_check check ((kind = any (array['event'::text, 'story'::text, 'collection'::text])))
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
  released_at timestamp with time zone,
  parser smallint not null,
  origin text not null,
  constraint listing_run_pkey primary key (app_id, storefront, source, section, first_seen_at),
  constraint listing_run_app_id_fkey foreign key (app_id) references store_app(id),
  constraint listing_run_content_fkey foreign key (app_id, storefront, source, section, digest) references listing_content(app_id, storefront, source, section, digest),
  constraint listing_run_bodies_check check ((cardinality(moments) = cardinality(sha256s))),
  constraint listing_run_span_check check (((first_seen_at = moments[1]) and (seen_at = moments[cardinality(moments)])))
);

create table listing_translation (
  app_id text not null,
  locale text not null,
  digest text not null,
  begun_at timestamp with time zone not null default now(),
  allowance text not null,
  unit text not null,
  keeps_unit boolean not null,
  constraint listing_translation_pkey primary key (app_id, locale),
  constraint listing_translation_app_id_fkey foreign key (app_id) references tracked_app(id) on delete cascade,
  constraint listing_translation_allowance_check check ((allowance = any (array['listingWrites'::text, 'listingWritesEver'::text])))
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
  constraint listing_version_pkey primary key (app_id, storefront, source, version, digest),
  constraint listing_version_app_id_fkey foreign key (app_id) references store_app(id),
  constraint listing_version_digest_check check ((length(digest) = 16))
);

create table live_share (
  workspace_id integer not null,
  upstream text not null,
  used_until timestamp with time zone not null,
  constraint live_share_pkey primary key (workspace_id, upstream)
);

create table mail_address (
  person_id integer not null,
  address text,
  pending text,
  code_sha256 bytea,
  code_until timestamp with time zone,
  codes smallint not null default 0,
  codes_from timestamp with time zone not null default now(),
  refused text,
  refused_at timestamp with time zone,
  constraint mail_address_pkey primary key (person_id),
  constraint mail_address_natural_key unique (person_id, address),
  constraint mail_address_person_id_fkey foreign key (person_id) references person(id),
  constraint mail_address_address_check check (((length(address) >= 6) and (length(address) <= 254))),
  constraint mail_address_code check ((((pending is null) = (code_sha256 is null)) and ((pending is null) = (code_until is null)))),
  constraint mail_address_code_sha256_check check ((length(code_sha256) = 32)),
  constraint mail_address_codes_check check ((codes >= 0)),
  constraint mail_address_pending_check check (((length(pending) >= 6) and (length(pending) <= 254))),
  constraint mail_address_refused_when check (((refused is null) = (refused_at is null)))
);

create table mail_unsubscribe (
  token_sha256 bytea not null,
  person_id integer not null,
  workspace_id integer not null,
  channel_id text,
  created_at timestamp with time zone not null default now(),
  constraint mail_unsubscribe_pkey primary key (token_sha256),
  constraint mail_unsubscribe_channel_id_fkey foreign key (channel_id) references channel(id) on delete cascade,
  constraint mail_unsubscribe_person_id_workspace_id_fkey foreign key (person_id, workspace_id) references membership(person_id, workspace_id) on delete cascade,
  constraint mail_unsubscribe_token_sha256_check check ((length(token_sha256) = 32))
);
create index mail_unsubscribe_channel on mail_unsubscribe using btree (channel_id) where (channel_id is not null);
create index mail_unsubscribe_created on mail_unsubscribe using btree (created_at, token_sha256);

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
  constraint market_app_pkey primary key (app_id, storefront),
  constraint market_app_app_id_fkey foreign key (app_id) references store_app(id)
) with (fillfactor=80);
create index market_app_storefront on market_app using btree (storefront);

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
  constraint market_fact_pkey primary key (app_id, storefront, source, day),
  constraint market_fact_app_id_fkey foreign key (app_id) references store_app(id),
  constraint market_fact_installs_check check ((installs >= 0))
);

create table market_storefront (
  storefront text not null,
  genres text[] not null,
  since date not null,
  constraint market_storefront_pkey primary key (storefront),
  constraint market_storefront_genres_check check ((cardinality(genres) > 0))
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

create table membership (
  person_id integer not null,
  workspace_id integer not null,
  key_id integer not null,
  created_at timestamp with time zone not null default now(),
  visited_at timestamp with time zone,
  seen_at timestamp with time zone,
  seen_before timestamp with time zone,
  constraint membership_pkey primary key (person_id, workspace_id),
  constraint membership_key_id_key unique (key_id),
  constraint membership_key_id_fkey foreign key (key_id) references api_key(id),
  constraint membership_person_id_fkey foreign key (person_id) references person(id),
  constraint membership_workspace_id_fkey foreign key (workspace_id) references workspace(id)
);
create index membership_workspace on membership using btree (workspace_id, person_id);

create table name_search (
  platform text not null,
  storefront text not null,
  text text not null,
  source text not null,
  seen_at timestamp with time zone not null,
  app_ids integer[] not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  constraint name_search_pkey primary key (platform, storefront, text, source),
  constraint name_search_platform_check check ((platform = any (array['ios'::text, 'android'::text])))
);
create index name_search_seen on name_search using btree (seen_at);

create table oauth_client (
  id text not null,
  name text not null,
  redirect_uris text[] not null,
  created_at timestamp with time zone not null default now(),
  from_sha256 bytea,
  fresh_until timestamp with time zone,
  agreed_at timestamp with time zone,
  constraint oauth_client_pkey primary key (id),
  constraint oauth_client_from_sha256_check check ((length(from_sha256) = 32)),
  constraint oauth_client_id_check check (((length(id) >= 1) and (length(id) <= 500))),
  constraint oauth_client_name_check check (((length(name) >= 1) and (length(name) <= 200))),
  constraint oauth_client_redirect_uris_check check (((cardinality(redirect_uris) >= 1) and (cardinality(redirect_uris) <= 20))),
  constraint oauth_client_registered_or_document check (((from_sha256 is null) <> (fresh_until is null)))
);
create index oauth_client_from on oauth_client using btree (from_sha256, created_at) where (from_sha256 is not null);
create index oauth_client_unused on oauth_client using btree (created_at, id) where (agreed_at is null);

create table oauth_code (
  sha256 bytea not null,
  person_id integer not null,
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
  constraint oauth_code_pkey primary key (sha256),
  constraint oauth_code_key_id_fkey foreign key (key_id) references api_key(id),
  constraint oauth_code_person_id_fkey foreign key (person_id) references person(id),
  constraint oauth_code_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint oauth_code_challenge_check check ((length(challenge) = 43)),
  constraint oauth_code_sha256_check check ((length(sha256) = 32))
);
create index oauth_code_expires on oauth_code using btree (expires_at, sha256);

create table oauth_grant (
  key_id integer not null,
  client_id text not null,
  resource text not null,
  salt bytea not null,
  ends_at timestamp with time zone not null,
  constraint oauth_grant_pkey primary key (key_id),
  constraint oauth_grant_key_id_fkey foreign key (key_id) references api_key(id),
  constraint oauth_grant_salt_check check ((length(salt) = 32))
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
  constraint offer_redemption_fact_row_pkey primary key (account_id, day, set_id, place),
  constraint offer_redemption_fact_row_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade
);
create index offer_redemption_fact_app_idx on offer_redemption_fact_row using btree (account_id, app, day);
create index offer_redemption_fact_set_idx on offer_redemption_fact_row using btree (set_id) where (set_id > 0);

create table oidc_visit (
  sha256 bytea not null,
  next text not null,
  session_id integer,
  invitation_id integer,
  name text,
  expires_at timestamp with time zone not null,
  constraint oidc_visit_pkey primary key (sha256),
  constraint oidc_visit_invitation_id_fkey foreign key (invitation_id) references invitation(id) on delete cascade,
  constraint oidc_visit_session_id_fkey foreign key (session_id) references person_session(id) on delete cascade,
  constraint oidc_visit_invitation_has_name check (((invitation_id is null) = (name is null))),
  constraint oidc_visit_name_check check (((length(name) >= 1) and (length(name) <= 100))),
  constraint oidc_visit_next_check check (((length(next) >= 1) and (length(next) <= 4000))),
  constraint oidc_visit_one_purpose check (((session_id is null) or (invitation_id is null))),
  constraint oidc_visit_sha256_check check ((length(sha256) = 32))
);
create index oidc_visit_expires on oidc_visit using btree (expires_at, sha256);

create table operator_action (
  id bigint not null generated always as identity,
  at timestamp with time zone not null default now(),
  actor text not null,
  command text not null,
  typed text not null,
  ended_at timestamp with time zone,
  exit_code smallint,
  constraint operator_action_pkey primary key (id),
  constraint operator_action_exit_code_check check (((ended_at is null) = (exit_code is null)))
);
create index operator_action_at on operator_action using btree (at, id);

create table pace (
  upstream text not null,
  egress text not null,
  next_at timestamp with time zone not null default now(),
  base_gap_ms integer not null,
  gap_ms integer not null,
  refusals integer not null default 0,
  answers integer not null default 0,
  refused_at timestamp with time zone,
  constraint pace_pkey primary key (upstream, egress),
  constraint pace_answers_check check ((answers >= 0)),
  constraint pace_base_gap_ms_check check ((base_gap_ms >= 0)),
  constraint pace_gap_ms_check check ((gap_ms >= base_gap_ms)),
  constraint pace_refusals_check check ((refusals >= 0))
);

create table pending_sign_in (
  sha256 bytea not null,
  person_id integer not null,
  workspace_id integer not null,
  via text not null,
  expires_at timestamp with time zone not null,
  constraint pending_sign_in_pkey primary key (sha256),
  constraint pending_sign_in_person_id_workspace_id_fkey foreign key (person_id, workspace_id) references membership(person_id, workspace_id) on delete cascade,
  constraint pending_sign_in_sha256_check check ((length(sha256) = 32)),
  constraint pending_sign_in_via_check check ((via = any (array['passphrase'::text, 'code'::text])))
);
create index pending_sign_in_expires on pending_sign_in using btree (expires_at, sha256);
create index pending_sign_in_person on pending_sign_in using btree (person_id, workspace_id);

create table person (
  id integer not null generated always as identity,
  name text not null,
  passphrase text,
  is_operator boolean not null default false,
  created_at timestamp with time zone not null default now(),
  removed_at timestamp with time zone,
  constraint person_pkey primary key (id),
  constraint person_name_check check (((length(name) >= 1) and (length(name) <= 100))),
  constraint person_passphrase_check check ((passphrase ~~ '$argon2id$%'::text))
);
create unique index person_name on person using btree (lower(name)) where (removed_at is null);

create table person_identity (
  issuer text not null,
  subject text not null,
  person_id integer not null,
  label text not null,
  created_at timestamp with time zone not null default now(),
  constraint person_identity_pkey primary key (issuer, subject),
  constraint person_identity_person_id_fkey foreign key (person_id) references person(id),
  constraint person_identity_issuer_check check (((length(issuer) >= 1) and (length(issuer) <= 2000))),
  constraint person_identity_label_check check (((length(label) >= 1) and (length(label) <= 200))),
  constraint person_identity_subject_check check (((length(subject) >= 1) and (length(subject) <= 255)))
);
create index person_identity_person on person_identity using btree (person_id);

create table person_session (
  sha256 bytea not null,
  id integer not null generated always as identity,
  person_id integer not null,
  workspace_id integer not null,
  via text not null,
  agent text not null,
  created_at timestamp with time zone not null default now(),
  used_at timestamp with time zone not null default now(),
  proved_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint person_session_pkey primary key (sha256),
  constraint person_session_id_key unique (id),
  constraint person_session_person_id_workspace_id_fkey foreign key (person_id, workspace_id) references membership(person_id, workspace_id) on delete cascade,
  constraint person_session_expires_at_check check ((expires_at > created_at)),
  constraint person_session_sha256_check check ((length(sha256) = 32)),
  constraint person_session_via_check check ((via = any (array['passphrase'::text, 'code'::text, 'invitation'::text, 'proxy'::text, 'oidc'::text])))
);
create index person_session_expires on person_session using btree (expires_at, sha256);
create index person_session_person on person_session using btree (person_id, workspace_id);

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
  constraint plan_task_pkey primary key (app_id, task_id),
  constraint plan_task_app_id_fkey foreign key (app_id) references tracked_app(id) on delete cascade,
  constraint plan_task_field_check check ((field = any (array['name'::text, 'subtitle'::text]))),
  constraint plan_task_platform_check check ((platform = any (array['ios'::text, 'android'::text])))
);

create view play_review_language (
  storefront text,
  language text
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
  constraint price_day_pkey primary key (account_id, app, product, day),
  constraint price_day_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade
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
  constraint price_period_pkey primary key (account_id, app, product, country, from_day),
  constraint price_period_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade,
  constraint price_period_currency_check check (((price is null) = (currency is null)))
);

create table rank_import (
  id integer not null generated always as identity,
  app_id text not null,
  platform text not null,
  tool text not null,
  file text not null,
  imported_at timestamp with time zone not null,
  constraint rank_import_pkey primary key (id),
  constraint rank_import_app_id_fkey foreign key (app_id) references tracked_app(id) on delete cascade,
  constraint rank_import_platform_check check ((platform = any (array['ios'::text, 'android'::text]))),
  constraint rank_import_tool_check check (((length(tool) >= 1) and (length(tool) <= 40)))
);
create index rank_import_app on rank_import using btree (app_id);

create table rank_month (
  app_id integer not null,
  list_id integer not null,
  month date not null,
  ranks bytea not null,
  constraint rank_month_pkey primary key (app_id, list_id, month),
  constraint rank_month_ranks_check check ((length(ranks) = 31))
) partition by range (month);

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
  constraint rating_count_pkey primary key (app_id, storefront, day, source),
  constraint rating_count_app_id_fkey foreign key (app_id) references store_app(id),
  constraint rating_count_stars_check check ((cardinality(stars) = 5))
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
  constraint rating_quarter_pkey primary key (app_id, storefront, quarter, source, origin, millions),
  constraint rating_quarter_app_id_fkey foreign key (app_id) references store_app(id),
  constraint rating_quarter_days_check check (((cardinality(days) >= 1) and (cardinality(days) <= 92))),
  constraint rating_quarter_millions_check check ((millions >= '-1'::integer)),
  constraint rating_quarter_quarter_check check ((quarter = (date_trunc('quarter'::text, (quarter)::timestamp without time zone))::date))
);

create table reader (
  process uuid not null,
  egress text not null,
  reads jsonb not null,
  seen_at timestamp with time zone not null default now(),
  constraint reader_pkey primary key (process)
);

create table refresh_token (
  sha256 bytea not null,
  key_id integer not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint refresh_token_pkey primary key (sha256),
  constraint refresh_token_key_id_fkey foreign key (key_id) references api_key(id),
  constraint refresh_token_sha256_check check ((length(sha256) = 32))
);
create index refresh_token_expires on refresh_token using btree (expires_at, sha256);

create view report_ad_keywords (
  app_id text,
  app_name text,
  campaign_id text,
  campaign text,
  day date,
  storefront text,
  keyword_id text,
  keyword text,
  match text,
  impressions integer,
  taps integer,
  installs integer,
  new_downloads integer,
  spend numeric,
  currency text,
  source text,
  reported_at timestamp with time zone
) with (security_barrier=true);

create view report_ads (
  app_id text,
  app_name text,
  campaign_id text,
  campaign text,
  day date,
  storefront text,
  impressions integer,
  taps integer,
  installs integer,
  new_downloads integer,
  spend numeric,
  currency text,
  source text,
  reported_at timestamp with time zone
) with (security_barrier=true);

create view report_apps (
  app_id text,
  app_name text,
  platform text,
  store_id text,
  storefronts text[],
  origin text
) with (security_barrier=true);

create view report_charts (
  app_id text,
  app_name text,
  platform text,
  storefront text,
  device text,
  chart text,
  genre text,
  day date,
  rank integer,
  depth smallint,
  source text,
  measured_at timestamp with time zone
) with (security_barrier=true);

create table report_day (
  account_id text not null,
  report text not null,
  about text not null default ''::text,
  day date not null,
  digest bytea not null,
  source text not null,
  seen_at timestamp with time zone not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  rows jsonb,
  pieces bigint,
  file text,
  units jsonb,
  constraint report_day_pkey primary key (account_id, report, about, day, digest),
  constraint report_day_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade,
  constraint report_day_pieces_fkey foreign key (pieces) references report_set(id),
  constraint report_day_rows_check check (((rows is null) <> (pieces is null)))
);
create index report_day_pieces_idx on report_day using btree (pieces) where (pieces is not null);
create index report_day_said on report_day using btree (account_id, report, day) include (seen_at);

create table report_piece (
  set_id bigint not null,
  place integer not null,
  rows jsonb not null,
  constraint report_piece_pkey primary key (set_id, place),
  constraint report_piece_set_id_fkey foreign key (set_id) references report_set(id) on delete cascade
);

create view report_ranks (
  app_id text,
  app_name text,
  platform text,
  storefront text,
  keyword text,
  day date,
  month date,
  rank integer,
  depth integer,
  source text,
  measured_at timestamp with time zone
) with (security_barrier=true);

create view report_revenue (
  app_id text,
  app_name text,
  platform text,
  day date,
  storefront text,
  product text,
  title text,
  kind text,
  units integer,
  refunds integer,
  currency text,
  gross numeric,
  proceeds_currency text,
  proceeds numeric,
  source text,
  reported_at timestamp with time zone
) with (security_barrier=true);

create view report_reviews (
  app_id text,
  app_name text,
  platform text,
  storefront text,
  language text,
  review_id text,
  posted_at timestamp with time zone,
  stars smallint,
  title text,
  text text,
  version text,
  source text,
  first_seen_at timestamp with time zone,
  seen_at timestamp with time zone
) with (security_barrier=true);

create table report_set (
  id bigint not null generated always as identity,
  account_id text not null,
  holds text not null,
  begun_at timestamp with time zone not null default now(),
  constraint report_set_pkey primary key (id),
  constraint report_set_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade
);
create index report_set_account_idx on report_set using btree (account_id);

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
  constraint review_day_pkey primary key (app_id, feed, day),
  constraint review_day_app_id_fkey foreign key (app_id) references store_app(id),
  constraint review_day_counts_check check (((cardinality(versions) = cardinality(counts)) and (cardinality(stars) = cardinality(counts)))),
  constraint review_day_reviews_check check ((reviews > 0))
) with (fillfactor=70);

create table review_feed (
  app_id integer not null,
  feed text not null,
  read_at timestamp with time zone,
  complete boolean not null,
  empty boolean not null,
  complete_at timestamp with time zone,
  constraint review_feed_pkey primary key (app_id, feed),
  constraint review_feed_app_id_fkey foreign key (app_id) references store_app(id),
  constraint review_feed_read_at_check check (((read_at is not null) or (not (complete or empty or (complete_at is not null)))))
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
  constraint review_read_pkey primary key (app_id, feed, source, complete),
  constraint review_read_app_id_fkey foreign key (app_id) references store_app(id),
  constraint review_read_empty_check check ((complete or (not empty))),
  constraint review_read_pages_check check ((pages > 0))
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
  folded text,
  version text,
  at timestamp with time zone not null,
  first_seen_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  source text not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  constraint review_version_pkey primary key (app_id, feed, review_id, digest),
  constraint review_version_app_id_fkey foreign key (app_id) references store_app(id),
  constraint review_version_digest_check check ((length(digest) = 16)),
  constraint review_version_stars_check check (((stars >= 1) and (stars <= 5)))
);
create index review_app_version on review_version using btree (app_id, feed, version, at desc, review_id) where current;
create unique index review_current on review_version using btree (review_id, app_id, feed) where current;
create index review_newest on review_version using btree (app_id, feed, at desc, review_id) where current;
create index review_stars on review_version using btree (app_id, feed, stars, at desc, review_id) where current;

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
  report text not null default 'sales'::text,
  day date not null,
  place integer not null,
  app text not null,
  country text not null,
  product text not null,
  title text not null,
  counts_as text not null,
  units integer not null,
  refunds integer not null,
  free_units integer,
  currency text not null,
  gross numeric not null,
  refunded numeric,
  proceeds_currency text not null,
  proceeds numeric not null,
  set_id bigint not null default 0,
  constraint sales_fact_row_pkey primary key (account_id, report, day, set_id, place),
  constraint sales_fact_row_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade,
  constraint sales_fact_row_counts_as_check check ((counts_as = any (array['download'::text, 'redownload'::text, 'update'::text, 'purchase'::text, 'subscription'::text, 'other'::text])))
);
create index sales_fact_app_idx on sales_fact_row using btree (account_id, app, day);
create index sales_fact_set_idx on sales_fact_row using btree (set_id) where (set_id > 0);

create table schema_migration (
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone not null default now(),
  constraint schema_migration_pkey primary key (name)
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
  constraint search_results_pkey primary key (list_id, day, source, seen_at),
  constraint search_results_list_id_fkey foreign key (list_id) references list(id),
  constraint search_results_depth_check check (((depth >= 1) and (depth <= 250)))
) partition by range (day);

create table second_factor (
  person_id integer not null,
  sealed text not null,
  confirmed_at timestamp with time zone,
  last_step bigint not null default 0,
  recovery text[] not null default '{}'::text[],
  constraint second_factor_pkey primary key (person_id),
  constraint second_factor_person_id_fkey foreign key (person_id) references person(id)
);

create table secret_try (
  sha256 bytea not null,
  tries integer not null,
  counts_until timestamp with time zone not null,
  free_at timestamp with time zone not null default now(),
  constraint secret_try_pkey primary key (sha256),
  constraint secret_try_sha256_check check ((length(sha256) = 32)),
  constraint secret_try_tries_check check ((tries >= 0))
);
create index secret_try_over on secret_try using btree (counts_until, sha256);

create table share_link (
  sha256 bytea not null,
  workspace_id integer not null,
  app_id text not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  password text,
  content jsonb not null,
  constraint share_link_pkey primary key (sha256),
  constraint share_link_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint share_link_content_check check ((length((content)::text) <= 1000000)),
  constraint share_link_expires_at_check check ((expires_at > created_at)),
  constraint share_link_password_check check ((password ~~ '$argon2id$%'::text)),
  constraint share_link_sha256_check check ((length(sha256) = 32))
);
create index share_link_expires on share_link using btree (expires_at, sha256);
create index share_link_workspace on share_link using btree (workspace_id, expires_at);

create table sign_in_code (
  sha256 bytea not null,
  person_id integer not null,
  workspace_id integer not null,
  expires_at timestamp with time zone not null,
  constraint sign_in_code_pkey primary key (sha256),
  constraint sign_in_code_person_id_workspace_id_fkey foreign key (person_id, workspace_id) references membership(person_id, workspace_id) on delete cascade,
  constraint sign_in_code_sha256_check check ((length(sha256) = 32))
);
create index sign_in_code_expires on sign_in_code using btree (expires_at, sha256);

create table source_hour (
  source text not null,
  hour timestamp with time zone not null,
  answered integer not null default 0,
  failed integer not null default 0,
  constraint source_hour_pkey primary key (source, hour),
  constraint source_hour_answered_check check ((answered >= 0)),
  constraint source_hour_failed_check check ((failed >= 0))
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
  constraint source_state_pkey primary key (source),
  constraint source_state_failures_check check ((failures >= 0)),
  constraint source_state_mismatched_check check ((mismatched >= 0)),
  constraint source_state_unparsed_check check ((unparsed >= 0))
);

create view sql_day (
  day date,
  month date,
  place integer
);

create view sql_reader (
  workspace_id integer,
  money boolean
) with (security_barrier=true);

create view sql_reader_account (
  app_id text,
  app_name text,
  platform text,
  report text,
  account_id text,
  outside_id text,
  sku text
) with (security_barrier=true);

create view sql_reader_ads_day (
  app_id text,
  app_name text,
  account_id text,
  campaign text,
  name text,
  day date,
  seen_at timestamp with time zone,
  source text
) with (security_barrier=true);

create view sql_reader_app (
  app_id text,
  platform text,
  store_app integer,
  store_id text,
  genre text,
  countries text[],
  origin text,
  workspace_id integer,
  money boolean,
  app_name text
) with (security_barrier=true);

create table sql_role (
  role text not null,
  workspace_id integer not null,
  money boolean not null default false,
  created_at timestamp with time zone not null default now(),
  constraint sql_role_pkey primary key (role),
  constraint sql_role_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint sql_role_role_check check (((length(role) >= 1) and (length(role) <= 63)))
);
create index sql_role_workspace on sql_role using btree (workspace_id);

create table store_app (
  id integer not null generated always as identity,
  platform text not null,
  store_id text not null,
  developer text,
  developer_id text,
  developer_site text,
  bundle_id text,
  genre text,
  genres text[],
  seen_at timestamp with time zone,
  source text,
  origin text,
  constraint store_app_pkey primary key (id),
  constraint store_app_natural_key unique (platform, store_id),
  constraint store_app_genres_check check (((cardinality(genres) >= 1) and (cardinality(genres) <= 20))),
  constraint store_app_platform_check check ((platform = any (array['ios'::text, 'android'::text])))
);
create index store_app_bundle on store_app using btree (bundle_id, id) where ((platform = 'ios'::text) and (bundle_id is not null));
create index store_app_developer on store_app using btree (platform, developer_id) where (developer_id is not null);

create table store_app_name (
  app_id integer not null,
  storefront text not null,
  name text,
  icon_url text,
  name_at timestamp with time zone,
  name_weight integer,
  icon_at timestamp with time zone,
  icon_weight integer,
  origin text not null,
  constraint store_app_name_pkey primary key (app_id, storefront),
  constraint store_app_name_app_id_fkey foreign key (app_id) references store_app(id) on delete cascade,
  constraint store_app_name_any_fact_check check (((name is not null) or (icon_url is not null))),
  constraint store_app_name_icon_check check ((((icon_url is null) = (icon_at is null)) and ((icon_url is null) = (icon_weight is null)))),
  constraint store_app_name_name_check check ((((name is null) = (name_at is null)) and ((name is null) = (name_weight is null))))
) with (fillfactor=70);

create table storefront_audit (
  app_id integer not null,
  started_at timestamp with time zone not null default now(),
  storefronts text[] not null,
  priority smallint not null,
  finished_at timestamp with time zone,
  failed boolean not null default false,
  rows jsonb,
  constraint storefront_audit_pkey primary key (app_id, started_at),
  constraint storefront_audit_app_id_fkey foreign key (app_id) references store_app(id) on delete cascade,
  constraint storefront_audit_failed_check check (((not failed) or (finished_at is not null))),
  constraint storefront_audit_priority_check check ((priority = any (array[1, 2]))),
  constraint storefront_audit_rows_check check (((finished_at is null) = (rows is null)))
);
create unique index storefront_audit_running on storefront_audit using btree (app_id) where (finished_at is null);

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
  constraint subscription_event_fact_row_pkey primary key (account_id, day, set_id, place),
  constraint subscription_event_fact_row_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade
);
create index subscription_event_fact_app_idx on subscription_event_fact_row using btree (account_id, app, day);
create index subscription_event_fact_set_idx on subscription_event_fact_row using btree (set_id) where (set_id > 0);

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
  constraint subscription_stock_fact_row_pkey primary key (account_id, day, set_id, place),
  constraint subscription_stock_fact_row_account_id_fkey foreign key (account_id) references connected_account(id) on delete cascade
);
create index subscription_stock_fact_app_idx on subscription_stock_fact_row using btree (account_id, app, day);
create index subscription_stock_fact_set_idx on subscription_stock_fact_row using btree (set_id) where (set_id > 0);

create table tool_question (
  id text not null,
  key_id integer not null,
  asked_at timestamp with time zone not null default now(),
  answer text,
  constraint tool_question_pkey primary key (id),
  constraint tool_question_key_id_fkey foreign key (key_id) references api_key(id) on delete cascade,
  constraint tool_question_answer_check check ((answer = any (array['accept'::text, 'decline'::text, 'cancel'::text])))
);
create index tool_question_asked on tool_question using btree (asked_at);

create table tracked_app (
  id text not null,
  workspace_id integer not null,
  name text,
  ios_app integer,
  android_app integer,
  countries text[] not null,
  manual_rivals text[],
  hidden_rivals text[],
  keyword_tags jsonb,
  buried_keywords text[],
  goal text,
  tasks_done text[],
  origin text not null default 'own'::text,
  created_at timestamp with time zone not null default now(),
  constraint tracked_app_pkey primary key (id),
  constraint tracked_app_android_app_fkey foreign key (android_app) references store_app(id),
  constraint tracked_app_ios_app_fkey foreign key (ios_app) references store_app(id),
  constraint tracked_app_workspace_id_fkey foreign key (workspace_id) references workspace(id),
  constraint tracked_app_any_store_check check (((ios_app is not null) or (android_app is not null))),
  constraint tracked_app_countries_check check ((cardinality(countries) > 0)),
  constraint tracked_app_goal_check check ((goal = any (array['downloads'::text, 'rank'::text, 'revenue'::text]))),
  constraint tracked_app_id_check check ((id !~ ':'::text)),
  constraint tracked_app_rivals_check check ((not (manual_rivals && hidden_rivals)))
);
create index tracked_app_android on tracked_app using btree (android_app);
create index tracked_app_ios on tracked_app using btree (ios_app);
create index tracked_app_manual_rivals on tracked_app using gin (manual_rivals);
create index tracked_app_workspace on tracked_app using btree (workspace_id, created_at, id);

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
  constraint tracked_term_pkey primary key (app_id, country, term),
  constraint tracked_term_app_id_fkey foreign key (app_id) references tracked_app(id) on delete cascade
);
create index tracked_term_term on tracked_term using btree (country, term text_pattern_ops);

create table workspace (
  id integer not null generated always as identity,
  name text not null,
  plan text not null,
  explorer boolean not null default false,
  ip_list_required boolean not null default false,
  overrides jsonb not null default '{}'::jsonb,
  approve_outside text[] not null default '{}'::text[],
  asking_approves boolean not null default false,
  suspended_at timestamp with time zone,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  constraint workspace_pkey primary key (id),
  constraint workspace_plan_check check ((plan = any (array['free'::text, 'pro'::text, 'studio'::text, 'enterprise'::text])))
);
create unique index workspace_name on workspace using btree (name) where (deleted_at is null);

create table writer_day (
  day date not null,
  input bigint not null,
  output bigint not null,
  constraint writer_day_pkey primary key (day),
  constraint writer_day_input_check check ((input >= 0)),
  constraint writer_day_output_check check ((output >= 0))
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
  answer bytea,
  checks smallint,
  failure text,
  retry_after integer,
  constraint writer_text_pkey primary key (kind, digest),
  constraint writer_text_answer_check check ((octet_length(answer) = 32)),
  constraint writer_text_failure_check check ((failure = any (array['off'::text, 'spent'::text, 'busy'::text, 'unusable'::text]))),
  constraint writer_text_lease_check check (((lease is null) = (lease_until is null))),
  constraint writer_text_value_check check ((((value is null) = (made_at is null)) and ((value is null) or ((model is not null) and (version is not null)))))
);
create index writer_text_created on writer_text using btree (created_at);
create index writer_text_lease on writer_text using btree (lease) where (lease is not null);

create function allowance_period(what text) returns table(period date, resets_at timestamp with time zone) language sql stable as $$
  select case when what = 'listingWritesEver' then date '0001-01-01' else p.began::date end,
    case when what <> 'listingWritesEver' then (p.began + ('1 ' || u.length)::interval) at time zone 'utc' end
  from (select case when what in ('hive', 'measurements') then 'day' else 'month' end as length) u
  cross join lateral (select date_trunc(u.length, now() at time zone 'utc') as began) p
$$;

create function balance(a account, k key_month) returns table(month date, resets_at timestamp with time zone, used bigint, from_pack bigint, monthly bigint, pack bigint, remaining bigint, total bigint, key_used bigint, budget bigint) language sql stable as $$
  select m.month, (m.month + interval '1 month') at time zone 'utc',
    u.used, u.from_pack, q.monthly, a.pack, q.monthly + a.pack, u.used + q.monthly + a.pack,
    case when k.month < m.month then 0 else k.used end, k.budget
  -- greatest: a transaction that began before the turn of the month must not set an account back.
  from (select greatest(a.month, date_trunc('month', now() at time zone 'utc')::date) as month) m
  cross join lateral (
    select case when a.month < m.month then 0 else a.used end as used,
      case when a.month < m.month then 0 else a.from_pack end as from_pack
  ) u
  -- greatest: a quota lowered below what was used leaves no monthly credits and does not touch the packs.
  cross join lateral (select greatest(0, a.quota - (u.used - u.from_pack)) as monthly) q
$$;

create function charge(dues jsonb, waits boolean) returns table(place integer, refused text, resets_at timestamp with time zone, used bigint, pack bigint, remaining bigint, total bigint, key_used bigint, budget bigint) language plpgsql as $$
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
  -- A statement of its own: it reads what was committed while it waited for a lock.
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

create function claim_due(lane_upstream text, lane_egress text, kinds text[], platforms text[], storefronts text[], togethers integer[], beyond integer, lease_for interval) returns table(kind text, platform text, storefront text, subject text, priority integer, lease uuid, claimed_at timestamp with time zone) language plpgsql set plan_cache_mode=force_generic_plan set enable_seqscan=off set enable_bitmapscan=off as $$
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
      -- One look-up per row: a hash join reads everything that is tracked.
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
    -- One look-up per app: else a plan for few is reused for many, or every app is read.
    offset 0
  ) s
  order by 3, 4
  on conflict (kind, platform, storefront, subject) do nothing;
  return null;
end $$;

create function follow_known_app() returns trigger language plpgsql as $$
begin
  -- A chart updates 200 apps at once, and hardly one of them is tracked.
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
  -- Findings that are due already are not locked: they are locked after the lists of the app's terms, later.
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

create function forget_console_reviews() returns trigger language plpgsql as $$
begin
  delete from review_version v
  using (select distinct app_id from console_review where account_id = old.id) a
  where v.app_id = a.app_id and starts_with(v.feed, 'console-' || old.id || '-');
  delete from review_day d
  using (select distinct app_id from console_review where account_id = old.id) a
  where d.app_id = a.app_id and starts_with(d.feed, 'console-' || old.id || '-');
  delete from review_feed f
  using (select distinct app_id from console_review where account_id = old.id) a
  where f.app_id = a.app_id and starts_with(f.feed, 'console-' || old.id || '-');
  return old;
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
        -- One look-up per row: a join reads everything that is tracked (10,000 terms without statistics: 1 s).
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

create function refund(w integer, k integer, request text, since timestamp with time zone default (now() - '01:00:00'::interval)) returns boolean language plpgsql as $$
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

create function said_rows(said jsonb, pieces bigint) returns table(item jsonb, place bigint) language sql stable as $$
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

create function spend(dues jsonb, held integer[]) returns table(place integer, workspace_id integer, key_id integer, cost integer, operation text, request_id text, of_pack integer, refused text, month date, resets_at timestamp with time zone, used bigint, from_pack bigint, pack bigint, remaining bigint, total bigint, key_used bigint, budget bigint) language plpgsql stable as $$
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
    -- Each account is read once, however many dues it has: a row that is updated often is slow to read.
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

create function storefront_evidence(app integer, places text[], since timestamp with time zone) returns table(storefront text, sold boolean, seen_at timestamp with time zone) language sql stable as $$
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

create function take_allowance(wanted jsonb, waits boolean) returns table(place integer, granted integer, used integer, resets_at timestamp with time zone, open_until timestamp with time zone) language plpgsql as $$
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
  -- No row lock: at the turn of a period two calls would lock two rows.
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
      -- `requests` lists the requests that may still give the unit back. Null: the unit is kept.
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

create trigger alerts_are_delivered after insert on alert referencing new table as found for each statement execute function queue_found_alerts();

create trigger rivals_are_due after insert on app_rival referencing new table as followed for each statement execute function follow_rivals();

create trigger audit_append_only before delete or update or truncate on audit for each statement execute function refuse_change();

create trigger audit_kept_a_year before delete on audit for each row execute function refuse_young();

create trigger follow_held_places after update on chart_place referencing new table as placed for each statement execute function follow_charted();

create trigger follow_new_places after insert on chart_place referencing new table as placed for each statement execute function follow_charted();

create trigger connected_account_forgotten before delete on connected_account for each row execute function forget_console_reviews();

create trigger job_failed after update of status on job for each row when ((new.status = 'failed'::text)) execute function refund_failed_job();

create trigger follow_changed_market after update on market_storefront referencing new table as followed for each statement execute function follow_market();

create trigger follow_new_market after insert on market_storefront referencing new table as followed for each statement execute function follow_market();

create trigger known_apps_are_due after update of genre, developer_id on store_app for each row when ((((new.genre is distinct from old.genre) or (new.developer_id is distinct from old.developer_id)) and (new.platform = 'ios'::text))) execute function follow_known_app();

create trigger scans_are_due after insert or update of priority on storefront_audit for each row execute function scan_storefronts();

create trigger scans_are_over after update of finished_at on storefront_audit for each row when (((old.finished_at is null) and (new.finished_at is not null))) execute function forget_scanned();

create trigger apps_leave_rivals after update of countries, ios_app, android_app on tracked_app for each row when ((((new.countries is distinct from old.countries) or (new.ios_app is distinct from old.ios_app)) or (new.android_app is distinct from old.android_app))) execute function unfollow_left();

create trigger changed_apps_are_due after update of countries, ios_app, android_app, origin on tracked_app for each row when (((((new.countries is distinct from old.countries) or (new.ios_app is distinct from old.ios_app)) or (new.android_app is distinct from old.android_app)) or (new.origin is distinct from old.origin))) execute function follow_changed_app();

create trigger tracked_apps_are_due after insert on tracked_app referencing new table as tracked for each statement execute function follow_tracked_apps();

create trigger tracked_terms_are_due after insert on tracked_term referencing new table as tracked for each statement execute function follow_tracked_terms();

create trigger workspaces_come_back after update of suspended_at on workspace for each row when (((old.suspended_at is not null) and (new.suspended_at is null))) execute function follow_workspace();
