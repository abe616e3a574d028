import { OWN } from "../../core/observation/origins.ts"
import { hexOf } from "../../core/observation/precedence.ts"
import type { StorefrontApp } from "../../core/observation/provenance.ts"
import type { ShownApps } from "../../core/observation/shown-apps.ts"
import type { SurrogateIds } from "../../core/observation/subjects.ts"
import type { Tx } from "../../database/types.ts"
import { CHART_SOURCE_CODES } from "../../lib/charts.ts"
import { dayOf } from "../../lib/days.ts"
import { bestFirst } from "../../measuring/record/best-first.ts"
import { wavesOf } from "../../measuring/record/best-rows.ts"
import type { ChartObservation } from "../kinds/chart-shape.ts"
import { deriveChartNow } from "./chart-now.ts"
import { type ChartDay, deriveFirstSeen, deriveNewApps, readSeenOnFirstDay } from "./first-seen.ts"
import { deriveMarketApps } from "./market-apps.ts"

/** A stored reading of a chart. */
interface StoredChart extends ShownApps {
  from: ChartObservation
  chartId: number
}

/**
 * Stores the readings that are new or better than the stored ones and returns them. The caller must hold the locks of
 * the charts.
 */
export async function storeCharts(
  tx: Tx,
  readings: readonly ChartObservation[],
  ids: SurrogateIds,
): Promise<StoredChart[]> {
  const rows = readings.map((reading) => rowOf(reading, ids))
  const changed: ChartRow[] = []
  for (const wave of wavesOf(rows)) changed.push(...(await upsert(tx, wave)))
  return changed
}

/**
 * Derives charts after readings of these days were added or removed: their first and last day, the first days of apps
 * on them and in their storefronts, and the current places. Returns how many rows changed. The caller must hold the
 * locks of the charts (lockCharts). Idempotent.
 */
export async function deriveCharts(tx: Tx, touched: readonly ChartDay[]): Promise<number> {
  if (touched.length === 0) return 0
  const latest = new Map<number, string>()
  for (const { chartId, day } of touched) if (day > (latest.get(chartId) ?? "")) latest.set(chartId, day)
  const begun = await recountDays(tx, [...latest.keys()])
  const seen = await deriveFirstSeen(tx, touched)
  const appeared = await deriveNewApps(
    tx,
    begun.length > 0 ? [...seen, ...(await readSeenOnFirstDay(tx, begun))] : seen,
  )
  // the current places depend only on the last day: older readings cannot change them
  const moved = await tx<{ id: number }[]>`
    select c.id
    from unnest(${[...latest.keys()]}::int[], ${[...latest.values()]}::date[]) t (id, day)
    join chart c on c.id = t.id
    where c.last_day is null or t.day >= c.last_day
    order by c.id`
  const charts = moved.map(({ id }) => id)
  const placed = await placeApps(tx, charts)
  const derived = (await deriveChartNow(tx, charts)) + (await deriveMarketApps(tx, [...appeared, ...placed]))
  return begun.length + seen.length + appeared.length + placed.length + derived
}

/**
 * Sets the first and last days of charts. The first day is that of this instance's first reading, or of another
 * publisher's if it has none: earlier readings of other publishers do not show which apps are new in this instance's
 * readings. Returns the charts whose first day changed, with the previous one.
 */
async function recountDays(tx: Tx, charts: readonly number[]) {
  const counted = await tx<{ id: number; day: string | null; isOther: boolean }[]>`
    update chart c
    set first_day = d.first_day, last_day = d.last_day
    from (
      select id,
        (
          select coalesce(min(day) filter (where origin = ${OWN}), min(day))
          from chart_results
          where chart_id = id and complete
        ) as first_day,
        (select max(day) from chart_results where chart_id = id and complete) as last_day
      from unnest(${charts as number[]}::int[]) id
    ) d, chart was
    where c.id = d.id and was.id = d.id and (c.first_day, c.last_day) is distinct from (d.first_day, d.last_day)
    returning c.id, was.first_day as day, was.first_day is distinct from c.first_day as "isOther"`
  return counted.filter(({ isOther }) => isOther)
}

/** Writes the places of the charts' last days (chart_place) and returns the apps that changed. */
async function placeApps(tx: Tx, charts: readonly number[]): Promise<StorefrontApp[]> {
  if (charts.length === 0) return []
  return await tx<StorefrontApp[]>`
    with placed as materialized (
      select u.app_id, c.id as chart_id, u.rank, c.last_day as day
      from chart c
      cross join lateral (
        select app_ids
        from chart_results
        where chart_id = c.id and day = c.last_day and complete
        order by ${bestFirst(tx)}
        limit 1
      ) r
      cross join lateral unnest(r.app_ids) with ordinality u (app_id, rank)
      where c.id = any(${charts as number[]}::int[])
    ), gone as (
      delete from chart_place held
      where chart_id = any(${charts as number[]}::int[])
        and not exists (
          select
          from placed p
          where (p.app_id, p.chart_id) = (held.app_id, held.chart_id)
        )
      returning app_id, chart_id
    ), written as (
      insert into chart_place as held (app_id, chart_id, rank, day)
      select app_id, chart_id, rank, day
      from placed
      order by app_id, chart_id
      on conflict (app_id, chart_id) do update
      set rank = excluded.rank, day = excluded.day
      where (held.rank, held.day) <> (excluded.rank, excluded.day)
      returning app_id, chart_id
    )
    select o.app_id as app, c.storefront
    from (
      select *
      from gone
      union all
      select *
      from written
    ) o
    join chart c on c.id = o.chart_id`
}

interface ChartRow extends StoredChart {
  key: string
}

function rowOf(reading: ChartObservation, ids: SurrogateIds): ChartRow {
  const { platform, apps, source, seenAt } = reading
  const chartId = ids.chartOf(reading)
  return {
    from: reading,
    apps,
    appIds: apps.map(({ id }) => ids.appOf(platform, id)),
    placed: true,
    chartId,
    key: keyOf(chartId, CHART_SOURCE_CODES[source], seenAt),
  }
}

function keyOf(chartId: number, source: number, seenAt: Date): string {
  return `${chartId} ${source} ${seenAt.getTime()}`
}

async function upsert(tx: Tx, rows: readonly ChartRow[]): Promise<ChartRow[]> {
  const written = await tx<{ chartId: number; source: number; seenAt: Date }[]>`
    insert into chart_results as held
      (chart_id, day, source, seen_at, depth, complete, parser, origin, egress, sha256, app_ids)
    select chart_id, day, source, seen_at, depth, complete, parser, origin, egress, decode(sha256, 'hex'), app_ids
    from jsonb_to_recordset(${tx.json(rows.map(stored))}) r (
      chart_id int, day date, source smallint, seen_at timestamptz, depth smallint, complete boolean, parser smallint,
      origin text, egress text, sha256 text, app_ids int[]
    )
    order by chart_id, day, source, seen_at
    on conflict (chart_id, day, source, seen_at) do update
    set depth = excluded.depth, complete = excluded.complete, parser = excluded.parser, origin = excluded.origin,
      egress = excluded.egress, sha256 = excluded.sha256, app_ids = excluded.app_ids
    where (excluded.origin = ${OWN}, excluded.parser, excluded.complete, excluded.depth, excluded.sha256)
      > (held.origin = ${OWN}, held.parser, held.complete, held.depth, held.sha256)
    returning chart_id as "chartId", source, seen_at as "seenAt"`
  const keys = new Set(written.map(({ chartId, source, seenAt }) => keyOf(chartId, source, seenAt)))
  return rows.filter(({ key }) => keys.has(key))
}

function stored({ from, chartId, appIds }: ChartRow) {
  const { source, seenAt, depth, complete, parser, origin, egress = null, sha256 } = from
  return {
    chart_id: chartId,
    day: dayOf(seenAt),
    source: CHART_SOURCE_CODES[source],
    seen_at: seenAt.toISOString(),
    depth,
    complete,
    parser,
    origin,
    egress,
    sha256: hexOf(sha256),
    app_ids: appIds as number[],
  }
}
