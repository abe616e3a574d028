-- Tracking an app read what is tracked of all apps: beside 2,000 others it took PostgreSQL 100 to 130 ms, 14 to 20 with what
-- is of the app alone, looked up for each (offset 0). It is read once, where it was read for what is due and for what is due
-- already; on the embedded database to begin its branches takes 6 ms each time.
create or replace function follow_tracked_apps() returns trigger
language plpgsql as $$
declare
  kinds text[];
  platforms text[];
  storefronts text[];
  subjects text[];
  priorities int[];
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  select array_agg(kind), array_agg(platform), array_agg(storefront), array_agg(subject), array_agg(priority)
  into kinds, platforms, storefronts, subjects, priorities
  from (
    select s.kind, s.platform, s.storefront, s.subject, min(s.priority) as priority
    from tracked t
    cross join lateral (
      select kind, platform, storefront, subject, priority
      from tracked_subject
      where app_id = t.id and kind not in ('search', 'hints', 'difficulty')
      offset 0
    ) s
    group by s.kind, s.platform, s.storefront, s.subject
    order by s.kind, s.platform, s.storefront, s.subject
  ) s;
  insert into due (kind, platform, storefront, subject, priority)
  select *
  from unnest(kinds, platforms, storefronts, subjects, priorities)
  on conflict (kind, platform, storefront, subject) do nothing;
  -- findings that are due already are not locked: the lists of the app's terms are locked later, and findings after them
  update due d
  set priority = s.priority
  from unnest(kinds, platforms, storefronts, subjects, priorities) s (kind, platform, storefront, subject, priority)
  where d.kind = s.kind and d.platform = s.platform and d.storefront = s.storefront and d.subject = s.subject
    and s.kind <> 'findings' and d.priority > s.priority;
  return null;
end $$;

create or replace function follow_known_app() returns trigger
language plpgsql as $$
begin
  -- a chart tells this of 200 apps at once, of which hardly one is tracked
  if not exists (select from tracked_app where ios_app = new.id) then return null; end if;
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, priority)
  select s.kind, s.platform, s.storefront, s.subject, min(s.priority)
  from tracked_app a
  cross join lateral (
    select kind, platform, storefront, subject, priority
    from tracked_subject
    where app_id = a.id and kind in ('chart', 'developer')
    offset 0
  ) s
  where a.ios_app = new.id
  group by s.kind, s.platform, s.storefront, s.subject
  order by s.kind, s.platform, s.storefront, s.subject
  on conflict (kind, platform, storefront, subject) do nothing;
  return null;
end $$;
