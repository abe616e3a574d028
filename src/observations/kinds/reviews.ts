import * as v from "valibot"
import { checkReviews } from "../check-reviews.ts"
import { checkIds } from "../invariants.ts"
import { kind } from "../kind.ts"
import { reviewsOf } from "../line-readers.ts"
import { SHAPES } from "../line-shapes.ts"
import { storeReviews } from "../record-reviews.ts"
import { REVIEWS_SOURCES, type ReviewsObservation } from "../types.ts"

/** What the App Store's feed of reviews is asked. */
export interface ReviewsQuestion {
  storefront: string
  storeId: string
  /** From 1. */
  page: number
}

/** What Google Play is asked for reviews. */
export interface PlayReviewsQuestion {
  storefront: string
  /** Whose reviews: BCP 47. */
  language: string
  storeId: string
  /** What the page before it gave; none for the newest. */
  token?: string
}

export const reviews = kind<ReviewsObservation, ReviewsQuestion | PlayReviewsQuestion>({
  name: "reviews",
  sources: REVIEWS_SOURCES,
  private: false,
  shape: v.strictObject({}),
  lineShape: SHAPES.reviews,
  readLine: reviewsOf as never,
  check: checkReviews,
  question: {
    about: ({ storeId }) => storeId,
    checkSubject: (subject, platform) => checkIds(platform, [subject], "apps that were asked for"),
  },
  names: ({ storeId }) => ({ apps: [storeId] }),
  // a text takes about as long as two results
  weight: ({ reviews }) => 2 * reviews.length,
  split: splitPage,
  store: async (tx, pages, known) => ({ placed: await storeReviews(tx, pages, known) }),
  example: {},
})

/** The last part alone says how far the reading came: what an interrupted import leaves are reviews that the next finds known. */
function splitPage(page: ReviewsObservation, most: number): [ReviewsObservation, ReviewsObservation | null] {
  const { end: _end, ...unended } = page
  const size = Math.max(1, Math.floor(most / 2))
  if (page.reviews.length <= size) return [page, null]
  return [
    { ...unended, reviews: page.reviews.slice(0, size) },
    { ...page, reviews: page.reviews.slice(size) },
  ]
}
