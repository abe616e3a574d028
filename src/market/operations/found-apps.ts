import type { Fragment } from "postgres"
import type { Sql } from "../../database/types.ts"
import type { Chart, Device } from "../../lib/charts.ts"
import { type ChartSource, chartSourceOf } from "../../lib/charts.ts"
import { nameIn } from "../../stores/store/app-names.ts"
import { appsWithText } from "../read/texts.ts"
import { amountsSeen, type FigureFilter, figureFit, joinOwnLevel } from "./estimates/figure-fits.ts"
import type { OwnLevel } from "./estimates/own-level.ts"

interface AppSearch {
  countries: readonly string[]
  /** Undefined for no filter. */
  genres: readonly string[] | undefined
  kind: keyof typeof LISTS | undefined
  rankMin: number
  rankMax: number
  /** Keeps only apps that were first seen on this day or later. Null for no filter. */
  since: string | null
  text: string | undefined
  publisher: string | undefined
  /** Null if the query does not filter by figures. */
  figures: FigureFilter | null
  order: FoundOrder
  /** Corrections from the workspace's own sales, for an order by figures. Null if they change no estimate. */
  level: OwnLevel | null
  limit: number
  page: number
}

/**
 * The sort orders that can be applied to all matching apps. Names are not among them, because names are joined only to
 * the apps of a page.
 */
export const FOUND_ORDERS = ["rank", "firstSeen", "downloads", "revenue", "growth"] as const
export type FoundOrder = (typeof FOUND_ORDERS)[number]

/** A chart that was searched. */
export interface SearchedList {
  country: string
  device: Device
  kind: Chart
  genre: string
  day: string
  measuredMs: number
}

export interface FoundApp extends SearchedList {
  /** store_app id. */
  app: number
  id: string
  name: string
  publisher: string | null
  publisherId: string | null
  rank: number
  source: ChartSource
  /** Null if the reading was deleted. */
  origin: string | null
  firstSeen: string | null
}

interface FoundApps {
  /** Sorted by country, device, kind and genre. */
  lists: SearchedList[]
  apps: FoundApp[]
  total: number
  /** Number of apps excluded only by `since`, because their first day is unknown. */
  unknown: number
  /** Number of apps excluded only by the filter by figures, because their figures are unknown. */
  unsure: number
  /** Version of the newest estimate. Null if there are no estimates or the query does not filter by figures. */
  figures: string | null
}

const LISTS = {
  free: { device: "iphone", chart: "free" },
  paid: { device: "iphone", chart: "paid" },
  grossing: { device: "iphone", chart: "grossing" },
  ipad: { device: "ipad", chart: "free" },
} as const

/**
 * Returns a page of the matching apps, each with its best rank on the searched charts, and their number. Uses one
 * statement, so that charts, ranks and totals belong to the same moment.
 */
export async function findApps(sql: Sql, search: AppSearch): Promise<FoundApps> {
  const { rankMin, rankMax, since, figures, limit, page } = search
  const isSince = since === null ? sql`true` : sql`first_day >= ${since}::date`
  const isWithin = (rank: Fragment) => sql`${rank} between ${rankMin} and ${rankMax}`
  const [row] = await sql<[FoundRow]>`
    with list as materialized (
      ${searchedLists(sql, search)}
    ), app as materialized (
      ${bestPlaces(sql, search)}
    ), page as materialized (
      select app_id, store_id, rank, worth
      from app
      where ${isWithin(sql`rank`)} and fits
      order by ${search.order === "rank" ? sql`` : sql`worth desc nulls last,`} rank, store_id
      limit ${limit}
      offset ${(page - 1) * limit}
    ), shown as materialized (
      select distinct on (p.app_id) p.*, m.first_day, l.id as chart_id, l.storefront, l.device, l.chart, l.genre, l.day,
        l.source, l.seen_at
      from page p
      -- one index look-up per app: otherwise the planner reads all storefronts of each app
      cross join lateral (
        select chart_id
        from chart_place
        where (app_id, rank) = (p.app_id, p.rank)
        offset 0
      ) c
      join list l on l.id = c.chart_id
      cross join lateral (
        select first_day
        from market_app
        where (app_id, storefront) = (p.app_id, l.storefront) and ${isSince}
        offset 0
      ) m
      order by p.app_id, l.genre <> '36', l.storefront collate "C", l.device collate "C" desc, l.chart collate "C",
        l.genre collate "C"
    )
    select count(*) filter (where ${isWithin(sql`rank`)} and fits)::int as total,
      count(*) filter (where rank is null and ${isWithin(sql`undated`)} and fits)::int as unknown,
      count(*) filter (where ${isWithin(sql`rank`)} and fits is null)::int as unsure,
      ${figures ? sql`(select max(version)::text from app_estimate)` : sql`null`} as figures, (
        select json_agg(json_build_array(storefront, device, chart, genre, day, ${milliseconds(sql, sql`seen_at`)})
          order by storefront collate "C", device collate "C" desc, chart collate "C", genre collate "C")
        from list
      ) as lists, (
        ${appsShown(sql)}
      ) as apps
    from app`
  const lists = (row.lists ?? []).map(([country, device, kind, genre, day, measuredMs]) => {
    return { country, device, kind, genre, day, measuredMs }
  })
  const apps = (row.apps ?? []).map((app) => ({ ...app, source: chartSourceOf(app.source) }))
  return { ...row, lists, apps }
}

interface FoundRow extends Pick<FoundApps, "total" | "unknown" | "unsure" | "figures"> {
  lists: [country: string, device: Device, kind: Chart, genre: string, day: string, measuredMs: number][] | null
  apps: (Omit<FoundApp, "source"> & { source: number })[] | null
}

/** SQL: the rows of `shown` with names, as JSON. */
function appsShown(sql: Sql): Fragment {
  return sql`
    select json_agg(json_build_object(
        'app', w.app_id, 'id', s.store_id, 'publisher', s.developer, 'publisherId', s.developer_id, 'rank', w.rank,
        'name', coalesce(${nameIn(sql, sql`w.app_id`, { storefront: sql`w.storefront`, countries: [] })}, s.store_id),
        'country', w.storefront, 'device', w.device, 'kind', w.chart, 'genre', w.genre, 'day', w.day,
        'measuredMs', ${milliseconds(sql, sql`w.seen_at`)}, 'source', w.source, 'origin', r.origin,
        'firstSeen', w.first_day
      ) order by w.worth desc nulls last, w.rank, w.store_id)
    from shown w
    join store_app s on s.id = w.app_id
    left join chart_results r on (r.chart_id, r.day, r.source, r.seen_at) = (w.chart_id, w.day, w.source, w.seen_at)`
}

function searchedLists(sql: Sql, { countries, genres, kind }: AppSearch): Fragment {
  return sql`
    select c.id, c.storefront, c.device, c.chart, c.genre, n.day, n.source, n.seen_at
    from chart c
    join chart_now n on n.chart_id = c.id
    where c.platform = 'ios' and c.storefront = any(${countries as string[]}::text[])
      ${genres ? sql`and c.genre = any(${genres as string[]}::text[])` : sql``}
      ${kind ? sql`and (c.device, c.chart) = (${LISTS[kind].device}, ${LISTS[kind].chart})` : sql``}`
}

/**
 * SQL: the candidate apps, each with its best rank since the searched day, its rank in storefronts where its first day
 * is unknown, and whether its figures fit (null if unknown).
 */
function bestPlaces(sql: Sql, search: AppSearch): Fragment {
  const { countries, genres, since, figures, order } = search
  const isByFigures = order === "downloads" || order === "revenue"
  const level = figures?.level ?? (isByFigures ? search.level : null)
  const worth = worthOf(sql, order, level)
  const fit = figures ? figureFit(sql, figures) : sql`true`
  const isSince = sql`first_day >= ${since}::date`
  const from = sql`
    from (${places(sql, search)}) m
    ${joinOwnLevel(sql, level)}
    where ${fit} is not false and ${since === null ? sql`true` : sql`(first_day is null or ${isSince})`}
      ${searchedApps(sql, search)}`
  // without genres an app has one row per storefront
  if (countries.length === 1 && !genres) {
    const ranks =
      since === null
        ? sql`rank, null::int as undated`
        : sql`case when ${isSince} then rank end as rank, case when first_day is null then rank end as undated`
    return sql`
      select m.app_id, store_id, ${ranks}, ${worth} as worth, ${fit} as fits
      ${from}`
  }
  const ranks =
    since === null
      ? sql`min(rank) as rank, null::int as undated`
      : sql`min(rank) filter (where ${isSince}) as rank, min(rank) filter (where first_day is null) as undated`
  return sql`
    select m.app_id, min(store_id) as store_id, ${ranks}, max(${worth}) as worth,
      ${figures ? sql`bool_and(${fit})` : sql`true`} as fits
    ${from}
    group by m.app_id`
}

/**
 * SQL: the value by which a row of market_app (m) is ordered, greatest first. Null if unknown, or if the order is by
 * rank alone.
 */
function worthOf(sql: Sql, order: FoundOrder, level: OwnLevel | null): Fragment {
  const { downloaded, earned } = amountsSeen(sql, level)
  if (order === "firstSeen") return sql`(first_day - '2000-01-01'::date)::float8`
  if (order === "downloads") return sql`(${downloaded})::float8`
  if (order === "revenue") return sql`(${earned})::float8`
  return order === "growth" ? sql`growth::float8` : sql`null::float8`
}

/** SQL: rows of market_app, each with its best rank on the searched charts. With genres, one row per genre. */
function places(sql: Sql, { countries, genres, kind }: AppSearch): Fragment {
  if (genres)
    return sql`
      select a.app_id, a.store_id, a.first_day, p.rank, ${estimates(sql)}
      from list l
      join chart_place p on p.chart_id = l.id
      join market_app a on (a.app_id, a.storefront) = (p.app_id, l.storefront)`
  const rank = sql`a.${sql(kind ?? "rank")}`
  return sql`
    select a.app_id, a.store_id, a.first_day, ${rank} as rank, ${estimates(sql)}
    from market_app a
    where a.storefront = any(${countries as string[]}::text[]) and ${rank} is not null`
}

function estimates(sql: Sql): Fragment {
  return sql`
    a.downloads, a.downloads_under, a.revenue, a.revenue_under, a.growth, a.genre, a.by_prior, a.revenue_by`
}

function searchedApps(sql: Sql, { text, publisher }: AppSearch): Fragment {
  const byText = text === undefined ? sql`` : sql`and m.app_id in (${appsWithText(sql, text)})`
  if (publisher === undefined) return byText
  return sql`${byText} and m.app_id in (
    select id
    from store_app
    where platform = 'ios' and developer_id = ${publisher}
  )`
}

function milliseconds(sql: Sql, moment: Fragment): Fragment {
  return sql`(extract(epoch from ${moment}) * 1000)::bigint`
}
