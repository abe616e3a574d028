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

/** So many reviews of one star, and so many times the mean of the days before. Under `leastDays` there is no mean. */
const WAVE = { least: 5, times: 3, days: 28, leastDays: 7 }

/** Whether a day's reviews of one star are a wave; `earlier` were given on the `days` days before it. */
export function isWave(count: number, earlier: number, days: number): boolean {
  return count >= WAVE.least && days >= WAVE.leastDays && count * days >= WAVE.times * earlier
}

/**
 * By the day of writing. Days before count from the oldest review held, and only once a later reading was complete. Who
 * wrote them is not stored.
 */
export const reviewWave = alertType({
  name: "review_wave",
  options: [],
  ofLanguage: true,
  facts: v.strictObject({
    /** A storefront on the App Store, a language on Google Play. */
    feed: v.string(),
    count: v.number(),
    /** Of the days before it, so many of which were known. */
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

/** The feeds whose reviews are those of the place. */
export async function readPlaceFeeds(tx: Tx, { platform, storefront, own, origin }: Place): Promise<string[]> {
  if (origin !== OWN) return [feedOf({ platform, storefront, language: reviewLanguage(storefront), origin })]
  const [feeds] = await readStorefrontFeeds(tx, [{ platform, storefront, app: own }])
  return feeds as string[]
}

interface Day {
  day: string
  /** When the latest of its reviews was seen first. */
  at: Date
  count: number
  /** Given on the `days` days before. */
  earlier: number
  days: number
}

/** Days with reviews enough. The oldest review is found by the index that the newest are found by, from its other end. */
async function readDays(tx: Tx, { place, from, to }: PlaceDays, feed: string): Promise<Day[]> {
  const { own } = place
  return await tx<Day[]>`
    with span as materialized (
      select (at at time zone 'utc')::date + 1 as known_from, (
        select max((r.seen_at at time zone 'utc')::date)
        from review_read r
        where r.app_id = ${own} and r.feed = ${feed} and r.complete and ${isJoined(tx)}
      ) as known_to
      from review
      where app_id = ${own} and feed = ${feed}
      order by at, review_id
      limit 1
    ), low as materialized (
      select (at at time zone 'utc')::date as day, count(*) as count, max(first_seen_at) as seen_at
      from review
      where app_id = ${own} and feed = ${feed} and stars = 1
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
