import type { StorefrontApp } from "../../core/observation/provenance.ts"
import type { Sql } from "../../database/types.ts"
import { dayOf, quarterOf } from "../../lib/days.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import { readStorefrontFeeds, type StorefrontOfApp } from "../../reviews/read/feeds.ts"
import { startOf } from "../../reviews/read/reviews.ts"
import { LOOKED_BELOW } from "../../reviews/read/tallies.ts"
import { preferredRating } from "../../stores/read/rating-days.ts"

interface RatingsDay {
  day: string
  seenAt: Date
  source: SourceName
  ratings: number | null
  rating: number | null
  /** The previous measured day of the same source. Null if there is none. */
  before: { day: string; ratings: number | null; rating: number | null } | null
}

/**
 * Returns the ratings of a day, in the order given. Null if not measured. Compares with the previous day of the same
 * source, because sources round differently.
 */
export async function readRatingsOn(
  sql: Sql,
  places: readonly StorefrontApp[],
  day: string,
): Promise<(RatingsDay | null)[]> {
  const rows = await sql<RatingsRow[]>`
    select c.day, c.seen_at as "seenAt", c.source, c.ratings, c.rating::numeric::float8 as rating, b.day as "beforeDay",
      b.ratings as "beforeRatings", b.rating::numeric::float8 as "beforeRating"
    from unnest(
      ${places.map(({ app }) => app)}::int[],
      ${places.map(({ storefront }) => storefront)}::text[]
    ) with ordinality p (app_id, storefront, place)
    left join lateral (
      select day, seen_at, source, ratings, rating
      from rating_day
      where app_id = p.app_id and storefront = p.storefront and day = ${day}::date and quarter = ${quarterOf(day)}::date
        and until >= ${day}::date
      order by ratings is null, ${preferredRating(sql)}
      limit 1
    ) c on true
    left join lateral (
      select day, ratings, rating
      from rating_count
      where app_id = p.app_id and storefront = p.storefront and day < ${day}::date and source = c.source
      order by day desc
      limit 1
    ) y on true
    left join lateral (
      select day, ratings, rating
      from rating_day
      where (y.day is null or y.day < ${day}::date - 1)
        and app_id = p.app_id and storefront = p.storefront and day < ${day}::date and source = c.source
        and quarter = any(array(
          select distinct quarter
          from rating_quarter
          where app_id = p.app_id and storefront = p.storefront and source = c.source
            and quarter <= ${quarterOf(day)}::date
          order by quarter desc
          limit 2
        ))
      order by day desc
      limit 1
    ) q on true
    cross join lateral (
      select
        case when q.day > y.day or y.day is null then q.day else y.day end as day,
        case when q.day > y.day or y.day is null then q.ratings else y.ratings end as ratings,
        case when q.day > y.day or y.day is null then q.rating else y.rating end as rating
    ) b
    order by p.place`
  return rows.map(({ beforeDay, beforeRatings, beforeRating, ...row }) => {
    if (row.day === null) return null
    const before = beforeDay === null ? null : { day: beforeDay, ratings: beforeRatings, rating: beforeRating }
    return { ...row, before } as RatingsDay
  })
}

interface RatingsRow {
  day: string | null
  seenAt: Date | null
  source: SourceName | null
  ratings: number | null
  rating: number | null
  beforeDay: string | null
  beforeRatings: number | null
  beforeRating: number | null
}

export interface AppFeed {
  app: number
  feed: string
}

export interface WrittenReviews {
  /**
   * True if no gap overlaps the span and the feed was read completely after the span ended, or after its start if it
   * has not ended.
   */
  measured: boolean
  /** Time of the feed's latest reading, complete or not. Null if it was never read. */
  readAt: Date | null
  source: SourceName | null
  count: number
  /** Number of reviews with 1 or 2 stars. */
  low: number
  average: number | null
}

/**
 * Returns, for each feed in the order given, figures of the reviews written or last edited from `from` until before
 * `to`. `now` decides whether the span is over.
 */
export async function readWrittenReviews(
  sql: Sql,
  feeds: readonly AppFeed[],
  { from, to, now }: { from: Date; to: Date; now: Date },
): Promise<WrittenReviews[]> {
  const rows = await sql<(Omit<WrittenReviews, "measured"> & { completeAt: Date | null; gap: boolean })[]>`
    select l.seen_at as "readAt", l.source, l.complete_at as "completeAt", r.count, r.low, r.average, g.gap
    from unnest(
      ${feeds.map(({ app }) => app)}::int[],
      ${feeds.map(({ feed }) => feed)}::text[]
    ) with ordinality f (app_id, feed, place)
    left join lateral (
      select max(r.seen_at) as seen_at, max(r.source) as source,
        max(r.seen_at) filter (where r.complete) as complete_at, coalesce(bool_or(r.empty), false) as empty
      from review_read r
      where r.app_id = f.app_id and r.feed = f.feed
    ) l on true
    left join lateral (
      select count(*) as count, count(*) filter (where stars <= 2) as low, avg(stars)::float8 as average
      from review
      where app_id = f.app_id and feed = f.feed and at >= ${from} and at < ${to}
    ) r on true
    left join lateral (${gapAt(sql, { from, to })}) g on true
    order by f.place`
  const since = to <= now ? to : from
  return rows.map(({ completeAt, gap, ...row }) => {
    return { ...row, measured: completeAt !== null && completeAt >= since && !gap }
  })
}

/**
 * Returns figures of the reviews of each storefront, from all of its feeds together (readStorefrontFeeds). A storefront
 * is measured if its first feed is.
 */
export async function readStorefrontReviews(
  sql: Sql,
  places: readonly StorefrontOfApp[],
  span: { from: Date; to: Date; now: Date },
): Promise<WrittenReviews[]> {
  const feeds = (await readStorefrontFeeds(sql, places)).map((names, at) =>
    names.map((feed) => ({ app: (places[at] as StorefrontOfApp).app, feed })),
  )
  const written = (await readWrittenReviews(sql, feeds.flat(), span)).values()
  return feeds.map((some) => merged(some.map(() => written.next().value as WrittenReviews)))
}

function merged([first, ...rest]: WrittenReviews[]): WrittenReviews {
  const all = [first as WrittenReviews, ...rest.filter(({ measured }) => measured)]
  const count = all.reduce((sum, each) => sum + each.count, 0)
  const stars = all.reduce((sum, each) => sum + each.count * (each.average ?? 0), 0)
  return {
    ...(first as WrittenReviews),
    count,
    low: all.reduce((sum, each) => sum + each.low, 0),
    average: count === 0 ? null : stars / count,
  }
}

/**
 * Returns SQL for whether a gap is possible: true if no reading contained both an older review and a review of the span
 * or the first review after it (see gapsOf). Older reviews of the span's first day are read individually, earlier ones
 * by day, newest first.
 */
function gapAt(sql: Sql, { from, to }: { from: Date; to: Date }) {
  const day = dayOf(from)
  return sql`
    select case
      when not exists (select from review_day where app_id = f.app_id and feed = f.feed) then not l.empty
      else beside.first_seen_at is not null and not exists (
        select
        from (
          select seen_at
          from review_day
          where app_id = f.app_id and feed = f.feed and day < ${day}
          order by day desc
          limit ${LOOKED_BELOW}
        ) older
        where older.seen_at >= beside.first_seen_at
      )
    end as gap
    from (
      select max(first_seen_at) filter (
          where at >= ${from} and at < l.complete_at and (older_seen_at is null or older_seen_at < first_seen_at)
        ) as first_seen_at
      from (
        select at, first_seen_at, max(seen_at) over (
            order by at, review_id collate "C"
            rows between unbounded preceding and 1 preceding
          ) as older_seen_at
        from (
          select review_id, at, first_seen_at, seen_at
          from review_version
          where app_id = f.app_id and feed = f.feed and current and at >= ${startOf(day)} and at < ${to}
          union all
          (
            select review_id, at, first_seen_at, seen_at
            from review_version
            where app_id = f.app_id and feed = f.feed and current and at >= ${to}
            order by at, review_id collate "C"
            limit 1
          )
        ) around
      ) each
    ) beside`
}
