-- The demo's readings of charts stand beside own ones, as those of any publisher do: no chart is marked as the demo's.
create or replace view followed_chart as
select c.id, c.storefront
from chart c
join market_storefront m on m.storefront = c.storefront
where c.platform = 'ios' and c.genre = any(m.genres) and (c.device = 'iphone' or c.chart = 'free');

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
  select platform, storefront, device, chart, genre
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
where s.platform = 'ios' and c.platform = 'ios' and c.genre = any(m.genres) and (c.device = 'iphone' or c.chart = 'free');

drop index chart_demo;
alter table chart drop column demo;
