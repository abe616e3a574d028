import { daysInMonth } from "../../lib/days.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { text } from "../../measuring/parsing/json.ts"
import { mismatched } from "../../measuring/parsing/mismatched.ts"
import { blockedOr } from "../../measuring/parsing/proof.ts"
import { fact, required } from "../../measuring/parsing/required.ts"
import { MAX_XML_BYTES } from "../../measuring/parsing/xml.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import type { ReviewsObservation, ReviewsQuestion, StoreReview } from "../kinds/review-shape.ts"
import { reviews } from "../kinds/reviews.ts"
import { type FeedEntry, feedOfJson, feedOfXml, type ReviewsFeed } from "./apple-reviews-feed.ts"
import { moment, reviewsOf, titled, version, written } from "./reviews.ts"

const PARSER = 1

/** The feed has at most this many pages of 50 reviews; later pages are refused with status 400. */
export const REVIEW_PAGES = 10

/**
 * Reads the App Store's feed of an app's reviews in a storefront, newest first. It uses the XML form, which in 2026 has
 * reviews where the JSON form is empty, but only for a client that identifies itself as iTunes. An empty page is parsed
 * like any other. Only the reading of all pages can conclude that there are no reviews: since October 2026 pages in the
 * middle are empty at random.
 *
 * `more` is derived from the link to the last page, because the link to the next page never ends (recorded). If that
 * link is empty, as recorded for an app without reviews and for an unknown id, `more` is omitted. `request` throws
 * RangeError when the page number is out of range.
 */
export const appleReviews = {
  name: "apple-reviews",
  kind: reviews,
  upstream: "itunes.apple.com",
  parser: PARSER,
  namesPeople: true,
  maxBytes: MAX_XML_BYTES,
  request: (question) => feedRequest(question, "xml"),
  parse(body, question, about) {
    const { storefront, storeId, page } = question
    const feed = feedOf(body)
    checkAnswers(feed, question)
    const last = lastPage(feed)
    return {
      kind: "reviews",
      source: "apple-reviews",
      platform: "ios",
      storefront,
      storeId,
      page,
      reviews: reviewsOf(feed.entries.filter(isReview), (entry) => reviewOf(entry, about.seenAt)),
      ...(last !== undefined && { more: page < Math.min(last, REVIEW_PAGES) }),
      parser: PARSER,
      origin: "own",
      ...about,
    }
  },
} satisfies Source<ReviewsQuestion, ReviewsObservation>

/**
 * Reads the JSON form of the feed, as a fallback when the XML form cannot be parsed. An empty result does not show that
 * there are no reviews.
 */
export const appleReviewsJson = {
  ...appleReviews,
  request: (question) => feedRequest(question, "json"),
} satisfies Source<ReviewsQuestion, ReviewsObservation>

const changed = (detail: string) => new ReadFailure("changed", detail)

function feedRequest({ storefront, storeId, page }: ReviewsQuestion, form: "xml" | "json") {
  if (!(Number.isInteger(page) && page >= 1 && page <= REVIEW_PAGES))
    throw new RangeError(`the pages of a feed are 1 to ${REVIEW_PAGES}`)
  const feed = `page=${page}/id=${encodeURIComponent(storeId)}/sortby=mostrecent/${form}`
  return { path: `/${storefront}/rss/customerreviews/${feed}`, headers: { "user-agent": "iTunes/12.11" } }
}

function feedOf(body: string): ReviewsFeed {
  if (/^\s*\{/.test(body)) return feedOfJson(body)
  try {
    return feedOfXml(body)
  } catch (error) {
    // A review in a truncated feed may contain the same words as a block page.
    throw !/<feed[\s>]/.test(body) ? blockedOr(error, body) : error
  }
}

/** Throws unless the feed names the requested app and storefront, and no other page or order. */
function checkAnswers({ id }: ReviewsFeed, { storefront, storeId, page }: ReviewsQuestion): void {
  const [, country, path = "", query = ""] =
    /^https?:\/\/[^/?]+(?:\/([a-z]{2}))?\/rss\/customerreviews\/([^?]*)(?:\?(.*))?$/i.exec(text(id) ?? "") ?? []
  const parameters = Object.fromEntries(path.split("/").map((part) => part.toLowerCase().split("=", 2)))
  const place = country ?? new URLSearchParams(query).get("cc") ?? ""
  if (parameters.id === undefined || place === "") throw changed("the feed does not name its app or storefront")
  if (parameters.id !== storeId) throw mismatched("the feed is another app's")
  if (place.toLowerCase() !== storefront) throw mismatched("the feed is another storefront's", place.toLowerCase())
  if ((parameters.page ?? String(page)) !== String(page)) throw mismatched("not the requested page")
  if ((parameters.sortby ?? "mostrecent") !== "mostrecent") throw mismatched("not the requested order")
}

function lastPage({ last }: ReviewsFeed): number | undefined {
  const page = /\/page=(\d{1,3})\//.exec(text(last) ?? "")?.[1]
  return page === undefined ? undefined : Number(page)
}

function isReview({ stars, appName }: FeedEntry): boolean {
  if (stars === undefined && appName === undefined) throw changed("an entry is neither a review nor the app")
  return stars !== undefined
}

function reviewOf(
  { id, stars, title, text: content, version: appVersion, updated }: FeedEntry,
  seenAt: Date,
): StoreReview {
  return withoutUndefined<StoreReview>({
    id: required(id, reviewId),
    stars: required(stars, starsOf),
    title: titled(title),
    text: required(content, written),
    version: fact(appVersion, version),
    at: required(updated, (value) => moment(dateOf(value), seenAt)),
  })
}

function reviewId(value: unknown): string | undefined {
  return typeof value === "string" && /^[1-9]\d{0,19}$/.test(value) ? value : undefined
}

function starsOf(value: unknown): number | undefined {
  return typeof value === "string" && /^[1-5]$/.test(value) ? Number(value) : undefined
}

/** Returns milliseconds since 1970 from a timestamp with a time zone. */
function dateOf(value: unknown): number {
  const [time, day] = (typeof value === "string" && TIME.exec(value)) || []
  // Date parses 30 February as a day of March.
  return time !== undefined && Number(day) <= daysInMonth(time) ? Date.parse(time) : Number.NaN
}

const TIME = /^\d{4}-\d\d-(\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/
