-- Scheduled readings, how fast each upstream may be asked, and the state of the sources. A tracked subject is due at
-- once, by triggers in the transaction that tracks it.

-- One row per subject that is read again and again, whoever tracks it. `subject` is a term, a store id, a chart or a
-- source's name. A row that nobody tracks any more is deleted when its turn comes.
create table due (
  kind text not null check (kind in (
    'search', 'app', 'hints', 'difficulty', 'canary', 'listing', 'reviews', 'chart', 'chart_apps', 'genres',
    'developer', 'app_ads', 'app_names', 'findings'
  )),
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  subject text not null,
  -- Priority: 0 somebody waits for it, 1 a paying plan, 2 other plans, 3 rivals' pages, 4 requests beyond a
  -- workspace's share, 5 the market.
  priority smallint not null default 2 check (priority between 0 and 5),
  next_at timestamptz not null default now(),
  -- Reads that failed or were interrupted since the last one that succeeded.
  failures int not null default 0 check (failures >= 0),
  -- How the last read failed. Null if it did not fail.
  failure text,
  failed_at timestamptz,
  measured_at timestamptz,
  -- One per claim: the holder of an earlier lease can no longer write.
  lease uuid,
  lease_until timestamptz,
  -- The workspace that requested it, and until when that workspace waits for the result.
  asked_by int,
  asked_until timestamptz,
  primary key (platform, storefront, subject, kind),
  constraint due_lease_check check ((lease is null) = (lease_until is null)),
  constraint due_failed_at_check check ((failure is null) = (failed_at is null))
);
-- Find the first due rows, of all storefronts and of one storefront. Both indexes include every sort column, so that
-- thousands of rows that become due at the same time need no sorting.
create index due_next on due (kind, platform, priority, next_at, storefront, subject) where lease is null;
create index due_storefront on due (kind, platform, storefront, priority, next_at, subject) where lease is null;
create index due_leased on due (lease, lease_until) where lease is not null;
create index due_asked on due (asked_by) where asked_by is not null;
-- Finds canaries, the only rows that are read by kind.
create index due_canary on due (platform, storefront, subject) where kind = 'canary';
-- Finds a keyword by a single number.
create index due_keyword on due (hashtextextended(subject, hashtextextended(storefront, 0)))
where kind in ('search', 'hints', 'difficulty');

-- The turns of an upstream from one egress address. All processes behind the address share the row. An assistant's row
-- has no egress ('') and is shared by all processes.
create table pace (
  upstream text not null,
  egress text not null,
  -- The next free turn.
  next_at timestamptz not null default now(),
  -- Milliseconds between turns: the intended gap, and the current one after refusals.
  base_gap_ms int not null check (base_gap_ms >= 0),
  gap_ms int not null,
  -- Refusals since the last answered read, and answers since the last refusal.
  refusals int not null default 0 check (refusals >= 0),
  answers int not null default 0 check (answers >= 0),
  refused_at timestamptz,
  primary key (upstream, egress),
  constraint pace_gap_ms_check check (gap_ms >= base_gap_ms)
);

-- The turns that a workspace used for its own requests, stored as the time until which its share is used up. Workspace
-- 0: all workspaces together.
create table live_share (
  workspace_id int not null,
  upstream text not null,
  used_until timestamptz not null,
  primary key (workspace_id, upstream)
);

-- Failed reads. A failed read is not an observation and changes no rank.
create table attempt (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  kind text not null,
  subject text not null,
  storefront text not null,
  platform text not null,
  source text not null,
  outcome text not null check (outcome in ('blocked', 'rate_limited', 'not_found', 'changed', 'mismatched', 'failed')),
  detail text,
  -- The body, if it was kept: a later parser may still read it.
  sha256 bytea,
  constraint attempt_natural_key unique (kind, subject, storefront, platform, source, at)
);
-- Attempts may be imported late, so the order of their ids is not the order of their times.
create index attempt_at on attempt (at, id);

-- The reads of a source by hour.
create table source_hour (
  source text not null,
  hour timestamptz not null,
  answered int not null default 0 check (answered >= 0),
  failed int not null default 0 check (failed >= 0),
  primary key (source, hour)
);

-- How the latest reads of a source ended.
create table source_state (
  source text primary key,
  answered_at timestamptz,
  failed_at timestamptz,
  failure text,
  detail text,
  -- Failures and bodies that the parser did not recognise, since the last answered read.
  failures int not null default 0 check (failures >= 0),
  unparsed int not null default 0 check (unparsed >= 0),
  -- The first refusal since the last answered read.
  refused_since timestamptz,
  -- Responses since the last answered read that answered another question than the requested one.
  mismatched int not null default 0 check (mismatched >= 0)
);

-- The country that an upstream was asked for, and the country that its page named, by egress address.
create table answered_country (
  upstream text not null,
  egress text not null,
  asked text not null,
  answered text not null,
  reads bigint not null default 1 check (reads > 0),
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (upstream, egress, asked, answered)
);

-- Processes that read the stores. In this table a server that does not read them finds out whether something is being
-- read. A process writes its row every 20 seconds.
create table reader (
  process uuid primary key,
  egress text not null,
  -- [{kind, platform, upstream, storefronts}]. storefronts null: all; empty: the country of its address is unknown.
  reads jsonb not null,
  seen_at timestamptz not null default now()
);

-- Notices to the operator. A notice is stored once each time a problem begins.
create table instance_alert (
  id bigint generated always as identity primary key,
  kind text not null,
  subject text not null,
  detail text not null,
  at timestamptz not null default now(),
  ended_at timestamptz
);
create unique index instance_alert_open on instance_alert (kind, subject) where ended_at is null;

-- Charts that are read every day for the market.
create view followed_chart as
select c.id, c.storefront
from chart c
join market_storefront m on m.storefront = c.storefront
where c.platform = 'ios' and c.genre = any(m.genres) and (c.device = 'iphone' or c.chart = 'free');

-- Subjects that the market reads, with the names of `due`: four charts of each genre, the names of genres, and look-ups
-- of the apps on those charts. A chart that others track is read too, but the market does not look up its apps: their
-- places would stay when the chart is no longer tracked. The joins are spelt out (an app, its places, the chart of
-- each). A claim asks for each of its rows whether the market wants it, with a plan from when the tables were empty: a
-- free planner scanned all places of a storefront per row (1,300 places: 1 to 11 s per claim, now 10 ms).
create view market_subject as
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
where s.platform = 'ios' and c.platform = 'ios' and c.genre = any(m.genres)
  and (c.device = 'iphone' or c.chart = 'free');

-- Subjects that are read because somebody tracks them, a row per app that does; the storefronts of running audits,
-- unless the app is known to be missing there; and what the market reads, after everything else.
create view tracked_subject as
select k.kind, p.platform, t.country as storefront, t.term as subject, a.priority, a.id as app_id,
  a.created_at as tracked_since, a.workspace_id
from tracked_term t
join measured_app a on a.id = t.app_id
cross join (values ('search'), ('hints'), ('difficulty')) k (kind)
cross join lateral (values ('ios', a.ios_app), ('android', a.android_app)) p (platform, store_app)
where p.store_app is not null
union all
select k.kind, s.platform, c.storefront, s.store_id, a.priority, a.id, a.created_at, a.workspace_id
from measured_app a
join store_app s on s.id = a.ios_app or s.id = a.android_app
cross join (values ('app'), ('reviews'), ('findings')) k (kind)
cross join lateral unnest(a.countries) c (storefront)
union all
select 'app', s.platform, r.storefront, s.store_id, a.priority, a.id, a.created_at, a.workspace_id
from store_app s
join app_rival r on r.rival = s.id
join measured_app a on a.id = r.app_id
union all
select 'listing', s.platform, r.storefront, s.store_id, 3, a.id, a.created_at, a.workspace_id
from store_app s
join app_rival r on r.rival = s.id
join measured_app a on a.id = r.app_id
where s.platform = 'ios'
union all
select 'listing', s.platform, c.storefront, s.store_id, a.priority, a.id, a.created_at, a.workspace_id
from measured_app a
join store_app s on s.id = a.ios_app
cross join lateral unnest(a.countries) c (storefront)
union all
select 'app_ads', s.platform, a.countries[1], s.store_id, a.priority, a.id, a.created_at, a.workspace_id
from measured_app a
join store_app s on s.id = a.ios_app or s.id = a.android_app
union all
select 'developer', s.platform, a.countries[1], s.developer_id, a.priority, a.id, a.created_at, a.workspace_id
from measured_app a
join store_app s on s.id = a.ios_app
where s.developer_id is not null
union all
select 'genres', 'ios', c.storefront, '36', a.priority, a.id, a.created_at, a.workspace_id
from measured_app a
cross join lateral unnest(a.countries) c (storefront)
where a.ios_app is not null
union all
select 'chart', 'ios', c.storefront, k.subject, a.priority, a.id, a.created_at, a.workspace_id
from measured_app a
cross join lateral unnest(a.countries) c (storefront)
-- Literals, so that a chart is found without building the names of all (1,000 apps: 9 instead of 200 ms, embedded).
cross join (
  values ('iphone free 36'), ('iphone paid 36'), ('iphone grossing 36'), ('ipad free 36'), ('ipad paid 36'),
    ('ipad grossing 36')
) k (subject)
where a.ios_app is not null
union all
select 'chart', 'ios', c.storefront, k.chart || s.genre, a.priority, a.id, a.created_at, a.workspace_id
from measured_app a
join store_app s on s.id = a.ios_app
cross join (
  values ('iphone free '), ('iphone paid '), ('iphone grossing '), ('ipad free '), ('ipad paid '), ('ipad grossing ')
) k (chart)
cross join lateral unnest(a.countries) c (storefront)
where s.genre <> '36'
union all
select 'listing', s.platform, c.storefront, s.store_id, x.priority, null::text, 'infinity'::timestamptz, null::int
from store_app s
join storefront_audit x on x.app_id = s.id
cross join lateral unnest(x.storefronts) c (storefront)
where x.finished_at is null and x.started_at > now() - interval '60 minutes'
  and not exists (
    select
    from attempt t
    where t.kind = 'listing' and t.subject = s.store_id and t.storefront = c.storefront and t.platform = 'ios'
      and t.source = 'apple-app-page' and t.at > x.started_at - interval '12 hours' and t.outcome = 'not_found'
  )
union all
select m.kind, m.platform, m.storefront, m.subject, 5, null::text, 'infinity'::timestamptz, null::int
from market_subject m;

-- claim_due: takes a turn of the lane, if there is one, and leases the first due row of some kinds with others beside
-- it. As a statement it took 40 ms to plan and 2 ms to run, five times per connection; a function is planned once. The
-- plan is renewed when a table is analysed and may be older than its rows, so it scans no table whole. A storefront's
-- charts go before the look-ups of the apps on them: an app that left its charts is not looked up again, and one that
-- came needs no request of its own.
create function claim_due(
  lane_upstream text, lane_egress text, kinds text[], platforms text[], storefronts text[], togethers int[], beyond int,
  lease_for interval
) returns table (
  kind text, platform text, storefront text, subject text, priority int, lease uuid, claimed_at timestamptz
) language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
  gap int;
begin
  if lane_upstream is not null then
    select p.gap_ms into gap
    from pace p
    where p.upstream = lane_upstream and p.egress = lane_egress and p.next_at <= now()
    for update skip locked;
    if not found then return; end if;
  end if;

  return query
  with head as materialized (
    select f.kind, f.platform, f.storefront, k.together
    from unnest(kinds, platforms, storefronts, togethers) k (kind, platform, storefront, together)
    cross join (values (0), (1), (2), (3), (4), (5)) c (priority)
    cross join lateral (
      (
        select kind, platform, storefront, subject, priority, next_at
        from due
        where k.storefront is null and kind = k.kind and platform = k.platform and priority = c.priority
          and lease is null and next_at <= now()
        order by next_at, storefront, subject
        limit 1
      )
      union all
      (
        select kind, platform, storefront, subject, priority, next_at
        from due
        where kind = k.kind and platform = k.platform and storefront = k.storefront and priority = c.priority
          and lease is null and next_at <= now()
        order by next_at, subject
        limit 1
      )
    ) f
    order by f.priority, case when f.kind = 'app' and f.priority = 5 then exists (
      select
      from due
      where kind = 'chart' and platform = f.platform and storefront = f.storefront and priority = f.priority
        and lease is null and next_at <= now()
      offset 0
    ) else false end, f.next_at, f.kind, f.platform, f.storefront, f.subject
    limit 1
  ), near as materialized (
    select d.*, coalesce(d.asked_until > now(), false) or d.kind = 'canary' or exists (
      select
      from tracked_subject s
      where s.kind = d.kind and s.platform = d.platform and s.storefront = d.storefront and s.subject = d.subject
      -- One look-up per row: a hash join reads everything that is tracked.
      offset 0
    ) as wanted
    from (
      select d.*
      from head h
      cross join (values (0), (1), (2), (3), (4), (5)) c (priority)
      cross join lateral (
        select kind, platform, storefront, subject, priority, next_at, asked_until
        from due
        where kind = h.kind and platform = h.platform and storefront = h.storefront and priority = c.priority
          and lease is null and next_at <= now()
        order by next_at, subject
        limit h.together + beyond
      ) d
      order by d.priority, d.next_at, d.subject
      limit (select together + beyond from head)
    ) d
  ), chosen as materialized (
    select d.kind, d.platform, d.storefront, d.subject
    from near n
    join due d using (kind, platform, storefront, subject)
    where n.wanted and d.lease is null and d.next_at <= now()
    order by n.priority, n.next_at, n.subject
    limit (select together from head)
    for update of d skip locked
  ), fresh as materialized (
    select gen_random_uuid() as lease
  ), leased as (
    update due d
    set lease = f.lease, lease_until = now() + lease_for
    from chosen c, fresh f
    where d.kind = c.kind and d.platform = c.platform and d.storefront = c.storefront and d.subject = c.subject
    returning d.kind, d.platform, d.storefront, d.subject, d.priority, d.lease
  ), moved as (
    update pace p
    set next_at = now() + gap * interval '1 millisecond'
    where p.upstream = lane_upstream and p.egress = lane_egress and exists (select from chosen)
  )
  select l.kind, l.platform, l.storefront, l.subject, l.priority::int, l.lease, now()
  from leased l
  union all
  select n.kind, n.platform, n.storefront, n.subject, n.priority::int, null, now()
  from near n
  where not n.wanted
  order by 1, 2, 3, 4;
end $$;

-- The follow_ functions make due what is tracked, within the transaction that tracks it, and raise the priority if a
-- paying plan joins. A difficulty is not due yet: it needs search results first. Rows of due are locked after lists, as
-- by the end of a measurement. forget_untracked waits for nobody: it gives up while the shared lock is held.
create function follow_tracked_terms() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, priority)
  select k.kind, p.platform, t.country, t.term, min(a.priority)
  from tracked t
  join measured_app a on a.id = t.app_id
  cross join (values ('search'), ('hints')) k (kind)
  cross join lateral (values ('ios', a.ios_app), ('android', a.android_app)) p (platform, store_app)
  where p.store_app is not null
  group by k.kind, p.platform, t.country, t.term
  order by k.kind, p.platform, t.country, t.term
  on conflict (kind, platform, storefront, subject) do update
  set priority = excluded.priority
  where due.priority > excluded.priority;
  return null;
end $$;

create function follow_tracked_apps() returns trigger
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
  -- Findings that are due already are not locked: they are locked after the lists of the app's terms, later.
  update due d
  set priority = s.priority
  from unnest(kinds, platforms, storefronts, subjects, priorities) s (kind, platform, storefront, subject, priority)
  where d.kind = s.kind and d.platform = s.platform and d.storefront = s.storefront and d.subject = s.subject
    and s.kind <> 'findings' and d.priority > s.priority;
  return null;
end $$;

-- An app that is added to another store or storefront, or taken over from the demo, brings its terms.
create function follow_changed_app() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, priority)
  select kind, platform, storefront, subject, min(priority)
  from tracked_subject
  where app_id = new.id and kind <> 'difficulty'
  group by kind, platform, storefront, subject
  order by kind, platform, storefront, subject
  on conflict (kind, platform, storefront, subject) do update
  set priority = excluded.priority
  where due.priority > excluded.priority;
  return null;
end $$;

create function follow_workspace() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, priority)
  select kind, platform, storefront, subject, min(priority)
  from tracked_subject
  where workspace_id = new.id and kind <> 'difficulty'
  group by kind, platform, storefront, subject
  order by kind, platform, storefront, subject
  on conflict (kind, platform, storefront, subject) do update
  set priority = excluded.priority
  where due.priority > excluded.priority;
  return null;
end $$;

-- An app whose genre or publisher becomes known has charts and a publisher's shelf from then on.
create function follow_known_app() returns trigger
language plpgsql as $$
begin
  -- A chart updates 200 apps at once, and hardly one of them is tracked.
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

-- A rival is read in each storefront where it is a rival.
create function follow_rivals() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, priority)
  select k.kind, s.platform, f.storefront, s.store_id, min(case k.kind when 'listing' then 3 else a.priority end)
  from followed f
  join measured_app a on a.id = f.app_id
  join store_app s on s.id = f.rival
  cross join (values ('app'), ('listing')) k (kind)
  where k.kind = 'app' or s.platform = 'ios'
  group by k.kind, s.platform, f.storefront, s.store_id
  order by k.kind, s.platform, f.storefront, s.store_id
  on conflict (kind, platform, storefront, subject) do nothing;
  return null;
end $$;

-- No rival is read where its app is no longer tracked. The lock waits for a running search for rivals, which then finds
-- none.
create function unfollow_left() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('findings ' || new.id || ' ' || p.platform || ' ' || c.storefront, 0))
  from (values ('android'), ('ios')) p (platform)
  cross join lateral unnest(old.countries) c (storefront)
  order by p.platform, c.storefront;
  delete from app_rival r
  where r.app_id = new.id
    and (
      r.storefront <> all(new.countries)
      or case r.platform when 'ios' then new.ios_app else new.android_app end is null
    );
  return null;
end $$;

-- forget_untracked: deletes those of these rows that nobody tracks, requested or reads, and returns how many. Nothing
-- while a transaction that tracks something runs: it may have found a row and rely on it. Each statement here sees what
-- was committed before it, which one statement from outside would not.
create function forget_untracked(k text, p text, s text, subjects text[]) returns int
language plpgsql as $$
declare
  gone int;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('tracking followed', 0)) then return 0; end if;
  with untracked as materialized (
    select d.ctid
    from due d
    where d.kind = k and d.platform = p and d.storefront = s and d.subject = any(subjects)
      and d.lease is null and (d.asked_until is null or d.asked_until <= now()) and d.kind <> 'canary'
      and not exists (
        select
        from tracked_subject t
        where t.kind = d.kind and t.platform = d.platform and t.storefront = d.storefront and t.subject = d.subject
        -- One look-up per row: a join reads everything that is tracked (10,000 terms without statistics: 1 s).
        offset 0
      )
    order by d.subject
    for update of d skip locked
  )
  delete from due
  where ctid = any(array(select ctid from untracked));
  get diagnostics gone = row_count;
  return gone;
end $$;

-- storefront_evidence: whether these storefronts sell an app of the App Store, by the latest evidence, and when that
-- was seen; no row without evidence since `since`. A page that was read means yes, a missing page no. A look-up means
-- the same, and while it counts the page is not requested; the page itself takes precedence.
create function storefront_evidence(app int, places text[], since timestamptz)
returns table (storefront text, sold boolean, seen_at timestamptz)
language sql stable as $$
  select p.storefront, e.sold, e.seen_at
  from store_app a
  cross join unnest(places) p (storefront)
  cross join lateral (
    select w.sold, w.seen_at
    from (
      (
        select true as sold, r.seen_at, r.seen_at > since as counts
        from listing_run r
        where r.app_id = app and r.storefront = p.storefront and r.source = 'apple-app-page' and r.section = 'page'
        order by r.first_seen_at desc
        limit 1
      )
      union all
      (
        select false, t.at, true
        from attempt t
        where t.kind = 'listing' and t.subject = a.store_id and t.storefront = p.storefront and t.platform = 'ios'
          and t.source = 'apple-app-page' and t.at > since and t.outcome = 'not_found'
        order by t.at desc
        limit 1
      )
      union all
      select false, f.seen_at, f.seen_at > since - interval '60 hours'
      from app_storefront f
      where f.app_id = app and f.storefront = p.storefront and f.source = 'itunes-lookup' and not f.available
    ) w
    where w.counts
    order by w.seen_at desc, w.sold desc
    limit 1
  ) e
  where a.id = app
$$;

-- An audit's subjects are due at once, and earlier if a paying plan joins it. A page that is being read is not
-- requested again.
create function scan_storefronts() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, priority)
  select 'listing', s.platform, c.storefront, s.store_id, new.priority
  from store_app s
  cross join unnest(new.storefronts) c (storefront)
  where s.id = new.app_id and c.storefront not in (
    select e.storefront
    from storefront_evidence(new.app_id, new.storefronts, new.started_at - interval '12 hours') e
  )
  order by c.storefront
  on conflict (kind, platform, storefront, subject) do update
  set priority = least(due.priority, excluded.priority),
    next_at = case tg_op when 'INSERT' then least(due.next_at, excluded.next_at) else due.next_at end
  where due.lease is null;
  return null;
end $$;

-- Subjects that only an audit needed are deleted when it ends; the rest by forget_untracked.
create function forget_scanned() returns trigger
language plpgsql as $$
begin
  if not pg_try_advisory_xact_lock(hashtextextended('tracking followed', 0)) then return null; end if;
  with untracked as materialized (
    select d.ctid
    from store_app s
    cross join unnest(new.storefronts) c (storefront)
    join due d on d.kind = 'listing' and d.platform = s.platform and d.storefront = c.storefront
      and d.subject = s.store_id
    where s.id = new.app_id and d.lease is null and d.priority > 0
      and not exists (
        select
        from tracked_subject t
        where t.kind = 'listing' and t.platform = d.platform and t.storefront = d.storefront and t.subject = d.subject
        offset 0
      )
    order by d.storefront
    for update of d skip locked
  )
  delete from due
  where ctid = any(array(select ctid from untracked));
  return null;
end $$;

-- A storefront that joins the market, or changes its genres, is due at once. One statement for all of them makes the
-- rows of due in the order that everybody uses.
create function follow_market() returns trigger
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

-- Apps on a chart that the market follows are due at once. Every reading names all of its apps, because a reading that
-- arrives while the storefront is only about to be followed sees none.
create function follow_charted() returns trigger
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
    -- One look-up per app: else a plan for few is reused for many, or every app is read.
    offset 0
  ) s
  order by 3, 4
  on conflict (kind, platform, storefront, subject) do nothing;
  return null;
end $$;

create trigger tracked_terms_are_due
after insert on tracked_term
referencing new table as tracked
for each statement execute function follow_tracked_terms();

create trigger tracked_apps_are_due
after insert on tracked_app
referencing new table as tracked
for each statement execute function follow_tracked_apps();

create trigger changed_apps_are_due
after update of countries, ios_app, android_app, origin on tracked_app
for each row when (
  (new.countries, new.ios_app, new.android_app, new.origin)
  is distinct from (old.countries, old.ios_app, old.android_app, old.origin)
)
execute function follow_changed_app();

-- Sorts before changed_apps_are_due: the rows of due are locked last.
create trigger apps_leave_rivals
after update of countries, ios_app, android_app on tracked_app
for each row when (
  (new.countries, new.ios_app, new.android_app) is distinct from (old.countries, old.ios_app, old.android_app)
)
execute function unfollow_left();

create trigger workspaces_come_back
after update of suspended_at on workspace
for each row when (old.suspended_at is not null and new.suspended_at is null)
execute function follow_workspace();

create trigger known_apps_are_due
after update of genre, developer_id on store_app
for each row when (
  (new.genre, new.developer_id) is distinct from (old.genre, old.developer_id) and new.platform = 'ios'
)
execute function follow_known_app();

create trigger rivals_are_due
after insert on app_rival
referencing new table as followed
for each statement execute function follow_rivals();

create trigger scans_are_due
after insert or update of priority on storefront_audit
for each row execute function scan_storefronts();

create trigger scans_are_over
after update of finished_at on storefront_audit
for each row when (old.finished_at is null and new.finished_at is not null)
execute function forget_scanned();

create trigger follow_new_market
after insert on market_storefront
referencing new table as followed
for each statement execute function follow_market();

create trigger follow_changed_market
after update on market_storefront
referencing new table as followed
for each statement execute function follow_market();

create trigger follow_new_places
after insert on chart_place
referencing new table as placed
for each statement execute function follow_charted();

create trigger follow_held_places
after update on chart_place
referencing new table as placed
for each statement execute function follow_charted();
