import { CONSOLE_FEED, DEMO_FEED } from "../../core/observation/feed-name.ts"
import type { Db } from "../../database/types.ts"
import { addDays, type Days } from "../../lib/days.ts"
import { readConsoleFeeds } from "./console-feeds.ts"
import { type FeedKey, milliseconds, type ShownReview, type StoredReview, startOf, toStoredReview } from "./reviews.ts"

/**
 * Returns the current form of a review in one of the feeds, if the review was written within the days. Null if there is
 * no such review.
 */
export async function findReview(
  sql: Db,
  feeds: readonly FeedKey[],
  id: string,
  { from, to }: Days,
): Promise<StoredReview | null> {
  const [row] = await sql<ShownReview[]>`
    select review_id as id, ${milliseconds(sql, "at")} as at, stars, title, text, version,
      ${milliseconds(sql, "first_seen_at")} as "firstSeenAt", ${milliseconds(sql, "seen_at")} as "seenAt"
    from review_version
    where (app_id, feed) in (
        select *
        from unnest(${feeds.map(({ appId }) => appId)}::int[], ${feeds.map(({ feed }) => feed)}::text[])
      )
      and review_id = ${id} and current and at >= ${startOf(from)} and at < ${startOf(addDays(to, 1))}
    order by feed
    limit 1`
  return row ? toStoredReview(row) : null
}

/**
 * Counts the reviews of the feed with the same stars and words, written up to `days` days before or after. Includes the
 * review itself.
 */
export async function countSameReviews(
  sql: Db,
  { appId, feed }: FeedKey,
  { stars, title, text, at }: Pick<StoredReview, "stars" | "title" | "text" | "at">,
  days: number,
): Promise<number> {
  const [row] = await sql<[{ reviews: number }]>`
    select count(*)::int as reviews
    from review_version
    where app_id = ${appId} and feed = ${feed} and current and stars = ${stars}
      and title is not distinct from ${title} and text = ${text}
      and at between ${at}::timestamptz - ${days} * interval '1 day'
      and ${at}::timestamptz + ${days} * interval '1 day'`
  return row.reviews
}

interface PlayReview {
  /** Id of the workspace's tracked app. `appId` is its id in store_app. */
  trackedApp: string
  appId: number
  reviewId: string
}

/**
 * Returns whether a review of Google Play is stored in any language, from the store's page or from a console of the
 * workspace. Invented reviews do not count.
 */
export async function isStoredOnPlay(sql: Db, { trackedApp, appId, reviewId }: PlayReview): Promise<boolean> {
  const consoleFeeds = await readConsoleFeeds(sql, { trackedApp, appId })
  const rows = await sql`
    select
    from review_version
    where review_id = ${reviewId} and app_id = ${appId} and current and not starts_with(feed, ${DEMO_FEED})
      and (not starts_with(feed, ${CONSOLE_FEED}) or feed = any(${consoleFeeds.map(({ feed }) => feed)}::text[]))
    limit 1`
  return rows.length > 0
}
