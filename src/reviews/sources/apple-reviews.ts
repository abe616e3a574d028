import { daysInMonth } from "../../lib/days.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { text } from "../../measuring/parsing/json.ts"
import { mismatched } from "../../measuring/parsing/mismatched.ts"
import { asksForProof } from "../../measuring/parsing/proof.ts"
import { fact, required } from "../../measuring/parsing/required.ts"
import { MAX_XML_BYTES } from "../../measuring/parsing/xml.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import type { ReviewsObservation, ReviewsQuestion, StoreReview } from "../kinds/review-shape.ts"
import { reviews } from "../kinds/reviews.ts"
import { type FeedEntry, feedOfJson, feedOfXml, type ReviewsFeed } from "./apple-reviews-feed.ts"
import { moment, reviewsOf, titled, version, written } from "./reviews.ts"

const PARSER = 1

/** The feed has so many pages of 50 at most; a further one is refused with status 400. */
export const REVIEW_PAGES = 10

/**
 * The App Store's feed of an app's reviews in a storefront, newest first: its XML form, which in 2026 is filled where the
 * JSON form is empty, and only for a reader that calls itself iTunes. A page without reviews is read like any other; that
 * there are none is for the reading of all pages to say: since October 2026 pages in the middle are empty at random.
 *
 * `more` follows from the link to the last page: the link to the next one leads on for ever (recorded). Where that link is
 * empty, as it was recorded of an app without reviews and of an id that is no app's, `more` is left out. `request` throws
 * a RangeError for a page that the feed cannot have.
 */
export const appleReviews: Source<ReviewsQuestion, ReviewsObservation> = {
  name: "apple-reviews",
  kind: reviews,
  upstream: "itunes.apple.com",
  parser: PARSER,
  namesPeople: true,
  maxBytes: MAX_XML_BYTES,
  request: (asked) => feedRequest(asked, "xml"),
  parse(body, asked, about) {
    const { storefront, storeId, page } = asked
    const feed = feedOf(body)
    checkAnswers(feed, asked)
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
}

/** The same feed in its JSON form, for when the other is not understood. That it is empty says nothing. */
export const appleReviewsJson: Source<ReviewsQuestion, ReviewsObservation> = {
  ...appleReviews,
  request: (asked) => feedRequest(asked, "json"),
}

const changed = (detail: string) => new ReadFailure("changed", detail)

function feedRequest({ storefront, storeId, page }: ReviewsQuestion, form: "xml" | "json") {
  if (!(Number.isInteger(page) && page >= 1 && page <= REVIEW_PAGES))
    throw new RangeError(`the pages of a feed are 1 to ${REVIEW_PAGES}`)
  const path = `/${storefront}/rss/customerreviews/page=${page}/id=${encodeURIComponent(storeId)}/sortby=mostrecent/${form}`
  return { path, headers: { "user-agent": "iTunes/12.11" } }
}

function feedOf(body: string): ReviewsFeed {
  if (/^\s*\{/.test(body)) return feedOfJson(body)
  try {
    return feedOfXml(body)
  } catch (error) {
    // a review in a feed that broke off may say any of the words
    throw !/<feed[\s>]/.test(body) && asksForProof(body)
      ? new ReadFailure("blocked", "a proof is asked for", { cause: error })
      : error
  }
}

/** Throws unless the feed names the app and the storefront that were asked for, and no other page or order. */
function checkAnswers({ id }: ReviewsFeed, { storefront, storeId, page }: ReviewsQuestion): void {
  const [, country, path = "", query = ""] =
    /^https?:\/\/[^/?]+(?:\/([a-z]{2}))?\/rss\/customerreviews\/([^?]*)(?:\?(.*))?$/i.exec(text(id) ?? "") ?? []
  const said = Object.fromEntries(path.split("/").map((part) => part.toLowerCase().split("=", 2)))
  const place = country ?? new URLSearchParams(query).get("cc") ?? ""
  if (said.id === undefined || place === "") throw changed("the feed does not name its app or storefront")
  if (said.id !== storeId) throw mismatched("the feed is another app's")
  if (place.toLowerCase() !== storefront) throw mismatched("the feed is another storefront's", place.toLowerCase())
  if ((said.page ?? String(page)) !== String(page)) throw mismatched("another page than was asked for")
  if ((said.sortby ?? "mostrecent") !== "mostrecent") throw mismatched("another order than was asked for")
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

/** Milliseconds since 1970 of a time with its zone. */
function dateOf(value: unknown): number {
  const [time, day] = (typeof value === "string" && TIME.exec(value)) || []
  // Date takes 30 February for a day of March
  return time !== undefined && Number(day) <= daysInMonth(time) ? Date.parse(time) : Number.NaN
}

const TIME = /^\d{4}-\d\d-(\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/
