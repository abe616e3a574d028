import type { Db } from "../../database/types.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { findText } from "./find-text.ts"
import {
  compareReviews,
  directionOf,
  type FeedKey,
  type FoundReviews,
  isAfter,
  isWanted,
  milliseconds,
  type ReviewSearch,
  type ShownReview,
  startOf,
  toStoredReview,
} from "./reviews.ts"

/** Returns the reviews that match a search. Without a text, the total comes from the counts per day (review_day). */
export async function findReviews(sql: Db, search: ReviewSearch, limit: number): Promise<FoundReviews> {
  const { text, ...rest } = search
  if (text !== undefined) return await findText(sql, { ...rest, text }, limit)
  const [found] = await sql<[{ total: number; shown: ShownReview[] }]>`
    with day as materialized (${countedDays(sql, search)}
    ), shown as materialized (${isAll(search) ? inOrder(sql, search, limit) : inOrderOfDays(sql, search, limit)})
    select
      (select coalesce(sum(count), 0)::int from day) as total,
      (
        select coalesce(
          json_agg(
            json_build_object(
              'id', review_id, 'at', ${milliseconds(sql, "at")}, 'stars', stars, 'title', title, 'text', text,
              'version', version, 'firstSeenAt', ${milliseconds(sql, "first_seen_at")},
              'seenAt', ${milliseconds(sql, "seen_at")}
            )
            order by at ${directionOf(sql, search)}, review_id collate "C"
          ),
          '[]'
        )
        from shown
      ) as shown`
  const { total, shown } = found
  return { total, reviews: shown.map(toStoredReview) }
}

/** Like findReviews, over several feeds merged into one list. */
export async function findInFeeds(
  sql: Db,
  feeds: readonly FeedKey[],
  filters: Omit<ReviewSearch, keyof FeedKey>,
  limit: number,
): Promise<FoundReviews> {
  const found: FoundReviews[] = []
  for (const feed of feeds) found.push(await findReviews(sql, { ...feed, ...filters }, limit))
  const reviews = found.flatMap((each) => each.reviews)
  if (feeds.length > 1) reviews.sort(compareReviews(filters.order ?? "newest"))
  return { total: found.reduce((sum, { total }) => sum + total, 0), reviews: reviews.slice(0, limit) }
}

/** Without filters, reads in the order of the index: a lookup per day takes a third longer for a page of 50 days. */
function inOrder(sql: Db, search: ReviewSearch, limit: number) {
  const direction = directionOf(sql, search)
  return sql`
      select *
      from (
        select ${shownColumns(sql)}
        from review_version
        where app_id = ${search.appId} and feed = ${search.feed} and current
          and at >= ${startOf(search.from)} and at < ${startOf(addDays(search.to, 1))} ${isAfter(sql, search)}
        order by at ${direction}
        fetch first (${limit}) rows with ties
      ) v
      order by v.at ${direction}, v.review_id collate "C"
      limit ${limit}`
}

/**
 * With filters, reads only the days that have matching reviews, until these have enough reviews. The day of `after`
 * counts as zero, because some of its reviews come before `after`.
 */
function inOrderOfDays(sql: Db, search: ReviewSearch, limit: number) {
  const direction = directionOf(sql, search)
  const { after, order } = search
  const first = after && dayOf(new Date(after.at))
  const days =
    first === undefined
      ? sql`select day, count from day`
      : sql`
          select day, case when day = ${first}::date then 0 else count end as count
          from day
          where ${order === "oldest" ? sql`day >= ${first}::date` : sql`day <= ${first}::date`}`
  return sql`
      select v.*
      from (
        select day, sum(count) over (order by day ${direction}) - count as before
        from (${days}) d
      ) d
      cross join lateral (
        select ${shownColumns(sql)}
        from review_version
        where app_id = ${search.appId} and feed = ${search.feed} and current
          and at >= d.day::timestamp at time zone 'utc' and at < (d.day + 1)::timestamp at time zone 'utc'
          ${isWanted(sql, search)} ${isAfter(sql, search)}
        order by at ${direction}
        fetch first (${limit}) rows with ties
      ) v
      where d.before < ${limit}
      order by v.at ${direction}, v.review_id collate "C"
      limit ${limit}`
}

function shownColumns(sql: Db) {
  return sql`review_id, at, stars, title, text, version, first_seen_at, seen_at`
}

function isAll({ stars, version }: ReviewSearch): boolean {
  return stars === undefined && version === undefined
}

function countedDays(sql: Db, search: ReviewSearch) {
  const { appId, feed, from, to, stars, version } = search
  const count = sql`
    (
      select sum(v.count)::int
      from unnest(d.versions, d.stars, d.counts) v (version, stars, count)
      where true ${isWanted(sql, { stars, version })}
    )`
  return sql`
      select day, count
      from (
        select d.day, ${isAll(search) ? sql`d.reviews` : count} as count
        from review_day d
        where d.app_id = ${appId} and d.feed = ${feed} and d.day >= ${from} and d.day <= ${to}
      ) c
      where count > 0`
}
