import type { Fragment } from "postgres"
import type { Db } from "../../database/types.ts"
import { quarterOf } from "../../lib/days.ts"
import type { SourceName } from "../../lib/upstreams.ts"

/** Sources in order of preference. They round and count differently, so the same order applies to all days. */
export const RATING_SOURCES: readonly SourceName[] = [
  "itunes-lookup",
  "play-details",
  "apple-app-page",
  "itunes-search",
  "itunes-developer",
  "apple-charts",
  "apple-web-search",
  "apple-store-search",
  "play-search",
  "import",
  "foreign",
]

export interface RatingPoint {
  day: string
  ratings: number
  /** 0 to 5. Null if not shown. */
  rating: number | null
  source: SourceName
}

/** Returns the rating counts by day, oldest first. A day without a point was not measured. */
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

/** Returns the count of the latest day, however old. Null if there is none. */
export async function readLatestRatings(sql: Db, app: number, storefront: string): Promise<RatingPoint | null> {
  const [row] = await sql<RatingPoint[]>`
    select day, ratings, rating::numeric::float8 as rating, source
    from (${latestRatings(sql, sql`${app}`, storefront)}) r`
  return row ?? null
}

/** Selects the row of rating_count to show for an app in a storefront, if any. */
export function latestRatings(sql: Db, app: Fragment, storefront: string): Fragment {
  return sql`
      select day, ratings, rating, source
      from rating_count
      where app_id = ${app} and storefront = ${storefront} and ratings is not null
      order by day desc, ${preferredRating(sql)}
      limit 1`
}

/** Orders counts of the same day in `rating_count` by preference. */
export function preferredRating(sql: Db) {
  return sql`array_position(${RATING_SOURCES as string[]}::text[], source), source`
}
