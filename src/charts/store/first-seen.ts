import type { StorefrontApp } from "../../core/observation/provenance.ts"
import type { Tx } from "../../database/types.ts"

/** A chart and a day whose readings were added or removed. */
export interface ChartDay {
  chartId: number
  day: string
}

/** An app on a chart. */
export interface ChartApp {
  app: number
  chart: number
}

/**
 * Sets the first day of each app on these charts (chart_first_seen), as far as readings of these days affect it.
 * Rebuilds it when given all days that were read. Returns the entries that changed. The caller must hold the locks of
 * the charts (lockCharts). Idempotent.
 */
export async function deriveFirstSeen(tx: Tx, touched: readonly ChartDay[]): Promise<ChartApp[]> {
  const [charts, days] = [touched.map(({ chartId }) => chartId), touched.map(({ day }) => day)]
  const gone = await tx<ChartApp[]>`
    delete from chart_first_seen f
    using (select distinct * from unnest(${charts}::int[], ${days}::date[]) t (chart_id, day)) t
    where (f.chart_id, f.day) = (t.chart_id, t.day) and not exists (
      select
      from chart_results r
      where r.chart_id = f.chart_id and r.day = f.day and r.complete and f.app_id = any(r.app_ids)
    )
    returning f.app_id as app, f.chart_id as chart`
  if (gone.length > 0) await seekLater(tx, gone)
  const moved = await tx<ChartApp[]>`
    insert into chart_first_seen as held (app_id, chart_id, day)
    select s.app_id, s.chart_id, min(s.day)
    from (
      select distinct u.app_id, r.chart_id, r.day
      from unnest(${charts}::int[], ${days}::date[]) t (chart_id, day)
      join chart_results r on (r.chart_id, r.day) = (t.chart_id, t.day)
      cross join lateral unnest(r.app_ids) u (app_id)
      where r.complete
    ) s
    where not exists (
      select
      from chart_first_seen h
      where (h.app_id, h.chart_id) = (s.app_id, s.chart_id) and h.day <= s.day
    )
    group by s.app_id, s.chart_id
    order by s.app_id, s.chart_id
    on conflict (app_id, chart_id) do update
    set day = excluded.day
    returning app_id as app, chart_id as chart`
  return [...gone, ...moved]
}

/**
 * Finds the first days of apps missing from a reading that replaced another one. They are few, so the chart's days are
 * scanned for each.
 */
async function seekLater(tx: Tx, gone: readonly ChartApp[]): Promise<void> {
  await tx`
    insert into chart_first_seen (app_id, chart_id, day)
    select g.app_id, g.chart_id, r.day
    from unnest(${gone.map(({ app }) => app)}::int[], ${gone.map(({ chart }) => chart)}::int[]) g (app_id, chart_id)
    cross join lateral (
      select day
      from chart_results
      where chart_id = g.chart_id and complete and g.app_id = any(app_ids)
      order by day
      limit 1
    ) r
    order by g.app_id, g.chart_id`
}

/** Returns apps first seen between a chart's previous and current first day: whether they are new may have changed. */
export async function readSeenOnFirstDay(
  tx: Tx,
  charts: readonly { id: number; day: string | null }[],
): Promise<ChartApp[]> {
  return await tx<ChartApp[]>`
    select f.app_id as app, f.chart_id as chart
    from unnest(${charts.map(({ id }) => id)}::int[], ${charts.map(({ day }) => day)}::date[]) t (chart_id, day)
    join chart c on c.id = t.chart_id
    join chart_first_seen f on f.chart_id = t.chart_id
      and f.day between least(t.day, c.first_day) and greatest(t.day, c.first_day)
    order by f.app_id, f.chart_id`
}

/**
 * Writes the first day of these apps on any chart of these charts' storefronts (app_first_seen), and returns the apps
 * that changed. Call it after writing chart_first_seen and the charts' first days. The caller must hold the locks of
 * the charts (lockCharts). Idempotent.
 */
export async function deriveNewApps(tx: Tx, seen: readonly ChartApp[]): Promise<StorefrontApp[]> {
  if (seen.length === 0) return []
  return await tx<StorefrontApp[]>`
    with asked as materialized (
      select distinct s.app_id, c.storefront
      from unnest(${seen.map(({ app }) => app)}::int[], ${seen.map(({ chart }) => chart)}::int[]) s (app_id, chart_id)
      join chart c on c.id = s.chart_id
    ), first as materialized (
      select distinct on (a.app_id, a.storefront)
        a.app_id, a.storefront, f.day, f.day <= c.first_day as baseline, c.id as chart_id
      from asked a
      join chart_first_seen f on f.app_id = a.app_id
      join chart c on c.id = f.chart_id and c.storefront = a.storefront
      order by a.app_id, a.storefront, f.day, f.day > c.first_day, c.genre <> '36', c.device desc, c.chart, c.genre
    ), gone as (
      delete from app_first_seen held
      using asked a
      where (held.app_id, held.storefront) = (a.app_id, a.storefront) and not exists (
        select
        from first f
        where (f.app_id, f.storefront) = (a.app_id, a.storefront)
      )
      returning held.app_id, held.storefront
    ), written as (
      insert into app_first_seen as held (app_id, storefront, day, baseline, chart_id)
      select app_id, storefront, day, baseline, chart_id
      from first
      order by app_id, storefront
      on conflict (app_id, storefront) do update
      set day = excluded.day, baseline = excluded.baseline, chart_id = excluded.chart_id
      where held is distinct from excluded
      returning held.app_id, held.storefront
    )
    select app_id as app, storefront
    from gone
    union all
    select app_id, storefront
    from written`
}
