import { feedOf } from "../../core/observation/feed-name.ts"
import { reviewLanguage } from "../../lib/review-language.ts"
import { ALL_STOREFRONTS } from "../../lib/storefronts.ts"
import { dueKind, type ReadPort, type Subject } from "../../measuring/due-kind.ts"
import { isTracked } from "../../measuring/is-tracked.ts"
import { putForwardApps, putForwardReviews } from "../../measuring/put-forward.ts"
import { itunesLookup } from "../../stores/apple/itunes-lookup.ts"
import { playDetails } from "../../stores/play/details.ts"
import { reviews } from "../kinds/reviews.ts"
import { readStoredIds } from "../read/feeds.ts"
import { appleReviews } from "../sources/apple-reviews.ts"
import { playReviews } from "../sources/play-reviews.ts"
import { readPlayReviews, readReviews } from "../sources/read-reviews.ts"

/** Average number of requests per reading after the first: one page, sometimes requested twice. */
const REQUESTS = 1.25

export const reviewsOnAppStore = dueKind({
  name: "reviews",
  observes: reviews,
  mayFindNothing: true,
  platform: "ios",
  upstream: appleReviews.upstream,
  together: 1,
  requests: REQUESTS,
  everyDays: 1,
  // The first reading of a feed takes ten pages.
  isLong: true,
  async read([subject], port) {
    const { storefront, subject: id } = subject
    const feedState = await readStoredReviews(subject, port)
    const newestPage = !(await isTracked(subject, port))
    return await readReviews(port.ask, { storefront, id, newestPage, ...feedState })
  },
  putsForward: putForwardApps,
})

/**
 * Google Play shows the same reviews of a language in every country. If storefronts share a language, only the first of
 * them reads the reviews.
 */
export const reviewsOnPlay = dueKind({
  name: "reviews",
  observes: reviews,
  mayFindNothing: true,
  platform: "android",
  upstream: playReviews.upstream,
  together: 1,
  requests: REQUESTS,
  everyDays: 1,
  isLong: true,
  async read([subject], port) {
    const { storefront, subject: id } = subject
    const language = reviewLanguage(storefront)
    const newestPage = !(await isTracked(subject, port))
    if (!newestPage && (await isReadElsewhere(subject, language, port))) return []
    const feedState = await readStoredReviews(subject, port)
    return await readPlayReviews(port.ask, { storefront, language, id, newestPage, ...feedState })
  },
  putsForward: putForwardReviews,
})

async function isReadElsewhere({ platform, storefront, subject }: Subject, language: string, { sql }: ReadPort) {
  const before = ALL_STOREFRONTS.filter((code) => code < storefront && reviewLanguage(code) === language)
  const rows = await sql`
    select
    from tracked_subject
    where kind = 'reviews' and platform = ${platform} and subject = ${subject}
      and storefront = any(${before}::text[])
    limit 1`
  return rows.length > 0
}

async function readStoredReviews({ platform, storefront, subject: storeId }: Subject, { sql, now }: ReadPort) {
  const language = platform === "android" ? reviewLanguage(storefront) : undefined
  const source = platform === "ios" ? appleReviews.name : playReviews.name
  const feed = feedOf({ platform, storefront, ...(language !== undefined && { language }) })
  const isStored = await readStoredIds(sql, {
    platform,
    storeId,
    feed,
    source: source as "apple-reviews" | "play-reviews",
  })
  return { isKnown: isStored, ratings: await readLatestCount({ sql, now }, { platform, storefront, storeId }) }
}

async function readLatestCount(
  { sql, now }: Pick<ReadPort, "sql" | "now">,
  { platform, storefront, storeId }: Pick<Subject, "platform" | "storefront"> & { storeId: string },
): Promise<number | null> {
  const [row] = await sql<{ ratings: number | null }[]>`
    select r.ratings
    from store_app a
    join rating_count r on r.app_id = a.id
    where a.platform = ${platform} and a.store_id = ${storeId}
      and (r.storefront = ${storefront} or a.platform = 'android')
      and r.source in (${itunesLookup.name}, ${playDetails.name})
      and r.seen_at > ${now()}::timestamptz - interval '72 hours'
    order by r.seen_at desc, r.storefront, r.source
    limit 1`
  return row?.ratings ?? null
}
