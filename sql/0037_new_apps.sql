-- Since when an app stands on the charts of a storefront, which is what makes it a new one there.

-- Derived from chart_first_seen and the charts' first days: the earliest day on which any chart of the storefront showed the
-- app. Baseline = on that day it stood on a chart of which that was the first day that was read: it may have stood there for
-- long, and is not new.
create table app_first_seen (
  app_id int not null references store_app,
  storefront text not null,
  day date not null,
  baseline boolean not null,
  -- one on which it was seen that day: of several a baseline one, then the overall chart, the iPhone's
  chart_id int not null references chart,
  primary key (app_id, storefront)
);
create index app_first_seen_new on app_first_seen (storefront, day) where not baseline;

insert into app_first_seen (app_id, storefront, day, baseline, chart_id)
select distinct on (f.app_id, c.storefront) f.app_id, c.storefront, f.day, f.day = c.first_day, c.id
from chart_first_seen f
join chart c on c.id = f.chart_id
order by f.app_id, c.storefront, f.day, f.day > c.first_day, c.genre <> '36', c.device desc, c.chart, c.genre;
