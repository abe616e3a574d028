-- Audits: an app's page read in all storefronts, for whoever asked, and what was found.

-- A scan is the world's: those of two workspaces are one. Under way, its storefronts are due as pages of tracked apps are,
-- until each is decided or its hour is over; whoever looks at it then says how it ended.
create table storefront_audit (
  app_id int not null references store_app on delete cascade,
  started_at timestamptz not null default now(),
  storefronts text[] not null,
  -- as in due
  class smallint not null check (class in (1, 2)),
  -- null = under way
  finished_at timestamptz,
  -- too much was not read
  failed boolean not null default false,
  -- what each storefront said (src/observations/storefront-audits.ts)
  rows jsonb,
  primary key (app_id, started_at),
  check ((finished_at is null) = (rows is null)),
  check (not failed or finished_at is not null)
);
create unique index storefront_audit_running on storefront_audit (app_id) where finished_at is null;

-- storefront_evidence: whether these storefronts sell an app of the App Store, as they said last, and when; no row where
-- nothing said so since. A page that was read says yes, one that is not there no; so does a look-up, after which the page
-- is not asked for as long as it counts (src/measuring/kinds/listing.ts), but the page itself goes before it.
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
        select true as sold, r.seen_at, r.origin <> 'demo' and r.seen_at > since as counts
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
      select false, f.seen_at, f.origin <> 'demo' and f.seen_at > since - interval '60 hours'
      from app_storefront f
      where f.app_id = app and f.storefront = p.storefront and f.source = 'itunes-lookup' and not f.available
    ) w
    where w.counts
    order by w.seen_at desc, w.sold desc
    limit 1
  ) e
  where a.id = app
$$;

-- As before, with the storefronts of scans that are under way, as long as nothing said that the app is not sold there.
-- Nobody tracks them: no app's terms are read beside them.
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
where s.genre <> '36'
union all
select 'listing', s.platform, c.storefront, s.store_id, x.class, null::text, 'infinity'::timestamptz, null::int
from store_app s
join storefront_audit x on x.app_id = s.id
cross join lateral unnest(x.storefronts) c (storefront)
where x.finished_at is null and x.started_at > now() - interval '60 minutes'
  and not exists (
    select
    from attempt t
    where t.kind = 'listing' and t.subject = s.store_id and t.storefront = c.storefront and t.platform = 'ios'
      and t.source = 'apple-app-page' and t.at > x.started_at - interval '12 hours' and t.outcome = 'not_found'
  );

-- what a scan has to read is due at once, and goes before others from then on if a plan that pays joins it; a page that is
-- being read already is not read once more
create function scan_storefronts() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('tracking followed', 0));
  insert into due (kind, platform, storefront, subject, class)
  select 'listing', s.platform, c.storefront, s.store_id, new.class
  from store_app s
  cross join unnest(new.storefronts) c (storefront)
  where s.id = new.app_id and c.storefront not in (
    select e.storefront
    from storefront_evidence(new.app_id, new.storefronts, new.started_at - interval '12 hours') e
  )
  order by c.storefront
  on conflict (kind, platform, storefront, subject) do update
  set class = least(due.class, excluded.class),
    next_at = case tg_op when 'INSERT' then least(due.next_at, excluded.next_at) else due.next_at end
  where due.lease is null;
  return null;
end $$;

create trigger scans_are_due
after insert or update of class on storefront_audit
for each row execute function scan_storefronts();

-- what only a scan wanted goes with its end; what is left of it, by forget_untracked, when its turn comes
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
    where s.id = new.app_id and d.lease is null and d.class > 0
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

create trigger scans_are_over
after update of finished_at on storefront_audit
for each row when (old.finished_at is null and new.finished_at is not null)
execute function forget_scanned();
