-- Keywords: the search results of the stores, ranks and figures derived from them, and the stores' suggestions.

-- A list is the search results of one term in one storefront and platform.
create table list (
  id int generated always as identity primary key,
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  term text not null,
  -- The first and the last day with a complete reading. Null if there is none.
  first_day date,
  last_day date,
  constraint list_natural_key unique (platform, storefront, term)
);
-- Finds keywords by their beginning, in any collation.
create index list_beginning on list (platform, storefront, term text_pattern_ops);

-- The source of all ranks: the search results of the stores. The rank of an app is its position in app_ids. Several
-- readings of a day are kept.
create table search_results (
  list_id int not null references list,
  day date not null,
  -- A number per source. Of the readings of a day, the reading with the lowest number counts.
  source smallint not null,
  seen_at timestamptz not null,
  -- The number of places that were read. app_ids has fewer apps if the store had no more.
  depth smallint not null check (depth between 1 and 250),
  -- False if the reading was interrupted. Such a reading is kept but gives no rank, because an app that is missing from
  -- it is not necessarily absent.
  complete boolean not null,
  parser smallint not null,
  origin text not null,
  egress text,
  sha256 bytea not null,
  app_ids int[] not null,
  primary key (list_id, day, source, seen_at)
) partition by range (day);

-- Derived, for tracked pairs of app and list only: one byte per day. 0: measured and absent; 1 to 250: the rank; 255:
-- not measured.
create table rank_month (
  app_id int not null,
  list_id int not null,
  month date not null,
  ranks bytea not null check (length(ranks) = 31),
  primary key (app_id, list_id, month)
) partition by range (month);

-- Derived, for tracked lists only: the source and the depth of each day's search results, one byte per day. Source 255:
-- not measured.
create table list_month (
  list_id int not null,
  month date not null,
  sources bytea not null check (length(sources) = 31),
  depths bytea not null check (length(depths) = 31),
  primary key (list_id, month)
) partition by range (month);

-- Derived: the search results of a list's last day, with the keyword and its popularity, so that a market read needs
-- one table. A row has about 1 KB and is rewritten daily: the fillfactor lets it stay on its page. The long column is
-- the last one, so that the others are read without it.
create table list_now (
  list_id int primary key references list,
  day date not null,
  seen_at timestamptz not null,
  source smallint not null,
  depth smallint not null,
  -- From keyword_now, for ordering: published, else the estimate. Null if there is neither.
  popularity smallint,
  -- The last day on which the estimate is recent enough. Null if the popularity is published or unknown.
  popular_until date,
  platform text not null,
  storefront text not null,
  origin text not null default 'own',
  term text collate "C" not null,
  app_ids int[] not null,
  constraint list_now_popular_until_check check (popular_until is null or popularity is not null)
) with (fillfactor = 70);
-- Finds the keywords for which an app ranks. With the server's default of 4 MB for the pending list (the embedded
-- database sets 1 MB) the entries of some thousand readings are merged at once, which writes a fifth as much to the
-- write-ahead log; a search then takes 1 to 2 ms more.
create index list_now_apps on list_now using gin (app_ids);
-- An index on a single number: with three text columns a thousand look-ups take twice as long.
create index list_now_keyword on list_now (hashtextextended(term, hashtextextended(storefront, 0)));
-- Finds the keywords whose figures depend on an app. Each search reads the pending list of this index: keep it short.
create index list_now_first_ten on list_now using gin ((app_ids[1:10])) with (gin_pending_list_limit = 512);
-- Finds lists whose figures are not based on the latest results.
create index list_now_shallow on list_now (storefront, platform)
where depth < 10 and cardinality(app_ids) >= depth;

-- Suggestions of a store for a typed prefix, in the store's order. The suggestions of different days are stored side by
-- side.
create table hint_answer (
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  prefix text not null,
  day date not null,
  source text not null,
  seen_at timestamptz not null,
  terms text[] not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (platform, storefront, prefix, day, source)
);
create index hint_answer_day on hint_answer (day);

-- Figures of a keyword with their inputs, by day; a published popularity by the first day of its month. score null:
-- measured, but no figure can be given.
create table keyword_metric (
  list_id int not null references list,
  metric text not null check (metric in ('popularity', 'difficulty', 'demand', 'hints')),
  day date not null,
  source text not null,
  -- The latest reading that the figure is based on.
  seen_at timestamptz not null,
  score real,
  -- The version of the formula. 0: published, not calculated.
  formula smallint not null,
  parts jsonb not null,
  primary key (list_id, metric, day, source)
);
-- Finds published figures, which are months apart among figures calculated daily.
create index keyword_metric_published on keyword_metric (list_id, metric, day) where formula = 0;
-- Retention deletes old calculated figures. Published figures are observations and are kept.
create index keyword_metric_old on keyword_metric (day) where formula > 0;

-- Derived from keyword_metric: the latest figure of each metric. The day of a calculated figure decides whether it is
-- too old to be shown. A day without a score: measured, but no figure can be given. A published popularity is that of a
-- month.
create table keyword_now (
  list_id int primary key references list,
  demand real,
  demand_day date,
  demand_at timestamptz,
  hints real,
  hints_day date,
  hints_at timestamptz,
  difficulty real,
  difficulty_day date,
  difficulty_at timestamptz,
  estimate real,
  estimate_day date,
  estimate_at timestamptz,
  published real,
  published_day date,
  published_at timestamptz,
  published_by text,
  constraint keyword_now_demand_check check (
    (demand_day is null) = (demand_at is null) and (demand is null or demand_day is not null)
  ),
  constraint keyword_now_hints_check check (
    (hints_day is null) = (hints_at is null) and (hints is null or hints_day is not null)
  ),
  constraint keyword_now_difficulty_check check (
    (difficulty_day is null) = (difficulty_at is null) and (difficulty is null or difficulty_day is not null)
  ),
  constraint keyword_now_estimate_check check (
    (estimate_day is null) = (estimate_at is null) and (estimate is null or estimate_day is not null)
  ),
  constraint keyword_now_published_check check (
    (published_day is null) = (published_at is null) and (published_day is null) = (published_by is null)
    and (published is null or published_day is not null)
  )
) with (fillfactor = 70);

-- Files of ranks that another tool measured, imported by a person.
create table rank_import (
  id int generated always as identity primary key,
  app_id text not null references tracked_app on delete cascade,
  platform text not null check (platform in ('ios', 'android')),
  -- The tool's name, as the person gave it.
  tool text not null check (length(tool) between 1 and 40),
  file text not null,
  imported_at timestamptz not null
);
create index rank_import_app on rank_import (app_id);

-- Ranks from another tool for the days that its file names. Charts show them next to this instance's readings as a
-- separate source, and no other figure uses them. A day without a row proves no absence, because the tool's depth is
-- unknown.
create table imported_rank (
  app_id text not null references tracked_app on delete cascade,
  platform text not null,
  storefront text not null,
  term text not null,
  tool text not null,
  day date not null,
  rank int not null check (rank > 0),
  import_id int not null references rank_import on delete cascade,
  primary key (app_id, platform, storefront, term, tool, day)
);
create index imported_rank_import on imported_rank (import_id);

-- Figures to derive at the end of an import, or in the next import if it is interrupted.
create table figure_due (
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  kind text not null check (kind in ('term', 'hint', 'app', 'name')),
  -- A keyword, a prefix for which hints were read, or the id of a store_app whose counts, dates or name changed.
  subject text not null,
  primary key (kind, platform, storefront, subject)
);
