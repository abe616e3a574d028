import type { Fragment } from "postgres"
import type { Db } from "../../database/types.ts"
import { latestAnswer } from "./latest-answer.ts"

/** An app's latest rank on a term in search results without ads. */
export interface OrganicRank {
  /** Null if the app is not among the results that were read, or the term was never measured. */
  rank: number | null
  measured: boolean
  /** Whether the workspace tracks the term for the app there. */
  tracked: boolean
  /** The UTC day of the measurement. Null if there is none. */
  day: string | null
}

/** Returns SQL for the OrganicRank of an App Store app on a term in a storefront, as JSON. */
export function organicRank(
  sql: Db,
  { appId, storeAppId, storefront }: { appId: string; storeAppId: number | null; storefront: string },
  term: Fragment,
): Fragment {
  const keyword = { platform: sql`'ios'`, storefront: sql`${storefront}`, term: sql`o.term` }
  return sql`(
    select json_build_object(
      'rank', array_position(n.app_ids, ${storeAppId}::int),
      'measured', n.list_id is not null,
      'day', n.day,
      'tracked', exists (
        select
        from tracked_term k
        where k.app_id = ${appId} and k.country = ${storefront} and k.term = o.term
      )
    )
    from (select ${term}::text as term) o
    left join lateral (${latestAnswer(sql, sql`list_id, day, app_ids`, keyword)}) n on true
  )`
}

/** Returns the first 1,000 terms that an app tracks in a storefront, in its order. */
export async function readTrackedTerms(sql: Db, appId: string, storefront: string): Promise<string[]> {
  const rows = await sql<{ term: string }[]>`
    select term
    from tracked_term
    where app_id = ${appId} and country = ${storefront}
    order by position, term
    limit 1000`
  return rows.map(({ term }) => term)
}
