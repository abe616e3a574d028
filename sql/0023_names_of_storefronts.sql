-- What a store calls an app, and its icon, belong to a storefront: the same app has other words in Japan.

-- Of each fact the latest said there. Of two of the same moment the one of more weight (its source, then its parser), then
-- the greater text: whichever came first, the same one is held. The demo's gives way to any other's, both facts at once.
-- Storefront 'zz' = not known where; only what was held before names had storefronts.
create table store_app_name (
  app_id integer not null references store_app (id) on delete cascade,
  name_weight integer,
  icon_weight integer,
  name_at timestamptz,
  icon_at timestamptz,
  demo boolean not null,
  storefront text not null,
  name text,
  icon_url text,
  primary key (app_id, storefront),
  check (name is not null or icon_url is not null),
  check ((name is null) = (name_at is null) and (name is null) = (name_weight is null)),
  check ((icon_url is null) = (icon_at is null) and (icon_url is null) = (icon_weight is null))
) with (fillfactor = 70);

-- what look-ups and pages said is known with its storefront
with said as (
  select app_id, storefront, source, parser, seen_at, origin = 'demo' as demo, name, null as icon_url
  from app_storefront
  where available
  union all
  select r.app_id, r.storefront, r.source, r.parser, r.seen_at, r.origin = 'demo', btrim(c.content ->> 'name'),
    btrim(c.content ->> 'icon')
  from listing_run r
  join listing_content c using (app_id, storefront, source, section, digest)
  where r.section = 'page'
), weighed as (
  select *, parser + 10000 * case source
      when 'itunes-search' then 80
      when 'apple-app-page' then 90
      when 'itunes-lookup' then 100
      when 'play-details' then 110
      else 5
    end as weight, bool_and(demo) over (partition by app_id, storefront) as only_demo
  from said
), name as (
  select distinct on (app_id, storefront) app_id, storefront, demo, name, seen_at, weight
  from weighed
  where name <> '' and demo = only_demo
  order by app_id, storefront, seen_at desc, weight desc, name collate "C" desc
), icon as (
  select distinct on (app_id, storefront) app_id, storefront, demo, icon_url, seen_at, weight
  from weighed
  where icon_url <> '' and demo = only_demo
  order by app_id, storefront, seen_at desc, weight desc, icon_url collate "C" desc
)
insert into store_app_name (
  app_id, storefront, demo, name, name_at, name_weight, icon_url, icon_at, icon_weight
)
select app_id, storefront, coalesce(n.demo, i.demo), n.name, n.seen_at, n.weight, i.icon_url, i.seen_at, i.weight
from name n
full join icon i using (app_id, storefront)
order by app_id, storefront;

-- of all others nothing tells where it was seen: it is shown where nothing better is known
insert into store_app_name (
  app_id, storefront, demo, name, name_at, name_weight, icon_url, icon_at, icon_weight
)
select id, 'zz', origin is not distinct from 'demo', name,
  case when name is not null then coalesce(seen_at, '-infinity') end, case when name is not null then 0 end,
  icon_url, case when icon_url is not null then coalesce(seen_at, '-infinity') end,
  case when icon_url is not null then 0 end
from store_app a
where (name is not null and not exists (select from store_app_name n where n.app_id = a.id and n.name is not null))
  or (icon_url is not null and not exists (select from store_app_name n where n.app_id = a.id and n.icon_url is not null))
order by id;

alter table store_app drop column name, drop column icon_url;
