import * as v from "valibot"
import { kind } from "../../core/kind.ts"
import { feedOf } from "../../core/observation/feed-name.ts"
import { checkIds } from "../../core/observation/invariants.ts"
import { Flag, Whole } from "../../core/observation/line-parts.ts"
import { LineProblem } from "../../core/observation/line-problem.ts"
import { reviewLanguage } from "../../lib/review-language.ts"
import { type BestOptions, provenanceOf, storeBest } from "../../measuring/record/best-rows.ts"
import { dropConsoleCopies, lockCopies } from "../store/console-feeds.ts"
import { deriveReviewDays, readReviewDays } from "../store/review-days.ts"
import { deriveReviewFeeds } from "../store/review-feeds.ts"
import { storeForms } from "../store/reviews.ts"
import {
  type PlayReviewsQuestion,
  type ReadingEnd,
  type ReviewsObservation,
  type ReviewsQuestion,
  SOURCES,
  shape,
} from "./review-shape.ts"

/** Stores each form of a review once, and how far the feed was read. */
export const reviews = kind<ReviewsObservation, ReviewsQuestion | PlayReviewsQuestion>({
  name: "reviews",
  sources: SOURCES,
  private: false,
  demo: true,
  shape,
  unordered: "reviews",
  line: {
    entries: {
      page: null,
      token: null,
      next: null,
      more: null,
      end: null,
      pages: v.optional(Whole),
      /**
       * True if no review is missing between the newest review and the previously stored reviews. Ignored if the
       * reading contains none of the stored reviews.
       */
      complete: v.optional(Flag),
    },
    read({ pages = 1, complete, ...page }: ReviewsObservation & Partial<ReadingEnd>) {
      const empty = page.reviews.length === 0
      if (empty && complete !== true) throw new LineProblem("complete: must be true when reviews is empty")
      return { ...page, ...(complete !== undefined && { end: { pages, complete, empty } }) }
    },
  },
  question: {
    about: ({ storeId }) => storeId,
    checkSubject: (subject, platform) => checkIds(platform, [subject], "requested apps"),
  },
  names: ({ storeId }) => ({ apps: [storeId] }),
  // A review has the weight 2, because storing it takes about as long as storing two search results.
  weight: ({ reviews }) => 2 * reviews.length,
  split: splitPage,
  async store(tx, pages, { appOf }) {
    const placed = pages.map((from) => ({ from, appId: appOf(from.platform, from.storeId), feed: feedOf(from) }))
    const stored = await storeForms(tx, placed)
    const onPlay = placed.filter(({ from }) => from.platform === "android")
    if (onPlay.length > 0) {
      await lockCopies(tx, onPlay)
      await dropConsoleCopies(tx, onPlay)
    }
    const ends = placed.flatMap(({ from, appId, feed }) =>
      from.end ? [{ from, row: { app_id: appId, feed, ...from.end, ...provenanceOf(from) } }] : [],
    )
    return { placed: [...stored, ...(await storeBest(tx, ENDS, ends))] }
  },
  async derive(tx, { placed }, { appOf }) {
    const pages = placed.map((from) => ({
      appId: appOf(from.platform, from.storeId),
      feed: feedOf(from),
      ids: from.reviews.map(({ id }) => id),
    }))
    await deriveReviewDays(tx, await readReviewDays(tx, pages))
    await deriveReviewFeeds(tx, pages)
  },
  latest: (sql, { platform, storefront, subject }, since) => sql`
    select max(f.read_at) as "seenAt"
    from store_app a
    join review_feed f on f.app_id = a.id
    where (a.platform, a.store_id) = (${platform}, ${subject})
      and f.feed = ${feedOf({ platform, storefront, language: reviewLanguage(storefront) })} and f.read_at >= ${since}`,
  example: {
    source: "apple-reviews",
    platform: "ios",
    storefront: "us",
    storeId: "897446215",
    seenAt: "2025-10-25T03:25:01Z",
    complete: true,
    reviews: [
      {
        id: "13621253308",
        stars: 5,
        title: "Great",
        text: "Easy to use.",
        version: "4.1",
        at: "2025-10-24T06:23:00-07:00",
      },
    ],
  },
})

const ENDS: BestOptions = { table: "review_read", key: ["app_id", "feed", "source", "complete"] }

/**
 * Splits a page. Only the last part has `end`, so that an interrupted import does not make the stored reviews look
 * complete.
 */
function splitPage(page: ReviewsObservation, most: number): [ReviewsObservation, ReviewsObservation | null] {
  const { end: _end, ...unended } = page
  const size = Math.max(1, Math.floor(most / 2))
  if (page.reviews.length <= size) return [page, null]
  return [
    { ...unended, reviews: page.reviews.slice(0, size) },
    { ...page, reviews: page.reviews.slice(size) },
  ]
}
