import * as v from "valibot"
import { inOrder, lookedAt } from "../../core/day-range.ts"
import { ofApp, operation } from "../../core/operation.ts"
import type { Sql } from "../../database/types.ts"
import { cursorOf, placeIn } from "../../lib/cursor.ts"
import { addDays, type Days, later } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { AppCountry, wholeNumber } from "../../lib/fields.ts"
import { coded, described, extending, named } from "../../lib/schema.ts"
import { isStorable } from "../../lib/text.ts"
import { Count, Day, Store, Storefront } from "../../tracking/shapes.ts"
import { foldReviewText } from "../formulas/review-text.ts"
import { findInFeeds } from "../read/find.ts"
import { readReviewPage, SORTS, type Sort } from "../read/pages.ts"
import { countNewReviews, type FeedKey, type ReviewSearch } from "../read/reviews.ts"
import {
  Feed,
  feedsOf,
  REVIEW_COLUMNS,
  REVIEW_FILTERS,
  Review,
  readAppFeed,
  reviewRows,
  Stars,
  shownReview,
} from "./review-shapes.ts"

const STORES = ["ios", "android"] as const

/** Number of reviews per store if the call sets no limit. */
const LISTED = 100
const MAX_LISTED = 1_000
/**
 * Number of days if the call sets no first day. A Google Play feed has the reviews of a whole language, so the default
 * covers fewer days.
 */
const PLAY_DAYS = 30
const LONGEST_CURSOR = 2_000

const listedFields = {
  from: described(Day, "First UTC day listed."),
  total: described(
    v.nullable(Count),
    "Stored reviews of these days. Null if never read or the app is not in that store.",
  ),
}

const ListedFeed = named("ListedFeed", extending(Feed, v.strictObject({ ...Feed.entries, ...listedFields })))

export const listReviews = operation({
  id: "list_reviews",
  method: "GET",
  path: "/apps/:appId/reviews",
  group: "Your apps",
  toolset: "reviews",
  summary: "Lists the newest reviews from the App Store and Google Play.",
  description:
    `At most ${LISTED} per store, newest first: iOS reviews within the plan's history, Google Play reviews of the ` +
    `last ${PLAY_DAYS} days, or since from. Null means never read or excluded by platform or language; an empty ` +
    "list means no reviews. With limit, sort or a filter, nextCursor leads to the next page. search_reviews " +
    "covers one store.",
  effect: "reads",
  scope: "reviews:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({
    country: AppCountry,
    platform: described(v.optional(Store), "Only this store."),
    ...REVIEW_FILTERS,
    language: described(
      v.optional(v.pipe(v.string(), v.maxLength(6), v.regex(/^[a-z]{2,3}(?:-[A-Z]{2})?$/))),
      "Only Google Play reviews in this language, such as pt-BR.",
    ),
    sort: described(v.optional(v.picklist(SORTS)), "Default: newest. lowest, highest: by stars, then newest first."),
    limit: v.optional(wholeNumber(1, MAX_LISTED, `Maximum per store. Default: ${LISTED}.`)),
    cursor: v.optional(
      coded(
        v.pipe(
          v.string(),
          v.minLength(1),
          v.maxLength(LONGEST_CURSOR),
          v.description("nextCursor of the previous page."),
        ),
        "bad_cursor",
      ),
    ),
  }),
  refine: inOrder,
  narrow: { rows: ["list", "android"] },
  output: v.strictObject({
    country: Storefront,
    newCount: described(
      v.nullable(Count),
      "iOS reviews first seen on the UTC day of the latest reading (feeds.ios.readAt) and newer than all stored " +
        "before. Null if unknown: never read, the reading was incomplete, or no earlier review is stored.",
    ),
    list: described(
      v.nullable(v.array(Review)),
      "iOS reviews. Null if never read or not in the App Store (see feeds.ios).",
    ),
    android: described(
      v.nullable(v.array(Review)),
      "Google Play reviews. Null if not read yet or not on Google Play (see feeds.android).",
    ),
    feeds: described(
      v.strictObject({
        ios: described(ListedFeed, "The App Store."),
        android: described(ListedFeed, "Google Play."),
      }),
      "Feed of each store and how completely it was read.",
    ),
    nextCursor: v.optional(
      described(
        v.nullable(v.string()),
        "Cursor of the next page. Null on the last page. Present only with a parameter other than country and " +
          "fields. Every page shows the state at the first.",
      ),
    ),
  }),
  table: {
    columns: ["platform", ...REVIEW_COLUMNS, "listedFrom", "total"],
    rows: ({ list, android, feeds }) =>
      STORES.flatMap((platform) => {
        const { from: listedFrom, total, ...feed } = feeds[platform]
        const reviews = platform === "ios" ? list : android
        return reviewRows(reviews, feed).map((row) => ({ platform, ...row, listedFrom, total }))
      }),
  },
}).run(async ({ app, storefront, ...input }, { sql, now, caller }) => {
  const { platform, q, rating, version, from, to, language, sort, limit, cursor } = input
  const filters = [platform, q, rating, version, from, to, language, sort]
  const isPaged = [...filters, limit, cursor].some((value) => value !== undefined)
  const called = [app.id, storefront, ...filters]
  const starts = cursor === undefined ? undefined : startsIn(called, cursor)
  const days = lookedAt("reviews", { from, to }, now(), caller)
  const playFrom = from ?? addDays(days.to, 1 - PLAY_DAYS)
  const listed = { ios: days, android: { from: later(playFrom, days.from), to: days.to } }
  const ios = await readAppFeed(sql, app, { platform: "ios", storefront })
  const android = await readAppFeed(sql, app, { platform: "android", storefront, language })
  const isExcluded = { ios: platform === "android" || language !== undefined, android: platform === "ios" }
  const read = async (store: (typeof STORES)[number]): Promise<Listed> => {
    const feeds = isExcluded[store] ? null : feedsOf(store === "ios" ? ios : android)
    if (feeds === null) return NOT_LISTED
    if (!isPaged) return { ...(await findInFeeds(sql, feeds, listed[store], LISTED)), next: null }
    const start = starts?.[store]
    return await readPage(sql, feeds, { q, rating, version, sort, days: listed[store], limit: limit ?? LISTED, start })
  }
  const pages = { ios: await read("ios"), android: await read("android") }
  const next = { ios: pages.ios.next, android: pages.android.next }
  const nextCursor = next.ios?.last || next.android?.last ? cursorOf(called, next) : null
  const shownFeed = (store: (typeof STORES)[number]) => ({ from: listed[store].from, total: pages[store].total })
  return {
    country: storefront,
    newCount: ios.feedKey && (await countNewReviews(sql, ios.feedKey, ios.feedState)),
    list: pages.ios.reviews?.map(shownReview) ?? null,
    android: pages.android.reviews?.map(shownReview) ?? null,
    feeds: { ios: { ...ios.shown, ...shownFeed("ios") }, android: { ...android.shown, ...shownFeed("android") } },
    ...(isPaged && { nextCursor }),
  }
})

/** The start of a store's next page. Null if the first page contained no list for the store. */
const StoreStart = v.nullable(
  v.strictObject({
    total: Count,
    seen: v.record(v.string(), v.number()),
    /** Null if the page ended with the store's last review. */
    last: v.nullable(
      v.strictObject({
        at: v.pipe(v.number(), v.integer()),
        id: v.pipe(v.string(), v.check(isStorable)),
        stars: Stars,
      }),
    ),
  }),
)
type StoreStart = v.InferOutput<typeof StoreStart>
const Starts = v.strictObject({ ios: StoreStart, android: StoreStart })

/** Throws bad_cursor unless the cursor comes from a call with the same input, except limit and fields. */
function startsIn(called: unknown, cursor: string): v.InferOutput<typeof Starts> {
  const starts = v.safeParse(Starts, placeIn(called, cursor))
  if (!starts.success) throw new Fault("bad_cursor", { field: "cursor", detail: NO_CURSOR })
  return starts.output
}

const NO_CURSOR =
  "cursor must be the nextCursor of a page with the same app, country, platform, language, sort and filters; only " +
  "limit and fields may differ. Omit it for the first page."

interface Listed {
  total: number | null
  reviews: Parameters<typeof shownReview>[0][] | null
  next: StoreStart
}

const NOT_LISTED: Listed = { total: null, reviews: null, next: null }

interface PageSearch extends Pick<ReviewSearch, "version"> {
  q?: string | undefined
  rating?: readonly number[] | undefined
  sort?: Sort | undefined
  days: Days
  limit: number
  /** Undefined for the first page. */
  start: StoreStart | undefined
}

/** Returns a page of a store's reviews, and the start of the next page. */
async function readPage(
  sql: Sql,
  feeds: readonly FeedKey[],
  { q, rating, version, sort = "newest", days, limit, start }: PageSearch,
): Promise<Listed> {
  if (start === null) return NOT_LISTED
  if (start?.last === null) return { total: start.total, reviews: [], next: start }
  const begin = start?.last ? { ...start, last: start.last } : null
  const filters = { ...days, stars: rating, version, text: q && foldReviewText(q) }
  const { reviews, ...next } = await readReviewPage(sql, feeds, filters, { sort, limit, start: begin })
  return { total: next.total, reviews, next }
}
