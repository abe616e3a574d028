-- Whether an app is wanted for the market is asked for each row that a claim looks at, by a plan that was made when tables were
-- empty: left to itself it walked through all places of a storefront for each (of 1,300 places 1 to 11 s a claim, now 10 ms).
-- So the way is spelt out: an app, its places, the list of each.

-- followed_chart: lists that are read every day for the market, from the first reading that is not the demo's.
create view followed_chart as
select c.id, c.storefront
from chart c
join market_storefront m on m.storefront = c.storefront
where c.platform = 'ios' and c.genre = any(m.genres) and (c.device = 'iphone' or c.chart = 'free') and not c.demo;

create or replace view market_subject as
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
cross join lateral (
  select chart_id
  from chart_place
  where app_id = s.id
  offset 0
) p
cross join lateral (
  select platform, storefront, device, chart, genre, demo
  from chart
  where id = p.chart_id
  offset 0
) c
cross join lateral (
  select genres
  from market_storefront
  where storefront = c.storefront
  offset 0
) m
where s.platform = 'ios' and c.platform = 'ios' and c.genre = any(m.genres) and (c.device = 'iphone' or c.chart = 'free')
  and not c.demo;

-- As before, the other way round: from the storefronts to who stands on their lists.
create or replace function follow_market() returns trigger
language plpgsql as $$
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

create or replace function follow_charted() returns trigger
language plpgsql as $$
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
