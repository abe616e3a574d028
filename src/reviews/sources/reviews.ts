import { fact } from "../../measuring/parsing/required.ts"
import { ReadFailure } from "../../measuring/source.ts"
import type { StoreReview } from "../kinds/review-shape.ts"
import { MAX_REVIEWS, mayBeWritten } from "../kinds/review-shape.ts"
import { titleIn, versionIn, writtenIn } from "../store/review-parts.ts"

/**
 * Returns the distinct reviews of a page in order of first occurrence. Throws ReadFailure (`changed`) when there are
 * more than any page has.
 */
export function reviewsOf<Row>(rows: readonly Row[], reviewOf: (row: Row) => StoreReview): StoreReview[] {
  const reviews = new Map<string, StoreReview>()
  for (const row of rows) {
    const review = reviewOf(row)
    if (!reviews.has(review.id)) reviews.set(review.id, review)
  }
  if (reviews.size > MAX_REVIEWS) throw new ReadFailure("changed", `more than ${MAX_REVIEWS} reviews on a page`)
  return [...reviews.values()]
}

/** Returns a text that people wrote (see writtenIn). Undefined if it is not a string. */
export function written(value: unknown): string | undefined {
  return typeof value === "string" ? writtenIn(value) : undefined
}

/** Returns a title. Undefined if it is missing or blank. */
export function titled(value: unknown): string | undefined {
  return titleIn(fact(value, written))
}

/** Returns an app version. Undefined if it is invalid. */
export function version(value: unknown): string | undefined {
  return typeof value === "string" ? versionIn(value) : undefined
}

/** Returns the date of a review from milliseconds since 1970. Undefined if it is impossible. */
export function moment(ms: number, seenAt: Date): Date | undefined {
  return mayBeWritten(ms, seenAt) ? new Date(ms) : undefined
}
