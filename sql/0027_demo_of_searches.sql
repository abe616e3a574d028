-- Only searches can be of the demo. All else that was imported as the demo's goes, with what was derived from it. The demo's
-- searches stay, and what they showed of apps: `demo remove` takes those.
delete from hint_answer where origin = 'demo';
delete from genre where origin = 'demo';
delete from developer_shelf where origin = 'demo';
delete from market_fact where origin = 'demo';
delete from app_ads where origin = 'demo';
delete from app_storefront where origin = 'demo';
delete from review_version where origin = 'demo';
delete from review_read where origin = 'demo';
delete from listing_item where origin = 'demo';
delete from listing_version where origin = 'demo';
delete from listing_change where origin = 'demo';

delete from rating_count
where origin = 'demo'
  and source not in ('apple-web-search', 'apple-store-search', 'play-search', 'import', 'foreign');

update store_app
set genre = null, genres = null, developer_id = null, developer_site = null
where origin = 'demo';

with gone as (
  delete from listing_run
  where origin = 'demo'
  returning app_id, storefront, source, section, digest
)
delete from listing_content c
using gone g
where (c.app_id, c.storefront, c.source, c.section, c.digest) = (g.app_id, g.storefront, g.source, g.section, g.digest)
  and not exists (
    select
    from listing_run r
    where (r.app_id, r.storefront, r.source, r.section, r.digest)
        = (g.app_id, g.storefront, g.source, g.section, g.digest)
      and r.origin <> 'demo'
  );

create temporary table demo_list on commit drop as
select distinct list_id as id
from keyword_metric
where formula = 0 and parts ->> 'origin' = 'demo';

delete from keyword_metric
where formula = 0 and parts ->> 'origin' = 'demo';

delete from list l
using demo_list d
where l.id = d.id
  and not exists (select from search_results where list_id = l.id)
  and not exists (select from keyword_metric where list_id = l.id)
  and not exists (select from tracked_term t where (t.country, t.term) = (l.storefront, l.term));

create temporary table demo_chart on commit drop as
select distinct chart_id as id
from chart_results
where origin = 'demo';

delete from chart_results
where origin = 'demo';

delete from chart_place
where chart_id in (select id from demo_chart);

delete from chart c
using demo_chart d
where c.id = d.id
  and not exists (select from chart_results where chart_id = c.id);

update chart c
set (first_day, last_day) = (
  select min(day), max(day)
  from chart_results
  where chart_id = c.id and complete
)
where id in (select id from demo_chart);

insert into chart_place (app_id, chart_id, rank, day)
select u.app_id, c.id, u.rank, c.last_day
from chart c
cross join lateral (
  select app_ids
  from chart_results
  where chart_id = c.id and day = c.last_day and complete
  order by source, depth desc, seen_at desc
  limit 1
) r
cross join lateral unnest(r.app_ids) with ordinality u (app_id, rank)
where c.id in (select id from demo_chart);
