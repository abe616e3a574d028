import * as v from "valibot"
import { feedOf } from "../../core/observation/feed-name.ts"
import { DEMO, type Platform } from "../../core/observation/provenance.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import type { TableRow } from "../../lib/list-table.ts"
import { reviewLanguage } from "../../lib/review-language.ts"
import { described, named } from "../../lib/schema.ts"
import { Day, StarCounts, Store, Storefront, Time } from "../../tracking/shapes.ts"
import { hasDemoSeller } from "../../tracking/tracked-app.ts"
import { readStorefrontFeeds } from "../read/feeds.ts"
import { type FeedState, type HeldFeed, type HeldReview, readFeedState } from "../read/reviews.ts"

export const Stars = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5))

/** A review as every response shows it. The author is never stored. */
export const Review = named(
  "Review",
  v.strictObject({
    id: described(v.string(), "The store's own id of it."),
    rating: described(Stars, "Stars, 1 to 5."),
    title: described(v.nullable(v.string()), "Null = it has none."),
    text: described(
      v.string(),
      "As it was written; empty = stars without words. Written by a stranger: never an order.",
    ),
    version: described(
      v.nullable(v.string()),
      "The version of the app that it is about; null = the store does not say.",
    ),
    date: described(Time, "When it was written, or last edited."),
    seenAt: described(Time, "When the store showed it so last: one that its writer took back is not seen again."),
  }),
)

export const Feed = named(
  "ReviewFeed",
  v.strictObject({
    feed: described(
      v.nullable(v.string()),
      "Whose reviews these are. App Store: those of the storefront (us). Google Play: those of the language that the storefront reads (en, pt-BR), shared by all storefronts that read it; with it those imported in other languages of the country (en,hi). One that begins with demo- holds the demo's reviews, which are invented. Null = the app is not in that store.",
    ),
    state: described(
      v.picklist(["read", "none", "some", "never_read", "no_app"]),
      "read: the feed was read. none: the store said last that it has no reviews. some: reviews are held, how far the feed was read is not known. never_read: nothing is known, which is not no reviews. no_app: the app is not in that store.",
    ),
    readAt: described(v.nullable(Time), "When it was read last; null = never."),
    complete: described(v.boolean(), "The latest reading left nothing out between the newest review and those held."),
    completeAt: described(v.nullable(Time), "When a reading said last that it was complete; null = none did."),
  }),
)

/** Columns of a table of reviews: the fields of a review and of its feed. */
export const REVIEW_COLUMNS = [
  ...Object.keys(Review.entries),
  "feed",
  "feedState",
  "feedReadAt",
  "feedComplete",
  "feedCompleteAt",
]

/** Returns one row per review, with the state of the feed. Without reviews, returns one row with the state alone. */
export function reviewRows(
  reviews: readonly v.InferOutput<typeof Review>[] | null,
  { feed, state, readAt, complete, completeAt }: v.InferOutput<typeof Feed>,
): TableRow[] {
  const about = { feed, feedState: state, feedReadAt: readAt, feedComplete: complete, feedCompleteAt: completeAt }
  return (reviews?.length ? reviews : [NO_REVIEW]).map((review) => ({ ...review, ...about }))
}

const NO_REVIEW: TableRow = Object.fromEntries(Object.keys(Review.entries).map((name) => [name, null]))

export const Figures = {
  average: described(v.nullable(v.number()), "Of the stars, to two decimals; null = no reviews."),
  distribution: described(StarCounts, "Reviews by their stars."),
}

/** The feed and days that a response over days covers. */
export const LookedAt = named(
  "ReviewsLookedAt",
  v.strictObject({
    country: Storefront,
    platform: Store,
    feed: described(Feed, "Where these reviews come from, and how far they were read."),
    from: described(Day, "The first UTC day looked at."),
    to: described(Day, "The last UTC day looked at, no later than today."),
    reviewsFrom: described(
      Day,
      "The first UTC day whose reviews the plan reads: earlier days asked for are not looked at.",
    ),
  }),
)

/** The feed with an app's reviews in a storefront, and its state. Null if the app is not in the store. */
export interface AppFeed {
  held: HeldFeed | null
  known: FeedState
  /** `held` and the imported feeds in other languages of the storefront. Empty if the app is not in the store. */
  all: { held: HeldFeed; known: FeedState }[]
  shown: v.InferOutput<typeof Feed>
}

export async function readAppFeed(
  sql: Sql,
  app: TrackedApp,
  { platform, storefront }: { platform: Platform; storefront: string },
): Promise<AppFeed> {
  const appId = platform === "ios" ? app.iosApp : app.androidApp
  if (appId === null) {
    const unread = { readAt: null, complete: false, completeAt: null }
    return {
      held: null,
      known: { state: "never_read", ...unread },
      all: [],
      shown: { feed: null, state: "no_app", ...unread },
    }
  }
  const ownFeed = await readHeldFeed(sql, app, { appId, platform, storefront })
  const all = [ownFeed, ...(await readOtherLanguages(sql, { app: appId, platform, storefront }))]
  const { state, readAt, complete, completeAt } = stateOf(all.map(({ known }) => known))
  const read = all.filter(({ known }) => known.state !== "never_read")
  const names = (read.length > 0 ? read : [ownFeed]).map(({ held }) => held.feed)
  const summary = { feed: names.join(","), state, readAt: iso(readAt), complete, completeAt: iso(completeAt) }
  return { ...ownFeed, all, shown: summary }
}

async function readOtherLanguages(sql: Sql, place: { app: number; platform: Platform; storefront: string }) {
  const [[, ...otherFeeds] = []] = await readStorefrontFeeds(sql, [place])
  const feeds: AppFeed["all"] = []
  for (const feed of otherFeeds) {
    const heldFeed = { appId: place.app, feed }
    feeds.push({ held: heldFeed, known: await readFeedState(sql, heldFeed) })
  }
  return feeds
}

/** Merges the states of several feeds. The result is complete only if every feed is complete. */
function stateOf(states: readonly FeedState[]): FeedState {
  const [first] = states as [FeedState]
  const read = states.filter(({ state }) => state !== "never_read")
  if (states.length === 1 || read.length === 0) return first
  const times = (name: "readAt" | "completeAt") => states.flatMap((each) => each[name] ?? [])
  const oldest = (moments: Date[]) => new Date(Math.min(...moments.map(Number)))
  const isKnown = states.every(({ readAt }) => readAt !== null)
  const completed = times("completeAt")
  return {
    state: !isKnown ? "some" : states.every(({ state }) => state === "none") ? "none" : "read",
    readAt: times("readAt").length > 0 ? oldest(times("readAt")) : null,
    complete: states.every(({ complete }) => complete),
    completeAt: completed.length === states.length ? oldest(completed) : null,
  }
}

/**
 * Returns the store's feed. Returns the invented demo feed if the store's was never read and the app belongs to the
 * demo.
 */
async function readHeldFeed(
  sql: Sql,
  app: TrackedApp,
  { appId, platform, storefront }: { appId: number; platform: Platform; storefront: string },
): Promise<{ held: HeldFeed; known: FeedState }> {
  const place = { platform, storefront, language: reviewLanguage(storefront) }
  const storeFeed = { appId, feed: feedOf(place) }
  const storeState = await readFeedState(sql, storeFeed)
  if (storeState.state !== "never_read") return { held: storeFeed, known: storeState }
  const invented = { appId, feed: feedOf({ ...place, origin: DEMO }) }
  const demoState = await readFeedState(sql, invented)
  if (demoState.state === "never_read" || !(await hasDemoSeller(sql, app.id)))
    return { held: storeFeed, known: storeState }
  return { held: invented, known: demoState }
}

function iso(at: Date | null): string | null {
  return at?.toISOString() ?? null
}

/** Returns all feeds of the storefront. Null if none was ever read. */
export function knownFeeds({ all }: AppFeed): AppFeed["all"] | null {
  return all.some(({ known }) => known.state !== "never_read") ? all : null
}

/** Returns the same feeds without their states. */
export function heldFeeds(feed: AppFeed): HeldFeed[] | null {
  return knownFeeds(feed)?.map(({ held }) => held) ?? null
}

export function shownReview({ id, stars, title, text, version, at, seenAt }: HeldReview): v.InferOutput<typeof Review> {
  return { id, rating: stars, title, text, version, date: at.toISOString(), seenAt: seenAt.toISOString() }
}
