import type { Sql } from "../database/types.ts"
import type { Platform, ReviewsObservation, StoreReview } from "./types.ts"

/** The list that reviews stand in, as they are stored: a storefront's on the App Store, a language's on Google Play. */
export function feedOf({
  platform,
  storefront,
  language = "",
}: Pick<ReviewsObservation, "platform" | "storefront" | "language">): string {
  return platform === "ios" ? storefront : language
}

export interface ReviewFeed {
  platform: Platform
  /** The app's own id in its store. */
  storeId: string
  feed: string
  source: ReviewsObservation["source"]
}

/**
 * Whether a review is held as it stands, since a reading that was complete. A reading that meets one may stop there. What
 * a later reading brought that broke off is not known so: reviews may be missing below it.
 */
export async function knownReviews(
  sql: Sql,
  { platform, storeId, feed, source }: ReviewFeed,
): Promise<(review: StoreReview) => boolean> {
  const rows = await sql<{ id: string; at: Date }[]>`
    select v.review_id as id, v.at
    from store_app a
    join review_read r on r.app_id = a.id and r.feed = ${feed} and r.source = ${source} and r.complete
    join review_version v on v.app_id = r.app_id and v.feed = r.feed
    where a.platform = ${platform} and a.store_id = ${storeId} and v.current and v.first_seen_at <= r.seen_at
    order by v.at desc, v.review_id
    limit 1000`
  const held = new Map(rows.map(({ id, at }) => [id, at.getTime()]))
  return ({ id, at }) => held.get(id) === at.getTime()
}

export interface ReviewsRead {
  readAt: Date
  /** Nothing is missing between the newest reviews and those that were held before. */
  complete: boolean
  /** The store said that there are no reviews. */
  empty: boolean
  /** When a reading was complete last; null while none was. */
  completeAt: Date | null
}

/** How far an app's reviews were read last, by whichever source; null = never, which is not "no reviews". */
export async function reviewsRead(
  sql: Sql,
  { appId, feed }: { appId: number; feed: string },
): Promise<ReviewsRead | null> {
  const rows = await sql<Omit<ReviewsRead, "completeAt">[]>`
    select seen_at as "readAt", complete, empty
    from review_read
    where app_id = ${appId} and feed = ${feed}
    order by seen_at desc, complete desc, source
    limit 10`
  const [latest] = rows
  return latest ? { ...latest, completeAt: rows.find(({ complete }) => complete)?.readAt ?? null } : null
}
