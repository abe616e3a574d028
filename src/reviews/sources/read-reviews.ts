import type { Outcome } from "../../core/observation/attempt.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import type { PlayReviewsQuestion, ReviewsObservation, ReviewsQuestion, StoreReview } from "../kinds/review-shape.ts"
import { appleReviews, appleReviewsJson, REVIEW_PAGES } from "./apple-reviews.ts"
import { PLAY_REVIEWS, playReviews } from "./play-reviews.ts"

/** Asks a source once. Throws ReadFailure. */
type AskReviews<Asked> = (source: Source<Asked, ReviewsObservation>, asked: Asked) => Promise<ReviewsObservation>

interface ReadReviews {
  storefront: string
  /** Store id. */
  id: string
  /** Whether a review is held as it stands, since a reading that was complete: there is nothing new below it. */
  known(review: StoreReview): boolean
  /** How many have rated the app there, as a look-up said lately. Of 0 an empty page is believed. */
  ratings?: number | null
  /** Not more than the newest page: the reading is complete only where nothing new can follow it. */
  newestPage?: boolean
}

/**
 * Reads the App Store's feed of an app's reviews page by page, until one holds a known review or the feed ends: the pages
 * that hold reviews, the last of them with the reading's end. A page that cannot be understood in XML is asked for in
 * JSON; there an empty page says nothing. A page that is empty is asked for once more, and else passed over; then the
 * reading is not complete, and neither is one whose later pages fail.
 *
 * That there are no reviews is said only where the first page is empty twice and says itself both times that it is the
 * last (or nobody has rated the app): then that page is all that is returned. Throws ReadFailure where the first page
 * fails, and `failed` where the pages were empty without saying so.
 */
export async function readReviews(
  ask: AskReviews<ReviewsQuestion>,
  { storefront, id, known, ratings, newestPage }: ReadReviews,
): Promise<ReviewsObservation[]> {
  const reading = newReading(known)
  const pages = newestPage ? 1 : REVIEW_PAGES
  let passedOver = 0
  for (let page = 1; page <= pages && passedOver < MOST_PASSED_OVER; page++) {
    const asked = { storefront, storeId: id, page }
    const seen = await askAgain(() => askEitherForm(ask, asked), reading)
    if (seen === null) return ended(reading)
    if (page === 1 && saysNone(seen, ratings)) return none(seen)
    if (isFilled(seen)) passedOver = 0
    else passedOver++
    // of an empty page in the middle it is not known what its links lead to
    if (isLast(reading, seen, reading.filled.at(-1)?.more !== true)) return ended(reading)
  }
  reading.missed = true
  return ended(reading)
}

/** Of reviews on Google Play: those of a language, at most so many. */
interface ReadPlayReviews extends ReadReviews {
  language: string
  most?: number
}

/**
 * Reads Google Play's reviews of an app in a language as readReviews does, until a page holds a known one, there are no
 * more, or `most` (600) were read. As far as that the reading is complete.
 */
export async function readPlayReviews(
  ask: AskReviews<PlayReviewsQuestion>,
  { storefront, language, id, known, ratings, newestPage, most = 4 * PLAY_REVIEWS }: ReadPlayReviews,
): Promise<ReviewsObservation[]> {
  const reading = newReading(known)
  const tokens = new Set<string | undefined>()
  let token: string | undefined
  for (let read = 0; read < most; read += PLAY_REVIEWS) {
    const asked = { storefront, language, storeId: id, ...(token !== undefined && { token }) }
    tokens.add(token)
    const seen = await askAgain(() => ask(playReviews, asked), reading)
    if (seen === null) return ended(reading)
    if (token === undefined && saysNone(seen, ratings)) return none(seen)
    if (isLast(reading, seen, true)) return ended(reading)
    token = seen.at(-1)!.next
    reading.missed ||= newestPage ?? false
    if (newestPage) break
    // without another token the next page would be one that was read
    reading.missed ||= tokens.has(token)
    if (tokens.has(token)) break
  }
  return ended(reading)
}

// Each costs two requests; a page in the middle is empty now and then, several in a row are rather the feed's end.
const MOST_PASSED_OVER = 3

interface Reading {
  known: ReadReviews["known"]
  /** Pages that held reviews. */
  filled: ReviewsObservation[]
  /** Something between them was not to be had. */
  missed: boolean
}

/** The answers to one question: one, or two where the first was empty. */
type Answers = readonly [ReviewsObservation] | readonly [ReviewsObservation, ReviewsObservation]

function newReading(known: ReadReviews["known"]): Reading {
  return { known, filled: [], missed: false }
}

/** Asks, and once more where the page is empty. Null where a page after filled ones fails: then the reading ends there. */
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

// The other form may still be its own.
const NOT_ITS_OWN: readonly Outcome[] = ["changed", "mismatched"]

async function askEitherForm(ask: AskReviews<ReviewsQuestion>, asked: ReviewsQuestion): Promise<ReviewsObservation> {
  try {
    return await ask(appleReviews, asked)
  } catch (error) {
    if (!(error instanceof ReadFailure) || !NOT_ITS_OWN.includes(error.outcome)) throw error
    const seen = await ask(appleReviewsJson, asked)
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

/** Adds the page to what was read. True where nothing new can follow; an empty page says so only if it is believed. */
function isLast(reading: Reading, answers: Answers, isBelieved: boolean): boolean {
  const seen = answers.at(-1)!
  if (isFilled(answers)) {
    reading.filled.push(seen)
    return seen.more === false || seen.reviews.some(reading.known)
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
  if (!last) throw new ReadFailure("failed", "the pages are empty, which says nothing")
  return [...filled.slice(0, -1), { ...last, end: { pages: filled.length, complete: !missed, empty: false } }]
}
