import { CONSOLE_FEED, DEMO_FEED, feedOf } from "../../core/observation/feed-name.ts"
import type { Platform } from "../../core/observation/provenance.ts"
import type { Db } from "../../database/types.ts"
import { isAlsoSpokenIn, reviewLanguage } from "../../lib/review-language.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import { isJoined } from "../store/review-feeds.ts"

interface ReviewFeed {
  platform: Platform
  storeId: string
  feed: string
  source: SourceName
}

/**
 * Returns a function that is true if a review was stored by or before the latest complete reading. Reviews below an
 * incomplete reading may be missing.
 */
export async function readStoredIds(
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
  const times = new Map(rows.map(({ id, at }) => [id, at.getTime()]))
  return ({ id, at }) => times.get(id) === at.getTime()
}

interface FeedReadings {
  /** The latest reading. Null if reviews were imported without a reading of the feed. */
  readAt: Date | null
  /**
   * Whether no review is missing between the newest reviews of the latest reading and the previously stored reviews.
   */
  complete: boolean
  /** Whether the store stated in the latest reading that there are no reviews. */
  empty: boolean
  /** Time of the latest complete reading. Below a reading that is not joined (isJoined) there is a gap. */
  completeAt: Date | null
}

/**
 * Reads the state of a feed. Null if the feed was never read and has no stored reviews, which does not mean that there
 * are no reviews.
 */
export async function readFeed(
  sql: Db,
  { appId, feed }: { appId: number; feed: string },
): Promise<FeedReadings | null> {
  const [row] = await sql<FeedReadings[]>`
    select read_at as "readAt", complete, empty, complete_at as "completeAt"
    from review_feed
    where app_id = ${appId} and feed = ${feed}`
  return row ?? null
}

export interface StorefrontOfApp {
  platform: Platform
  storefront: string
  /** The app's id in store_app. */
  app: number
}

/**
 * Returns for each storefront the feeds with its reviews, its own feed first. Google Play has feeds by language:
 * includes imported feeds in other languages that are mostly spoken in the country. Leaves out feeds of the demo and of
 * consoles.
 */
export async function readStorefrontFeeds(sql: Db, places: readonly StorefrontOfApp[]): Promise<string[][]> {
  const ids = [...new Set(places.flatMap(({ platform, app }) => (platform === "android" ? [app] : [])))]
  const rows =
    ids.length === 0
      ? []
      : await sql<{ app: number; feed: string }[]>`
          select app_id as app, feed
          from review_feed
          where app_id = any(${ids}::int[])
          order by app_id, feed`
  const languages = Map.groupBy(rows, ({ app }) => app)
  return places.map(({ platform, storefront, app }) => {
    const ownFeed = feedOf({ platform, storefront, language: reviewLanguage(storefront) })
    if (platform === "ios") return [ownFeed]
    const otherFeeds = (languages.get(app) ?? []).filter(
      ({ feed }) => !isPrivate(feed) && isAlsoSpokenIn(feed, storefront),
    )
    return [ownFeed, ...otherFeeds.map(({ feed }) => feed)]
  })
}

function isPrivate(feed: string): boolean {
  return feed.startsWith(DEMO_FEED) || feed.startsWith(CONSOLE_FEED)
}
