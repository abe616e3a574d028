import type { ChartKey } from "../../core/observation/subjects.ts"
import type { Db, Sql } from "../../database/types.ts"
import type { FactSource, SourceName } from "../../lib/upstreams.ts"
import { bestFirst } from "../../measuring/record/best-first.ts"
import { LOOKUP_SOURCES } from "../../stores/kinds/apps-shape.ts"
import { preferredRating } from "../../stores/read/rating-days.ts"
import { nameIn } from "../../stores/store/app-names.ts"
import type { ListedApp } from "../formulas/landscape.ts"
import { chartNamed } from "../kinds/chart.ts"

/** How many apps of a chart are looked up: as many as one request takes. */
export const LOOKED_UP = 50
/** Counts and updates are used only if they were read within this many days of the list's day. */
export const NEAR_DAYS = 30

/** A listed app with the times and sources of its facts. */
export interface ListedFacts extends ListedApp {
  ratingsAt: Date | null
  ratingsSource: SourceName | null
  lookedAt: Date | null
  lookedSource: FactSource | null
}

/** Returns the facts of apps (store_app ids) on a list of that UTC day in a storefront, in their order. */
export async function readListedFacts(
  sql: Sql,
  apps: readonly number[],
  { storefront, day }: { storefront: string; day: string },
): Promise<ListedFacts[]> {
  const near = sql`between ${day}::date - ${NEAR_DAYS}::int and ${day}::date + ${NEAR_DAYS}::int`
  const rows = await sql<ListedFacts[]>`
    select ${nameIn(sql, sql`s.id`, { storefront, countries: [] })} as name, s.developer as publisher,
      s.developer_id as "publisherId", c.ratings, c.rating, c.seen_at as "ratingsAt", c.source as "ratingsSource",
      l.released_at as "releasedAt", l.updated_at as "updatedAt", b.languages, b.size_bytes as "sizeBytes",
      coalesce(l.seen_at, b.seen_at) as "lookedAt", coalesce(l.source, b.source) as "lookedSource"
    from unnest(${apps as number[]}::int[]) with ordinality u (id, place)
    join store_app s on s.id = u.id
    left join lateral (
      select ratings, rating::numeric::float8 as rating, seen_at, source
      from rating_count
      where (app_id, storefront) = (s.id, ${storefront}) and ratings is not null and day ${near}
      order by day desc, ${preferredRating(sql)}
      limit 1
    ) c on true
    left join lateral (
      select released_at, case when (seen_at at time zone 'utc')::date ${near} then updated_at end as updated_at,
        seen_at, source
      from app_storefront
      where (app_id, storefront) = (s.id, ${storefront}) and source = any(${[...LOOKUP_SOURCES]}::text[]) and available
      order by seen_at desc, source
      limit 1
    ) l on true
    left join lateral (
      select cardinality(languages) as languages, size_bytes, seen_at, source
      from app_storefront
      where app_id = s.id and (languages is not null or size_bytes is not null)
      order by seen_at desc, source, storefront
      limit 1
    ) b on true
    order by u.place
    limit ${apps.length}`
  return [...rows]
}

/** Returns the genres of all free iPhone charts ever read in a storefront, that of all apps first. */
export async function listChartGenres(sql: Sql, storefront: string): Promise<string[]> {
  const rows = await sql<{ genre: string }[]>`
    select genre
    from chart
    where (platform, storefront, device, chart) = ('ios', ${storefront}, 'iphone', 'free') and last_day is not null
    order by length(genre), genre`
  return rows.map(({ genre }) => genre)
}

interface ChartSubject {
  storefront: string
  /** Such as "iphone free 6013". */
  subject: string
}

/** Returns the store ids of the first apps of a chart's latest reading. */
export async function readFirstApps(sql: Db, chart: ChartSubject): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select s.store_id as id
    from (${firstOf(sql, chart)}) f
    join store_app s on s.id = f.app_id
    order by f.place
    limit ${LOOKED_UP}`
  return rows.map(({ id }) => id)
}

/**
 * Returns a query of the oldest look-up of a chart's first apps. Null unless all of these apps were looked up in the
 * storefront since `since`.
 */
export function latestLookUps(sql: Db, chart: ChartSubject, since: Date) {
  return sql`
    select case when count(*) = count(l.seen_at) then min(l.seen_at) end as "seenAt"
    from (${firstOf(sql, chart)}) f
    left join app_storefront l
      on (l.app_id, l.storefront, l.source) = (f.app_id, ${chart.storefront}, 'itunes-lookup')
        and l.seen_at >= ${since}`
}

function firstOf(sql: Db, { storefront, subject }: ChartSubject) {
  const { device, chart, genre }: Omit<ChartKey, "platform"> = chartNamed({ storefront }, subject)
  return sql`
    select u.app_id, u.place
    from chart c
    cross join lateral (
      select app_ids
      from chart_results
      where chart_id = c.id and day = c.last_day and complete
      order by ${bestFirst(sql)}
      limit 1
    ) r
    cross join lateral unnest(r.app_ids[1:${LOOKED_UP}::int]) with ordinality u (app_id, place)
    where (c.platform, c.storefront, c.device, c.chart, c.genre) = ('ios', ${storefront}, ${device}, ${chart},
      ${genre})`
}
