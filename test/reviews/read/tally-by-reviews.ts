import type { Sql } from "../../../src/database/types.ts"
import { addDays, type Days, dayOf, later } from "../../../src/lib/days.ts"
import type { ReviewTally } from "../../../src/reviews/formulas/review-stats.ts"
import { type FeedKey, type FeedState, milliseconds, type Place, startOf } from "../../../src/reviews/read/reviews.ts"

interface Tallied {
  tallies: ReviewTally[]
  /** Days for which every review that the store listed is stored. */
  covered: ReadonlySet<string>
}

/**
 * Maximum number of reviews before a span that are searched for a review that was still listed after all reviews of the
 * span had appeared.
 */
const LOOKED_BELOW = 1_000

/** A reference implementation of tallyReviews that uses the reviews themselves, in chunks. */
export async function tallyByReviews(sql: Sql, feed: FeedKey, days: Days, state: FeedState): Promise<Tallied> {
  const tallies: ReviewTally[] = []
  const gaps: Gap[] = []
  const { below, above } = await neighbours(sql, feed, days)
  let { seen: seenAt, at: older } = below
  let last: Place | null = null
  do {
    const part: Part = await readPart(sql, feed, days, { last, older, seen: seenAt })
    tallies.push(...part.tallies)
    gaps.push(...part.gaps)
    seenAt = part.seen
    older = part.last?.at ?? older
    last = part.read < PART ? null : part.last
  } while (last)
  if (above && (seenAt === null || seenAt < above.firstSeen)) gaps.push({ after: older, before: above.at })
  const isAnyHeld = older !== null || above !== null
  return { tallies, covered: coveredDays(days, state, isAnyHeld ? gaps : null) }
}

/**
 * Returns the covered days: the days before the latest complete reading that no gap touches. A feed without reviews
 * (gaps null) covers days only if the store stated that there are none. A complete reading misses no review between the
 * newest review and a stored one, or the end of the feed. A review that was first read after the last reading of all
 * older reviews therefore has a gap below it, because no reading contained both. A gap of an incomplete reading is not
 * detected if the next reading is complete but does not reach as far down.
 */
function coveredDays(days: Days, { state, completeAt }: FeedState, gaps: readonly Gap[] | null): Set<string> {
  const covered = new Set<string>()
  if (completeAt === null || (gaps === null && state !== "none")) return covered
  const dayBefore = addDays(dayOf(completeAt), -1)
  for (let day = days.from; day <= days.to && day <= dayBefore; day = addDays(day, 1)) covered.add(day)
  for (const { after, before } of gaps ?? []) {
    // A gap above the latest complete reading does not count, because that reading could not have shown it.
    if (before >= completeAt.getTime()) continue
    const first = after === null ? days.from : later(dayOf(new Date(after)), days.from)
    const end = dayOf(new Date(before))
    for (let day = first; day <= end && day <= days.to; day = addDays(day, 1)) covered.delete(day)
  }
  return covered
}

const PART = 2_000

/**
 * Times in milliseconds since 1970. Reviews between them may be missing. `after` is null if no older review is stored.
 */
interface Gap {
  after: number | null
  before: number
}

interface Neighbours {
  /** Date of the newest review before the span, and the latest reading time of any review before the span. */
  below: { at: number | null; seen: number | null }
  /** The oldest review after the span. */
  above: { at: number; firstSeen: number } | null
}

async function neighbours(sql: Sql, { appId, feed }: FeedKey, { from, to }: Days): Promise<Neighbours> {
  const [row] = await sql<Neighbours[]>`
    select
      (
        select json_build_object('at', ${milliseconds(sql, "at")}, 'seen', ${milliseconds(sql, "seen_at")})
        from (
          select max(at) as at, max(seen_at) as seen_at
          from (
            select at, seen_at
            from review_version
            where app_id = ${appId} and feed = ${feed} and current and at < ${startOf(from)}
            order by at desc, review_id
            limit ${LOOKED_BELOW}
          ) older
        ) newest
      ) as below,
      (
        select json_build_object('at', ${milliseconds(sql, "at")}, 'firstSeen', ${milliseconds(sql, "first_seen_at")})
        from (
          select at, first_seen_at
          from review_version
          where app_id = ${appId} and feed = ${feed} and current and at >= ${startOf(addDays(to, 1))}
          order by at, review_id collate "C"
          limit 1
        ) newer
      ) as above`
  return row as Neighbours
}

/** Times in milliseconds since 1970. */
interface Part {
  read: number
  last: Place | null
  /** Latest reading time of any review that was processed so far. */
  seen: number | null
  gaps: Gap[]
  tallies: ReviewTally[]
}

interface Progress {
  last: Place | null
  older: number | null
  seen: number | null
}

/** Reads the oldest reviews first, because each review is compared with the last reading of all older reviews. */
async function readPart(
  sql: Sql,
  { appId, feed }: FeedKey,
  { from, to }: Days,
  { last, older, seen: seenAt }: Progress,
) {
  const [part] = await sql<Part[]>`
    with part as materialized (
      select review_id, at, stars, version, first_seen_at, seen_at
      from review_version
      where app_id = ${appId} and feed = ${feed} and current
        and at >= ${startOf(from)} and at < ${startOf(addDays(to, 1))}
        ${last ? sql`and ${isAfter(sql, last)}` : sql``}
      order by at, review_id collate "C"
      limit ${PART}
    ), beside as (
      select at, first_seen_at, coalesce(lag(at) over older, ${moment(older)}::timestamptz) as older_at,
        greatest(${moment(seenAt)}::timestamptz,
          max(seen_at) over (older rows between unbounded preceding and 1 preceding))
          as older_seen_at
      from part
      window older as (order by at, review_id collate "C")
    ), tally as (
      select to_char(at at time zone 'utc', 'YYYY-MM-DD') as day, version, stars, count(*) as count
      from part
      group by 1, 2, 3
    )
    select
      (select count(*) from part) as read,
      (
        select json_build_object('at', ${milliseconds(sql, "at")}, 'id', review_id)
        from (
          select at, review_id
          from part
          order by at desc, review_id collate "C" desc
          limit 1
        ) p
      ) as last,
      (
        select ${milliseconds(sql, "seen_at")}
        from (select greatest(${moment(seenAt)}::timestamptz, max(seen_at)) as seen_at from part) s
      ) as seen,
      (
        select coalesce(
          json_agg(
            json_build_object('after', ${milliseconds(sql, "older_at")}, 'before', ${milliseconds(sql, "at")})
            order by at
          ),
          '[]'
        )
        from beside
        where older_seen_at is null or older_seen_at < first_seen_at
      ) as gaps,
      (select coalesce(json_agg(t), '[]') from tally t) as tallies`
  return part as Part
}

function moment(at: number | null): Date | null {
  return at === null ? null : new Date(at)
}

function isAfter(sql: Sql, { at, id }: Place) {
  const moment = new Date(at)
  return sql`at >= ${moment} and (at > ${moment} or review_id collate "C" > ${id})`
}
