import { CONSOLE_FEED, consoleFeedOf, DEMO_FEED } from "../../core/observation/feed-name.ts"
import type { Provenance } from "../../core/observation/provenance.ts"
import { takeLocks } from "../../database/locks.ts"
import type { Tx } from "../../database/types.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import type { StoreReview } from "../kinds/review-shape.ts"
import { deriveReviewDays, type FeedDay, readReviewDays } from "./review-days.ts"
import { deriveReviewFeeds, type FeedKey } from "./review-feeds.ts"
import { storeForms } from "./reviews.ts"

// Reviews from a connected Google Play Console belong to one workspace; reviews from the store's page belong to
// everybody. A console's review is stored in a feed of its account until the page has a review with the same id. Then
// the console's copy is deleted, so that each review is listed once.

interface ConsolePage<From> {
  from: From
  appId: number
  account: string
}

interface ConsoleReading extends Provenance {
  source: SourceName
  reviews: readonly (StoreReview & { language?: string | undefined })[]
}

/**
 * Stores the consoles' reviews that the store's page has not shown, and the rows derived from them. Returns the
 * readings that contain a new form of a review.
 */
export async function storeConsoleForms<From extends ConsoleReading>(
  tx: Tx,
  pages: readonly ConsolePage<From>[],
): Promise<From[]> {
  await lockCopies(tx, pages)
  await dropConsoleCopies(tx, pages)
  const feeds = await readFeeds(tx, pages)
  const placed = pages.flatMap(({ from, appId, account }) => {
    const isNew = ({ id }: StoreReview) => feeds.get(`${appId} ${id}`) !== PUBLIC
    const feedOf = ({ id, language }: ConsoleReading["reviews"][number]) =>
      feeds.get(`${appId} ${account} ${id}`) ?? consoleFeedOf(account, language)
    const byFeed = Map.groupBy(from.reviews.filter(isNew), feedOf)
    const { source, seenAt, parser, origin, sha256 } = from
    return [...byFeed].map(([feed, reviews]) => {
      return { from: { source, seenAt, parser, origin, sha256, reviews, page: from }, appId, feed }
    })
  })
  const stored = await storeForms(tx, placed)
  const changed = placed.map(({ from, ...key }) => ({ ...key, ids: from.reviews.map(({ id }) => id) }))
  await deriveReviewDays(tx, await readReviewDays(tx, changed))
  await deriveReviewFeeds(tx, changed)
  return [...new Set(stored.map(({ page }) => page))]
}

/** A placeholder for the store's page, where otherwise the name of an account's feed is. */
const PUBLIC = ""

/**
 * Returns the feeds with these reviews. The key of PUBLIC is app and id. The key of an account's feed is app, account
 * and id, so that a review keeps its feed if the language of the device changes.
 */
async function readFeeds<From extends ConsoleReading>(
  tx: Tx,
  pages: readonly ConsolePage<From>[],
): Promise<Map<string, string>> {
  const each = pages.flatMap(({ from, appId, account }) => from.reviews.map(({ id }) => ({ appId, account, id })))
  const rows = await tx<{ appId: number; account: string; id: string; feed: string }[]>`
    select distinct w.app_id as "appId", w.account, w.id, v.feed
    from unnest(
      ${each.map(({ appId }) => appId)}::int[], ${each.map(({ account }) => account)}::text[],
      ${each.map(({ id }) => id)}::text[]
    ) w (app_id, account, id)
    join review_version v on v.review_id = w.id and v.app_id = w.app_id and v.current
    where not starts_with(v.feed, ${DEMO_FEED})
      and (not starts_with(v.feed, ${CONSOLE_FEED}) or starts_with(v.feed, ${CONSOLE_FEED} || w.account || '-'))`
  return new Map(
    rows.map(({ appId, account, id, feed }) =>
      feed.startsWith(CONSOLE_FEED) ? [`${appId} ${account} ${id}`, feed] : [`${appId} ${id}`, PUBLIC],
    ),
  )
}

/** Locks an app's reviews of the page and of consoles, so that only one transaction writes them at a time. */
export async function lockCopies(tx: Tx, pages: readonly { appId: number }[]): Promise<void> {
  await takeLocks(
    tx,
    "reviews",
    pages.map(({ appId }) => [appId, CONSOLE_FEED]),
  )
}

/**
 * Deletes a console's copies of reviews that the store's page has, with the rows derived from them. Requires the locks
 * of lockCopies.
 */
export async function dropConsoleCopies(
  tx: Tx,
  pages: readonly { appId: number; from: { reviews: readonly { id: string }[] } }[],
): Promise<void> {
  const feeds = await tx<FeedKey[]>`
    select app_id as "appId", feed
    from review_feed
    where app_id = any(${pages.map(({ appId }) => appId)}::int[]) and starts_with(feed, ${CONSOLE_FEED})
    order by app_id, feed`
  if (feeds.length === 0) return
  await takeLocks(
    tx,
    "reviews",
    feeds.map(({ appId, feed }) => [appId, feed]),
  )
  const each = pages.flatMap(({ appId, from }) => from.reviews.map(({ id }) => ({ appId, id })))
  const days = await tx<FeedDay[]>`
    with copy as materialized (
      select distinct v.app_id, v.feed, v.review_id
      from unnest(${each.map(({ appId }) => appId)}::int[], ${each.map(({ id }) => id)}::text[]) w (app_id, id)
      join review_version v on v.review_id = w.id and v.app_id = w.app_id and v.current
      where starts_with(v.feed, ${CONSOLE_FEED}) and exists (
          select
          from review_version p
          where p.review_id = v.review_id and p.app_id = v.app_id and p.current
            and not starts_with(p.feed, ${CONSOLE_FEED}) and not starts_with(p.feed, ${DEMO_FEED})
        )
    )
    delete from review_version v
    using copy c
    where (v.app_id, v.feed, v.review_id) = (c.app_id, c.feed, c.review_id)
    returning v.app_id as "appId", v.feed, (v.at at time zone 'utc')::date as day`
  await deriveReviewDays(tx, days)
  await deriveReviewFeeds(tx, days)
}
