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
import { countNewReviews, type FeedKey, type ReviewSearch } from "../read/reviews.ts"
import {
  type AppFeed,
  Feed,
  feedsOf,
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
  from: described(Day, "First UTC day listed."),
  total: described(
    v.nullable(Count),
    "Stored reviews of these days. Null if never read or the app is not in that store.",
  ),
}

const ListedFeed = named("ListedFeed", extending(Feed, v.strictObject({ ...Feed.entries, ...listedFields })))

export const listReviews = operation({
  id: "list_reviews",
  method: "GET",
  path: "/apps/:appId/reviews",
  group: "Your apps",
  toolset: "reviews",
  summary: "Lists the newest reviews from the App Store and Google Play.",
  description:
    `At most ${LISTED} per store, newest first: iOS reviews within the plan's history, Google Play reviews of the ` +
    `last ${PLAY_DAYS} days. search_reviews finds older ones. Null means never read; an empty list means no ` +
    "reviews in these days.",
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
      "iOS reviews first seen on the UTC day of the latest reading (feeds.ios.readAt) and newer than all stored " +
        "before. Null if unknown: never read, the reading was incomplete, or no earlier review is stored.",
    ),
    list: described(
      v.nullable(v.array(Review)),
      "iOS reviews. Null if never read or not in the App Store (see feeds.ios).",
    ),
    android: described(
      v.nullable(v.array(Review)),
      "Google Play reviews. Null if not read yet or not on Google Play (see feeds.android).",
    ),
    feeds: described(
      v.strictObject({
        ios: described(ListedFeed, "The App Store."),
        android: described(ListedFeed, "Google Play."),
      }),
      "Feed of each store and how completely it was read.",
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
  const feeds = feedsOf(feed)
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
  summary: "Searches reviews by text, stars, version and days.",
  description:
    "A review must match every filter. Newest first, within the history of the plan. The text may occur anywhere " +
    "in title or body, also inside words. Case, width, repeated white space and curly quotes are ignored; ß " +
    "equals ss; diacritics are significant. get_review_stats counts stars.",
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
        v.description(`Text in title or body, 1 to ${LONGEST_QUERY} characters. Surrounding white space is ignored.`),
      ),
    ),
    rating: v.optional(
      v.pipe(
        v.array(Stars),
        v.minLength(1),
        v.maxLength(5),
        v.check((stars) => new Set(stars).size === stars.length),
        v.metadata({ uniqueItems: true }),
        v.description("Comma-separated stars, each at most once, such as 1,2. Default: all."),
      ),
    ),
    version: v.optional(
      v.pipe(
        v.string(),
        v.minLength(1),
        v.maxLength(100),
        v.description("Version of the app, exactly as in the store."),
      ),
    ),
    from: RangeDay("First UTC day, YYYY-MM-DD. Default: start of the plan's history."),
    to: RangeDay(LAST_DAY),
    limit: v.optional(wholeNumber(1, 1_000, "Maximum number of reviews."), 100),
  }),
  refine: inOrder,
  narrow: { rows: ["reviews"] },
  output: extending(
    LookedAt,
    v.strictObject({
      ...LookedAt.entries,
      total: described(
        v.nullable(Count),
        "All matches in these days, listed or not. Null if the feed was never read or the app is not in that store.",
      ),
      truncated: described(v.boolean(), "True if there are more matches than listed."),
      reviews: described(v.array(Review), "The newest matches, newest first."),
    }),
  ),
  table: { columns: REVIEW_COLUMNS, rows: ({ reviews, feed }) => reviewRows(reviews, feed) },
}).run(async ({ app, storefront, platform, q, rating, version, from, to, limit }, { sql, now, caller }) => {
  const days = lookedAt("reviews", { from, to }, now(), caller)
  const feed = await readAppFeed(sql, app, { platform, storefront })
  const feeds = feedsOf(feed)
  const filters: Omit<ReviewSearch, keyof FeedKey> = { ...days, stars: rating, version, text: q && foldReviewText(q) }
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
