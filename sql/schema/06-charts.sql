-- Top charts: what the stores showed day by day, which apps are on each chart now, and since when.

-- The chart of a storefront and device.
create table chart (
  id int generated always as identity primary key,
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  device text not null check (device in ('iphone', 'ipad')),
  chart text not null check (chart in ('free', 'paid', 'grossing')),
  -- The store's id. The overall chart has the genre of all apps.
  genre text not null,
  -- The first and the last day with a complete reading. Null if there is none. An app that is on a chart on its first
  -- day is not new there, because the chart was not read before.
  first_day date,
  last_day date,
  constraint chart_natural_key unique (platform, storefront, device, chart, genre)
);

-- The source of all chart ranks: the rank of an app is its position in app_ids. Several readings of a day are kept.
create table chart_results (
  chart_id int not null references chart,
  day date not null,
  -- A number per source. Of the readings of a day, the reading with the lowest number counts.
  source smallint not null,
  seen_at timestamptz not null,
  -- The number of places that were read. An app that is not in app_ids may have any lower place.
  depth smallint not null check (depth between 0 and 1000),
  complete boolean not null,
  parser smallint not null,
  origin text not null,
  egress text,
  sha256 bytea not null,
  app_ids int[] not null,
  primary key (chart_id, day, source, seen_at)
) partition by range (day);

-- Derived: the apps on each chart on its last day. Rows are rewritten daily, and no index has a column that changes.
create table chart_place (
  app_id int not null references store_app,
  chart_id int not null references chart,
  rank smallint not null check (rank > 0),
  -- The chart's last_day.
  day date not null,
  primary key (app_id, chart_id)
) with (fillfactor = 70);
create index chart_place_chart on chart_place (chart_id);

-- Derived: the first day on which a complete reading showed an app on a chart. If that is the chart's first_day, the
-- app may have been there before, and it is unknown since when.
create table chart_first_seen (
  app_id int not null references store_app,
  chart_id int not null references chart,
  day date not null,
  primary key (app_id, chart_id)
);
create index chart_first_seen_day on chart_first_seen (chart_id, day);

-- Derived: the first day on which any chart of the storefront showed the app.
create table app_first_seen (
  app_id int not null references store_app,
  storefront text not null,
  day date not null,
  -- Whether a chart was read for the first time on that day, so that the app may have been there before and is not new.
  baseline boolean not null,
  -- A chart that showed the app that day: a baseline chart if there is one, else the overall chart, else a chart of the
  -- iPhone.
  chart_id int not null references chart,
  primary key (app_id, storefront)
);
create index app_first_seen_new on app_first_seen (storefront, day) where not baseline;

-- Derived: which reading counts on a chart's last day.
create table chart_now (
  chart_id int primary key references chart,
  day date not null,
  source smallint not null,
  depth smallint not null,
  seen_at timestamptz not null
) with (fillfactor = 50);

-- open_month: makes the partitions of a month, once. A table that is created apart and then attached blocks nobody;
-- "create ... partition of" blocked plain reads for 1.7 s behind an open cursor. Rows of a month are rewritten daily:
-- at fillfactor 100 they grew to 474 MB, at 50 to 32 MB.
create function open_month(any_day date) returns void
language plpgsql as $$
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
