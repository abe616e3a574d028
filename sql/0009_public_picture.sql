-- The rest of what anyone can see: what is due of it, facts of the market, rivals that are followed, and what was found.

alter table due drop constraint due_kind_check;
alter table due add constraint due_kind_check check (kind in (
  'search', 'app', 'hints', 'difficulty', 'canary', 'listing', 'reviews', 'chart', 'genres', 'developer', 'app_ads',
  'findings'
));

-- The store's own ids of its main genre and of who sells it, and the site that the seller names; latest known.
alter table store_app add genre text, add developer_id text, add developer_site text;

-- A store's genres as it names them in a storefront, parents first.
create table genre (
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  -- the store's own id
  genre text not null,
  name text not null,
  -- null = the genre of all apps
  parent text,
  place smallint not null,
  seen_at timestamptz not null,
  source text not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (platform, storefront, genre)
);

-- What a developer sells in a storefront, as it was said last.
create table developer_shelf (
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  developer_id text not null,
  source text not null,
  seen_at timestamptz not null,
  -- false = the answer was as long as it can be
  complete boolean not null,
  app_ids int[] not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (platform, storefront, developer_id, source)
);

-- How often an app was installed and what is sold within it, as its page said that day: the day's latest.
create table market_fact (
  app_id int not null references store_app,
  storefront text not null,
  source text not null,
  day date not null,
  seen_at timestamptz not null,
  -- null = not said
  installs bigint check (installs >= 0),
  has_in_app_purchases boolean,
  in_app_least numeric,
  in_app_most numeric,
  in_app_currency text,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (app_id, storefront, source, day)
);

-- Which ad systems the developer of an app lets sell in it, by the app-ads.txt of its site; the day's latest look.
create table app_ads (
  app_id int not null references store_app,
  day date not null,
  seen_at timestamptz not null,
  source text not null,
  -- the host that said so, or failed to; null = the listing names none
  domain text,
  state text not null check (state in ('records', 'no_file', 'no_site', 'unreachable')),
  records jsonb not null,
  variables jsonb not null,
  parser smallint not null,
  origin text not null,
  sha256 bytea not null,
  primary key (app_id, day)
);

-- Whether an app's own page tells what a look-up tells too.
create index listing_change_of_page on listing_change (app_id, storefront, kind, subject, at)
where source = 'apple-app-page';

-- Rivals that are read day by day beside a tracked app: all that were named by hand, and the first of those that stand
-- above it on its keywords, as of `day`. Rewritten when its keywords were read.
create table app_rival (
  app_id text not null references tracked_app on delete cascade,
  platform text not null check (platform in ('ios', 'android')),
  storefront text not null,
  rival int not null references store_app,
  manual boolean not null,
  -- on how many of the app's keywords it stands above the app
  terms int not null check (terms >= 0),
  -- the latest day of the app's results there; null = named by hand, with none yet
  day date,
  primary key (app_id, platform, storefront, rival)
);
create index app_rival_rival on app_rival (rival, storefront);

-- The feed: what a measured day shows against the measured day before it, once each. Sentences are made where it is read.
create table alert (
  id bigint generated always as identity primary key,
  workspace_id int not null references workspace,
  -- null = of the whole workspace
  app_id text references tracked_app on delete cascade,
  type text not null check (type in (
    'dropped_out', 'rank_drop', 'rank_rise', 'entered', 'rival_passed', 'rival_beaten', 'rival_event', 'asa_rule',
    'chart_drop', 'chart_enter', 'featured', 'review_wave', 'ai_mention_lost', 'off_topic', 'weekly', 'discovery',
    'ads_fee'
  )),
  -- null = of no store alone
  platform text check (platform in ('ios', 'android')),
  storefront text,
  -- what it is about: a term, a rival and a term, a chart, a change; '' where the type says all
  subject text not null,
  -- the measured day (UTC) that shows it
  day date not null,
  -- when what shows it was seen
  at timestamptz not null,
  found_at timestamptz not null default now(),
  -- what was, and what is
  facts jsonb not null,
  origin text not null default 'own',
  read_at timestamptz,
  unique nulls not distinct (workspace_id, app_id, type, platform, storefront, subject, day)
);
create index alert_feed on alert (workspace_id, at desc, id desc);
create index alert_of_app on alert (app_id, at desc, id desc);
create index alert_unread on alert (workspace_id, app_id) where read_at is null;

-- What is old is found by these, and taken away.
create index alert_at on alert (at, id);
create index hint_answer_day on hint_answer (day);

-- 3 = the App Store's page of a rival: ten of them ask as much as ten keywords do, and where not all can be read, look-ups
-- still tell what rivals change most.
alter table due drop constraint due_class_check;
alter table due add constraint due_class_check check (class between 0 and 3);

-- What is measured because somebody tracks it, a row for each app that does. A chart's subject is its device, its name and
-- the store's id of its genre: 36 is the App Store's of all apps.
create or replace view tracked_subject as
select k.kind, p.platform, t.country as storefront, t.term as subject, a.class, a.id as app_id,
  a.created_at as tracked_since, a.workspace_id
from tracked_term t
join measured_app a on a.id = t.app_id
cross join (values ('search'), ('hints'), ('difficulty')) k (kind)
cross join lateral (values ('ios', a.ios_app), ('android', a.android_app)) p (platform, store_app)
where p.store_app is not null
union all
select k.kind, s.platform, c.storefront, s.store_id, a.class, a.id, a.created_at, a.workspace_id
from measured_app a
join store_app s on s.id = a.ios_app or s.id = a.android_app
cross join (values ('app'), ('reviews'), ('findings')) k (kind)
cross join lateral unnest(a.countries) c (storefront)
union all
select 'app', s.platform, r.storefront, s.store_id, a.class, a.id, a.created_at, a.workspace_id
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
select 'listing', s.platform, c.storefront, s.store_id, a.class, a.id, a.created_at, a.workspace_id
from measured_app a
join store_app s on s.id = a.ios_app
cross join lateral unnest(a.countries) c (storefront)
union all
select 'app_ads', s.platform, a.countries[1], s.store_id, a.class, a.id, a.created_at, a.workspace_id
from measured_app a
join store_app s on s.id = a.ios_app or s.id = a.android_app
union all
select 'developer', s.platform, a.countries[1], s.developer_id, a.class, a.id, a.created_at, a.workspace_id
from measured_app a
join store_app s on s.id = a.ios_app
where s.developer_id is not null
union all
select 'genres', 'ios', c.storefront, '36', a.class, a.id, a.created_at, a.workspace_id
from measured_app a
cross join lateral unnest(a.countries) c (storefront)
where a.ios_app is not null
union all
select 'chart', 'ios', c.storefront, k.subject, a.class, a.id, a.created_at, a.workspace_id
from measured_app a
cross join lateral unnest(a.countries) c (storefront)
-- spelt out, so that a chart is looked up without making the names of all (of 1,000 apps 9 ms on the embedded database, not 200)
cross join (
  values ('iphone free 36'), ('iphone paid 36'), ('iphone grossing 36'), ('ipad free 36'), ('ipad paid 36'),
    ('ipad grossing 36')
) k (subject)
where a.ios_app is not null
union all
select 'chart', 'ios', c.storefront, k.chart || s.genre, a.class, a.id, a.created_at, a.workspace_id
from measured_app a
join store_app s on s.id = a.ios_app
cross join (
  values ('iphone free '), ('iphone paid '), ('iphone grossing '), ('ipad free '), ('ipad paid '), ('ipad grossing ')
) k (chart)
cross join lateral unnest(a.countries) c (storefront)
where s.genre <> '36';

-- As before, with all that is measured of an app besides its terms. Findings that are due already are not locked: the lists
-- of the app's terms are locked later, and whoever stores a list's reading puts findings forward after it.
create or replace function follow_tracked_apps() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, class)
  select s.kind, s.platform, s.storefront, s.subject, min(s.class)
  from tracked t
  join tracked_subject s on s.app_id = t.id
  where s.kind not in ('search', 'hints', 'difficulty')
  group by s.kind, s.platform, s.storefront, s.subject
  order by s.kind, s.platform, s.storefront, s.subject
  on conflict (kind, platform, storefront, subject) do nothing;
  update due d
  set class = b.class
  from (
    select d.kind, d.platform, d.storefront, d.subject, min(s.class) as class
    from tracked t
    join tracked_subject s on s.app_id = t.id
    join due d on d.kind = s.kind and d.platform = s.platform and d.storefront = s.storefront and d.subject = s.subject
    where s.kind not in ('search', 'hints', 'difficulty', 'findings') and d.class > s.class
    group by d.kind, d.platform, d.storefront, d.subject
  ) b
  where d.kind = b.kind and d.platform = b.platform and d.storefront = b.storefront and d.subject = b.subject
    and d.class > b.class;
  return null;
end $$;

-- an app whose genre or developer became known has charts and a developer of its own from then on
create function follow_known_app() returns trigger
language plpgsql as $$
begin
  -- a chart tells this of 200 apps at once, of which hardly one is tracked
  if not exists (select from tracked_app where ios_app = new.id) then return null; end if;
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, class)
  select s.kind, s.platform, s.storefront, s.subject, min(s.class)
  from tracked_app a
  join tracked_subject s on s.app_id = a.id
  where a.ios_app = new.id and s.kind in ('chart', 'developer')
  group by s.kind, s.platform, s.storefront, s.subject
  order by s.kind, s.platform, s.storefront, s.subject
  on conflict (kind, platform, storefront, subject) do nothing;
  return null;
end $$;

-- a rival is read in the storefront where it is one from then on
create function follow_rivals() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, class)
  select k.kind, s.platform, f.storefront, s.store_id, min(case k.kind when 'listing' then 3 else a.class end)
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

create trigger rivals_are_due
after insert on app_rival
referencing new table as followed
for each statement execute function follow_rivals();

-- no rival is read where its app is not tracked any more; whoever finds rivals there ends first, and finds no more
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

-- named so that it comes before changed_apps_are_due: the rows of due are locked last
create trigger apps_leave_rivals
after update of countries, ios_app, android_app on tracked_app
for each row when (
  (new.countries, new.ios_app, new.android_app) is distinct from (old.countries, old.ios_app, old.android_app)
)
execute function unfollow_left();

create trigger known_apps_are_due
after update of genre, developer_id on store_app
for each row when (
  (new.genre, new.developer_id) is distinct from (old.genre, old.developer_id) and new.platform = 'ios'
)
execute function follow_known_app();

-- What was tracked before.
insert into due (kind, platform, storefront, subject, class)
select kind, platform, storefront, subject, min(class)
from tracked_subject
where kind not in ('search', 'hints', 'difficulty', 'app')
group by kind, platform, storefront, subject
on conflict do nothing;
