import type { Tx } from "../../database/types.ts"
import { bestFirst } from "../best-first.ts"

/**
 * Sets how these charts stand now (chart_now), after their days and since when apps stand in their storefronts were set.
 * Idempotent; gives how many stood otherwise. The caller holds the charts' lock (lockCharts), or that of their storefronts.
 */
export async function deriveChartNow(tx: Tx, charts: readonly number[]): Promise<number> {
  if (charts.length === 0) return 0
  const [row] = await tx<{ count: number }[]>`
    with answer as materialized (
      select c.id as chart_id, c.storefront, r.day, r.source, r.depth, r.seen_at, r.app_ids
      from chart c
      cross join lateral (
        select day, source, depth, seen_at, app_ids
        from chart_results
        where chart_id = c.id and day = c.last_day and complete
        order by ${bestFirst(tx)}
        limit 1
      ) r
      where c.id = any(${charts as number[]}::int[]) and c.platform = 'ios'
    ), written as (
      insert into chart_now as held (chart_id, day, source, depth, seen_at, apps, store_ids, first_days)
      select a.chart_id, a.day, a.source, a.depth, a.seen_at, coalesce(p.apps, ''), coalesce(p.store_ids, ''),
        coalesce(p.first_days, '')
      from answer a
      cross join lateral (
        select string_agg(int4send(u.app_id), '' order by u.rank) as apps,
          string_agg(int8send(s.store_id::bigint), '' order by u.rank) as store_ids,
          string_agg(
            int2send(case when f.baseline then 0 else f.day - date '2000-01-01' end::smallint), '' order by u.rank
          ) as first_days
        from unnest(a.app_ids) with ordinality u (app_id, rank)
        cross join lateral (
          select day, baseline
          from app_first_seen
          where (app_id, storefront) = (u.app_id, a.storefront)
          offset 0
        ) f
        cross join lateral (
          select store_id
          from store_app
          where id = u.app_id
          offset 0
        ) s
      ) p
      order by a.chart_id
      on conflict (chart_id) do update
      set day = excluded.day, source = excluded.source, depth = excluded.depth, seen_at = excluded.seen_at,
        apps = excluded.apps, store_ids = excluded.store_ids, first_days = excluded.first_days
      where held is distinct from excluded
      returning 1
    ), gone as (
      delete from chart_now
      where chart_id = any(${charts as number[]}::int[]) and chart_id not in (select chart_id from answer)
      returning 1
    )
    select (select count(*) from written)::int + (select count(*) from gone)::int as count`
  if (row!.count > 0) await refreshVersions(tx, charts)
  return row!.count
}

/** From then on nobody answers from these storefronts' lists as they were (history/market/lists.ts). */
async function refreshVersions(tx: Tx, charts: readonly number[]): Promise<void> {
  await tx`
    insert into storefront_now (storefront, version)
    select storefront, gen_random_uuid()
    from (select distinct storefront from chart where id = any(${charts as number[]}::int[])) s
    order by storefront
    on conflict (storefront) do update
    set version = excluded.version`
}
