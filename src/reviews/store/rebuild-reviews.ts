import { takeLock } from "../../database/locks.ts"
import type { Sql } from "../../database/types.ts"
import { deriveReviewDays, type FeedDay } from "./review-days.ts"
import { deriveReviewFeeds, type FeedKey } from "./review-feeds.ts"

/** Derives review days and feeds again for all feeds. Returns the number of days and feeds that were wrong. */
export async function rebuildReviews(sql: Sql, pause: () => Promise<void>): Promise<number> {
  let mended = 0
  for (let feed = await findNextFeed(sql, null); feed; feed = await findNextFeed(sql, feed)) {
    const current = feed
    for (let after: string | null = null; ; ) {
      const days = await readNextDays(sql, current, after)
      const isLast = days.length < DAYS_AT_ONCE
      mended += await sql.begin(async (tx) => {
        await takeLock(tx, "reviews", current.appId, current.feed)
        const ofDays = await deriveReviewDays(tx, days)
        return ofDays + (isLast ? await deriveReviewFeeds(tx, [current]) : 0)
      })
      await pause()
      const last = days.at(-1)
      if (isLast || !last) break
      after = last.day
    }
  }
  return mended
}

const DAYS_AT_ONCE = 20

async function findNextFeed(sql: Sql, after: FeedKey | null): Promise<FeedKey | undefined> {
  const isAfter = after ? sql`where (app_id, feed) > (${after.appId}, ${after.feed})` : sql``
  const [next] = await sql<FeedKey[]>`
    select app_id as "appId", feed
    from (
      (select app_id, feed from review_version ${isAfter} order by app_id, feed limit 1)
      union
      (select app_id, feed from review_read ${isAfter} order by app_id, feed limit 1)
      union
      (select app_id, feed from review_day ${isAfter} order by app_id, feed limit 1)
      union
      (select app_id, feed from review_feed ${isAfter} order by app_id, feed limit 1)
    ) next
    order by app_id, feed
    limit 1`
  return next
}

/**
 * Returns the next days that have reviews or a row, oldest first. Each day is found through the index, regardless of
 * the number of its reviews.
 */
async function readNextDays(sql: Sql, { appId, feed }: FeedKey, after: string | null): Promise<FeedDay[]> {
  const start = after ?? "-infinity"
  return await sql<FeedDay[]>`
    with recursive written (day, place) as (
      select ${start}::date, 0
      union all
      select (
          select (at at time zone 'utc')::date
          from review_version
          where app_id = ${appId} and feed = ${feed} and current and at >= (w.day + 1)::timestamp at time zone 'utc'
          order by at
          limit 1
        ), w.place + 1
      from written w
      where w.day is not null and w.place < ${DAYS_AT_ONCE}
    )
    select ${appId}::int as "appId", ${feed}::text as feed, day
    from (
      select day
      from written
      where place > 0 and day is not null
      union
      (
        select day
        from review_day
        where app_id = ${appId} and feed = ${feed} and day > ${start}::date
        order by day
        limit ${DAYS_AT_ONCE}
      )
    ) d
    order by day
    limit ${DAYS_AT_ONCE}`
}
