-- The finder reads one table. No process keeps charts, names or estimates in memory any longer.
create table market_app (
  app_id int not null references store_app,
  storefront text not null,
  store_id bigint not null,
  -- the first day on which a chart of the storefront showed it; null = it was there when the charts were first read
  first_day date,
  -- the best place on any list of the storefront, and on those of a kind; null = it is on none
  rank smallint not null,
  free smallint,
  paid smallint,
  grossing smallint,
  ipad smallint,
  -- as in app_estimate
  downloads float8,
  downloads_under float8,
  revenue float8,
  revenue_under float8,
  growth float8,
  genre text,
  by_prior boolean not null,
  revenue_by text
) with (fillfactor = 80);

insert into market_app
select p.app_id, p.storefront, s.store_id::bigint, case when not f.baseline then f.day end, p.rank, p.free, p.paid, p.grossing,
  p.ipad, e.downloads, e.downloads_under, e.revenue, e.revenue_under, e.growth, e.genre,
  e.basis is not distinct from 'prior', e.revenue_by
from (
  select p.app_id, c.storefront, min(p.rank) as rank,
    min(p.rank) filter (where c.device = 'iphone' and c.chart = 'free') as free,
    min(p.rank) filter (where c.device = 'iphone' and c.chart = 'paid') as paid,
    min(p.rank) filter (where c.device = 'iphone' and c.chart = 'grossing') as grossing,
    min(p.rank) filter (where c.device = 'ipad' and c.chart = 'free') as ipad
  from chart_place p
  join chart c on c.id = p.chart_id
  where c.platform = 'ios'
  group by p.app_id, c.storefront
) p
join store_app s on s.id = p.app_id
left join app_first_seen f on (f.app_id, f.storefront) = (p.app_id, p.storefront)
left join app_estimate e on e.app_id = p.app_id
order by p.storefront, p.app_id;

-- No index has a place or an estimate, so that writing one changes no index.
alter table market_app add primary key (app_id, storefront);
create index market_app_storefront on market_app (storefront);

alter table chart_now
  drop column apps,
  drop column store_ids,
  drop column first_days;
drop table storefront_now;
drop table app_shown;
drop function stamp_app_shown();

-- Texts by which apps are found have one form.
update instance
set value = replace(value, ' shown', '')
where key = 'app_texts';
