import { withoutUndefined } from "../../lib/objects.ts"
import { reviewLanguages } from "../../lib/review-language.ts"
import { at, list, text } from "../../measuring/parsing/json.ts"
import type { PutAside } from "../../measuring/parsing/put-aside.ts"
import { fact, required } from "../../measuring/parsing/required.ts"
import { ReadFailure } from "../../measuring/source.ts"
import { moment, titled, version, written } from "../../reviews/sources/reviews.ts"
import type { ConsoleReview, ConsoleReviewsObservation } from "../kinds/console-reviews.ts"

const PARSER = 1

/** Maximum page size of the API. */
export const PLAY_REVIEWS_PAGE = 100

/** The path of an app's reviews: those written or edited in the last week, newest first. */
export function playReviewsPath(packageName: string): string {
  return `/androidpublisher/v3/applications/${encodeURIComponent(packageName)}/reviews`
}

interface ReviewsPage {
  seen: ConsoleReviewsObservation
  /** The token of the next page. Null on the last page. */
  next: string | null
}

/**
 * Parses a page of reviews. An unreadable review is skipped. Throws ReadFailure if the document is not a page of
 * reviews, or if none of its reviews can be read. Names of authors are not read.
 */
export function playReviewsIn(
  document: unknown,
  place: { account: string; storeId: string },
  about: { seenAt: Date; sha256: Uint8Array },
  aside: PutAside,
): ReviewsPage {
  const listed = at(document, "reviews")
  if (typeof document !== "object" || document === null || (listed !== undefined && !Array.isArray(listed)))
    throw new ReadFailure("changed", "this is not a page of reviews")
  const rows = list(listed)
  const reviews = new Map<string, ConsoleReview>()
  aside.each(
    rows,
    (_, number) => `review ${number + 1}`,
    (row) => {
      const review = playReviewIn(row, about.seenAt)
      if (!reviews.has(review.id)) reviews.set(review.id, review)
    },
  )
  if (reviews.size === 0) aside.assertSome(rows)
  const next = at(document, "tokenPagination", "nextPageToken")
  return {
    seen: {
      kind: "console_reviews",
      source: "play-console-reviews",
      platform: "android",
      ...place,
      reviews: [...reviews.values()],
      parser: PARSER,
      origin: "own",
      ...about,
    },
    next: typeof next === "string" && next !== "" && next.length <= LONGEST_TOKEN ? next : null,
  }
}

const LONGEST_TOKEN = 4_000

/**
 * Parses a review. Its comments are one text of the user, "title<tab>text", and the developer's reply if there is one;
 * of several replies, the one changed last counts. Throws ReadFailure.
 */
export function playReviewIn(row: unknown, seenAt: Date): ConsoleReview {
  const comments = list(at(row, "comments"))
  const user = latest(comments, "userComment")
  const reply = latest(comments, "developerComment")
  const words = fact(at(user, "text"), written) ?? ""
  const tab = words.indexOf("\t")
  return withoutUndefined<ConsoleReview>({
    id: required(at(row, "reviewId"), reviewId),
    stars: required(at(user, "starRating"), starsOf),
    title: tab > 0 ? titled(words.slice(0, tab)) : undefined,
    text: words.slice(tab + 1).trim(),
    version: fact(at(user, "appVersionName"), version),
    at: required(msOf(at(user, "lastModified")), (ms) => moment(ms as number, seenAt)),
    language: languageOf(at(user, "reviewerLanguage")),
    device: wordOf(at(user, "device")),
    androidApi: wholeOf(at(user, "androidOsVersion")),
    versionCode: wholeOf(at(user, "appVersionCode")),
    reply: reply === undefined ? undefined : replyOf(reply, seenAt),
  })
}

function latest(comments: readonly unknown[], name: string): unknown {
  const found = comments.map((comment) => at(comment, name)).filter((comment) => comment !== undefined)
  const timeOf = (comment: unknown) => msOf(at(comment, "lastModified")) || 0
  return found.toSorted((a, b) => timeOf(b) - timeOf(a))[0]
}

function replyOf(comment: unknown, seenAt: Date): ConsoleReview["reply"] {
  return {
    text: required(at(comment, "text"), written),
    at: required(msOf(at(comment, "lastModified")), (ms) => moment(ms as number, seenAt)),
  }
}

function reviewId(value: unknown): string | undefined {
  return typeof value === "string" && /^[\x21-\x7e]{1,100}$/.test(value) ? value : undefined
}

function starsOf(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 5 ? (value as number) : undefined
}

/** Returns milliseconds from seconds since 1970, which Google writes as text, and nanoseconds. NaN if unreadable. */
function msOf(value: unknown): number {
  const seconds = wholeOf(at(value, "seconds")) ?? Number.NaN
  const nanos = wholeOf(at(value, "nanos") ?? 0) ?? Number.NaN
  return nanos < 1e9 ? seconds * 1_000 + Math.floor(nanos / 1e6) : Number.NaN
}

/** Returns a whole number from 0, also if it is written as text. */
function wholeOf(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : undefined
}

const LONGEST_WORD = 100

function wordOf(value: unknown): string | undefined {
  const word = text(value)?.trim()
  return word !== undefined && word.length <= LONGEST_WORD ? word : undefined
}

/**
 * Returns the language of the reviewer's device in the form that the names of feeds use: with the region if the store's
 * page distinguishes it, otherwise without. Undefined if it is missing or not a language.
 */
function languageOf(value: unknown): string | undefined {
  const tag = typeof value === "string" ? value.trim().replaceAll("_", "-") : ""
  const [, language, region] = /^([a-zA-Z]{2,3})(?:-[a-zA-Z]{4})?(?:-([a-zA-Z]{2}|\d{3}))?$/.exec(tag) ?? []
  if (language === undefined) return undefined
  const code = RENAMED[language.toLowerCase()] ?? language.toLowerCase()
  const full = region && `${code}-${region.toUpperCase()}`
  if (full && reviewLanguages.has(full)) return full
  return reviewLanguages.has(code) ? code : (WITH_REGION[code] ?? code)
}

/** Language codes that differ on the store's page. */
const RENAMED: Record<string, string> = { he: "iw", in: "id", nb: "no", nn: "no" }
/** For languages that the store's page lists only with a region: the region with the most speakers. */
const WITH_REGION: Record<string, string> = { pt: "pt-BR", zh: "zh-CN" }
