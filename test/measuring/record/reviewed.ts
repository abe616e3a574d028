import { hash } from "node:crypto"
import type { ReviewsObservation, StoreReview } from "../../../src/reviews/kinds/review-shape.ts"

/** Returns a minimal review with the given fields. */
export function written(rest: Partial<StoreReview> & { id: string }): StoreReview {
  return { stars: 4, text: `Text of ${rest.id}`, at: new Date("2025-11-01T00:00:00Z"), ...rest }
}

/** Reviews of an app in the US, as in the App Store's feed. The hash covers their content. */
export function reviewed(
  seenAt: string,
  reviews: (Partial<StoreReview> & { id: string })[],
  rest: Partial<ReviewsObservation> = {},
): ReviewsObservation {
  const content = {
    kind: "reviews" as const,
    source: "apple-reviews" as const,
    platform: "ios" as const,
    storefront: "us",
    storeId: "10001",
    reviews: reviews.map(written),
    parser: 1,
    origin: "own",
    ...rest,
  }
  return {
    ...content,
    seenAt: new Date(seenAt),
    sha256: rest.sha256 ?? hash("sha256", JSON.stringify(content), "buffer"),
  }
}

/** Reviews of an app on Google Play, in English. */
export const reviewedOnPlay = (...[seenAt, reviews, rest]: Parameters<typeof reviewed>) =>
  reviewed(seenAt, reviews, {
    source: "play-reviews",
    platform: "android",
    storeId: "com.example.tea",
    language: "en",
    ...rest,
  })
