-- An alert that later readings contradict. It stays in the feed if it was queued for a channel or read, else it is deleted.
alter table alert add column withdrawn_at timestamptz;

-- The days of a storefront that imports brought, as far as alerts are kept. Their alerts are history: derived with what is
-- known now, and again when that changes.
create table imported_days (
  app_id text not null references tracked_app (id) on delete cascade,
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  from_day date not null,
  to_day date not null,
  -- The rivals followed and the app's categories when the alerts were derived. Null if they were not derived yet.
  derived_with jsonb,
  primary key (app_id, platform, storefront),
  check (from_day <= to_day)
);

-- The first measured day after another. Like last_search_day it reads days, and unpacks no results.
create function next_search_day(of_list integer, after_day date) returns date
language sql stable as $$
  select least(
    (
      select s.day
      from search_results s
      where s.list_id = of_list and s.day > after_day and s.complete
      order by s.day
      limit 1
    ),
    (
      select (seen_at at time zone 'utc')::date
      from search_fortnight f
      cross join unnest(f.seen_ats) seen_at
      where f.list_id = of_list and f.fortnight > after_day - 14 and f.complete
        and (seen_at at time zone 'utc')::date > after_day
      order by f.fortnight, seen_at
      limit 1
    )
  )
$$;
