import type { Db } from "../../database/types.ts"
import { addDays } from "../../lib/days.ts"
import { foldReview } from "../formulas/review-text.ts"
import { findInFeeds, findReviews } from "./find.ts"
import {
  compareReviews,
  type FeedKey,
  milliseconds,
  type Place,
  type ReviewSearch,
  type ShownReview,
  type StoredReview,
  startOf,
  type TimeOrder,
  toStoredReview,
} from "./reviews.ts"

export const SORTS = ["newest", "oldest", "lowest", "highest"] as const
export type Sort = (typeof SORTS)[number]

/** The start of a page, and the state of the feeds at the first page. */
interface PageStart {
  /** Number of matches when the first page was read. */
  total: number
  /**
   * The latest time that a reading contained a review of each feed, in milliseconds since 1970. Later pages list the
   * reviews as they were then, so that a new or edited review neither repeats another nor hides one.
   */
  seen: Readonly<Record<string, number>>
  /** The last review of the previous page. */
  last: Place & { stars: number }
}

interface ReviewPage {
  total: number
  reviews: StoredReview[]
  /** The latest time that a reading contained a review of each feed, for the next page. */
  seen: PageStart["seen"]
  /** Null if this is the last page. */
  last: PageStart["last"] | null
}

type Filters = Omit<ReviewSearch, keyof FeedKey | "order" | "after" | "isCounted">

interface PageOptions {
  sort: Sort
  limit: number
  /** Null for the first page. */
  start: PageStart | null
}

/** Returns a page of the feeds' reviews. The sort by stars lists the newest first within the same number of stars. */
export async function readReviewPage(
  sql: Db,
  feeds: readonly FeedKey[],
  filters: Filters,
  { sort, limit, start }: PageOptions,
): Promise<ReviewPage> {
  const seen = start?.seen ?? (await readLastSeen(sql, feeds))
  // a feed without a time had no review when the first page was read
  const paged = feeds.filter(({ feed }) => seen[feed] !== undefined)
  const edited = start ? await readEdited(sql, paged, seen) : []
  const total = start?.total ?? (await findInFeeds(sql, paged, filters, 1)).total
  const order: TimeOrder = sort === "oldest" ? "oldest" : "newest"
  const found: StoredReview[] = []
  for (const { stars, after } of groupsOf(sort, filters.stars, start)) {
    const search = { ...filters, stars, order, after, isCounted: false }
    const needed = limit + 1 - found.length
    if (needed > 0) found.push(...(await readGroup(sql, paged, search, { needed, seen, edited })))
  }
  const reviews = found.slice(0, limit)
  const last = found.length > limit ? reviews.at(-1) : undefined
  return { total, reviews, seen, last: last ? { at: last.at.getTime(), id: last.id, stars: last.stars } : null }
}

interface Group {
  stars: readonly number[] | undefined
  after: Place | undefined
}

/**
 * Returns the parts of the list in their order. If the list is sorted by stars, there is one part per number of stars.
 */
function groupsOf(sort: Sort, stars: readonly number[] | undefined, start: PageStart | null): Group[] {
  if (sort === "newest" || sort === "oldest") return [{ stars, after: start?.last }]
  const wanted = [1, 2, 3, 4, 5].filter((star) => stars === undefined || stars.includes(star))
  const groups = sort === "lowest" ? wanted : wanted.reverse()
  const first = start ? groups.indexOf(start.last.stars) : 0
  return groups.slice(first).map((star, at) => ({ stars: [star], after: at === 0 ? start?.last : undefined }))
}

interface GroupOptions {
  needed: number
  seen: PageStart["seen"]
  /** Reviews that were edited since the first page, in their form at the first page. */
  edited: readonly StoredReview[]
}

async function readGroup(
  sql: Db,
  feeds: readonly FeedKey[],
  search: Omit<ReviewSearch, keyof FeedKey>,
  { needed, seen, edited }: GroupOptions,
): Promise<StoredReview[]> {
  const found: StoredReview[] = edited.filter((review) => isFound(review, search))
  for (const feed of feeds) {
    const until = seen[feed.feed] as number
    let { after } = search
    let [unchanged, read] = [0, needed]
    // usually once; again if some reviews are new or were edited since the first page
    while (read >= needed && unchanged < needed) {
      const { reviews } = await findReviews(sql, { ...feed, ...search, after }, needed)
      const before = reviews.filter(({ firstSeenAt }) => firstSeenAt.getTime() <= until)
      found.push(...before)
      read = reviews.length
      unchanged += before.length
      const last = reviews.at(-1)
      after = last && { at: last.at.getTime(), id: last.id }
    }
  }
  return found.sort(compareReviews(search.order ?? "newest")).slice(0, needed)
}

/**
 * Returns whether a search finds the review. Applies the conditions of the SQL to the few reviews that were edited
 * meanwhile.
 */
function isFound(
  review: StoredReview,
  { from, to, stars, version, text, order, after }: Omit<ReviewSearch, keyof FeedKey>,
) {
  const { at, id } = review
  if (at < startOf(from) || at >= startOf(addDays(to, 1))) return false
  if (stars && !stars.includes(review.stars)) return false
  if (version !== undefined && review.version !== version) return false
  if (text !== undefined && !foldReview(review).includes(text)) return false
  return !after || compareReviews(order ?? "newest")({ at: new Date(after.at), id: after.id }, { at, id }) < 0
}

/** Returns the latest time that a reading contained a review of each feed. A feed without reviews is left out. */
async function readLastSeen(sql: Db, feeds: readonly FeedKey[]): Promise<Record<string, number>> {
  const rows = await sql<{ feed: string; seen: Date }[]>`
    select feed, max(seen_at) as seen
    from review_day
    where (app_id, feed) in (
        select *
        from unnest(${feeds.map(({ appId }) => appId)}::int[], ${feeds.map(({ feed }) => feed)}::text[])
      )
    group by feed`
  return Object.fromEntries(rows.map(({ feed, seen }) => [feed, seen.getTime()]))
}

/**
 * Returns the reviews that were edited since the times in `seen`, as they were then. Reads only days with reviews that
 * a later reading contained; there are none unless the feed was read between two pages.
 */
async function readEdited(sql: Db, feeds: readonly FeedKey[], seen: PageStart["seen"]): Promise<StoredReview[]> {
  const edited: StoredReview[] = []
  for (const { appId, feed } of feeds) {
    const until = new Date(seen[feed] as number)
    const rows = await sql<ShownReview[]>`
      with changed as materialized (
        select v.review_id
        from review_day d
        cross join lateral (
          select review_id
          from review_version
          where app_id = ${appId} and feed = ${feed} and current and first_seen_at > ${until}
            and at >= d.day::timestamp at time zone 'utc' and at < (d.day + 1)::timestamp at time zone 'utc'
        ) v
        where d.app_id = ${appId} and d.feed = ${feed} and d.seen_at > ${until}
      )
      select distinct on (v.review_id) v.review_id as id, ${milliseconds(sql, "v.at")} as at, v.stars, v.title,
        v.text, v.version, ${milliseconds(sql, "v.first_seen_at")} as "firstSeenAt",
        ${milliseconds(sql, "v.seen_at")} as "seenAt"
      from changed c
      join review_version v on v.app_id = ${appId} and v.feed = ${feed} and v.review_id = c.review_id
      where not v.current and v.first_seen_at <= ${until}
      order by v.review_id, v.at desc, v.seen_at desc, v.parser desc, v.digest`
    edited.push(...rows.map(toStoredReview))
  }
  return edited
}
