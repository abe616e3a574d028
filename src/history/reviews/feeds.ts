import type { Db } from "../../database/types.ts"
import type { Platform } from "../../observations/provenance.ts"
import type { SourceName } from "../../vocabulary/upstreams.ts"

export interface ReviewFeed {
  platform: Platform
  /** The app's own id in its store. */
  storeId: string
  feed: string
  source: SourceName
}

/**
 * Whether a review is held as it stands, since a reading that was complete. A reading that meets one may stop there. What
 * a later reading brought that broke off is not known so: reviews may be missing below it.
 */
export async function knownReviews(
  sql: Db,
  { platform, storeId, feed, source }: ReviewFeed,
): Promise<(review: { id: string; at: Date }) => boolean> {
  const rows = await sql<{ id: string; at: Date }[]>`
    select v.review_id as id, v.at
    from store_app a
    join review_read r on r.app_id = a.id and r.feed = ${feed} and r.source = ${source} and r.complete
      and ${isJoined(sql)}
    join review_version v on v.app_id = r.app_id and v.feed = r.feed
    where a.platform = ${platform} and a.store_id = ${storeId} and v.current and v.first_seen_at <= r.seen_at
    order by v.at desc, v.review_id
    limit 1000`
  const held = new Map(rows.map(({ id, at }) => [id, at.getTime()]))
  return ({ id, at }) => held.get(id) === at.getTime()
}

/** Pages of one reading, which may wait for its turns, are seen within so long. */
const READING = "1 hour"
/** So many of the newest reviews are looked at: more than a reading shows. */
const LOOKED_AT = 1_000

/**
 * Whether the row `r` of review_read, which says that a reading was complete, is borne out by what is held: the reading
 * showed a review that was held before it, or none was, or the store said that there are none. One that shows nothing but
 * what is new may have left out what lies between, whatever its importer says.
 */
export function isJoined(sql: Db) {
  return sql`
    (r.empty or (
      select count(*) = 0 or bool_or(v.seen_at > r.seen_at - ${READING}::interval)
      from (
        select first_seen_at, seen_at
        from review_version
        where app_id = r.app_id and feed = r.feed and current
        order by at desc
        limit ${LOOKED_AT}
      ) v
      where v.first_seen_at < r.seen_at - ${READING}::interval
    ))`
}

export interface ReviewsRead {
  readAt: Date
  /** Nothing is missing between the newest reviews and those that were held before. */
  complete: boolean
  /** The store said that there are no reviews. */
  empty: boolean
  /** When a reading said so last; null while none did. */
  completeAt: Date | null
}

/** How far an app's reviews were read last, by whichever source; null = never, which is not "no reviews". */
export async function reviewsRead(
  sql: Db,
  { appId, feed }: { appId: number; feed: string },
): Promise<ReviewsRead | null> {
  const rows = await sql<(Omit<ReviewsRead, "completeAt"> & { said: boolean })[]>`
    select r.seen_at as "readAt", r.complete as said, r.complete and ${isJoined(sql)} as complete, r.empty
    from review_read r
    where r.app_id = ${appId} and r.feed = ${feed}
    order by r.seen_at desc, r.complete desc, r.source
    limit 10`
  const [latest] = rows
  if (!latest) return null
  const { said: _, ...read } = latest
  // what a reading that is not joined shows has a gap below it, which whoever counts days finds by itself
  return { ...read, completeAt: rows.find(({ said }) => said)?.readAt ?? null }
}
