-- The App Store's own pages of rivals: what no look-up tells of them.

-- 3 = a rival's page: ten of them ask as much as ten keywords do, and where not all can be read, look-ups still tell what
-- rivals change most
alter table due drop constraint due_class_check;
alter table due add constraint due_class_check check (class between 0 and 3);

-- As before, with these.
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

-- As before, with these: a rival is read in the storefront where it is one from then on.
create or replace function follow_rivals() returns trigger
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

-- Rivals that were found before.
insert into due (kind, platform, storefront, subject, class)
select kind, platform, storefront, subject, min(class)
from tracked_subject
where kind = 'listing'
group by kind, platform, storefront, subject
on conflict do nothing;
