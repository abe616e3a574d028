import * as v from "valibot"
import { inOrder, LAST_DAY, lookedAt, planDays, RangeDay } from "../../core/day-range.ts"
import { ofApp, operation } from "../../core/operation.ts"
import type { Sql } from "../../database/types.ts"
import { addDays, type Days, later } from "../../lib/days.ts"
import { AppCountry, Platform, wholeNumber } from "../../lib/fields.ts"
import { described, extending, named } from "../../lib/schema.ts"
import { Count, Day, Storefront } from "../../tracking/shapes.ts"
import { foldReviewText } from "../formulas/review-text.ts"
import { findInFeeds } from "../read/find.ts"
import { countNewReviews, type HeldFeed, type ReviewSearch } from "../read/reviews.ts"
import {
  type AppFeed,
  Feed,
  heldFeeds,
  LookedAt,
  REVIEW_COLUMNS,
  Review,
  readAppFeed,
  reviewRows,
  Stars,
  shownReview,
} from "./review-shapes.ts"

const STORES = ["ios", "android"] as const

/** Maximum number of reviews per store in list_reviews. */
const LISTED = 100
/** A Google Play feed has the reviews of a whole language, so it covers fewer days. */
const PLAY_DAYS = 30

const listedFields = {
  from: described(Day, "The first UTC day listed."),
  total: described(
    v.nullable(Count),
    "Reviews held of these days; null = never read, or the app is not in that store.",
  ),
}

const ListedFeed = named("ListedFeed", extending(Feed, v.strictObject({ ...Feed.entries, ...listedFields })))

export const listReviews = operation({
  id: "list_reviews",
  method: "GET",
  path: "/apps/:appId/reviews",
  group: "Your apps",
  toolset: "reviews",
  summary: "The newest reviews on the App Store and on Google Play.",
  description: `At most ${LISTED} of each store, newest first: iOS reviews as far back as the plan reads, Google Play's of the last ${PLAY_DAYS} days. search_reviews finds the others. Null = never read, an empty list = no reviews in these days.`,
  effect: "reads",
  scope: "reviews:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({ country: AppCountry }),
  narrow: { rows: ["list", "android"] },
  output: v.strictObject({
    country: Storefront,
    newCount: described(
      v.nullable(Count),
      "iOS reviews first seen on the UTC day of the latest reading (feeds.ios.readAt), newer than all held before it. Null = unknown: never read, that reading broke off, or nothing from before that day is held.",
    ),
    list: described(
      v.nullable(v.array(Review)),
      "iOS reviews; null = never read, or not on the App Store (feeds.ios).",
    ),
    android: described(
      v.nullable(v.array(Review)),
      "Google Play reviews; null = awaiting the first reading, or not on Google Play (feeds.android).",
    ),
    feeds: described(
      v.strictObject({
        ios: described(ListedFeed, "Of the App Store."),
        android: described(ListedFeed, "Of Google Play."),
      }),
      "Where the reviews of each store come from, and how far they were read.",
    ),
  }),
  table: {
    columns: ["platform", ...REVIEW_COLUMNS, "listedFrom", "total"],
    rows: ({ list, android, feeds }) =>
      STORES.flatMap((platform) => {
        const { from: listedFrom, total, ...feed } = feeds[platform]
        const reviews = platform === "ios" ? list : android
        return reviewRows(reviews, feed).map((row) => ({ platform, ...row, listedFrom, total }))
      }),
  },
}).run(async ({ app, storefront }, { sql, now, caller }) => {
  const days = planDays("reviews", now(), caller)
  const playFrom = addDays(days.to, 1 - PLAY_DAYS)
  const ios = await readAppFeed(sql, app, { platform: "ios", storefront })
  const android = await readAppFeed(sql, app, { platform: "android", storefront })
  const list = await readNewest(sql, ios, days)
  const play = await readNewest(sql, android, { from: later(playFrom, days.from), to: days.to })
  return {
    country: storefront,
    newCount: ios.held && (await countNewReviews(sql, ios.held, ios.known)),
    list: list.reviews,
    android: play.reviews,
    feeds: { ios: { ...ios.shown, ...list.listed }, android: { ...android.shown, ...play.listed } },
  }
})

async function readNewest(sql: Sql, feed: AppFeed, days: Days) {
  const feeds = heldFeeds(feed)
  const found = feeds && (await findInFeeds(sql, feeds, days, LISTED))
  return {
    reviews: found?.reviews.map(shownReview) ?? null,
    listed: { from: days.from, total: found?.total ?? null },
  }
}

const LONGEST_QUERY = 120

export const searchReviews = operation({
  id: "search_reviews",
  method: "GET",
  path: "/apps/:appId/reviews/search",
  group: "Your apps",
  toolset: "reviews",
  summary: "Reviews by text, stars, version and days.",
  description:
    "Every filter that is given must hold; newest first, within the days that the plan reads. The text is found wherever it stands in title or body, also inside words: case, width, composition, runs of white space, curly quotes and the dot of an i count for nothing, ß is ss; diacritics count. get_review_stats counts stars.",
  effect: "reads",
  scope: "reviews:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({
    country: AppCountry,
    platform: Platform,
    q: v.optional(
      v.pipe(
        v.string(),
        v.minLength(1),
        v.metadata({ maxLength: LONGEST_QUERY }),
        v.check((text) => [...text].length <= LONGEST_QUERY && foldReviewText(text) !== ""),
        v.description(
          `Text in title or body, 1 to ${LONGEST_QUERY} characters; white space around it counts for nothing.`,
        ),
      ),
    ),
    rating: v.optional(
      v.pipe(
        v.array(Stars),
        v.minLength(1),
        v.maxLength(5),
        v.check((stars) => new Set(stars).size === stars.length),
        v.metadata({ uniqueItems: true }),
        v.description("Comma-separated stars, each once, as 1,2; all when left out."),
      ),
    ),
    version: v.optional(
      v.pipe(
        v.string(),
        v.minLength(1),
        v.maxLength(100),
        v.description("The version of the app, exactly as the store says it."),
      ),
    ),
    from: RangeDay("First UTC day, YYYY-MM-DD; as far back as the plan reads when left out."),
    to: RangeDay(LAST_DAY),
    limit: v.optional(wholeNumber(1, 1_000, "Reviews answered at most."), 100),
  }),
  refine: inOrder,
  narrow: { rows: ["reviews"] },
  output: extending(
    LookedAt,
    v.strictObject({
      ...LookedAt.entries,
      total: described(
        v.nullable(Count),
        "All matches in the days looked at, answered or not. Null = nothing to look at: never read, or not in that store.",
      ),
      truncated: described(v.boolean(), "There are more matches than are answered."),
      reviews: described(v.array(Review), "The newest matches, newest first."),
    }),
  ),
  table: { columns: REVIEW_COLUMNS, rows: ({ reviews, feed }) => reviewRows(reviews, feed) },
}).run(async ({ app, storefront, platform, q, rating, version, from, to, limit }, { sql, now, caller }) => {
  const days = lookedAt("reviews", { from, to }, now(), caller)
  const feed = await readAppFeed(sql, app, { platform, storefront })
  const feeds = heldFeeds(feed)
  const filters: Omit<ReviewSearch, keyof HeldFeed> = { ...days, stars: rating, version, text: q && foldReviewText(q) }
  const { total, reviews } = feeds ? await findInFeeds(sql, feeds, filters, limit) : { total: null, reviews: [] }
  return {
    country: storefront,
    platform,
    feed: feed.shown,
    ...days,
    reviewsFrom: planDays("reviews", now(), caller).from,
    total,
    truncated: total !== null && total > reviews.length,
    reviews: reviews.map(shownReview),
  }
})
