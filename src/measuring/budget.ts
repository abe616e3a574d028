import type { Sql } from "../database/types.ts"
import { DAY_MS } from "../lib/time.ts"
import type { Upstream } from "../lib/upstreams.ts"
import type { Kind } from "./due-kind.ts"
import { PRIORITY } from "./priority.ts"

/** Requests per day to one upstream. */
export interface Budget {
  upstream: Upstream
  /** Requests needed per day for everything scheduled, split into those of paying plans and all others. */
  asked: number
  paying: number
  free: number
  /** Requests possible per day with the present gap. */
  can: number
  /** Requests possible per day with the base gap. */
  canAtBase: number
  /** Requests that have to wait each day. 0 if none. */
  short: number
}

export interface BudgetParts {
  kinds: readonly BudgetKind[]
  egress: string
  /** Milliseconds between two requests, for upstreams without a pace row. */
  gapsMs: ReadonlyMap<Upstream, number>
}

export type BudgetKind = Pick<
  Kind,
  "name" | "platform" | "upstream" | "storefronts" | "together" | "requests" | "everyDays"
>

/**
 * Returns the budget of each upstream. A request contains subjects of one storefront: 200 apps in one storefront need 4
 * look-ups, one app in each of 200 storefronts needs 200. Takes 25 ms for 86,400 rows on the embedded database, so
 * cache the result.
 */
export async function readBudget(sql: Sql, { kinds, egress, gapsMs }: BudgetParts): Promise<Budget[]> {
  const upstreams = [...new Set(kinds.map(({ upstream }) => upstream))]
  const bound = kinds.filter(({ storefronts }) => storefronts).map(({ upstream }) => upstream)
  const rows = await sql<BudgetRow[]>`
    with counted as materialized (
      select kind, platform, storefront, count(*) as subjects,
        count(*) filter (where priority < ${PRIORITY.free}) as paying
      from due
      group by kind, platform, storefront
    ), required as (
      select k.upstream, sum(ceil(c.subjects / k.together) * k.daily) as needed,
        sum(ceil(c.paying / k.together) * k.daily) as paying
      from counted c
      join ${kindRows(sql, kinds)} on (k.name, k.platform) = (c.kind, c.platform)
      where k.storefronts is null or c.storefront = any(string_to_array(k.storefronts, ','))
      group by k.upstream
    )
    select u.upstream, coalesce(a.needed, 0) as needed, coalesce(a.paying, 0) as paying, p.gap_ms as "gapMs",
      p.base_gap_ms as "baseGapMs", array(
        select array[o.gap_ms, o.base_gap_ms]
        from pace o
        where o.upstream = u.upstream and o.upstream <> all(${bound}::text[]) and o.egress <> ${egress}
          and o.next_at > now() - interval '1 day'
        order by o.egress
        limit 1000
      ) as "otherGaps"
    from unnest(${upstreams}::text[]) u (upstream)
    left join required a using (upstream)
    left join pace p on (p.upstream, p.egress) = (u.upstream, ${egress})
    order by u.upstream
    limit 100`
  return rows.map((row) => budget(row, gapsMs.get(row.upstream) ?? 0))
}

interface BudgetRow {
  upstream: Upstream
  needed: number
  paying: number
  gapMs: number | null
  baseGapMs: number | null
  otherGaps: [number, number][]
}

function kindRows(sql: Sql, kinds: readonly BudgetKind[]) {
  return sql`unnest(
    ${kinds.map(({ name }) => name)}::text[],
    ${kinds.map(({ platform }) => platform)}::text[],
    ${kinds.map(({ upstream }) => upstream)}::text[],
    ${kinds.map(({ storefronts }) => storefronts?.join(",") ?? null)}::text[],
    ${kinds.map(({ together }) => together)}::float8[],
    ${kinds.map(({ requests, everyDays }) => requests / everyDays)}::float8[]
  ) k (name, platform, upstream, storefronts, together, daily)`
}

function budget({ upstream, needed, paying, gapMs, baseGapMs, otherGaps }: BudgetRow, gapAtFirstMs: number): Budget {
  const [whole, first] = [Math.ceil(needed), Math.ceil(paying)]
  const can = perDay([gapMs ?? gapAtFirstMs, ...otherGaps.map(([gap]) => gap)])
  const canAtBase = perDay([baseGapMs ?? gapAtFirstMs, ...otherGaps.map(([, base]) => base)])
  return { upstream, asked: whole, paying: first, free: whole - first, can, canAtBase, short: Math.max(0, whole - can) }
}

function perDay(gapsMs: number[]): number {
  return gapsMs.reduce((sum, gapMs) => sum + Math.floor(DAY_MS / Math.max(1, gapMs)), 0)
}
