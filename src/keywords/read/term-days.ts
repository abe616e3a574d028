import type { Platform } from "../../core/observation/provenance.ts"
import type { Db } from "../../database/types.ts"
import { bestFirst } from "../../measuring/record/best-first.ts"

/** Keywords per statement: the embedded database may spend 50 ms on one. */
export const TERMS_AT_ONCE = 200

interface TermDaysQuery {
  platform: Platform
  storefront: string
  storeAppId: number
  /** Only readings of this publisher are compared. */
  origin: string
  from: string
  to: string
  /** At most TERMS_AT_ONCE. */
  terms: readonly string[]
}

/**
 * Queries for a `with`: `measured`, and `pair`, each measured day's results with those of the previous measured day
 * (`was_…`, null if there is none).
 */
export function termPairs(sql: Db, { platform, storefront, storeAppId, origin, from, to, terms }: TermDaysQuery) {
  return sql`
    measured as materialized (
      select t.term, l.id as list_id, r.*, array_position(r.app_ids, ${storeAppId}::int) as rank
      from unnest(${terms as string[]}::text[]) t (term)
      cross join lateral (
        select id, last_day, (
            select day
            from search_results
            where list_id = list.id and day < ${from}::date and complete and origin = ${origin}
            order by day desc
            limit 1
          ) as day_before
        from list
        where (platform, storefront, term) = (${platform}, ${storefront}, t.term)
        offset 0
      ) l
      cross join lateral (
        (
          select distinct on (day) day, source, depth, seen_at, app_ids
          from search_results
          where list_id = l.id and day between ${from} and ${to} and complete and origin = ${origin}
          order by day, ${bestFirst(sql)}
        )
        union all
        (
          select day, source, depth, seen_at, app_ids
          from search_results
          where list_id = l.id and day = l.day_before and complete and origin = ${origin}
          order by ${bestFirst(sql)}
          limit 1
        )
      ) r
      where l.last_day >= ${from}::date
    ), pair as (
      select *
      from (
        select *, lag(day) over before as was_day, lag(source) over before as was_source,
          lag(depth) over before as was_depth, lag(app_ids) over before as was_ids, lag(rank) over before as was_rank
        from measured
        window before as (partition by list_id order by day)
      ) m
      where day >= ${from}::date
    )`
}
