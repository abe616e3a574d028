-- Tracking by workspaces: apps, their keywords and rivals, the storefronts of the market, and the tasks of the weekly
-- plan.

create table tracked_app (
  id text primary key check (id !~ ':'),
  workspace_id int not null references workspace,
  -- Null: the app is shown by its store name, once that was read.
  name text,
  ios_app int references store_app,
  android_app int references store_app,
  countries text[] not null check (cardinality(countries) > 0),
  manual_rivals text[],
  -- "ios:<store id>" or "android:<package>", as in manual_rivals. No rival is in both.
  hidden_rivals text[],
  keyword_tags jsonb,
  buried_keywords text[],
  goal text check (goal in ('downloads', 'rank', 'revenue')),
  tasks_done text[],
  origin text not null default 'own',
  created_at timestamptz not null default now(),
  constraint tracked_app_any_store_check check (ios_app is not null or android_app is not null),
  constraint tracked_app_rivals_check check (not (manual_rivals && hidden_rivals))
);
create index tracked_app_workspace on tracked_app (workspace_id, created_at, id);
create index tracked_app_ios on tracked_app (ios_app);
create index tracked_app_android on tracked_app (android_app);
-- Finds the apps that name an app as a rival by hand.
create index tracked_app_manual_rivals on tracked_app using gin (manual_rivals);

create table tracked_term (
  app_id text not null references tracked_app on delete cascade,
  country text not null,
  term text not null,
  position int not null,
  added_at timestamptz not null default now(),
  primary key (app_id, country, term)
);
-- Finds keywords by their beginning, in any collation.
create index tracked_term_term on tracked_term (country, term text_pattern_ops);

-- Rivals that are read every day with a tracked app: all rivals that were added by hand, and the rivals that most often
-- rank above it. Rewritten whenever the app's keywords were read.
create table app_rival (
  app_id text not null references tracked_app on delete cascade,
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  rival int not null references store_app,
  manual boolean not null,
  -- The number of the app's keywords on which the rival ranks above it.
  terms int not null check (terms >= 0),
  -- The latest day with results of the app there. Null if there are no results yet: the rival was added by hand.
  day date,
  primary key (app_id, platform, storefront, rival)
);
create index app_rival_rival on app_rival (rival, storefront);

-- The storefronts and genres whose charts are read every day, from the setting MARKET. A server writes it when it
-- starts.
create table market_storefront (
  storefront text primary key,
  genres text[] not null check (cardinality(genres) > 0),
  -- The charts of the storefront are followed since this day. An app that was on a chart on this day is not new there.
  -- A storefront that stays in MARKET keeps its day.
  since date not null
);

-- Every task that the weekly plan proposed, as it was shown, so that the result can be compared with the expectation.
create table plan_task (
  app_id text not null references tracked_app on delete cascade,
  -- A hash of the proposal.
  task_id text not null,
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  field text not null check (field in ('name', 'subtitle')),
  current_text text not null,
  proposed_text text not null,
  -- When the store page with current_text was read.
  page_seen_at timestamptz not null,
  -- The keywords of the task with rank, popularity and expected rank, as last shown.
  keywords jsonb not null,
  expected_value real not null,
  goal text,
  first_told_at timestamptz not null default now(),
  last_told_at timestamptz not null default now(),
  primary key (app_id, task_id)
);

-- Tracked apps that are read from the stores: those of the workspace itself, unless it is suspended. Paying plans have
-- priority 1, others 2.
create view measured_app as
select a.id, a.ios_app, a.android_app, a.countries, case w.plan when 'free' then 2 else 1 end as priority, a.created_at,
  a.workspace_id
from tracked_app a
join workspace w on w.id = a.workspace_id
where a.origin = 'own' and w.suspended_at is null and w.deleted_at is null;
