-- What a store's own search found when somebody asked for an app by its name: truth, and never a rank.

alter table due drop constraint due_kind_check;
alter table due add constraint due_kind_check check (kind in (
  'search', 'app', 'hints', 'difficulty', 'canary', 'listing', 'reviews', 'chart', 'chart_apps', 'genres', 'developer',
  'app_ads', 'app_names', 'findings'
));

-- The last answer to each text; none found = an empty list. The order of a catalogue's answer is not that of a phone's, so it
-- is not kept: the apps stand in the order of their ids.
create table name_search (
  seen_at timestamptz not null,
  parser smallint not null,
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  text text not null,
  source text not null,
  origin text not null,
  sha256 bytea not null,
  app_ids int[] not null,
  primary key (platform, storefront, text, source)
);
create index name_search_seen on name_search (seen_at);
