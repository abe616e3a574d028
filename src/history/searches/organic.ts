import type { Db } from "../../database/types.ts"

/** Where an app stands on a term without being advertised, as last measured. */
export interface OrganicRank {
  /** Null = not among the results read, or not measured. */
  rank: number | null
  measured: boolean
  /** The workspace tracks the term for the app there. */
  tracked: boolean
  /** The UTC day it was measured on; null = never. */
  day: string | null
}

/** By term, of an App Store app in a storefront; what nobody ever searched for is not measured. */
export async function readOrganicRanks(
  sql: Db,
  { appId, own, storefront }: { appId: string; own: number | null; storefront: string },
  terms: readonly string[],
): Promise<Map<string, OrganicRank>> {
  const rows = await sql<(OrganicRank & { term: string })[]>`
    select t.term, array_position(n.app_ids, ${own}::int) as rank, n.list_id is not null as measured, n.day, exists (
      select
      from tracked_term k
      where k.app_id = ${appId} and k.country = ${storefront} and k.term = t.term
    ) as tracked
    from unnest(${[...new Set(terms)]}::text[]) t (term)
    left join lateral (
      select id
      from list
      where (platform, storefront, term) = ('ios', ${storefront}, t.term)
      offset 0
    ) l on true
    left join list_now n on n.list_id = l.id
    order by t.term
    limit 10000`
  return new Map(rows.map(({ term, ...organic }) => [term, organic]))
}

/** What is tracked for an app in a storefront, in its order. */
export async function readTrackedTerms(sql: Db, appId: string, storefront: string): Promise<string[]> {
  const rows = await sql<{ term: string }[]>`
    select term
    from tracked_term
    where app_id = ${appId} and country = ${storefront}
    order by position, term
    limit 1000`
  return rows.map(({ term }) => term)
}
