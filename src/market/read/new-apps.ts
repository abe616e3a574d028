import type { Sql } from "../../database/types.ts"
import type { Chart, Device } from "../../lib/charts.ts"
import { type ChartSource, chartSourceOf } from "../../lib/charts.ts"
import type { Days } from "../../lib/days.ts"
import { addDays } from "../../lib/days.ts"
import { bestFirst } from "../../measuring/record/best-first.ts"
import { nameIn } from "../../stores/store/app-names.ts"

/** An app on the first day on which a storefront's charts showed it. */
interface NewApp {
  id: string
  name: string
  publisher: string | null
  publisherId: string | null
  firstSeen: string
  country: string
  device: Device
  kind: Chart
  genre: string
  rank: number
  /** Time of the reading that first contains the app. */
  seenAt: Date
  source: ChartSource
  origin: string
  releasedAt: Date | null
}

/**
 * Returns apps that charts of these storefronts first showed within these UTC days, newest first, then by descending
 * store id. With `everywhere` an app has one row, for the storefront that showed it first. An app is not new if any
 * storefront's first reading, on that day or before, already contained it.
 */
export async function readNewApps(
  sql: Sql,
  storefronts: readonly string[],
  { from, to, everywhere, limit }: Days & { everywhere: boolean; limit: number },
): Promise<NewApp[]> {
  const found: NewApp[] = []
  // reads the newest days first, then growing spans until there are enough rows, because a day of 77 storefronts has
  // thousands
  for (let [last, days] = [to, 1]; last >= from && found.length < limit; days *= 4) {
    const first = addDays(last, 1 - days)
    const span = { from: first < from ? from : first, to: last }
    found.push(...(await readNewIn(sql, storefronts, { ...span, everywhere, limit: limit - found.length })))
    last = addDays(first, -1)
  }
  return found
}

async function readNewIn(
  sql: Sql,
  storefronts: readonly string[],
  { from, to, everywhere, limit }: Days & { everywhere: boolean; limit: number },
): Promise<NewApp[]> {
  const isFirst = sql`
    and not exists (
      select
      from app_first_seen o
      where o.app_id = f.app_id and o.storefront <> f.storefront
        and (o.day < f.day or o.day = f.day and (o.baseline or o.storefront < f.storefront))
    )`
  const rows = await sql<(Omit<NewApp, "source"> & { code: number })[]>`
    with new as materialized (
      select f.app_id, f.storefront, f.day, f.chart_id, s.store_id, s.developer, s.developer_id
      from app_first_seen f
      join store_app s on s.id = f.app_id
      where f.storefront = any(${storefronts as string[]}::text[]) and f.day between ${from}::date and ${to}::date
        and not f.baseline ${everywhere ? isFirst : sql``}
      order by f.day desc, length(s.store_id) desc, s.store_id desc
      limit ${limit}
    )
    select n.store_id as id, n.developer as publisher, n.developer_id as "publisherId", n.day as "firstSeen",
      n.storefront as country, c.device, c.chart as kind, c.genre, r.rank, r.seen_at as "seenAt",
      r.source as code, r.origin, l.released_at as "releasedAt",
      coalesce(${nameIn(sql, sql`n.app_id`, { storefront: sql`n.storefront`, countries: [] })}, n.store_id) as name
    from new n
    join chart c on c.id = n.chart_id
    cross join lateral (
      select array_position(app_ids, n.app_id) as rank, seen_at, source, origin
      from chart_results
      where chart_id = n.chart_id and day = n.day and complete and n.app_id = any(app_ids)
      order by ${bestFirst(sql)}
      limit 1
    ) r
    left join lateral (
      select released_at
      from app_storefront
      where app_id = n.app_id and released_at is not null
      order by storefront <> n.storefront, seen_at desc, storefront, source
      limit 1
    ) l on true
    order by n.day desc, length(n.store_id) desc, n.store_id desc
    limit ${limit}`
  return rows.map(({ code, ...app }) => ({ ...app, source: chartSourceOf(code) }))
}

/** Counts the days on which a chart of these storefronts was read completely, after the storefront's first day. */
export async function countCoveredDays(sql: Sql, storefronts: readonly string[], { from, to }: Days): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    with begun as materialized (
      select storefront, min(first_day) as day
      from chart
      where storefront = any(${storefronts as string[]}::text[]) and first_day is not null
      group by storefront
    ), read as materialized (
      select c.id, c.first_day, c.last_day, b.day as begun
      from chart c
      join begun b on b.storefront = c.storefront
      where c.last_day >= ${from}::date and c.first_day is not null
    )
    select count(*)::int as count
    from generate_series(${from}::date, ${to}, interval '1 day') d (day)
    where exists (
      select
      from read c
      where c.begun < d.day::date and c.first_day <= d.day::date and c.last_day >= d.day::date and exists (
        select
        from chart_results
        where chart_id = c.id and day = d.day::date and complete
        offset 0
      )
    )`
  return row.count
}
