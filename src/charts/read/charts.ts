import type { ChartKey } from "../../core/observation/subjects.ts"
import type { Sql } from "../../database/types.ts"
import { type ChartSource, chartSourceOf } from "../../lib/charts.ts"
import { bestFirst } from "../../measuring/record/best-first.ts"
import { columnsOf } from "../../measuring/record/chart-identities.ts"

export interface ChartAnswer {
  day: string
  source: ChartSource
  /** How many places were read. An app that is not in `appIds` may be on any place below. */
  depth: number
  seenAt: Date
  /** The publisher of the reading. */
  origin: string
  /** The first day on which the chart was measured. Apps on it that day do not count as new. */
  firstDay: string
  /** store_app ids in the order shown. */
  appIds: number[]
}

/** Returns a chart on its last measured day up to `day`. Null if it was not measured by then. */
export async function readChart(sql: Sql, key: ChartKey, day: string | null = null): Promise<ChartAnswer | null> {
  const { platform, storefront, device, chart, genre } = key
  const [row] = await sql<(Omit<ChartAnswer, "source"> & { source: number })[]>`
    select r.day, r.source, r.depth, r.seen_at as "seenAt", r.origin, c.first_day as "firstDay", r.app_ids as "appIds"
    from chart c
    cross join lateral (
      select day, source, depth, seen_at, origin, app_ids
      from chart_results
      where chart_id = c.id and day <= coalesce(${day}::date, c.last_day) and complete
      order by day desc, ${bestFirst(sql)}
      limit 1
    ) r
    where (c.platform, c.storefront, c.device, c.chart, c.genre)
      = (${platform}, ${storefront}, ${device}, ${chart}, ${genre})`
  return row ? { ...row, source: chartSourceOf(row.source) } : null
}

/**
 * An app's rank on a chart on its latest measured day. Only `rank` is null if absent; all fields are null if never
 * measured.
 */
export interface ChartPosition extends ChartKey {
  measured: boolean
  day: string | null
  firstDay: string | null
  source: ChartSource | null
  depth: number | null
  seenAt: Date | null
  rank: number | null
}

/** Returns the current ranks of an app (a store_app id) on these charts, in their order. */
export async function readChartPositions(sql: Sql, app: number, charts: readonly ChartKey[]): Promise<ChartPosition[]> {
  const [platforms, storefronts, devices, kinds, genres] = columnsOf(charts)
  const rows = await sql<(Omit<ChartPosition, keyof ChartKey | "measured" | "source"> & { source: number | null })[]>`
    select c.last_day as day, c.first_day as "firstDay", r.source, r.depth, r.seen_at as "seenAt", p.rank
    from unnest(${platforms}::text[], ${storefronts}::text[], ${devices}::text[], ${kinds}::text[], ${genres}::text[])
      with ordinality k (platform, storefront, device, chart, genre, place)
    left join chart c on (c.platform, c.storefront, c.device, c.chart, c.genre)
      = (k.platform, k.storefront, k.device, k.chart, k.genre)
    left join lateral (
      select source, depth, seen_at
      from chart_results
      where chart_id = c.id and day = c.last_day and complete
      order by ${bestFirst(sql)}
      limit 1
    ) r on true
    left join chart_place p on p.app_id = ${app} and p.chart_id = c.id
    order by k.place`
  return charts.map((key, place) => {
    const { source, ...row } = rows[place] as (typeof rows)[number]
    return { ...keyOf(key), measured: source !== null, source: source === null ? null : chartSourceOf(source), ...row }
  })
}

interface ChartSeries extends ChartKey {
  /** The first day on which the chart was measured, even outside the requested days. Null if it never was. */
  firstDay: string | null
  points: ChartPoint[]
}

export interface ChartPoint {
  day: string
  rank: number | null
  depth: number
  source: ChartSource
}

/**
 * Returns the ranks of an app (a store_app id) over time, in the order of the charts. Scans the charts' days: 90 days
 * of 200 places take 1 ms, while an index of the apps would be as large as the readings.
 */
export async function readChartSeries(
  sql: Sql,
  app: number,
  charts: readonly ChartKey[],
  { from, to }: { from: string; to: string },
): Promise<ChartSeries[]> {
  const rows = await readPoints(sql, app, charts, from, to)
  const byChart = Map.groupBy(rows, ({ place }) => place)
  return charts.map((key, index) => {
    const found = byChart.get(index + 1) ?? []
    return { ...keyOf(key), firstDay: found[0]?.firstDay ?? null, points: found.filter(isPoint).map(pointOf) }
  })
}

interface PointRow {
  place: number
  firstDay: string | null
  day: string | null
  rank: number | null
  depth: number
  source: number
}

async function readPoints(sql: Sql, app: number, charts: readonly ChartKey[], from: string, to: string) {
  const [platforms, storefronts, devices, kinds, genres] = columnsOf(charts)
  return await sql<PointRow[]>`
    select k.place, c.first_day as "firstDay", r.day, r.source, r.depth, r.rank
    from unnest(${platforms}::text[], ${storefronts}::text[], ${devices}::text[], ${kinds}::text[], ${genres}::text[])
      with ordinality k (platform, storefront, device, chart, genre, place)
    join chart c on (c.platform, c.storefront, c.device, c.chart, c.genre)
      = (k.platform, k.storefront, k.device, k.chart, k.genre)
    left join lateral (
      select distinct on (day) day, source, depth, array_position(app_ids, ${app}::int) as rank
      from chart_results
      where chart_id = c.id and day between ${from}::date and ${to}::date and complete
      order by day, ${bestFirst(sql)}
    ) r on true
    order by k.place, r.day`
}

function isPoint(row: PointRow): row is PointRow & { day: string } {
  return row.day !== null
}

function pointOf({ day, rank, depth, source }: PointRow & { day: string }): ChartPoint {
  return { day, rank, depth, source: chartSourceOf(source) }
}

function keyOf({ platform, storefront, device, chart, genre }: ChartKey): ChartKey {
  return { platform, storefront, device, chart, genre }
}
