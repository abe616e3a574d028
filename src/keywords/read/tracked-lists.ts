import type { Fragment, PendingQuery, Row } from "postgres"
import type { Db } from "../../database/types.ts"
import type { SideApp } from "./day-answers.ts"
import { latestAnswer } from "./latest-answer.ts"

/**
 * Queries an app's keywords in a storefront, each with its list and the results of its last measured day, null if there
 * is none. `rank` is the rank of the app `storeAppId`, 0 if it is absent. `part` adds conditions, an order or a limit
 * to the query of tracked_term.
 */
export function trackedLists(
  sql: Db,
  {
    appId,
    platform,
    storefront,
    storeAppId,
  }: Omit<SideApp, "storeAppId"> & { storeAppId: SideApp["storeAppId"] | Fragment },
  part: Fragment = sql``,
): PendingQuery<Row[]> {
  const keyword = { platform: sql`${platform}`, storefront: sql`${storefront}`, term: sql`k.term` }
  const rank = sql`coalesce(array_position(app_ids, ${storeAppId}::int), 0) as rank`
  // a keyword that was never measured may have figures
  return sql`
      select k.term, k.position, n.day as last_day, n.source, n.depth, n.seen_at, n.rank,
        coalesce(n.list_id, (
          select id
          from list
          where (platform, storefront, term) = (${platform}, ${storefront}, k.term)
        )) as list_id
      from (
        select term, position
        from tracked_term
        where app_id = ${appId} and country = ${storefront}
          ${part}
      ) k
      left join lateral (${latestAnswer(sql, sql`list_id, day, source, depth, seen_at, ${rank}`, keyword)}) n on true`
}
