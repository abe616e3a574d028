import { isStorable } from "../vocabulary/text.ts"
import { DAY_MS, STORES_OPENED_MS } from "../vocabulary/time.ts"
import { checkIds, checkPlace, checkProvenance, checkText, checkTime, hold, isText } from "./invariants.ts"
import { LONGEST_TEXT, LONGEST_VERSION } from "./review-parts.ts"
import { REVIEWS_SOURCES, type ReviewsObservation, type StoreReview } from "./types.ts"

/** Throws ObservationProblem unless every invariant of a page of reviews holds. */
export function checkReviews(reading: ReviewsObservation, now: Date): void {
  checkPlace(reading, REVIEWS_SOURCES)
  checkTime(reading.seenAt, now)
  checkIds(reading.platform, [reading.storeId], "apps")
  checkLanguage(reading)
  checkPosition(reading)
  const { reviews } = reading
  hold(reviews.length <= MOST_REVIEWS, "too_many_results", `there are more than ${MOST_REVIEWS} reviews`)
  for (const [place, review] of reviews.entries()) checkReview(review, `reviews[${place}]`, reading.seenAt)
  const ids = new Set(reviews.map(({ id }) => id))
  hold(ids.size === reviews.length, "duplicate_review", "a review stands twice")
  checkEnd(reading)
  checkProvenance(reading)
}

/** Of one page, or one line of an import. */
export const MOST_REVIEWS = 1_000

/** Whether a review may be of that moment: at most a day after it was seen, for clocks differ. */
export function mayBeWritten(atMs: number, seenAt: Date): boolean {
  return atMs >= STORES_OPENED_MS && atMs <= seenAt.getTime() + DAY_MS
}

function checkLanguage({ platform, language }: ReviewsObservation): void {
  const said = language !== undefined && /^[a-z]{2,3}(?:-(?:[A-Z]{2}|\d{3}))?$/.test(language)
  const rule = "Google Play's reviews have a language, as en or pt-BR, and the App Store's have none"
  hold(platform === "android" ? said : language === undefined, "bad_language", rule)
}

function checkPosition({ page, token, next, more }: ReviewsObservation): void {
  const counted = page === undefined || (Number.isInteger(page) && page >= 1 && page <= 1_000)
  hold(counted, "bad_depth", "a page must be a whole number from 1 to 1000")
  const tokens = [token, next].every((one) => one === undefined || isText(one, 2_000))
  hold(tokens, "bad_text", "a token must have 1 to 2000 characters")
  hold(more === undefined || typeof more === "boolean", "bad_depth", "more must be true or false")
}

/** `place` names the review in a line. */
function checkReview({ id, stars, title, text, version, at }: StoreReview, place: string, seenAt: Date): void {
  hold(
    /^[\x21-\x7e]{1,100}$/.test(id),
    "bad_review_id",
    `${place}.id: must have 1 to 100 characters of ASCII, no blanks`,
  )
  hold(
    Number.isInteger(stars) && stars >= 1 && stars <= 5,
    "bad_figure",
    `${place}.stars: must be a whole number from 1 to 5`,
  )
  if (title !== undefined) checkText(title, LONGEST_TEXT, `${place}.title:`)
  const isWritten = typeof text === "string" && text.length <= LONGEST_TEXT && isStorable(text)
  hold(isWritten, "bad_text", `${place}.text: must have at most ${LONGEST_TEXT} characters that can be stored`)
  if (version !== undefined) checkText(version, LONGEST_VERSION, `${place}.version:`)
  const rule = "must lie after the stores opened, and at most a day after the review was seen"
  hold(mayBeWritten(at.getTime(), seenAt), "bad_time", `${place}.at: ${rule}`)
}

function checkEnd({ reviews, end }: ReviewsObservation): void {
  if (!end) return
  const { pages, complete, empty } = end
  const counted = Number.isInteger(pages) && pages >= 1 && pages <= 1_000
  hold(counted, "bad_depth", "the pages of a reading must be a whole number from 1 to 1000")
  hold(typeof complete === "boolean", "bad_depth", "complete must be true or false")
  hold(empty === (reviews.length === 0), "bad_depth", "a reading is empty when it has no reviews, and else not")
  hold(complete || !empty, "bad_depth", "only a complete reading can say that there are no reviews")
}
