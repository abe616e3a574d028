import { fact } from "../../measuring/parsing/required.ts"
import { ReadFailure } from "../../measuring/source.ts"
import type { StoreReview } from "../kinds/review-shape.ts"
import { MOST_REVIEWS, mayBeWritten } from "../kinds/review-shape.ts"
import { titleIn, versionIn, writtenIn } from "../store/review-parts.ts"

/** The reviews of a page, each once, where it stands first. Throws ReadFailure (`changed`) for more than any page has. */
export function reviewsOf<Row>(rows: readonly Row[], reviewOf: (row: Row) => StoreReview): StoreReview[] {
  const reviews = new Map<string, StoreReview>()
  for (const row of rows) {
    const review = reviewOf(row)
    if (!reviews.has(review.id)) reviews.set(review.id, review)
  }
  if (reviews.size > MOST_REVIEWS) throw new ReadFailure("changed", `more than ${MOST_REVIEWS} reviews on a page`)
  return [...reviews.values()]
}

/** What somebody wrote (see writtenIn); undefined for what is no text. */
export function written(value: unknown): string | undefined {
  return typeof value === "string" ? writtenIn(value) : undefined
}

/** A title; undefined where there is none, or a blank one. */
export function titled(value: unknown): string | undefined {
  return titleIn(fact(value, written))
}

/** A version of the app; undefined for what is none. */
export function version(value: unknown): string | undefined {
  return typeof value === "string" ? versionIn(value) : undefined
}

/** When a review was written, of milliseconds since 1970; undefined for what cannot be. */
export function moment(ms: number, seenAt: Date): Date | undefined {
  return mayBeWritten(ms, seenAt) ? new Date(ms) : undefined
}
