-- The market: storefronts whose charts are read every day for themselves, and the apps that stand on them.

-- What the instance follows, from its setting MARKET, written by whoever starts (src/tracking/market.ts). Nothing that
-- stood on a chart on the day a storefront came is new there; a storefront that stays keeps that day.
create table market_storefront (
  storefront text primary key,
  genres text[] not null check (cardinality(genres) > 0),
  since date not null
);

-- market_subject: what the market has read, each as due names it. Four lists of each genre followed, the names of genres,
-- and look-ups of the apps that stand on those lists. A list that others track besides is read too, but its apps are
-- not looked up for the market: its places would stay when they untrack it.
create view market_subject as
select 'genres' as kind, 'ios' as platform, m.storefront, '36' as subject
from market_storefront m
union all
select 'chart', 'ios', m.storefront, k.chart || g.genre
from market_storefront m
cross join lateral unnest(m.genres) g (genre)
cross join (values ('iphone free '), ('iphone paid '), ('iphone grossing '), ('ipad free ')) k (chart)
union all
select 'app', s.platform, c.storefront, s.store_id
from store_app s
join chart_place p on p.app_id = s.id
join chart c on c.id = p.chart_id
join market_storefront m on m.storefront = c.storefront
where s.platform = 'ios' and c.platform = 'ios' and c.genre = any(m.genres) and (c.device = 'iphone' or c.chart = 'free');

-- As before, with what the market has read, which goes after all that anybody tracks. Nobody tracks it: it is read at one
-- moment of the day for the whole storefront.
create or replace view tracked_subject as
select k.kind, p.platform, t.country as storefront, t.term as subject, a.priority, a.id as app_id,
  a.created_at as tracked_since, a.workspace_id
from tracked_term t
join measured_app a on a.id = t.app_id
cross join (values ('search'), ('hints'), ('difficulty')) k (kind)
cross join lateral (values ('ios', a.ios_app), ('android', a.android_app)) p (platform, store_app)
where p.store_app is not null
union all
select k.kind, s.platform, c.storefront, s.store_id, a.priority, a.id, a.created_at, a.workspace_id
from measured_app a
join store_app s on s.id = a.ios_app or s.id = a.android_app
cross join (values ('app'), ('reviews'), ('findings')) k (kind)
cross join lateral unnest(a.countries) c (storefront)
union all
select 'app', s.platform, r.storefront, s.store_id, a.priority, a.id, a.created_at, a.workspace_id
from store_app s
join app_rival r on r.rival = s.id
join measured_app a on a.id = r.app_id
union all
select 'listing', s.platform, r.storefront, s.store_id, 3, a.id, a.created_at, a.workspace_id
from store_app s
join app_rival r on r.rival = s.id
join measured_app a on a.id = r.app_id
where s.platform = 'ios'
union all
select 'listing', s.platform, c.storefront, s.store_id, a.priority, a.id, a.created_at, a.workspace_id
from measured_app a
join store_app s on s.id = a.ios_app
cross join lateral unnest(a.countries) c (storefront)
union all
select 'app_ads', s.platform, a.countries[1], s.store_id, a.priority, a.id, a.created_at, a.workspace_id
from measured_app a
join store_app s on s.id = a.ios_app or s.id = a.android_app
union all
select 'developer', s.platform, a.countries[1], s.developer_id, a.priority, a.id, a.created_at, a.workspace_id
from measured_app a
join store_app s on s.id = a.ios_app
where s.developer_id is not null
union all
select 'genres', 'ios', c.storefront, '36', a.priority, a.id, a.created_at, a.workspace_id
from measured_app a
cross join lateral unnest(a.countries) c (storefront)
where a.ios_app is not null
union all
select 'chart', 'ios', c.storefront, k.subject, a.priority, a.id, a.created_at, a.workspace_id
from measured_app a
cross join lateral unnest(a.countries) c (storefront)
-- spelt out, so that a chart is looked up without making the names of all (of 1,000 apps 9 ms on the embedded database, not 200)
cross join (
  values ('iphone free 36'), ('iphone paid 36'), ('iphone grossing 36'), ('ipad free 36'), ('ipad paid 36'),
    ('ipad grossing 36')
) k (subject)
where a.ios_app is not null
union all
select 'chart', 'ios', c.storefront, k.chart || s.genre, a.priority, a.id, a.created_at, a.workspace_id
from measured_app a
join store_app s on s.id = a.ios_app
cross join (
  values ('iphone free '), ('iphone paid '), ('iphone grossing '), ('ipad free '), ('ipad paid '), ('ipad grossing ')
) k (chart)
cross join lateral unnest(a.countries) c (storefront)
where s.genre <> '36'
union all
select 'listing', s.platform, c.storefront, s.store_id, x.priority, null::text, 'infinity'::timestamptz, null::int
from store_app s
join storefront_audit x on x.app_id = s.id
cross join lateral unnest(x.storefronts) c (storefront)
where x.finished_at is null and x.started_at > now() - interval '60 minutes'
  and not exists (
    select
    from attempt t
    where t.kind = 'listing' and t.subject = s.store_id and t.storefront = c.storefront and t.platform = 'ios'
      and t.source = 'apple-app-page' and t.at > x.started_at - interval '12 hours' and t.outcome = 'not_found'
  )
union all
select m.kind, m.platform, m.storefront, m.subject, 5, null::text, 'infinity'::timestamptz, null::int
from market_subject m;

alter table due drop constraint due_priority_check;
alter table due add constraint due_priority_check check (priority between 0 and 5);

-- A storefront that comes, or of which other genres are followed, is due at once. In one statement for all of them, so
-- that rows of due are made in the order in which everybody makes them.
create function follow_market() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, priority)
  select distinct s.kind, s.platform, s.storefront, s.subject, 5
  from followed f
  join market_subject s on s.storefront = f.storefront
  order by 1, 2, 3, 4
  on conflict (kind, platform, storefront, subject) do nothing;
  return null;
end $$;

create trigger follow_new_market
after insert on market_storefront
referencing new table as followed
for each statement execute function follow_market();

create trigger follow_changed_market
after update on market_storefront
referencing new table as followed
for each statement execute function follow_market();

-- Apps that a reading shows on a list that is followed are due at once, unless they are anyway. Every reading says it of all
-- its apps: one that came while the storefront was only about to be followed was seen by neither.
create function follow_charted() returns trigger
language plpgsql as $$
begin
  if not exists (
    select
    from (select distinct chart_id from placed) p
    join chart c on c.id = p.chart_id
    join market_storefront m on m.storefront = c.storefront
    where c.platform = 'ios' and c.genre = any(m.genres) and (c.device = 'iphone' or c.chart = 'free')
  ) then
    return null;
  end if;
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, priority)
  select distinct 'app', 'ios', c.storefront, s.store_id, 5
  from placed p
  join chart c on c.id = p.chart_id
  join market_storefront m on m.storefront = c.storefront
  cross join lateral (
    select store_id
    from store_app
    where id = p.app_id
    -- looked up for each: a plan for few was kept for all, or all were read
    offset 0
  ) s
  where c.platform = 'ios' and c.genre = any(m.genres) and (c.device = 'iphone' or c.chart = 'free')
  order by 3, 4
  on conflict (kind, platform, storefront, subject) do nothing;
  return null;
end $$;

create trigger follow_new_places
after insert on chart_place
referencing new table as placed
for each statement execute function follow_charted();

create trigger follow_held_places
after update on chart_place
referencing new table as placed
for each statement execute function follow_charted();

-- As before, with one more priority.
create or replace function claim_due(
  lane_upstream text, lane_egress text, kinds text[], platforms text[], storefronts text[], togethers int[], beyond int,
  lease_for interval
) returns table (
  kind text, platform text, storefront text, subject text, priority int, lease uuid, claimed_at timestamptz
) language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off as $$
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
    order by f.priority, f.next_at, f.kind, f.platform, f.storefront, f.subject
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
