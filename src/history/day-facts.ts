import type { Sql } from "../database/types.ts"
import { uncut } from "../database/uncut.ts"
import { DEMO } from "../observations/types.ts"
import { preferredRating } from "./rating-days.ts"
import { LOOKED_BELOW } from "./reviews/tallies.ts"

/** An app of a store (a store_app id) in one storefront. */
export interface AppPlace {
  app: number
  storefront: string
}

export interface RatingsDay {
  day: string
  seenAt: Date
  source: string
  /** Null = not said. */
  ratings: number | null
  rating: number | null
  /** The measured day before, by the same source; null = none. */
  before: { day: string; ratings: number | null; rating: number | null } | null
}

/**
 * What was read of apps' ratings on a UTC day, in the order given; null = not measured. Where several sources read the day, the
 * same one counts as in every other answer (RATING_SOURCES); the day before is of that source, for sources round and count
 * otherwise.
 */
export async function ratingsOn(sql: Sql, places: readonly AppPlace[], day: string): Promise<(RatingsDay | null)[]> {
  const rows = await sql<RatingsRow[]>`
    select c.day, c.seen_at as "seenAt", c.source, c.ratings, c.rating::numeric::float8 as rating, b.day as "beforeDay",
      b.ratings as "beforeRatings", b.rating::numeric::float8 as "beforeRating"
    from unnest(
      ${places.map(({ app }) => app)}::int[],
      ${places.map(({ storefront }) => storefront)}::text[]
    ) with ordinality p (app_id, storefront, place)
    left join lateral (
      select day, seen_at, source, ratings, rating, origin
      from rating_count
      where app_id = p.app_id and storefront = p.storefront and day = ${day}::date
      order by ratings is null, ${preferredRating(sql)}
      limit 1
    ) c on true
    left join lateral (
      select day, ratings, rating
      from rating_count
      where app_id = p.app_id and storefront = p.storefront and day < ${day}::date and source = c.source
        and (origin = ${DEMO}) = (c.origin = ${DEMO})
      order by day desc
      limit 1
    ) b on true
    order by p.place
    limit 100000`.then(uncut(100_000))
  return rows.map(({ beforeDay, beforeRatings, beforeRating, ...row }) => {
    if (row.day === null) return null
    const before = beforeDay === null ? null : { day: beforeDay, ratings: beforeRatings, rating: beforeRating }
    return { ...row, before } as RatingsDay
  })
}

interface RatingsRow {
  day: string | null
  seenAt: Date | null
  source: string | null
  ratings: number | null
  rating: number | null
  beforeDay: string | null
  beforeRatings: number | null
  beforeRating: number | null
}

/** A list of reviews of an app of a store: see feedOf. */
export interface AppFeed {
  app: number
  feed: string
}

export interface WrittenReviews {
  /**
   * Whether the feed was read completely since the span ended, or, while it lasts, since it began, and no gap between two
   * readings touches the span, nor lies it before all that any reading showed: else reviews may have been written that
   * nobody saw. Of a UTC day that is over the same as in tallyReviews.
   */
  measured: boolean
  /** When it was last read at all; null = never. */
  readAt: Date | null
  source: string | null
  count: number
  /** Of 1 and 2 stars. */
  low: number
  /** Null without reviews. */
  average: number | null
}

/**
 * Reviews that were written, or last edited, from `from` until before `to`, feed by feed in the order given; `now` tells
 * whether the span is over.
 */
export async function reviewsWritten(
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
      select max(r.seen_at) as seen_at, max(r.source) as source, max(r.seen_at) filter (where r.complete) as complete_at,
        coalesce(bool_or(r.empty), false) as empty
      from review_read r
      where r.app_id = f.app_id and r.feed = f.feed
    ) l on true
    left join lateral (
      select count(*) as count, count(*) filter (where stars <= 2) as low, avg(stars)::float8 as average
      from review
      where app_id = f.app_id and feed = f.feed and at >= ${from} and at < ${to}
    ) r on true
    left join lateral (${gapAt(sql, { from, to })}) g on true
    order by f.place
    limit 100000`.then(uncut(100_000))
  const since = to <= now ? to : from
  return rows.map(({ completeAt, gap, ...row }) => {
    return { ...row, measured: completeAt !== null && completeAt >= since && !gap }
  })
}

/**
 * Whether one of the span's reviews, or the first after it, appeared after all older ones had been seen last: no reading
 * showed both (see coveredDays). Of a feed `f` that was read as `l` says; without reviews only the store's word counts.
 */
function gapAt(sql: Sql, { from, to }: { from: Date; to: Date }) {
  return sql`
    select coalesce(
      bool_or(at >= ${from} and at < l.complete_at and (older_seen_at is null or older_seen_at < first_seen_at)),
      not l.empty
    ) as gap
    from (
      select at, first_seen_at, max(seen_at) over (
          order by at, review_id collate "C"
          rows between unbounded preceding and 1 preceding
        ) as older_seen_at
      from (
        (
          select review_id, at, first_seen_at, seen_at
          from review_version
          where app_id = f.app_id and feed = f.feed and current and at < ${from}
          order by at desc, review_id
          limit ${LOOKED_BELOW}
        )
        union all
        select review_id, at, first_seen_at, seen_at
        from review_version
        where app_id = f.app_id and feed = f.feed and current and at >= ${from} and at < ${to}
        union all
        (
          select review_id, at, first_seen_at, seen_at
          from review_version
          where app_id = f.app_id and feed = f.feed and current and at >= ${to}
          order by at, review_id collate "C"
          limit 1
        )
      ) around
    ) beside`
}
