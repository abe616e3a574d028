-- Top charts: what the stores showed day by day, and the place of each app that is on one now.

-- A chart of one storefront and device; genre is the store's own id, that of all apps for the overall chart.
create table chart (
  id int generated always as identity primary key,
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  device text not null check (device in ('iphone', 'ipad')),
  chart text not null check (chart in ('free', 'paid', 'grossing')),
  genre text not null,
  -- the first and the latest day with a complete reading; null while there is none. Who stands on a chart on its first day
  -- is not new there: nobody looked before.
  first_day date,
  last_day date,
  unique (platform, storefront, device, chart, genre)
);

-- The truth about charts, as search_results is about terms: rank = position in app_ids. Several readings of a day are kept.
create table chart_results (
  chart_id int not null references chart,
  day date not null,
  -- src/observations/types-charts.ts; the lower code is preferred
  source smallint not null,
  seen_at timestamptz not null,
  -- how many places were read: an app that is not among app_ids may stand on any below
  depth smallint not null check (depth between 0 and 1000),
  complete boolean not null,
  parser smallint not null,
  origin text not null,
  egress text,
  sha256 bytea not null,
  app_ids int[] not null,
  primary key (chart_id, day, source, seen_at)
) partition by range (day);

-- Derived: who is on each chart on its last_day. Rows are rewritten daily, and no index holds what changes.
create table chart_place (
  app_id int not null references store_app,
  chart_id int not null references chart,
  rank smallint not null check (rank > 0),
  -- the chart's last_day
  day date not null,
  primary key (app_id, chart_id)
) with (fillfactor = 70);
create index chart_place_chart on chart_place (chart_id);

-- As before, with chart_results, which comes last: a month that has its partition is open in all of them, one that was
-- opened before there were charts is not.
create or replace function open_month(any_day date) returns void
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
