import type { PendingQuery, Row } from "postgres"
import type { Sql } from "../../database/types.ts"
import type { Side } from "../../observations/provenance.ts"

/**
 * An app's keywords in a storefront, all or `only` these, each with its list and the last day of that; null = its results were
 * never read.
 */
export function trackedLists(
  sql: Sql,
  { appId, platform, storefront }: Side & { appId: string },
  only?: readonly string[],
): PendingQuery<Row[]> {
  return sql`
      select k.term, k.position, l.id as list_id, l.last_day
      from tracked_term k
      left join lateral (
        select id, last_day
        from list
        where (platform, storefront, term) = (${platform}, ${storefront}, k.term)
        offset 0
      ) l on true
      where k.app_id = ${appId} and k.country = ${storefront}
        ${only ? sql`and k.term = any(${only as string[]}::text[])` : sql``}`
}
