import { consoleLanguage } from "../../core/observation/feed-name.ts"
import type { Sql } from "../../database/types.ts"
import { addDays, type Days, dayOf, later } from "../../lib/days.ts"
import type { ReviewTally } from "../formulas/review-stats.ts"
import { type FeedKey, type FeedState, milliseconds } from "./reviews.ts"

export interface FeedTallies {
  tallies: ReviewTally[]
  covered: ReadonlySet<string>
}

/**
 * Maximum number of days with reviews before the span that are searched for a review that was still listed after all
 * reviews of the span had appeared.
 */
export const LOOKED_BELOW = 1_000

export async function tallyReviews(sql: Sql, feed: FeedKey, days: Days, state: FeedState): Promise<FeedTallies> {
  const rows = await readDays(sql, feed, days)
  return { tallies: rows.within.flatMap(talliesOf), covered: coveredDays(days, state, gapsOf(rows)) }
}

/**
 * Like tallyReviews, over several feeds. A day is covered only if every feed of the store covers it. A console's feed
 * covers no day, and does not affect which days the other feeds cover.
 */
export async function tallyFeeds(
  sql: Sql,
  feeds: readonly { feedKey: FeedKey; feedState: FeedState }[],
  days: Days,
): Promise<FeedTallies> {
  const each: FeedTallies[] = []
  for (const { feedKey, feedState } of feeds) each.push(await tallyReviews(sql, feedKey, days, feedState))
  const ofStore = each.filter((_, place) => consoleLanguage(feeds[place]!.feedKey.feed) === null)
  const [first = { covered: new Set<string>() }, ...rest] = ofStore
  const covered = new Set([...first.covered].filter((day) => rest.every((other) => other.covered.has(day))))
  return { tallies: each.flatMap(({ tallies }) => tallies), covered }
}

function talliesOf({ day, versions, stars, counts }: StoredDay): ReviewTally[] {
  return counts.map((count, at) => ({ day, version: versions[at] as string | null, stars: stars[at]!, count }))
}

/**
 * Returns the gaps between reviews. A review has a gap below it if every older review was in a reading for the last
 * time before this review was first in one. Null if no review is stored.
 */
function gapsOf({ below, within, above }: StoredDays): Gap[] | null {
  const gaps: Gap[] = []
  let { day: older, seen } = below
  for (const { day, oldest, seen: seenLast, gapSeen } of within) {
    if (seen === null || seen < oldest.firstSeen) gaps.push({ after: older, before: oldest.at })
    if (gapSeen !== null && (seen === null || seen < gapSeen)) gaps.push({ after: day, before: oldest.at })
    seen = Math.max(seen ?? seenLast, seenLast)
    older = day
  }
  if (above && (seen === null || seen < above.firstSeen)) gaps.push({ after: older, before: above.at })
  return older === null && above === null ? null : gaps
}

/**
 * Returns the days before the latest complete reading that no gap touches. A feed without reviews covers days only if
 * the store stated that there are none.
 */
function coveredDays(days: Days, { state, completeAt }: FeedState, gaps: readonly Gap[] | null): Set<string> {
  const covered = new Set<string>()
  if (completeAt === null || (gaps === null && state !== "none")) return covered
  const dayBefore = addDays(dayOf(completeAt), -1)
  for (let day = days.from; day <= days.to && day <= dayBefore; day = addDays(day, 1)) covered.add(day)
  for (const { after, before } of gaps ?? []) {
    // A gap above the latest complete reading does not count, because that reading could not have shown it.
    if (before >= completeAt.getTime()) continue
    const first = after === null ? days.from : later(after, days.from)
    const end = dayOf(new Date(before))
    for (let day = first; day <= end && day <= days.to; day = addDays(day, 1)) covered.delete(day)
  }
  return covered
}

interface Gap {
  /** The UTC day of the next older review. Null if no older review is stored. */
  after: string | null
  /** Time of the review above the gap, in milliseconds since 1970. */
  before: number
}

interface StoredDays {
  /** The day of the newest review before the span, and the latest reading time of any review before the span. */
  below: { day: string | null; seen: number | null }
  within: StoredDay[]
  above: OldestReview | null
}

interface StoredDay {
  day: string
  oldest: OldestReview
  seen: number
  gapSeen: number | null
  versions: (string | null)[]
  stars: number[]
  counts: number[]
}

/** Times in milliseconds since 1970. */
interface OldestReview {
  at: number
  firstSeen: number
}

async function readDays(sql: Sql, { appId, feed }: FeedKey, { from, to }: Days): Promise<StoredDays> {
  const oldest = sql`
    json_build_object('at', ${milliseconds(sql, "oldest_at")}, 'firstSeen',
      ${milliseconds(sql, "oldest_first_seen_at")})`
  const below = sql`
            select day, seen_at
            from review_day
            where app_id = ${appId} and feed = ${feed} and day < ${from}
            order by day desc
            limit ${LOOKED_BELOW}`
  // There is no gap before the span if an earlier day has a review that was read after all reviews of the span had
  // appeared. Usually the nearest earlier day has one, so the query stops there.
  const [rows] = await sql<StoredDays[]>`
    with within as materialized (
      select *
      from review_day
      where app_id = ${appId} and feed = ${feed} and day >= ${from} and day <= ${to}
    ), above as materialized (
      select oldest_at, oldest_first_seen_at
      from review_day
      where app_id = ${appId} and feed = ${feed} and day > ${to}
      order by day
      limit 1
    ), appeared as materialized (
      select max(at) as last
      from (
        select greatest(oldest_first_seen_at, gap_seen_at) as at
        from within
        union all
        select oldest_first_seen_at
        from above
      ) each
    )
    select
      (
        select json_build_object('day', day, 'seen', ${milliseconds(sql, "seen_at")})
        from (
          select (select day from (${below}) newest limit 1) as day, coalesce(
              (select seen_at from (${below}) newest where seen_at >= (select last from appeared) limit 1),
              (select max(seen_at) from (${below}) newest)
            ) as seen_at
        ) older
      ) as below,
      (
        select coalesce(
          json_agg(
            json_build_object(
              'day', day, 'oldest', ${oldest}, 'seen', ${milliseconds(sql, "seen_at")},
              'gapSeen', ${milliseconds(sql, "gap_seen_at")}, 'versions', versions, 'stars', stars, 'counts', counts
            )
            order by day
          ),
          '[]'
        )
        from within
      ) as within,
      (
        select ${oldest}
        from above
      ) as above`
  return rows as StoredDays
}
