import type { ReviewsObservation, StoreReview } from "../../../src/reviews/kinds/review-shape.ts"
import type { Standing } from "./faithful.ts"

/** Returns a message about the first value of a review page that does not occur in the body. Undefined if all do. */
export function reviewsUnfaithful({ reviews, next }: ReviewsObservation, standing: Standing): string | undefined {
  for (const review of reviews) {
    const wrong = Object.keys(review).find((key) => !occurs(review, key as keyof StoreReview, standing))
    if (wrong) return `${wrong} ${JSON.stringify(review[wrong as keyof StoreReview])} does not stand in the body`
  }
  return next === undefined || standing.text(next) ? undefined : `the token ${next} does not stand in the body`
}

function occurs(
  { id, stars, title = "", text, version = "", at }: StoreReview,
  key: keyof StoreReview,
  standing: Standing,
) {
  if (key === "id") return standing.text(id)
  if (key === "stars") return standing.text(String(stars))
  if (key === "version") return standing.text(version)
  if (key === "title") return standing.written(title)
  // A review with stars only has an empty text, which need not occur.
  if (key === "text") return text === "" || standing.written(text)
  return (
    standing.text(String(Math.floor(at.getTime() / 1_000))) ||
    OFFSETS.some((offset) => standing.text(spelt(at, offset)))
  )
}

/** Time zone offsets in minutes, most likely first: edits produce unusual ones. */
const OFFSETS = [-420, -480, ...Array.from({ length: 2_879 }, (_, minute) => minute - 1_439)]

/** Formats a date with an offset in minutes: 2026-10-04T21:45:33-07:00. */
function spelt(at: Date, offset: number): string {
  const local = new Date(at.getTime() + offset * 60_000).toISOString().slice(0, 19)
  const parts = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
  return `${local}${offset <= 0 ? "-" : "+"}${parts.map((part) => String(part).padStart(2, "0")).join(":")}`
}
