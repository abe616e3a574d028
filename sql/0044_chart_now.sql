-- What a finder reads: every list as it stands now, a row each, packed. The widest question is about 560 lists with 78,000 places:
-- as rows they take PostgreSQL twenty times as long to give as these do. A process keeps a storefront's lists as long as
-- its version stays.

-- Derived: each chart's last_day, by its first reading in the order of readings, and since when its apps are seen in its storefront.
create table chart_now (
  chart_id int primary key references chart,
  day date not null,
  source smallint not null,
  depth smallint not null,
  seen_at timestamptz not null,
  -- store_app ids in the order shown, four bytes each
  apps bytea not null,
  -- of each of them the store's own number, eight bytes each
  store_ids bytea not null,
  -- of each of them its day in app_first_seen, two bytes: days since 2000-01-01; 0 = not known (baseline)
  first_days bytea not null
) with (fillfactor = 50);
-- read as they are: unpacking would cost more than it saves
alter table chart_now alter apps set storage external, alter store_ids set storage external,
  alter first_days set storage external;

insert into chart_now (chart_id, day, source, depth, seen_at, apps, store_ids, first_days)
select c.id, r.day, r.source, r.depth, r.seen_at, coalesce(p.apps, ''), coalesce(p.store_ids, ''),
  coalesce(p.first_days, '')
from chart c
cross join lateral (
  select day, source, depth, seen_at, app_ids
  from chart_results
  where chart_id = c.id and day = c.last_day and complete
  order by source, depth desc, seen_at desc
  limit 1
) r
cross join lateral (
  select string_agg(int4send(u.app_id), '' order by u.rank) as apps,
    string_agg(int8send(s.store_id::bigint), '' order by u.rank) as store_ids,
    string_agg(int2send(case when f.baseline then 0 else f.day - date '2000-01-01' end::smallint), '' order by u.rank)
      as first_days
  from unnest(r.app_ids) with ordinality u (app_id, rank)
  join app_first_seen f on (f.app_id, f.storefront) = (u.app_id, c.storefront)
  join store_app s on s.id = u.app_id
) p
where c.platform = 'ios';

-- Derived: another version each time that any of the storefront's rows of chart_now is another.
create table storefront_now (
  storefront text primary key,
  version uuid not null
) with (fillfactor = 50);

insert into storefront_now (storefront, version)
select distinct on (c.storefront) c.storefront, gen_random_uuid()
from chart c
join chart_now n on n.chart_id = c.id
order by c.storefront;
