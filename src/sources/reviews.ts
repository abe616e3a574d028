import { LONGEST_TEXT, LONGEST_VERSION, MOST_REVIEWS, mayBeWritten } from "../observations/check-reviews.ts"
import type { StoreReview } from "../observations/types.ts"
import { fact } from "./facts.ts"
import { text } from "./json.ts"
import { ReadFailure } from "./source.ts"

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

/**
 * What somebody wrote, as it stands but for what no database holds: a page is not lost for one character that was cut
 * apart. Undefined for what is no text.
 */
export function written(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined
  // what is cut within a character loses it
  return value
    .replaceAll("\0", "")
    .toWellFormed()
    .slice(0, LONGEST_TEXT)
    .replace(/[\ud800-\udbff]$/, "")
}

/** A title; undefined where there is none, or a blank one. */
export function titled(value: unknown): string | undefined {
  return text(fact(value, written))
}

/** A version of the app; undefined for what is none. */
export function version(value: unknown): string | undefined {
  const said = text(value)
  return said !== undefined && said.length <= LONGEST_VERSION ? said : undefined
}

/** When a review was written, of milliseconds since 1970; undefined for what cannot be. */
export function moment(ms: number, seenAt: Date): Date | undefined {
  return mayBeWritten(ms, seenAt) ? new Date(ms) : undefined
}
