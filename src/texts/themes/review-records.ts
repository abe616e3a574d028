import { instructions } from "../checks/instructions.ts"
import { findQuote } from "../checks/quotes.ts"
import { tokensOfText } from "../prompt.ts"
import { type SummedReview, wholeText } from "./theme-figures.ts"

/** Maximum length of a review's text in a prompt. */
const LONGEST = 1_000

/**
 * Returns the reviews that a prompt may contain. Leaves out reviews with instructions, which could affect how the model
 * treats the others.
 */
export function tellable(reviews: readonly SummedReview[]): SummedReview[] {
  const ground = { sources: [], language: "en" }
  return reviews.filter((review) => instructions(wholeText(review), ground).length === 0)
}

/** Converts a review to a record of the prompt, with a short handle instead of its id. */
export function recordOf({ stars, title, text }: SummedReview, at: number) {
  return { r: `r${at + 1}`, stars, ...(title !== null && { title }), text }
}

/** Returns the index of a handle. Undefined if it is not a valid handle. */
export function placeOf(handle: string, letter: "r" | "t"): number | undefined {
  const number = new RegExp(`^${letter}([1-9]\\d{0,2})$`).exec(handle)?.[1]
  return number === undefined ? undefined : Number(number) - 1
}

/** Finds a quote in a review and returns the matching part of the review. Null if the quote does not occur. */
export function quoteIn({ title, text }: SummedReview, quote: string): string | null {
  return findQuote(quote, text) ?? findQuote(quote, title ?? "")
}

/** Returns an upper bound of a record's tokens in a prompt. */
export function tokensOfReview(review: SummedReview): number {
  const { title, text } = review
  return tokensOfText(JSON.stringify(recordOf({ ...review, title, text: text.slice(0, LONGEST) }, 499))) + 1
}

/** Samples at most `most` reviews evenly by stars and time, so that rare opinions appear in proportion. */
export function sampleOf(reviews: readonly SummedReview[], most: number, tokens: number): SummedReview[] {
  const ordered = reviews.toSorted(
    (a, b) => a.stars - b.stars || a.at.getTime() - b.at.getTime() || (a.id < b.id ? -1 : 1),
  )
  for (let size = Math.min(most, ordered.length); size > 0; size = Math.floor(size * 0.8)) {
    const sample = Array.from({ length: size }, (_, n) => ordered[Math.floor(((n + 0.5) * ordered.length) / size)]!)
    if (sample.reduce((sum, review) => sum + tokensOfReview(review), 0) <= tokens) return sample
  }
  return []
}

/** Splits reviews into parts that fit a request, in their order. */
export function partsOf(reviews: readonly SummedReview[], most: number, tokensFor: (size: number) => number) {
  const parts: SummedReview[][] = []
  let [part, taken]: [SummedReview[], number] = [[], 0]
  for (const review of reviews) {
    const tokens = tokensOfReview(review)
    if (part.length > 0 && (part.length === most || taken + tokens > tokensFor(part.length + 1))) {
      parts.push(part)
      ;[part, taken] = [[], 0]
    }
    part.push(review)
    taken += tokens
  }
  return part.length > 0 ? [...parts, part] : parts
}
