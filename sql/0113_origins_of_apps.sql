-- Apps of any other origin than the workspace's own are not measured.
create or replace view measured_app as
select a.id, a.ios_app, a.android_app, a.countries, case w.plan when 'free' then 2 else 1 end as priority, a.created_at,
  a.workspace_id
from tracked_app a
join workspace w on w.id = a.workspace_id
where a.origin = 'own' and w.suspended_at is null and w.deleted_at is null;

-- As before, whoever published the reading.
create or replace function storefront_evidence(app int, places text[], since timestamptz)
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
