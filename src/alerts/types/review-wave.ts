import * as v from "valibot"
import { feedOf } from "../../core/observation/feed-name.ts"
import { OWN } from "../../core/observation/origins.ts"
import type { Tx } from "../../database/types.ts"
import { reviewLanguage } from "../../lib/review-language.ts"
import { inStore } from "../../lib/storefront-names.ts"
import { readStorefrontFeeds } from "../../reviews/read/feeds.ts"
import { isJoined } from "../../reviews/store/review-feeds.ts"
import { alertType, type FindingOf } from "../alert-type.ts"
import type { Place } from "../place.ts"
import type { PlaceDays } from "../search-days.ts"

/**
 * A wave has at least 5 one-star reviews, and 3 times the mean of the previous 28 days. At least 7 previous days are
 * needed.
 */
const WAVE = { least: 5, times: 3, days: 28, leastDays: 7 }

/**
 * Returns true if `count` one-star reviews of a day are a wave, compared with `earlier` on the previous `days` days.
 */
export function isWave(count: number, earlier: number, days: number): boolean {
  return count >= WAVE.least && days >= WAVE.leastDays && count * days >= WAVE.times * earlier
}

/**
 * A day with unusually many one-star reviews, by day of writing. The mean covers days since the oldest stored review. A
 * day is judged only after a later complete reading. Authors are not stored.
 */
export const reviewWave = alertType({
  name: "review_wave",
  options: [],
  ofLanguage: true,
  facts: v.strictObject({
    /** A storefront on the App Store, a language on Google Play. */
    feed: v.string(),
    count: v.number(),
    /** Mean number of one-star reviews on the previous days; `days` is the number of those with data. */
    mean: v.number(),
    days: v.number(),
  }),
  example: { feed: "us", count: 9, mean: 0.5, days: 28 },
  async find(tx, span) {
    const found: FindingOf<"review_wave">[] = []
    for (const feed of await readPlaceFeeds(tx, span.place))
      for (const { day, at, count, earlier, days } of await readDays(tx, span, feed)) {
        const facts = { feed, count, mean: Math.round((100 * earlier) / days) / 100, days }
        if (isWave(count, earlier, days)) found.push({ type: "review_wave", subject: feed, day, at, facts })
      }
    return found
  },
  sentence({ feed, count, mean, days }, place) {
    const language = place.storefront === null ? ` in the language ${feed}` : ""
    return `You got ${count} one-star reviews${language} ${inStore(place)} (${days} days before: ${mean} a day)`
  },
  fields: ({ mean, count }) => ({ before: mean, after: count }),
})

/** Returns the review feeds of a place. */
export async function readPlaceFeeds(tx: Tx, { platform, storefront, storeAppId, origin }: Place): Promise<string[]> {
  if (origin !== OWN) return [feedOf({ platform, storefront, language: reviewLanguage(storefront), origin })]
  const [feeds] = await readStorefrontFeeds(tx, [{ platform, storefront, app: storeAppId }])
  return feeds as string[]
}

interface Day {
  day: string
  /** The latest time when one of its reviews was first seen. */
  at: Date
  count: number
  /** Number of one-star reviews on the previous `days` days. */
  earlier: number
  days: number
}

/**
 * Returns the days with enough one-star reviews. The oldest review comes from the same index as the newest, read from
 * the other end.
 */
async function readDays(tx: Tx, { place, from, to }: PlaceDays, feed: string): Promise<Day[]> {
  const { storeAppId } = place
  return await tx<Day[]>`
    with span as materialized (
      select (at at time zone 'utc')::date + 1 as known_from, (
        select max((r.seen_at at time zone 'utc')::date)
        from review_read r
        where r.app_id = ${storeAppId} and r.feed = ${feed} and r.complete and ${isJoined(tx)}
      ) as known_to
      from review
      where app_id = ${storeAppId} and feed = ${feed}
      order by at, review_id
      limit 1
    ), low as materialized (
      select (at at time zone 'utc')::date as day, count(*) as count, max(first_seen_at) as seen_at
      from review
      where app_id = ${storeAppId} and feed = ${feed} and stars = 1
        and at >= (${from}::date - ${WAVE.days}::int)::timestamp at time zone 'utc'
        and at < (${to}::date + 1)::timestamp at time zone 'utc'
      group by 1
    )
    select l.day, l.seen_at as at, l.count, (
        select coalesce(sum(e.count), 0)::int
        from low e
        where e.day < l.day and e.day >= greatest(s.known_from, l.day - ${WAVE.days}::int)
      ) as earlier,
      l.day - greatest(s.known_from, l.day - ${WAVE.days}::int) as days
    from low l
    cross join span s
    where l.day >= ${from}::date and l.day <= s.known_to and l.count >= ${WAVE.least}
    order by l.day`
}
