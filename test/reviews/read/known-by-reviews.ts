import type { Db, Sql } from "../../../src/database/types.ts"
import type { AppFeed, WrittenReviews } from "../../../src/keywords/read/day-facts.ts"
import { dayOf } from "../../../src/lib/days.ts"
import { type FeedKey, type FeedState, startOf } from "../../../src/reviews/read/reviews.ts"
import { LOOKED_BELOW } from "../../../src/reviews/read/tallies.ts"
import { isJoined } from "../../../src/reviews/store/review-feeds.ts"

/** A reference implementation of readFeedState that uses the reviews themselves. */
export async function feedByReviews(sql: Db, { appId, feed }: FeedKey): Promise<FeedState> {
  const read = await reviewsRead(sql, { appId, feed })
  if (read) {
    const { empty, ...rest } = read
    return { state: empty ? "none" : "read", ...rest }
  }
  const stored = await sql`select from review where app_id = ${appId} and feed = ${feed} limit 1`
  return { state: stored.length > 0 ? "some" : "never_read", readAt: null, complete: false, completeAt: null }
}

interface ReviewsRead {
  readAt: Date
  /** True if no review is missing between the newest review and the previously stored reviews. */
  complete: boolean
  /** True if the store stated that there are no reviews. */
  empty: boolean
  /** Time of the latest complete reading. Null if there was none. */
  completeAt: Date | null
}

/** Returns the latest reading of an app's reviews by any source. Null if never read, which does not mean no reviews. */
async function reviewsRead(sql: Db, { appId, feed }: { appId: number; feed: string }): Promise<ReviewsRead | null> {
  const rows = await sql<(Omit<ReviewsRead, "completeAt"> & { said: boolean })[]>`
    select r.seen_at as "readAt", r.complete as said, r.complete and ${isJoined(sql)} as complete, r.empty
    from review_read r
    where r.app_id = ${appId} and r.feed = ${feed}
    order by r.seen_at desc, r.complete desc, r.source
    limit 10`
  const [latest] = rows
  if (!latest) return null
  const { said: _, ...read } = latest
  // A reading that is not joined has a gap below it. The functions that count days detect this gap themselves.
  return { ...read, completeAt: rows.find(({ said: isComplete }) => isComplete)?.readAt ?? null }
}

const NEWEST = 5_000

/**
 * Counts the reviews that were first read on the UTC day of the feed's latest reading and are newer than all reviews
 * stored before that day. Null if the number is unknown: the feed was never read, its latest reading is incomplete, or
 * no older review is stored to compare with.
 */
export async function newByReviews(sql: Db, { appId, feed }: FeedKey, state: FeedState): Promise<number | null> {
  if (state.readAt === null || !state.complete) return null
  const day = startOf(dayOf(state.readAt))
  const [row] = await sql<{ newest: Date | null; count: number }[]>`
    with before as materialized (
      select at
      from (
        select at, first_seen_at
        from review_version
        where app_id = ${appId} and feed = ${feed} and current
        order by at desc
        limit ${NEWEST}
      ) held
      where first_seen_at < ${day}
      order by at desc
      limit 1
    )
    select (select at from before) as newest, count(*)
    from (
      select review_id
      from review_version
      where app_id = ${appId} and feed = ${feed} and current and at > (select at from before)
      order by at desc
      limit ${NEWEST}
    ) v
    cross join lateral (
      select min(first_seen_at) as first_seen_at
      from review_version
      where (app_id, feed, review_id) = (${appId}, ${feed}, v.review_id)
    ) e
    where e.first_seen_at >= ${day}`
  if (row!.newest !== null) return row!.count
  return state.state === "none" ? 0 : null
}

/** A reference implementation of readWrittenReviews that uses the reviews themselves. */
export async function writtenByReviews(
  sql: Sql,
  feeds: readonly AppFeed[],
  { from, to, now }: { from: Date; to: Date; now: Date },
): Promise<WrittenReviews[]> {
  const rows = await sql<(Omit<WrittenReviews, "measured"> & { completeAt: Date | null; gap: boolean })[]>`
    select l.seen_at as "readAt", l.source, l.complete_at as "completeAt", r.count, r.low, r.average, g.gap
    from unnest(
      ${feeds.map(({ app }) => app)}::int[],
      ${feeds.map(({ feed }) => feed)}::text[]
    ) with ordinality f (app_id, feed, place)
    left join lateral (
      select max(r.seen_at) as seen_at, max(r.source) as source,
        max(r.seen_at) filter (where r.complete) as complete_at, coalesce(bool_or(r.empty), false) as empty
      from review_read r
      where r.app_id = f.app_id and r.feed = f.feed
    ) l on true
    left join lateral (
      select count(*) as count, count(*) filter (where stars <= 2) as low, avg(stars)::float8 as average
      from review
      where app_id = f.app_id and feed = f.feed and at >= ${from} and at < ${to}
    ) r on true
    left join lateral (${gapAt(sql, { from, to })}) g on true
    order by f.place
    limit 100000`
  const since = to <= now ? to : from
  return rows.map(({ completeAt, gap, ...row }) => {
    return { ...row, measured: completeAt !== null && completeAt >= since && !gap }
  })
}

/**
 * Selects whether there is a gap: one of the span's reviews, or the first review after the span, appeared after the
 * last reading of all older reviews, so no reading contained both (see coveredDays). `f` is the feed and `l` its
 * readings. Without reviews, only the store's own statement counts.
 */
function gapAt(sql: Sql, { from, to }: { from: Date; to: Date }) {
  return sql`
    select coalesce(
      bool_or(at >= ${from} and at < l.complete_at and (older_seen_at is null or older_seen_at < first_seen_at)),
      not l.empty
    ) as gap
    from (
      select at, first_seen_at, max(seen_at) over (
          order by at, review_id collate "C"
          rows between unbounded preceding and 1 preceding
        ) as older_seen_at
      from (
        (
          select review_id, at, first_seen_at, seen_at
          from review_version
          where app_id = f.app_id and feed = f.feed and current and at < ${from}
          order by at desc, review_id
          limit ${LOOKED_BELOW}
        )
        union all
        select review_id, at, first_seen_at, seen_at
        from review_version
        where app_id = f.app_id and feed = f.feed and current and at >= ${from} and at < ${to}
        union all
        (
          select review_id, at, first_seen_at, seen_at
          from review_version
          where app_id = f.app_id and feed = f.feed and current and at >= ${to}
          order by at, review_id collate "C"
          limit 1
        )
      ) around
    ) beside`
}
