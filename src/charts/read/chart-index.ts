import type { ChartKey } from "../../core/observation/subjects.ts"
import type { Sql } from "../../database/types.ts"
import { ALL_APPS, type Chart, type Device } from "../../lib/charts.ts"

/** The charts of a storefront that were read. */
interface ChartedStorefront {
  country: string
  lists: number
  genres: string[]
  /** The latest day of any of them. */
  lastDay: string
}

/** Returns the storefronts with at least one chart, in the order of their codes. */
export async function listChartedStorefronts(sql: Sql): Promise<ChartedStorefront[]> {
  return await sql<ChartedStorefront[]>`
    select storefront as country, count(*)::int as lists, array_agg(distinct genre) as genres,
      max(last_day) as "lastDay"
    from chart
    where platform = 'ios' and first_day is not null
    group by storefront
    order by storefront
    limit 200`
}

/** Returns the chart to show first: one of a followed storefront, else the one that was read over the longest time. */
export async function findFirstChart(sql: Sql, followed: readonly string[]): Promise<ChartKey | null> {
  const [row] = await sql<{ storefront: string; device: Device; chart: Chart; genre: string }[]>`
    select storefront, device, chart, genre
    from chart
    where platform = 'ios' and first_day is not null
    order by storefront = any(${followed as string[]}::text[]) desc, last_day - first_day desc,
      genre = ${ALL_APPS} desc, device = 'iphone' desc, chart = 'free' desc, id
    limit 1`
  return row ? { platform: "ios", ...row } : null
}

/** The measured days of a chart just before and just after one of its days. Null if there is none. */
interface NearDays {
  previous: string | null
  next: string | null
}

/** Returns the measured days just before and just after a day. */
export async function findNearDays(sql: Sql, { platform, storefront, device, chart, genre }: ChartKey, day: string) {
  const [row] = await sql<NearDays[]>`
    select (
        select max(day)
        from chart_results
        where chart_id = c.id and complete and day < ${day}::date
      ) as previous, (
        select min(day)
        from chart_results
        where chart_id = c.id and complete and day > ${day}::date
      ) as next
    from chart c
    where (c.platform, c.storefront, c.device, c.chart, c.genre)
      = (${platform}, ${storefront}, ${device}, ${chart}, ${genre})`
  return row ?? { previous: null, next: null }
}

/**
 * Returns the first day on which a chart of the storefront showed each of these apps (store_app ids). Apps that were on
 * the first reading of a chart are left out, since they may have been there before.
 */
export async function readFirstSeen(
  sql: Sql,
  apps: readonly number[],
  storefront: string,
): Promise<Map<number, string>> {
  const rows = await sql<{ app: number; day: string }[]>`
    select app_id as app, day
    from app_first_seen
    where app_id = any(${apps as number[]}::int[]) and storefront = ${storefront} and not baseline
    order by app_id
    limit ${apps.length}`
  return new Map(rows.map(({ app, day }) => [app, day]))
}

/** The rank of an app on the latest day of a chart. */
interface AppPlace extends Pick<ChartKey, "storefront" | "device" | "chart" | "genre"> {
  rank: number
  day: string
}

const MAX_PLACES = 100

/** Returns the charts that show an app (a store_app id) on their latest day, best rank first. */
export async function readAppPlaces(sql: Sql, app: number): Promise<AppPlace[]> {
  return await sql<AppPlace[]>`
    select c.storefront, c.device, c.chart, c.genre, p.rank, p.day
    from chart_place p
    join chart c on c.id = p.chart_id
    where p.app_id = ${app}
    order by p.rank, c.storefront, c.genre, c.device, c.chart
    limit ${MAX_PLACES}`
}
