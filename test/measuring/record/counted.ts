import type { Sql } from "../../../src/database/types.ts"
import { readRatingsOn } from "../../../src/keywords/read/day-facts.ts"
import { readRatingsUntil } from "../../../src/keywords/read/evidence.ts"
import type { Observation } from "../../../src/kinds.ts"
import { addDays } from "../../../src/lib/days.ts"
import { readRatingGains } from "../../../src/market/read/gains.ts"
import { readRatingDays } from "../../../src/stores/read/rating-days.ts"
import { foldRatings } from "../../../src/stores/store/rating-quarters.ts"
import { randomFrom } from "../../market/formulas/calibration.ts"
import { listed } from "./listed.ts"
import { appsReading, reading } from "./measured.ts"

/** The day from which these readings are looked back on. */
export const LAST = "2025-11-19"
const APPS = ["10001", "10002"]

/**
 * Returns rating counts of half a year from three sources: days with several counts, some close together; demo counts
 * next to others; counts that fall, exceed a million within a quarter, or stay equal; means alone (with one digit more
 * than is packed); and stars.
 */
export function counted(seed: number): Observation[] {
  const random = randomFrom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  return Array.from({ length: 260 }, (_, i): Observation => {
    const day = addDays(LAST, -below(190))
    const at = new Date(Date.parse(day) + (below(3) === 0 ? 36_000_000 + i : below(86_400_000))).toISOString()
    const count = i % 2 ? 1_048_000 + below(1_500) : 70 + below(4) * 70
    const app = {
      id: APPS[i % 2] as string,
      ...(i % 9 > 0 && { ratings: count }),
      ...(i % 5 > 0 && { rating: (10_000.3 + below(39_999)) / 10_000 }),
    }
    const storefront = below(3) ? "us" : "de"
    if (i % 13 === 0) return listed(at, { ...app, ratingsByStar: [1, 2, 3, 4, i] } as never, { id: app.id, storefront })
    if (i % 4 === 0) {
      const origin = i % 3 ? "own" : "demo"
      return reading("tea", at, [], { storefront, source: "apple-web-search", depth: 9, results: [app], origin })
    }
    return appsReading(at, [app], { storefront, parser: 1 + below(3), origin: i % 7 ? "own" : "elsewhere" })
  })
}

/** Packs the rating counts of all months before that day. */
export async function foldAll(sql: Sql, before: string, chunk = 7): Promise<number> {
  let count = 0
  for (let from: number | null = 0; from !== null; ) {
    const at: number = from
    const { packed, next } = await sql.begin((tx) => foldRatings(tx, { before, chunk, from: at }))
    count += packed
    from = next
  }
  return count
}

/** Returns what every reader returns of these counts, except the body they came from. */
export async function readCounts(sql: Sql) {
  const days = await sql`
    select a.store_id, r.storefront, r.day, r.source, r.seen_at, r.origin, r.ratings,
      round(r.rating::numeric, 4)::float8 as rating
    from rating_day r
    join store_app a on a.id = r.app_id
    order by 1, 2, 3, 4`
  const changes = await sql`
    select a.store_id, c.storefront, c.source, c.kind, c.at, c.before_seen_at, c.before, c.after, c.origin
    from listing_change c
    join store_app a on a.id = c.app_id
    where c.kind in ('rating_jump', 'ratings_jump')
    order by 1, 2, 3, 4, 5`
  const apps = await sql<{ id: number }[]>`select id from store_app order by store_id`
  const places = apps.flatMap(({ id: app }) => ["us", "de"].map((storefront) => ({ app, storefront })))
  const rounded = <Row extends { rating?: number | null }>(row: Row | null) =>
    row && { ...row, rating: row.rating === null ? null : Math.round((row.rating ?? 0) * 10_000) / 10_000 }
  const ends = Array.from({ length: 12 }, (_, i) => addDays(LAST, -17 * i))
  return {
    days: [...days],
    changes: [...changes],
    gains: await Promise.all(apps.map(({ id }) => readRatingGains(sql, id, LAST))),
    history: await Promise.all(
      places.map(async ({ app, storefront }) =>
        (await readRatingDays(sql, app, { storefront, from: addDays(LAST, -200), to: LAST })).map(rounded),
      ),
    ),
    on: await Promise.all(
      ends.map(async (day) =>
        (await readRatingsOn(sql, places, day)).map(
          (figure) => figure && { ...rounded(figure), before: rounded(figure.before) },
        ),
      ),
    ),
    evidence: await Promise.all(
      ends.map(async (day) =>
        (await readRatingsUntil(sql, { ...places[0]!, day })).map(({ parser: _, sha256: __, egress: ___, ...row }) =>
          rounded(row),
        ),
      ),
    ),
  }
}
