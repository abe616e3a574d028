import type { Db } from "../database/types.ts"
import { bestFirst } from "../observations/best-first.ts"
import { DEMO, type Platform } from "../observations/types.ts"

/** So many keywords are looked at by one statement: 50 ms are the most that the embedded database may spend on it. */
const TERMS_AT_ONCE = 200

interface TermDaysQuery {
  appId: string
  platform: Platform
  storefront: string
  own: number
  /** The app is the demo's own, and so are its days. */
  isInvented: boolean
  from: string
  to: string
  /** The first of the keywords, in the order of the database (readFirstTerms). */
  first: string
}

/**
 * Queries for a `with`: `term`, and `pair`, each measured day's answer beside that of the measured day before (`was_…`,
 * null where there is none). The demo's days of real apps, and days before the keyword was tracked (`since`), are in no pair.
 */
export function termPairs(sql: Db, asked: TermDaysQuery, since: string | null) {
  const { appId, platform, storefront, own, isInvented, from, to, first } = asked
  const tracked =
    since === null ? sql`'-infinity'::date` : sql`greatest((added_at at time zone 'utc')::date, ${since}::date)`
  return sql`
    term as materialized (
      select term, ${tracked} as since
      from tracked_term
      where app_id = ${appId} and country = ${storefront} and term >= ${first}
      order by term
      limit ${TERMS_AT_ONCE}
    ), measured as materialized (
      select t.term, t.since, l.id as list_id, r.*, array_position(r.app_ids, ${own}::int) as rank
      from term t
      cross join lateral (
        select id, last_day, (select day from last_search_day(id, ${from}::date - 1, true)) as day_before
        from list
        where (platform, storefront, term) = (${platform}, ${storefront}, t.term)
        offset 0
      ) l
      cross join lateral (
        (
          select distinct on (day) day, source, depth, seen_at, origin, app_ids
          from search_readings(l.id, ${from}, ${to})
          where complete
          order by day, ${bestFirst(sql)}
        )
        union all
        (
          select day, source, depth, seen_at, origin, app_ids
          from search_readings(l.id, l.day_before, l.day_before)
          where complete
          order by ${bestFirst(sql)}
          limit 1
        )
      ) r
      where l.last_day >= ${from}::date
    ), pair as (
      select *
      from (
        select *, lag(day) over before as was_day, lag(source) over before as was_source, lag(depth) over before as was_depth,
          lag(origin) over before as was_origin, lag(app_ids) over before as was_ids, lag(rank) over before as was_rank
        from measured
        window before as (partition by list_id order by day)
      ) m
      where day >= greatest(since, ${from}::date)
        and (${isInvented} or origin <> ${DEMO} and was_origin is distinct from ${DEMO})
    )`
}

/** The keywords that each of the statements for all of an app's keywords there begins with. */
export async function readFirstTerms(
  sql: Db,
  { appId, storefront }: Pick<TermDaysQuery, "appId" | "storefront">,
): Promise<string[]> {
  const rows = await sql<{ term: string }[]>`
    select term
    from (
      select term, row_number() over (order by term) as place
      from tracked_term
      where app_id = ${appId} and country = ${storefront}
    ) t
    where (place - 1) % ${TERMS_AT_ONCE}::int = 0
    order by term
    limit 1000`
  return rows.map(({ term }) => term)
}
