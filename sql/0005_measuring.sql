-- Reading the stores: what is due, how fast each upstream may be asked, what was read besides search results, and how the
-- sources do.

-- One row for each thing that is measured again and again, whoever tracks it, put forward by its own end. `subject` is a
-- term, a store id, or a source's name. Rows of what nobody tracks any more go when their turn comes.
create table due (
  kind text not null check (kind in ('search', 'app', 'hints', 'difficulty', 'canary')),
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  subject text not null,
  -- who goes first when not all can be read: 0 somebody waits for it, 1 a plan that pays, 2 others
  class smallint not null default 2 check (class between 0 and 2),
  next_at timestamptz not null default now(),
  -- reads that failed or were cut off since the last one that did not
  failures int not null default 0 check (failures >= 0),
  -- how the last read failed, when it did
  failure text,
  failed_at timestamptz,
  measured_at timestamptz,
  -- one per claim: whoever held an earlier one changes nothing any more
  lease uuid,
  lease_until timestamptz,
  primary key (kind, platform, storefront, subject),
  check ((lease is null) = (lease_until is null)),
  check ((failure is null) = (failed_at is null))
);
-- Both to the last column, so that thousands that became due in one moment need no sorting: the first of all storefronts,
-- and the first of one.
create index due_next on due (kind, platform, class, next_at, storefront, subject) where lease is null;
create index due_storefront on due (kind, platform, storefront, class, next_at, subject) where lease is null;
create index due_leased on due (lease, lease_until) where lease is not null;

-- The turns of an upstream, for one address that reads it; all processes behind that address share the row.
create table pace (
  upstream text not null,
  egress text not null,
  -- the next free turn
  next_at timestamptz not null default now(),
  -- milliseconds between two turns: as it should be, and as refusals have made it
  base_gap_ms int not null check (base_gap_ms >= 0),
  gap_ms int not null check (gap_ms >= base_gap_ms),
  -- refusals since the last read that was answered, and answers since the last refusal
  refusals int not null default 0 check (refusals >= 0),
  answers int not null default 0 check (answers >= 0),
  refused_at timestamptz,
  primary key (upstream, egress)
);

-- Reads of a source by the hour, and how the latest ended.
create table source_hour (
  source text not null,
  hour timestamptz not null,
  answered int not null default 0 check (answered >= 0),
  failed int not null default 0 check (failed >= 0),
  primary key (source, hour)
);

create table source_state (
  source text primary key,
  answered_at timestamptz,
  failed_at timestamptz,
  failure text,
  detail text,
  -- failures since the last read that was answered, and bodies that the parser did not know since the last that it did
  failures int not null default 0 check (failures >= 0),
  unparsed int not null default 0 check (unparsed >= 0),
  -- the first refusal since the last read that was answered
  refused_since timestamptz
);

-- What the operator should know, once each time it begins.
create table instance_alert (
  id bigint generated always as identity primary key,
  kind text not null,
  subject text not null,
  detail text not null,
  at timestamptz not null default now(),
  ended_at timestamptz
);
create unique index instance_alert_open on instance_alert (kind, subject) where ended_at is null;

-- A body that could not be read as it stands may be kept: a later parser can still read it.
alter table attempt add sha256 bytea;

-- Of a look-up, of which only the latest is held in app_storefront; what a search counted stands with its reading.
alter table rating_count add parser smallint, add sha256 bytea;

-- What a store said of an app in a storefront: the latest of each source. available = false was said by the store.
create table app_storefront (
  app_id int not null references store_app,
  storefront text not null,
  source text not null,
  seen_at timestamptz not null,
  available boolean not null,
  -- as the store shows it there; null = not said
  name text,
  version text,
  price numeric,
  currency text,
  genre text,
  released_at timestamptz,
  updated_at timestamptz,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (app_id, storefront, source)
);

-- What a store suggests for a beginning that was typed, in its order; days of one reading are kept side by side.
create table hint_answer (
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  prefix text not null,
  day date not null,
  source text not null,
  seen_at timestamptz not null,
  terms text[] not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (platform, storefront, prefix, day, source)
);

-- Figures of a keyword with the parts they were made of; a day or, for a published popularity, a month's first day.
-- score null = measured, and none can be given.
create table keyword_metric (
  list_id int not null references list,
  metric text not null check (metric in ('popularity', 'difficulty', 'demand', 'hints')),
  day date not null,
  source text not null,
  -- of the youngest reading that it rests on
  seen_at timestamptz not null,
  score real,
  -- version of the formula; 0 = published, not calculated
  formula smallint not null,
  parts jsonb not null,
  primary key (list_id, metric, day, source)
);
-- what is published is months apart, between calculated figures of every day
create index keyword_metric_published on keyword_metric (list_id, metric, day) where formula = 0;

-- Tracked apps as far as they are measured: the demo is never read from a store, nor is what a suspended workspace tracks.
-- `class` as in `due`.
create view measured_app as
select a.id, a.ios_app, a.android_app, a.countries, case w.plan when 'free' then 2 else 1 end as class, a.created_at,
  a.workspace_id
from tracked_app a
join workspace w on w.id = a.workspace_id
where a.origin <> 'demo' and w.suspended_at is null and w.deleted_at is null;

-- What is measured because somebody tracks it, a row for each app that does.
create view tracked_subject as
select k.kind, p.platform, t.country as storefront, t.term as subject, a.class, a.id as app_id,
  a.created_at as tracked_since, a.workspace_id
from tracked_term t
join measured_app a on a.id = t.app_id
cross join (values ('search'), ('hints'), ('difficulty')) k (kind)
cross join lateral (values ('ios', a.ios_app), ('android', a.android_app)) p (platform, store_app)
where p.store_app is not null
union all
select 'app', s.platform, c.storefront, s.store_id, a.class, a.id, a.created_at, a.workspace_id
from measured_app a
join store_app s on s.id = a.ios_app or s.id = a.android_app
cross join lateral unnest(a.countries) c (storefront);

-- The four below: what is tracked is due at once, within the transaction that tracks it, and goes before others from then on
-- if a plan pays that did not before. A difficulty is not due yet: it needs results first. The rows are locked after the
-- lists, as by whoever ends a measurement. The lock, shared by all who track, is what forget_untracked tries for.
create function follow_tracked_terms() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, class)
  select k.kind, p.platform, t.country, t.term, min(a.class)
  from tracked t
  join measured_app a on a.id = t.app_id
  cross join (values ('search'), ('hints')) k (kind)
  cross join lateral (values ('ios', a.ios_app), ('android', a.android_app)) p (platform, store_app)
  where p.store_app is not null
  group by k.kind, p.platform, t.country, t.term
  order by k.kind, p.platform, t.country, t.term
  on conflict (kind, platform, storefront, subject) do update
  set class = excluded.class
  where due.class > excluded.class;
  return null;
end $$;

create trigger tracked_terms_are_due
after insert on tracked_term
referencing new table as tracked
for each statement execute function follow_tracked_terms();

create function follow_tracked_apps() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, class)
  select s.kind, s.platform, s.storefront, s.subject, min(s.class)
  from tracked t
  join tracked_subject s on s.app_id = t.id
  where s.kind = 'app'
  group by s.kind, s.platform, s.storefront, s.subject
  order by s.kind, s.platform, s.storefront, s.subject
  on conflict (kind, platform, storefront, subject) do update
  set class = excluded.class
  where due.class > excluded.class;
  return null;
end $$;

create trigger tracked_apps_are_due
after insert on tracked_app
referencing new table as tracked
for each statement execute function follow_tracked_apps();

-- an app that came to another store or storefront, or from the demo, brings its terms with it
create function follow_changed_app() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, class)
  select kind, platform, storefront, subject, min(class)
  from tracked_subject
  where app_id = new.id and kind <> 'difficulty'
  group by kind, platform, storefront, subject
  order by kind, platform, storefront, subject
  on conflict (kind, platform, storefront, subject) do update
  set class = excluded.class
  where due.class > excluded.class;
  return null;
end $$;

create trigger changed_apps_are_due
after update of countries, ios_app, android_app, origin on tracked_app
for each row when (
  (new.countries, new.ios_app, new.android_app, new.origin)
  is distinct from (old.countries, old.ios_app, old.android_app, old.origin)
)
execute function follow_changed_app();

create function follow_workspace() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, class)
  select kind, platform, storefront, subject, min(class)
  from tracked_subject
  where workspace_id = new.id and kind <> 'difficulty'
  group by kind, platform, storefront, subject
  order by kind, platform, storefront, subject
  on conflict (kind, platform, storefront, subject) do update
  set class = excluded.class
  where due.class > excluded.class;
  return null;
end $$;

create trigger workspaces_come_back
after update of suspended_at on workspace
for each row when (old.suspended_at is not null and new.suspended_at is null)
execute function follow_workspace();

-- forget_untracked: deletes those of these rows that nobody tracks, waits for, or reads, and says how many. Nothing while
-- a transaction is under way that tracks something: it may have found a row to be there already, and counts on it. Each
-- statement here sees what was committed before it, which one statement from outside would not.
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
      and d.lease is null and d.class > 0 and d.kind <> 'canary'
      and not exists (
        select
        from tracked_subject t
        where t.kind = d.kind and t.platform = d.platform and t.storefront = d.storefront and t.subject = d.subject
        -- looked up for each: joined, all that is tracked was read (1 s at 10,000 terms before there were statistics)
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

-- What was tracked before there was anything to read it with.
insert into due (kind, platform, storefront, subject, class)
select kind, platform, storefront, subject, min(class)
from tracked_subject
where kind <> 'difficulty'
group by kind, platform, storefront, subject;
