import * as v from "valibot"
import type { Sql } from "../../../database/types.ts"
import { described } from "../../../lib/schema.ts"
import { LOOKUP_SOURCES } from "../../../stores/kinds/apps-shape.ts"
import { type RatingPoint, readLatestRatings } from "../../../stores/read/rating-days.ts"
import { Count, Day, Source } from "../../../tracking/shapes.ts"
import type { Rival } from "./find-rival.ts"

/** An app's latest rating count in a storefront. */
export const ratingFields = {
  rating: described(v.nullable(v.number()), "0 to 5 stars, from that reading. Null if not shown or never read."),
  ratings: described(v.nullable(Count), "Latest rating count in that storefront. Null if never read."),
  ratingsDay: described(v.nullable(Day), "UTC day of the reading."),
  ratingsSource: described(v.nullable(Source), "Source of the reading."),
}

export function ratingsOf(point: RatingPoint | null) {
  const { rating = null, ratings = null, day = null, source = null } = point ?? {}
  return { rating, ratings, ratingsDay: day, ratingsSource: source }
}

interface StoreState {
  /** Availability as of the latest look-up. Null if there was none. */
  available: boolean | null
  ratings: RatingPoint | null
}

export async function readStoreState(sql: Sql, { appId }: Rival, storefront: string): Promise<StoreState> {
  if (appId === null) return { available: null, ratings: null }
  const [lookUp] = await sql<{ available: boolean }[]>`
    select available
    from app_storefront
    where app_id = ${appId} and storefront = ${storefront} and source = any(${LOOKUP_SOURCES as string[]}::text[])
    order by seen_at desc, source
    limit 1`
  return { available: lookUp?.available ?? null, ratings: await readLatestRatings(sql, appId, storefront) }
}
