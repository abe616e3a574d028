import { withoutUndefined } from "../../lib/objects.ts"
import { at, count } from "../../measuring/parsing/json.ts"
import { fact, required } from "../../measuring/parsing/required.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import { answerOf, playRequestIn } from "../../stores/play/blocks.ts"
import type { PlayReviewsQuestion, ReviewsObservation, StoreReview } from "../kinds/review-shape.ts"
import { reviews } from "../kinds/reviews.ts"
import { moment, reviewsOf, titled, version, written } from "./reviews.ts"

const PARSER = 1

/** The page size, which is the store's maximum. */
export const PLAY_REVIEWS = 150

/**
 * Reads Google Play's reviews of an app in one language, newest first, page by page: each page has the token of the
 * next page. The country makes no difference. New reviews have no title, but old reviews keep theirs. The version is
 * the app's version when the review was written; every fourth review has none (recorded). An empty page is parsed like
 * any other page. If the RPC returns nothing at all, `more` is omitted, because then it is unknown whether there are
 * reviews.
 */
export const playReviews = {
  name: "play-reviews",
  kind: reviews,
  upstream: "play.google.com",
  parser: PARSER,
  namesPeople: true,
  request({ storefront, language, storeId, token }) {
    const query = { rpcids: RPC, "soc-app": "121", "soc-platform": "1", "soc-device": "1" }
    const { path, headers } = playRequestIn(language, "/_/PlayStoreUi/data/batchexecute", storefront, query)
    const call = [
      RPC,
      JSON.stringify([null, null, [2, NEWEST, [PLAY_REVIEWS, null, token ?? null], null, []], [storeId, 7]]),
    ]
    const body = new URLSearchParams({ "f.req": JSON.stringify([[[...call, null, "generic"]]]) }).toString()
    return { path, method: "POST", headers: { ...headers, "content-type": FORM }, body }
  },
  parse(body, { storefront, language, storeId, token }, about) {
    const { rows, next, says } = pageOf(answerOf(body, RPC))
    return {
      kind: "reviews",
      source: "play-reviews",
      platform: "android",
      storefront,
      language,
      storeId,
      ...(token !== undefined && { token }),
      ...(next !== undefined && { next }),
      reviews: reviewsOf(rows, (row) => reviewOf(row, about.seenAt)),
      ...(says && { more: next !== undefined }),
      parser: PARSER,
      origin: "own",
      ...about,
    }
  },
} satisfies Source<PlayReviewsQuestion, ReviewsObservation>

const RPC = "UsvDTd"
const NEWEST = 2
const FORM = "application/x-www-form-urlencoded;charset=UTF-8"

const changed = (detail: string) => new ReadFailure("changed", detail)

interface Page {
  rows: readonly unknown[]
  next: string | undefined
  /** Whether the page states if another page follows. */
  says: boolean
}

function pageOf(answer: unknown): Page {
  if (answer === null) return { rows: [], next: undefined, says: false }
  if (!Array.isArray(answer)) throw changed("no page of reviews")
  const [rows, onward] = answer
  if (!isNothing(rows) && !Array.isArray(rows)) throw changed("no list of reviews")
  if (!isNothing(onward) && !Array.isArray(onward)) throw changed("the token of the next page is not in a list")
  // A response without a list of reviews means that there are none only if it has no further part.
  const says = Array.isArray(rows) || answer.length <= 2
  return { rows: rows ?? [], next: fact(at(onward, 1), tokenOf), says }
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null
}

function tokenOf(value: unknown): string | undefined {
  return typeof value === "string" && /^[\x21-\x7e]{1,2000}$/.test(value) ? value : undefined
}

function reviewOf(row: unknown, seenAt: Date): StoreReview {
  return withoutUndefined<StoreReview>({
    id: required(at(row, 0), reviewId),
    stars: required(at(row, 2), starsOf),
    title: titled(at(row, 3)),
    text: fact(at(row, 4), written) ?? "",
    version: fact(at(row, 10), version),
    at: required(at(row, 5), (value) => moment(msOf(value), seenAt)),
  })
}

function reviewId(value: unknown): string | undefined {
  return typeof value === "string" && /^[\x21-\x7e]{1,100}$/.test(value) ? value : undefined
}

function starsOf(value: unknown): number | undefined {
  const stars = count(value)
  return stars !== undefined && stars >= 1 && stars <= 5 ? stars : undefined
}

/** Returns milliseconds from seconds since 1970 and nanoseconds. */
function msOf(value: unknown): number {
  const seconds = count(at(value, 0)) ?? Number.NaN
  const billionths = count(at(value, 1) ?? 0) ?? Number.NaN
  return billionths < 1e9 ? seconds * 1_000 + Math.floor(billionths / 1e6) : Number.NaN
}
