import type { Db } from "../../database/types.ts"
import { dayAnswers, type SideApp } from "./day-answers.ts"

interface RivalsQuery {
  side: SideApp
  manual: readonly string[]
}

/** Places read in total: all 200 of 100 keywords, the first 20 of each of 1,000. */
const PLACES = 20_000

/**
 * Queries for a `with`. An app is a rival where it ranks above the app; one added by hand is a rival everywhere, a
 * hidden one nowhere. Results below the app are not read unless rivals were added by hand.
 */
function placesAbove(sql: Db, { side, manual }: RivalsQuery) {
  const most = sql`${PLACES}::int / (select count(*) from answer)`
  const last = manual.length > 0 ? most : sql`least(coalesce(a.our_rank - 1, 32766), ${most})`
  const isNamed = sql`u.app_id in (select app_id from named)`
  const isWanted = manual.length > 0 ? sql`and (u.rank < coalesce(a.our_rank, 32767) or ${isNamed})` : sql``
  return sql`
    ${dayAnswers(sql, [side])}, named as materialized (
      select m.id as store_id, a.id as app_id
      from (select distinct unnest(${manual as string[]}::text[])) m (id)
      left join store_app a on (a.platform, a.store_id) = (${side.platform}, m.id)
    ), hidden as materialized (
      select s.id as app_id
      from tracked_app t
      cross join lateral unnest(t.hidden_rivals) h (rival)
      join store_app s on (s.platform, s.store_id) = (${side.platform}, split_part(h.rival, ':', 2))
      where t.id = ${side.appId} and split_part(h.rival, ':', 1) = ${side.platform}
    ), above as materialized (
      select u.app_id, min(u.rank)::int as best, count(*) filter (where u.rank < coalesce(a.our_rank, 32767)) as terms
      from answer a
      cross join lateral unnest(a.app_ids[1:${last}]) with ordinality u (app_id, rank)
      where u.app_id <> a.store_app_id ${isWanted}
        and u.app_id not in (select app_id from hidden)
      group by u.app_id
    )`
}

export interface FoundRival {
  rival: number
  manual: boolean
  /** On how many of the app's keywords it ranks above the app. */
  terms: number
  /** The day shown. Null if the rival was added by hand and no keyword has results in the storefront. */
  day: string | null
}

/** Returns all rivals added by hand and the first `most` of the others: most keywords first, then the best rank. */
export async function findRivalsToFollow(sql: Db, query: RivalsQuery, most: number): Promise<FoundRival[]> {
  return await sql<FoundRival[]>`
    with ${placesAbove(sql, query)}, first as materialized (
      select app_id, terms, best
      from above
      where app_id not in (select app_id from named where app_id is not null)
      order by terms desc, best
      fetch first (${most}) rows with ties
    ), found as materialized (
      -- Store ids are read only here, since they only break ties.
      select f.app_id, f.terms
      from first f
      join store_app s on s.id = f.app_id
      order by f.terms desc, f.best, s.store_id collate "C"
      limit ${most}
    ), day as materialized (
      select max(day) as day
      from term
    )
    select app_id as rival, false as manual, terms, (select day from day) as day
    from found
    union all
    select n.app_id, true, coalesce(a.terms, 0), (select day from day)
    from named n
    left join above a on a.app_id = n.app_id
    where n.app_id <> ${query.side.storeAppId}
    order by rival`
}
