import { instructions } from "../checks/instructions.ts"
import { findQuote } from "../checks/quotes.ts"
import { tokensOfText } from "../prompt.ts"
import { type SummedReview, wholeText } from "./theme-figures.ts"

/** Of a review more is not told. */
const LONGEST = 1_000

/** Reviews that may be told to a model: one that gives orders is not, and nothing of the others can hang on it. */
export function tellable(reviews: readonly SummedReview[]): SummedReview[] {
  const ground = { sources: [], language: "en" }
  return reviews.filter((review) => instructions(wholeText(review), ground).length === 0)
}

/** A review as a model is told it: by a short handle, never its id. */
export function recordOf({ stars, title, text }: SummedReview, at: number) {
  return { r: `r${at + 1}`, stars, ...(title !== null && { title }), text }
}

/** The place of a handle among those told; undefined where it names none. */
export function placeOf(handle: string, letter: "r" | "t"): number | undefined {
  const number = new RegExp(`^${letter}([1-9]\\d{0,2})$`).exec(handle)?.[1]
  return number === undefined ? undefined : Number(number) - 1
}

/** What a quote says in a review, in the review's own characters; null = the review does not say it. */
export function quoteIn({ title, text }: SummedReview, quote: string): string | null {
  return findQuote(quote, text) ?? findQuote(quote, title ?? "")
}

/** Tokens that a record takes in a prompt, at the most. */
export function tokensOfReview(review: SummedReview): number {
  const { title, text } = review
  return tokensOfText(JSON.stringify(recordOf({ ...review, title, text: text.slice(0, LONGEST) }, 499))) + 1
}

/** At most so many, evenly over stars and time: what few say is among them as often as elsewhere. */
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

/** In parts that a request has room for, in their order. */
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
