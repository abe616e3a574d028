import { takeLocks } from "../../database/locks.ts"
import type { Tx } from "../../database/types.ts"
import { deriveReviewDays, type FeedDay } from "./review-days.ts"
import { deriveReviewFeeds, type FeedKey } from "./review-feeds.ts"

/**
 * Removes a publisher's reviews and readings of reviews, and derives their feeds again. If other publishers read a
 * review too, the form edited last becomes current.
 */
export async function removeReviews(tx: Tx, publisher: string) {
  const feeds = await tx<FeedKey[]>`
    select app_id as "appId", feed
    from review_read
    where origin = ${publisher}
    union
    select app_id, feed
    from review_version
    where origin = ${publisher}
    order by 1, 2`
  const apps = [...new Set(feeds.map(({ appId }) => appId))]
  await takeLocks(
    tx,
    "reviews",
    feeds.map(({ appId, feed }) => [appId, feed]),
  )
  const { count: readings } = await tx`
    delete from review_read
    where app_id = any(${apps}::int[]) and origin = ${publisher}`
  const days = await tx<FeedDay[]>`
    delete from review_version
    where app_id = any(${apps}::int[]) and origin = ${publisher}
    returning app_id as "appId", feed, (at at time zone 'utc')::date as day`
  const chosen = await tx<FeedDay[]>`
    update review_version v
    set current = true
    from (
      select distinct on (app_id, feed, review_id) app_id, feed, review_id, digest
      from review_version
      where (app_id, feed) in (
          select *
          from unnest(${feeds.map(({ appId }) => appId)}::int[], ${feeds.map(({ feed }) => feed)}::text[])
        )
      order by app_id, feed, review_id, current desc, at desc, seen_at desc, parser desc, sha256 desc, digest
    ) c
    where (v.app_id, v.feed, v.review_id, v.digest) = (c.app_id, c.feed, c.review_id, c.digest) and not v.current
    returning v.app_id as "appId", v.feed, (v.at at time zone 'utc')::date as day`
  await deriveReviewDays(tx, [...days, ...chosen])
  await deriveReviewFeeds(tx, feeds)
  return { lists: [], apps, readings }
}
