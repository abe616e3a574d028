import type { Tx } from "../../database/types.ts"

/** A UTC day, "YYYY-MM-DD", of an app's feed (see feedOf). */
export interface FeedDay {
  appId: number
  feed: string
  day: string
}

interface FeedReviews {
  appId: number
  feed: string
  ids: readonly string[]
}

/**
 * Returns the days on which any form of these reviews was written, which are the days that a change of these reviews
 * affects.
 */
export async function readReviewDays(tx: Tx, reviews: readonly FeedReviews[]): Promise<FeedDay[]> {
  const each = reviews.flatMap(({ appId, feed, ids }) => ids.map((id) => ({ appId, feed, id })))
  return await tx<FeedDay[]>`
    select distinct r.app_id as "appId", r.feed, (v.at at time zone 'utc')::date as day
    from unnest(
      ${each.map(({ appId }) => appId)}::int[], ${each.map(({ feed }) => feed)}::text[],
      ${each.map(({ id }) => id)}::text[]
    ) r (app_id, feed, review_id)
    cross join lateral (
      select at
      from review_version
      where (app_id, feed, review_id) = (r.app_id, r.feed, r.review_id)
      offset 0
    ) v
    order by 1, 2, 3
    limit ${MAX_DAYS}`
}

/** A limit that is higher than any call of record can reach. */
const MAX_DAYS = 1_000_000

/** Derives rows of review_day after reviews changed. Requires the locks of the feeds' reviews. Idempotent. */
export async function deriveReviewDays(tx: Tx, days: readonly FeedDay[]): Promise<number> {
  if (days.length === 0) return 0
  const [row] = await tx<[{ count: number }]>`
    with asked as materialized (
      select row_number() over () as place, a.*
      from (
        select distinct app_id, feed, day
        from unnest(
          ${days.map(({ appId }) => appId)}::int[], ${days.map(({ feed }) => feed)}::text[],
          ${days.map(({ day }) => day)}::date[]
        ) a (app_id, feed, day)
      ) a
    ), review as materialized (${reviewsOf(tx)}
    ), figure as (${figures(tx)}
    ), tally as (${tallies(tx)}
    ), derived as materialized (
      select *
      from asked
      join figure using (place)
      join tally using (place)
    ), written as (
      insert into review_day as held (
        app_id, feed, day, reviews, oldest_at, oldest_first_seen_at, first_seen_at, seen_at, gap_seen_at, versions,
        stars, counts
      )
      select app_id, feed, day, reviews, oldest_at, oldest_first_seen_at, first_seen_at, seen_at, gap_seen_at, versions,
        stars, counts
      from derived
      order by app_id, feed, day
      on conflict (app_id, feed, day) do update
      set reviews = excluded.reviews, oldest_at = excluded.oldest_at,
        oldest_first_seen_at = excluded.oldest_first_seen_at,
        first_seen_at = excluded.first_seen_at, seen_at = excluded.seen_at, gap_seen_at = excluded.gap_seen_at,
        versions = excluded.versions, stars = excluded.stars, counts = excluded.counts
      where held is distinct from excluded
      returning day
    ), gone as (
      delete from review_day
      where (app_id, feed, day) in (select app_id, feed, day from asked)
        and (app_id, feed, day) not in (select app_id, feed, day from derived)
      returning day
    )
    select (select count(*) from written)::int + (select count(*) from gone)::int as count`
  return row.count
}

/**
 * Selects the reviews of the days. They are ordered so that the embedded planner, which has no statistics, uses the
 * index of days instead of reading the whole feed for each day.
 */
function reviewsOf(tx: Tx) {
  return tx`
      select a.place, v.*
      from asked a
      cross join lateral (
        select review_id, at, stars, version, first_seen_at, seen_at
        from review_version
        where app_id = a.app_id and feed = a.feed and current
          and at >= a.day::timestamp at time zone 'utc' and at < (a.day + 1)::timestamp at time zone 'utc'
        order by at desc, review_id
        offset 0
      ) v`
}

/** Selects the figures of each day. `older_seen_at` is null only for a day's oldest review. */
function figures(tx: Tx) {
  return tx`
      select place, count(*) as reviews, min(at) as oldest_at,
        min(first_seen_at) filter (where older_seen_at is null) as oldest_first_seen_at,
        min(first_seen_at) as first_seen_at, max(seen_at) as seen_at,
        max(first_seen_at) filter (where older_seen_at < first_seen_at) as gap_seen_at
      from (
        select place, at, first_seen_at, seen_at, max(seen_at) over (
            partition by place
            order by at, review_id collate "C"
            rows between unbounded preceding and 1 preceding
          ) as older_seen_at
        from review
      ) beside
      group by place`
}

function tallies(tx: Tx) {
  return tx`
      select place, array_agg(version order by version collate "C" nulls last, stars) as versions,
        array_agg(stars order by version collate "C" nulls last, stars) as stars,
        array_agg(count order by version collate "C" nulls last, stars) as counts
      from (
        select place, version, stars, count(*)::int as count
        from review
        group by place, version, stars
      ) t
      group by place`
}
