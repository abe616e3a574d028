-- As before, but that a storefront's followed lists go before the look-ups of the apps on them: whichever had come first by its
-- time, an app that had left its lists was looked up once more, and one that came was left for a request of its own.
create or replace function claim_due(
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
      -- looked up for each: hashed, all that is tracked was read
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
