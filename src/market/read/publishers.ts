import type { Sql } from "../../database/types.ts"
import type { Chart, Device } from "../../lib/charts.ts"
import { type ChartSource, chartSourceOf } from "../../lib/charts.ts"

/** The best current rank of an app in a storefront's charts, and the first day on any of them. */
export interface ChartedApp {
  app: number
  country: string
  rank: number
  device: Device
  kind: Chart
  genre: string
  day: string
  /** Time of the reading that has the best rank. */
  seenAt: Date
  source: ChartSource
  origin: string | null
  /** The first day on which a chart there showed the app. Null if the chart's first reading already contained it. */
  firstSeen: string | null
}

const MAX_APPS = 1_000

/**
 * Returns the ranks of the publisher's charted apps, the best first within each app. Looks each app up by its key,
 * because the planner may assume that one publisher has all apps.
 */
export async function readChartedApps(sql: Sql, publisherId: string): Promise<ChartedApp[]> {
  const rows = await sql<(Omit<ChartedApp, "source"> & { code: number })[]>`
    with app as materialized (
      ${appsOf(sql, publisherId)}
    ), placed as materialized (
      select distinct on (a.id, c.storefront) a.id as app_id, c.storefront, p.rank, c.device, c.chart, c.genre, p.day,
        p.chart_id
      from app a
      cross join lateral (
        select chart_id, rank, day
        from chart_place
        where app_id = a.id
        offset 0
      ) p
      join chart c on c.id = p.chart_id
      order by a.id, c.storefront, p.rank, c.genre <> '36', c.device <> 'iphone', c.device, c.chart, c.genre
    ), seen as materialized (
      select distinct on (a.id, c.storefront) a.id as app_id, c.storefront,
        case when f.day > c.first_day then f.day end as day
      from app a
      cross join lateral (
        select chart_id, day
        from chart_first_seen
        where app_id = a.id
        offset 0
      ) f
      join chart c on c.id = f.chart_id
      order by a.id, c.storefront, f.day, f.day > c.first_day, c.id
    )
    select p.app_id as app, p.storefront as country, p.rank, p.device, p.chart as kind, p.genre, p.day,
      n.seen_at as "seenAt", n.source as code, r.origin, s.day as "firstSeen"
    from placed p
    cross join lateral (
      select day, seen_at, source
      from chart_now
      where chart_id = p.chart_id
      offset 0
    ) n
    left join lateral (
      select origin
      from chart_results
      where (chart_id, day, source, seen_at) = (p.chart_id, n.day, n.source, n.seen_at)
      offset 0
    ) r on true
    left join seen s on (s.app_id, s.storefront) = (p.app_id, p.storefront)
    order by p.app_id, p.rank, p.storefront`
  return rows.map(({ code, ...app }) => ({ ...app, source: chartSourceOf(code) }))
}

function appsOf(sql: Sql, publisherId: string) {
  return sql`
    select id
    from store_app
    where platform = 'ios' and developer_id = ${publisherId}
    order by id
    limit ${MAX_APPS}`
}

/**
 * Returns the storefront in which the publisher's first charted app ranks best. It is queried first. Null if no app is
 * charted.
 */
export async function findBestStorefront(sql: Sql, publisherId: string): Promise<string | null> {
  const [row] = await sql<{ storefront: string }[]>`
    select c.storefront
    from (${appsOf(sql, publisherId)}) a
    cross join lateral (
      select chart_id, rank
      from chart_place
      where app_id = a.id
      offset 0
    ) p
    join chart c on c.id = p.chart_id
    order by a.id, p.rank, c.storefront
    limit 1`
  return row?.storefront ?? null
}

interface Shelf {
  country: string
  count: number
  /** False if the response had the maximum length, so there may be more. */
  complete: boolean
  measuredAt: Date
}

interface Publisher {
  /** The latest name from the store. Null if unknown. */
  name: string | null
  /** The publisher's apps on sale in a storefront, from the latest reading. Null if it was not read. */
  shelf: Shelf | null
  /** Storefronts with a chart reading that has publisher ids. */
  searched: string[]
}

/** Returns the publisher with this App Store id. */
export async function readPublisher(sql: Sql, publisherId: string, storefront: string): Promise<Publisher> {
  const [row] = await sql<[Omit<Publisher, "shelf"> & (Shelf | { country: null })]>`
    select d.storefront as country, cardinality(d.app_ids) as count, d.complete, d.seen_at as "measuredAt", (
        select developer
        from store_app
        where platform = 'ios' and developer_id = ${publisherId} and developer is not null
        order by seen_at desc nulls last, id
        limit 1
      ) as name, array(${chartedStorefronts(sql, true)}) as searched
    from (select) nothing
    left join developer_shelf d
      on (d.platform, d.storefront, d.developer_id, d.source) = ('ios', ${storefront}, ${publisherId},
        'itunes-developer')`
  const { name, searched, ...shelf } = row
  return { name, searched, shelf: shelf.country === null ? null : shelf }
}

/** Returns the storefronts with at least one chart reading. */
export async function readChartedStorefronts(sql: Sql): Promise<string[]> {
  const rows = await sql<{ storefront: string }[]>`
    select distinct storefront
    from chart
    where first_day is not null
    order by storefront
    limit 1000`
  return rows.map(({ storefront }) => storefront)
}

/** Returns the storefronts whose charts contain no publisher ids, which imported charts may lack. */
export async function readUnnamedStorefronts(sql: Sql): Promise<string[]> {
  const rows = await sql<{ storefront: string }[]>`${chartedStorefronts(sql, false)}`
  return rows.map(({ storefront }) => storefront)
}

function chartedStorefronts(sql: Sql, isNamed: boolean) {
  return sql`
    select s.storefront
    from (
      select distinct storefront
      from chart
      where first_day is not null
    ) s
    where ${isNamed}::boolean = exists (
      select
      from chart c
      join chart_place p on p.chart_id = c.id
      join store_app a on a.id = p.app_id
      where c.storefront = s.storefront and a.developer_id is not null
    )
    order by s.storefront
    limit 1000`
}
