import type { ListKey } from "../../core/observation/subjects.ts"
import type { Sql } from "../../database/types.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import type { RankSource } from "../../lib/upstreams.ts"
import { bestFirst } from "../../measuring/record/best-first.ts"

export interface DayResults {
  day: string
  source: RankSource
  /** "own", or the name of the instance that published it. */
  origin: string
  depth: number
  seenAt: Date
  appIds: number[]
}

interface Window {
  from: string
  to: string
  top: number
}

/** Returns a term's measured days, the latest first. */
export async function readDays(
  sql: Sql,
  { platform, storefront, term }: ListKey,
  { from, to, top }: Window,
): Promise<DayResults[]> {
  const rows = await sql<DayRow[]>`
    select r.day, r.source, r.origin, r.depth, r.seen_at as "seenAt", r.app_ids::text as "appIds"
    from list l
    cross join lateral (
      select distinct on (day) day, source, origin, depth, seen_at, app_ids[1:${top}::int] as app_ids
      from search_results
      where list_id = l.id and day between ${from} and ${to} and complete
      order by day desc, ${bestFirst(sql)}
    ) r
    where (l.platform, l.storefront, l.term) = (${platform}, ${storefront}, ${term})
    order by r.day desc
    limit 366`
  return rows.map(({ source, appIds, ...row }) => ({
    ...row,
    source: sourceOf(source),
    appIds: numbersIn(appIds),
  }))
}

interface DayRow extends Omit<DayResults, "source" | "appIds"> {
  source: number
  /** Text, because parsing it here takes half the time of the driver's array parser. */
  appIds: string
}

/** Parses PostgreSQL's text of an array without nulls. */
function numbersIn(array: string): number[] {
  return JSON.parse(`[${array.slice(1, -1)}]`) as number[]
}

/** Returns the latest day up to `to` on which a term was measured. Null if it was not. */
export async function readLastDayBy(
  sql: Sql,
  { platform, storefront, term }: ListKey,
  to: string,
): Promise<string | null> {
  const [row] = await sql<{ day: string | null }[]>`
    select r.day
    from list l
    cross join lateral (
      select day
      from search_results
      where list_id = l.id and day <= ${to} and complete
      order by day desc
      limit 1
    ) r
    where (l.platform, l.storefront, l.term) = (${platform}, ${storefront}, ${term})`
  return row?.day ?? null
}
