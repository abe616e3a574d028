import * as v from "valibot"
import type { ObservationOf } from "../../core/kind.ts"
import { checkIds, checkText, hold, isText } from "../../core/observation/invariants.ts"
import { Fact, Flag, list, Moment, Text, Whole } from "../../core/observation/line-parts.ts"
import { most, rule, ruleBy } from "../../core/observation/shape.ts"
import { isStorable } from "../../lib/text.ts"
import { DAY_MS, STORES_OPENED_MS } from "../../lib/time.ts"
import { LONGEST_TEXT, LONGEST_VERSION, titleIn, versionIn, writtenIn } from "../store/review-parts.ts"

export const SOURCES = ["apple-reviews", "play-reviews"] as const

/** Maximum number of reviews per page, or per line of an import. */
export const MAX_REVIEWS = 1_000

const LANGUAGES = "a Google Play review needs a language such as en or pt-BR, and an App Store review must have none"

/**
 * Invalid titles and versions are dropped, and characters that cannot be stored are removed from texts. The author is
 * never stored.
 */
export const ReviewFields = {
  /** The store's own id. */
  id: Text,
  stars: Whole,
  title: v.optional(
    v.pipe(
      Text,
      v.transform((title) => titleIn(title)),
    ),
  ),
  /** The original text. Empty if the review has stars only. */
  text: v.pipe(Text, v.transform(writtenIn)),
  version: v.optional(
    v.pipe(
      Text,
      v.transform((version) => versionIn(version)),
    ),
  ),
  /** When the review was written or last edited. */
  at: Moment,
}
const Review = v.strictObject(ReviewFields)
export type StoreReview = v.InferOutput<typeof Review>

/** The result of a whole reading, stored with its last page. */
const End = v.strictObject({
  /** Number of pages with reviews. A page that states that there are none counts as one. */
  pages: Whole,
  /**
   * True if no review is missing between the newest review and the previously stored reviews, or down to the end of the
   * feed.
   */
  complete: Flag,
  /** True if the store states that there are no reviews. */
  empty: Flag,
})

const Token = v.optional(
  v.pipe(
    Text,
    rule("bad_text", "a token must have 1 to 2000 characters", (token) => isText(token, 2_000)),
  ),
)

export const shape = v.pipe(
  v.strictObject({
    storeId: v.pipe(
      Text,
      ruleBy((id, { platform }) => checkIds(platform, [id], "apps")),
    ),
    /** BCP 47. Only for Google Play, which shows the same reviews of a language in every country. */
    language: v.pipe(
      Fact,
      rule("bad_language", LANGUAGES, (language, { platform }) => {
        const isTag = language !== undefined && /^[a-z]{2,3}(?:-(?:[A-Z]{2}|\d{3}))?$/.test(language)
        return platform === "android" ? isTag : language === undefined
      }),
    ),
    /** App Store page number, from 1. */
    page: v.optional(v.pipe(Whole, rule("bad_depth", "a page must be a whole number from 1 to 1000", isPageCount))),
    /** The Google Play token that requested this page. Absent on the first page. */
    token: Token,
    /** The Google Play token of the next page. */
    next: Token,
    /** Whether the page states that another page follows. Absent if the page does not state it. */
    more: v.optional(
      v.pipe(
        Flag,
        rule("bad_depth", "more must be true or false", (more) => typeof more === "boolean"),
      ),
    ),
    /**
     * Newest first. An empty list does not prove that there are no reviews: the App Store returns empty pages at
     * random.
     */
    reviews: v.pipe(
      list(Review),
      most(MAX_REVIEWS, "reviews"),
      ruleBy((reviews, { seenAt }) => {
        for (const [place, review] of reviews.entries()) checkReview(review, `reviews[${place}]`, seenAt)
      }),
      rule("duplicate_review", "a review occurs twice", (reviews) => {
        return new Set(reviews.map(({ id }) => id)).size === reviews.length
      }),
    ),
    end: v.optional(End),
  }),
  ruleBy(({ reviews, end }) => {
    if (!end) return
    const { pages, complete, empty } = end
    hold(isPageCount(pages), "bad_depth", "pages must be a whole number from 1 to 1000")
    hold(typeof complete === "boolean", "bad_depth", "complete must be true or false")
    hold(
      empty === (reviews.length === 0),
      "bad_depth",
      "empty must be true if there are no reviews, and false otherwise",
    )
    hold(complete || !empty, "bad_depth", "a reading without reviews must be complete")
  }),
)

function isPageCount(pages: number): boolean {
  return Number.isInteger(pages) && pages >= 1 && pages <= 1_000
}

/** Throws unless the review is valid. `place` is the path of the review in an import line. */
export function checkReview({ id, stars, title, text, version, at }: StoreReview, place: string, seenAt: Date): void {
  const named = /^[\x21-\x7e]{1,100}$/.test(id)
  hold(named, "bad_review_id", `${place}.id: must have 1 to 100 ASCII characters without spaces`)
  const counted = Number.isInteger(stars) && stars >= 1 && stars <= 5
  hold(counted, "bad_figure", `${place}.stars: must be a whole number from 1 to 5`)
  if (title !== undefined) checkText(title, LONGEST_TEXT, `${place}.title:`)
  const isWritten = typeof text === "string" && text.length <= LONGEST_TEXT && isStorable(text)
  hold(isWritten, "bad_text", `${place}.text: must have at most ${LONGEST_TEXT} characters that can be stored`)
  if (version !== undefined) checkText(version, LONGEST_VERSION, `${place}.version:`)
  const rule = "must lie after the stores opened, and at most a day after the review was seen"
  hold(mayBeWritten(at.getTime(), seenAt), "bad_time", `${place}.at: ${rule}`)
}

/** Returns whether a review may have this date. It may be up to a day after the reading, because clocks differ. */
export function mayBeWritten(atMs: number, seenAt: Date): boolean {
  return atMs >= STORES_OPENED_MS && atMs <= seenAt.getTime() + DAY_MS
}

export type ReviewsObservation = ObservationOf<"reviews", (typeof SOURCES)[number], typeof shape>
export type ReadingEnd = v.InferOutput<typeof End>

/** A question to the App Store's feed of reviews. */
export interface ReviewsQuestion {
  storefront: string
  storeId: string
  page: number
}

/** A question to Google Play for reviews. */
export interface PlayReviewsQuestion {
  storefront: string
  /** Language of the reviews (BCP 47). */
  language: string
  storeId: string
  /** The token from the previous page. Absent for the newest page. */
  token?: string
}
