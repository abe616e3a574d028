-- What stands now of a keyword, stored as it is asked: 200 keywords took 1,200 look-ups of "the latest". Both are derived from
-- search_results and keyword_metric, and written in the transaction that writes those.

-- The answer of a list's last day. About 1 KB a row, new every day: room on the page lets it stay there.
create table list_now (
  list_id int primary key references list,
  day date not null,
  source smallint not null,
  depth smallint not null,
  seen_at timestamptz not null,
  app_ids int[] not null
) with (fillfactor = 70);

-- The latest figure of each metric. A calculated one has its day, by which it is too old to be shown or is not; score null
-- beside a day = measured, and there is none. A published popularity is of a month.
create table keyword_now (
  list_id int primary key references list,
  demand real,
  demand_day date,
  demand_at timestamptz,
  hints real,
  hints_day date,
  hints_at timestamptz,
  difficulty real,
  difficulty_day date,
  difficulty_at timestamptz,
  estimate real,
  estimate_day date,
  estimate_at timestamptz,
  published real,
  published_day date,
  published_at timestamptz,
  published_by text,
  check ((demand_day is null) = (demand_at is null) and (demand is null or demand_day is not null)),
  check ((hints_day is null) = (hints_at is null) and (hints is null or hints_day is not null)),
  check ((difficulty_day is null) = (difficulty_at is null) and (difficulty is null or difficulty_day is not null)),
  check ((estimate_day is null) = (estimate_at is null) and (estimate is null or estimate_day is not null)),
  check (
    (published_day is null) = (published_at is null) and (published_day is null) = (published_by is null)
    and (published is null or published_day is not null)
  )
) with (fillfactor = 70);

insert into list_now (list_id, day, source, depth, seen_at, app_ids)
select l.id, r.day, r.source, r.depth, r.seen_at, r.app_ids
from list l
cross join lateral (
  select day, source, depth, seen_at, app_ids
  from search_results
  where list_id = l.id and day = l.last_day and complete
  order by source, depth desc, seen_at desc
  limit 1
) r
order by l.id;

with latest as (
  select distinct on (list_id, metric, formula = 0) list_id, metric, formula = 0 as published, score, day, seen_at, source
  from keyword_metric
  where formula > 0 or metric = 'popularity'
  order by list_id, metric, formula = 0, day desc, seen_at desc, source
)
insert into keyword_now (
  list_id, demand, demand_day, demand_at, hints, hints_day, hints_at, difficulty, difficulty_day, difficulty_at,
  estimate, estimate_day, estimate_at, published, published_day, published_at, published_by
)
select list_id,
  min(score) filter (where metric = 'demand'), min(day) filter (where metric = 'demand'),
  min(seen_at) filter (where metric = 'demand'),
  min(score) filter (where metric = 'hints'), min(day) filter (where metric = 'hints'),
  min(seen_at) filter (where metric = 'hints'),
  min(score) filter (where metric = 'difficulty'), min(day) filter (where metric = 'difficulty'),
  min(seen_at) filter (where metric = 'difficulty'),
  min(score) filter (where metric = 'popularity' and not published),
  min(day) filter (where metric = 'popularity' and not published),
  min(seen_at) filter (where metric = 'popularity' and not published),
  min(score) filter (where published), min(day) filter (where published), min(seen_at) filter (where published),
  min(source) filter (where published)
from latest
group by list_id
order by list_id;
