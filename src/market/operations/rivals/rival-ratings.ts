import * as v from "valibot"
import type { Sql } from "../../../database/types.ts"
import { described } from "../../../lib/schema.ts"
import { LOOKUP_SOURCES } from "../../../stores/kinds/apps-shape.ts"
import { type RatingPoint, readLatestRatings } from "../../../stores/read/rating-days.ts"
import { Count, Day, Source } from "../../../tracking/shapes.ts"
import type { Rival } from "./find-rival.ts"

/** An app's latest rating count in a storefront. */
export const ratingFields = {
  rating: described(v.nullable(v.number()), "0 to 5 stars, of that reading; null = not shown, or none was read yet."),
  ratings: described(v.nullable(Count), "The latest rating count known of that storefront; null = none was read yet."),
  ratingsDay: described(v.nullable(Day), "The UTC day on which the store showed it."),
  ratingsSource: described(v.nullable(Source), "Where it was read."),
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
