-- Since when an app stands on a chart, which the readings of a chart say only when all of them are walked through; and whose
-- apps are whose.

-- The first day on which a complete reading showed an app on a chart. On the chart's own first day (chart.first_day) it may have
-- stood there for long: then it is not known since when.
create table chart_first_seen (
  app_id int not null references store_app,
  chart_id int not null references chart,
  day date not null,
  primary key (app_id, chart_id)
);
create index chart_first_seen_day on chart_first_seen (chart_id, day);

insert into chart_first_seen (app_id, chart_id, day)
select u.app_id, r.chart_id, min(r.day)
from chart_results r
cross join lateral unnest(r.app_ids) u (app_id)
where r.complete
group by u.app_id, r.chart_id
order by u.app_id, r.chart_id;

create index store_app_developer on store_app (platform, developer_id) where developer_id is not null;
