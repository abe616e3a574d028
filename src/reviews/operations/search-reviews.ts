import * as v from "valibot"
import { inOrder, lookedAt, planDays } from "../../core/day-range.ts"
import { ofApp, operation } from "../../core/operation.ts"
import { AppCountry, Platform, wholeNumber } from "../../lib/fields.ts"
import { described, extending } from "../../lib/schema.ts"
import { Count } from "../../tracking/shapes.ts"
import { foldReviewText } from "../formulas/review-text.ts"
import { findInFeeds } from "../read/find.ts"
import type { FeedKey, ReviewSearch } from "../read/reviews.ts"
import {
  feedsOf,
  LookedAt,
  REVIEW_COLUMNS,
  REVIEW_FILTERS,
  Review,
  readAppFeed,
  reviewRows,
  shownReview,
} from "./review-shapes.ts"

export const searchReviews = operation({
  id: "search_reviews",
  method: "GET",
  path: "/apps/:appId/reviews/search",
  group: "Your apps",
  toolset: "reviews",
  summary: "Searches reviews by text, stars, version and days.",
  description:
    "A review must match every filter. Newest first, within the history that the plan includes. The text may occur " +
    "anywhere in title or body, also inside words. Case, width, repeated white space and curly quotes are ignored; ß " +
    "equals ss; diacritics are significant. get_review_stats counts stars.",
  effect: "reads",
  scope: "reviews:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({
    country: AppCountry,
    platform: Platform,
    ...REVIEW_FILTERS,
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
