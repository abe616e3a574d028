import type { Db } from "../../database/types.ts"
import { dayOf } from "../../lib/days.ts"
import type { ReviewText } from "../formulas/review-text.ts"
import { readFeed } from "./feeds.ts"

export interface FeedKey {
  appId: number
  feed: string
}

/**
 * `none`: the store stated that there are no reviews. `some`: reviews were imported without a reading of the feed.
 * `never_read` does not mean `none`.
 */
export interface FeedState {
  state: "read" | "none" | "some" | "never_read"
  readAt: Date | null
  complete: boolean
  /** The latest complete reading. */
  completeAt: Date | null
}

export async function readFeedState(sql: Db, feed: FeedKey): Promise<FeedState> {
  const row = await readFeed(sql, feed)
  if (row === null) return { state: "never_read", readAt: null, complete: false, completeAt: null }
  const { empty, ...rest } = row
  return { state: row.readAt === null ? "some" : empty ? "none" : "read", ...rest }
}

/** Returns the origin of the latest reading of a feed. Null if it was never read. */
export async function readFeedOrigin(sql: Db, { appId, feed }: FeedKey): Promise<string | null> {
  const [row] = await sql<{ origin: string }[]>`
    select origin
    from review_read
    where (app_id, feed) = (${appId}, ${feed})
    order by seen_at desc, complete desc, source
    limit 1`
  return row?.origin ?? null
}

export interface StoredReview extends ReviewText {
  id: string
  stars: number
  /** App version. Null if unknown. */
  version: string | null
  /** When the review was written or last edited. */
  at: Date
  /** The first reading with the review in this form. */
  firstSeenAt: Date
  seenAt: Date
}

/** Searches the current forms of reviews written on UTC days from `from` to `to`, both inclusive. */
export interface ReviewSearch extends FeedKey {
  from: string
  to: string
  /** Folded text (foldReviewText) that the title or text must contain. */
  text?: string
  stars?: readonly number[]
  version?: string
  /** The order by time, and within the same time by id. Default: newest. */
  order?: TimeOrder
  /** Only reviews that come after this place in that order. */
  after?: Place
  /** False: a search for a text stops after the last review that it returns, so its total is too low. Default: true. */
  isCounted?: boolean
}

export type TimeOrder = "newest" | "oldest"

export interface FoundReviews {
  /** Number of all matches, including those before `after`. */
  total: number
  reviews: StoredReview[]
}

/** A position in a feed; `at` in milliseconds since 1970. */
export interface Place {
  at: number
  id: string
}

/** A review as JSON returns it, with times in milliseconds since 1970. */
export interface ShownReview extends ReviewText, Place {
  stars: number
  version: string | null
  firstSeenAt: number
  seenAt: number
}

export function toStoredReview({ at, firstSeenAt, seenAt, ...review }: ShownReview): StoredReview {
  const { id, stars, title, text, version } = review
  const times = { at: new Date(at), firstSeenAt: new Date(firstSeenAt), seenAt: new Date(seenAt) }
  return { id, stars, title, text, version, ...times }
}

/** Compares two reviews as SQL orders them: by time, then by id. */
export function compareReviews(order: TimeOrder) {
  const sign = order === "newest" ? -1 : 1
  return (a: { at: Date; id: string }, b: { at: Date; id: string }) =>
    sign * (a.at.getTime() - b.at.getTime()) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}

/** Returns the SQL direction in which an order sorts times. */
export function directionOf(sql: Db, { order }: Pick<ReviewSearch, "order">) {
  return order === "oldest" ? sql`asc` : sql`desc`
}

/** Selects the reviews that come after a place. The bound on the time alone lets the database use the index. */
export function isAfter(sql: Db, { order, after }: Pick<ReviewSearch, "order" | "after">) {
  if (!after) return sql``
  const at = new Date(after.at)
  return order === "oldest"
    ? sql`and at >= ${at} and (at > ${at} or review_id collate "C" > ${after.id})`
    : sql`and at <= ${at} and (at < ${at} or review_id collate "C" > ${after.id})`
}

export function isWanted(sql: Db, { stars, version }: Pick<ReviewSearch, "stars" | "version">) {
  return sql`
    ${stars ? sql`and stars = any(${[...stars]}::smallint[])` : sql``}
    ${version === undefined ? sql`` : sql`and version = ${version}`}`
}

export function startOf(day: string): Date {
  return new Date(`${day}T00:00:00Z`)
}

/** Selects a time column in milliseconds since 1970, for JSON. */
export function milliseconds(sql: Db, column: string) {
  return sql`(extract(epoch from ${sql(column)}) * 1000)::bigint`
}

/** Number of newest reviews that are compared. */
const NEWEST = 5_000

/**
 * Counts the reviews that were first read on the day of the feed's latest reading and are newer than all reviews stored
 * before. Null if the number is unknown.
 */
export async function countNewReviews(sql: Db, { appId, feed }: FeedKey, state: FeedState): Promise<number | null> {
  if (state.readAt === null || !state.complete) return null
  const day = startOf(dayOf(state.readAt))
  const [row] = await sql<[{ newest: Date | null; newer: number; count: number }]>`
    with held as materialized (
      select d.day, (
          select coalesce(sum(n.reviews), 0)
          from review_day n
          where n.app_id = d.app_id and n.feed = d.feed and n.day > d.day
        ) as newer
      from review_day d
      where d.app_id = ${appId} and d.feed = ${feed} and d.first_seen_at < ${day}
      order by d.day desc
      limit 1
    ), before as materialized (
      select v.at
      from held h
      cross join lateral (
        select at
        from review_version
        where app_id = ${appId} and feed = ${feed} and current and first_seen_at < ${day}
          and at >= h.day::timestamp at time zone 'utc' and at < (h.day + 1)::timestamp at time zone 'utc'
        order by at desc
        limit 1
      ) v
      where h.newer < ${NEWEST}
    )
    select (select at from before) as newest, count(*) as newer,
      count(*) filter (where e.first_seen_at >= ${day}) as count
    from (
      select review_id
      from review_version
      where app_id = ${appId} and feed = ${feed} and current and at > (select at from before)
      order by at desc
      limit ${NEWEST}
    ) v
    cross join lateral (
      select min(first_seen_at) as first_seen_at
      from review_version
      where (app_id, feed, review_id) = (${appId}, ${feed}, v.review_id)
    ) e`
  const { newest, newer, count } = row
  if (newest !== null && newer < NEWEST) return count
  return state.state === "none" ? 0 : null
}
