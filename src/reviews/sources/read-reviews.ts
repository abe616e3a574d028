import type { Outcome } from "../../core/observation/attempt.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import type { PlayReviewsQuestion, ReviewsObservation, ReviewsQuestion, StoreReview } from "../kinds/review-shape.ts"
import { appleReviews, appleReviewsJson, REVIEW_PAGES } from "./apple-reviews.ts"
import { PLAY_REVIEWS, playReviews } from "./play-reviews.ts"

/** Requests one page from a source. Throws ReadFailure. */
type AskReviews<Asked> = (source: Source<Asked, ReviewsObservation>, question: Asked) => Promise<ReviewsObservation>

interface ReadReviews {
  storefront: string
  /** Store id of the app. */
  id: string
  /**
   * Whether this form of a review was stored by or before the latest complete reading, so that no review below it is
   * new.
   */
  isKnown(review: StoreReview): boolean
  /** Number of ratings from a recent look-up. If it is 0, an empty page counts as proof that there are no reviews. */
  ratings?: number | null
  /** Reads only the newest page. The reading is then complete only if no new review can follow. */
  newestPage?: boolean
}

/**
 * Reads the App Store's feed of an app's reviews page by page, until a page contains a known review or the feed ends.
 * Returns the pages with reviews; the last one has the reading's end. A page that cannot be parsed in XML is requested
 * in JSON, where an empty page does not show that there are no reviews. An empty page is requested once more and then
 * skipped; skipping a page or failing on a later page makes the reading incomplete.
 *
 * The reading concludes that there are no reviews only when the first page is empty twice and both times states that it
 * is the last (or the app has no ratings). It then returns that page alone. Throws ReadFailure when the first page
 * fails, and `failed` when the pages were empty without such a statement.
 */
export async function readReviews(
  ask: AskReviews<ReviewsQuestion>,
  { storefront, id, isKnown, ratings, newestPage }: ReadReviews,
): Promise<ReviewsObservation[]> {
  const reading = newReading(isKnown)
  const pages = newestPage ? 1 : REVIEW_PAGES
  let passedOver = 0
  for (let page = 1; page <= pages && passedOver < MAX_SKIPPED; page++) {
    const question = { storefront, storeId: id, page }
    const seen = await askAgain(() => askEitherForm(ask, question), reading)
    if (seen === null) return ended(reading)
    if (page === 1 && saysNone(seen, ratings)) return none(seen)
    if (isFilled(seen)) passedOver = 0
    else passedOver++
    // The links of an empty page in the middle of the feed are not reliable.
    if (isLast(reading, seen, reading.filled.at(-1)?.more !== true)) return ended(reading)
  }
  reading.missed = true
  return ended(reading)
}

/** Options for Google Play: one language, and at most `most` reviews. */
interface ReadPlayReviews extends ReadReviews {
  language: string
  most?: number
}

/**
 * Reads Google Play's reviews of an app in one language, like readReviews, until a page contains a known review, there
 * are no more pages, or `most` (600) reviews were read. A reading that stops at `most` counts as complete.
 */
export async function readPlayReviews(
  ask: AskReviews<PlayReviewsQuestion>,
  { storefront, language, id, isKnown, ratings, newestPage, most = 4 * PLAY_REVIEWS }: ReadPlayReviews,
): Promise<ReviewsObservation[]> {
  const reading = newReading(isKnown)
  const tokens = new Set<string | undefined>()
  let token: string | undefined
  for (let read = 0; read < most; read += PLAY_REVIEWS) {
    const question = { storefront, language, storeId: id, ...(token !== undefined && { token }) }
    tokens.add(token)
    const seen = await askAgain(() => ask(playReviews, question), reading)
    if (seen === null) return ended(reading)
    if (token === undefined && saysNone(seen, ratings)) return none(seen)
    if (isLast(reading, seen, true)) return ended(reading)
    token = seen.at(-1)!.next
    reading.missed ||= newestPage ?? false
    if (newestPage) break
    // A repeated token would request a page that was read before.
    reading.missed ||= tokens.has(token)
    if (tokens.has(token)) break
  }
  return ended(reading)
}

// An empty page is requested twice. A single empty page in the middle occurs now and then; several in a row are
// probably the end of the feed.
const MAX_SKIPPED = 3

interface Reading {
  isKnown: ReadReviews["isKnown"]
  /** Pages with reviews. */
  filled: ReviewsObservation[]
  /** True if pages between the filled pages are missing. */
  missed: boolean
}

/** The responses to one question: two if the first was empty. */
type Answers = readonly [ReviewsObservation] | readonly [ReviewsObservation, ReviewsObservation]

function newReading(isKnown: ReadReviews["isKnown"]): Reading {
  return { isKnown, filled: [], missed: false }
}

/** Requests a page, and once more if it is empty. Null if a page after filled ones fails, which ends the reading. */
async function askAgain(ask: () => Promise<ReviewsObservation>, reading: Reading): Promise<Answers | null> {
  try {
    const first = await ask()
    return first.reviews.length > 0 ? [first] : [first, await ask()]
  } catch (error) {
    if (!(error instanceof ReadFailure) || reading.filled.length === 0) throw error
    reading.missed = true
    return null
  }
}

// Outcomes after which the other form may still be the right page.
const NOT_ITS_OWN: readonly Outcome[] = ["changed", "mismatched"]

async function askEitherForm(ask: AskReviews<ReviewsQuestion>, question: ReviewsQuestion): Promise<ReviewsObservation> {
  try {
    return await ask(appleReviews, question)
  } catch (error) {
    if (!(error instanceof ReadFailure) || !NOT_ITS_OWN.includes(error.outcome)) throw error
    const seen = await ask(appleReviewsJson, question)
    if (seen.reviews.length === 0) throw error
    return seen
  }
}

function saysNone(answers: Answers, ratings: number | null | undefined): boolean {
  return answers.every(({ reviews, more }) => reviews.length === 0 && (more === false || (ratings === 0 && !more)))
}

function isFilled(answers: Answers): boolean {
  return answers.at(-1)!.reviews.length > 0
}

/**
 * Adds the page to the reading. Returns true if no new review can follow. An empty page ends the reading only if
 * `isBelieved`.
 */
function isLast(reading: Reading, answers: Answers, isBelieved: boolean): boolean {
  const seen = answers.at(-1)!
  if (isFilled(answers)) {
    reading.filled.push(seen)
    return seen.more === false || seen.reviews.some(reading.isKnown)
  }
  const isEnd = isBelieved && reading.filled.length > 0 && answers.every(({ more }) => more === false)
  reading.missed ||= !isEnd
  return isEnd
}

function none([seen]: Answers): ReviewsObservation[] {
  return [{ ...seen, end: { pages: 1, complete: true, empty: true } }]
}

function ended({ filled, missed }: Reading): ReviewsObservation[] {
  const last = filled.at(-1)
  if (!last) throw new ReadFailure("failed", "the pages are empty, but do not state that there are no reviews")
  return [...filled.slice(0, -1), { ...last, end: { pages: filled.length, complete: !missed, empty: false } }]
}
