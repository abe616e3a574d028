import type { Fragment } from "postgres"
import type { Sql } from "../../database/types.ts"
import type { Side } from "../../observations/provenance.ts"
import { DEMO } from "../../observations/types.ts"

/** The keywords of a storefront, whoever tracks them, whose latest answer is of the UTC day `since` or later. */
export interface MarketLists extends Side {
  since: string
  /** Includes the demo's answers. */
  withDemo?: true
}

/** The same on a UTC day, which decides whether a figure is too old to show. */
export interface MarketDay extends MarketLists {
  today: string
}

/** The condition for rows of list_now. */
export function inMarket(sql: Sql, { platform, storefront, since, withDemo }: MarketLists): Fragment {
  return sql`
    day >= ${since}::date and storefront = ${storefront} and platform = ${platform}
      and (${withDemo ?? false}::boolean or origin <> ${DEMO})`
}

export async function countMarketLists(
  sql: Sql,
  { platform, storefront, since, withDemo }: MarketLists,
): Promise<number> {
  const [row] = await sql<[{ lists: number }]>`
    select (
      select count(*)
      from list
      where platform = ${platform} and storefront = ${storefront} and last_day >= ${since}::date
    )::int - (
      select count(*)
      from list_now n
      join list l on l.id = n.list_id
      where n.origin = ${DEMO} and n.day >= ${since}::date and not ${withDemo ?? false}::boolean
        and l.platform = ${platform} and l.storefront = ${storefront}
    )::int as lists`
  return row.lists
}
