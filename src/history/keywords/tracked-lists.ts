import type { Fragment, PendingQuery, Row } from "postgres"
import type { Sql } from "../../database/types.ts"
import type { SideApp } from "../day-answers.ts"
import { latestAnswer } from "./latest-answer.ts"

/**
 * An app's keywords in a storefront, all or `only` these, each with its list and what was answered on the last day of that:
 * null = its results were never read. `rank` 0 = the app was absent; it is that of `own`, whatever store_app id.
 */
export function trackedLists(
  sql: Sql,
  { appId, platform, storefront, own }: Omit<SideApp, "own"> & { own: SideApp["own"] | Fragment },
  only?: readonly string[],
): PendingQuery<Row[]> {
  const keyword = { platform: sql`${platform}`, storefront: sql`${storefront}`, term: sql`k.term` }
  const rank = sql`coalesce(array_position(app_ids, ${own}::int), 0) as rank`
  // of a keyword whose results were never read figures may be known
  return sql`
      select k.term, k.position, n.day as last_day, n.source, n.depth, n.seen_at, n.rank,
        coalesce(n.list_id, (
          select id
          from list
          where (platform, storefront, term) = (${platform}, ${storefront}, k.term)
        )) as list_id
      from tracked_term k
      left join lateral (${latestAnswer(sql, sql`list_id, day, source, depth, seen_at, ${rank}`, keyword)}) n on true
      where k.app_id = ${appId} and k.country = ${storefront}
        ${only ? sql`and k.term = any(${only as string[]}::text[])` : sql``}`
}
