import type { Db, Tx } from "../../database/types.ts"

export interface FeedKey {
  appId: number
  feed: string
}

/** Derives review_feed, after reviews and days. Requires the locks of the feeds' reviews. Idempotent. */
export async function deriveReviewFeeds(tx: Tx, feeds: readonly FeedKey[]): Promise<number> {
  const [row] = await tx<[{ count: number }]>`
    with asked as materialized (
      select distinct app_id, feed
      from unnest(${feeds.map(({ appId }) => appId)}::int[], ${feeds.map(({ feed }) => feed)}::text[]) f (app_id, feed)
    ), known as materialized (
      select a.app_id, a.feed, r.seen_at as read_at, coalesce(r.complete, false) as complete,
        coalesce(r.empty, false) as empty, (
          select max(seen_at)
          from review_read
          where app_id = a.app_id and feed = a.feed and complete
        ) as complete_at
      from asked a
      left join lateral (
        select r.seen_at, r.complete and ${isJoined(tx)} as complete, r.empty
        from review_read r
        where r.app_id = a.app_id and r.feed = a.feed
        order by r.seen_at desc, r.complete desc, r.source
        limit 1
      ) r on true
      where r.seen_at is not null or exists (select from review_day where app_id = a.app_id and feed = a.feed)
    ), written as (
      insert into review_feed as held (app_id, feed, read_at, complete, empty, complete_at)
      select app_id, feed, read_at, complete, empty, complete_at
      from known
      order by app_id, feed
      on conflict (app_id, feed) do update
      set read_at = excluded.read_at, complete = excluded.complete, empty = excluded.empty,
        complete_at = excluded.complete_at
      where held is distinct from excluded
      returning app_id
    ), gone as (
      delete from review_feed
      where (app_id, feed) in (select app_id, feed from asked)
        and (app_id, feed) not in (select app_id, feed from known)
      returning app_id
    )
    select (select count(*) from written)::int + (select count(*) from gone)::int as count`
  return row.count
}

/** Maximum time between the first and last page of one reading, which may wait for its turns. */
const READING = "1 hour"
/** Number of newest reviews to compare. It is higher than the number of reviews in a reading. */
const LOOKED_AT = 1_000

/**
 * Returns the SQL condition that a complete reading connects to the previously stored reviews: it contains one of these
 * reviews, there were none, or the store stated that there are no reviews. A reading with only new reviews may have a
 * gap below it.
 */
export function isJoined(sql: Db) {
  return sql`
    (r.empty or (
      select count(*) = 0 or bool_or(v.seen_at > r.seen_at - ${READING}::interval)
      from (
        select first_seen_at, seen_at
        from review_version
        where app_id = r.app_id and feed = r.feed and current
        order by at desc, review_id collate "C"
        limit ${LOOKED_AT}
      ) v
      where v.first_seen_at < r.seen_at - ${READING}::interval
    ))`
}
