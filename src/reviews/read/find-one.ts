import type { Db } from "../../database/types.ts"
import { addDays, type Days } from "../../lib/days.ts"
import { type FeedKey, milliseconds, type ShownReview, type StoredReview, startOf, toStoredReview } from "./reviews.ts"

/**
 * Returns the current form of a review in one of the feeds, if it was written on one of those days. Null if none has
 * that id.
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
