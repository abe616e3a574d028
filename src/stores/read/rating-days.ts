import type { Fragment } from "postgres"
import type { Db } from "../../database/types.ts"
import { quarterOf } from "../../lib/days.ts"
import type { SourceName } from "../../lib/upstreams.ts"

/** In order of preference. Sources round and count differently, so one order holds for all days. */
export const RATING_SOURCES: readonly SourceName[] = [
  "itunes-lookup", "play-details", "apple-app-page", "itunes-search", "itunes-developer", "apple-charts",
  "apple-web-search", "apple-store-search", "play-search", "import", "foreign",
] // biome-ignore format: a list to scan

export interface RatingPoint {
  day: string
  ratings: number
  /** 0 to 5; null = not shown. */
  rating: number | null
  source: SourceName
}

/** Oldest first; a day without a point was not measured. */
export async function readRatingDays(
  sql: Db,
  app: number,
  { storefront, from, to }: { storefront: string; from: string; to: string },
): Promise<RatingPoint[]> {
  const rows = await sql<RatingPoint[]>`
    select distinct on (day) day, ratings, rating::numeric::float8 as rating, source
    from rating_day
    where app_id = ${app} and storefront = ${storefront} and day between ${from}::date and ${to}::date
      and quarter between ${quarterOf(from)}::date and ${quarterOf(to)}::date
      and until >= ${from}::date
      and ratings is not null
    order by day, ${preferredRating(sql)}`
  return [...rows]
}

/** The latest day's count, however long ago; null = none was ever read. */
export async function readLatestRatings(sql: Db, app: number, storefront: string): Promise<RatingPoint | null> {
  const [row] = await sql<RatingPoint[]>`
    select day, ratings, rating::numeric::float8 as rating, source
    from (${latestRatings(sql, sql`${app}`, storefront)}) r`
  return row ?? null
}

/** The row of rating_count that is told of an app there, if there is one. */
export function latestRatings(sql: Db, app: Fragment, storefront: string): Fragment {
  return sql`
      select day, ratings, rating, source
      from rating_count
      where app_id = ${app} and storefront = ${storefront} and ratings is not null
      order by day desc, ${preferredRating(sql)}
      limit 1`
}

/** Puts the count to show first, of several of one day in `rating_count`. */
export function preferredRating(sql: Db) {
  return sql`array_position(${RATING_SOURCES as string[]}::text[], source), source`
}
