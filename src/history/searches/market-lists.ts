import type { Fragment } from "postgres"
import type { Sql } from "../../database/types.ts"
import type { Side } from "../../observations/provenance.ts"
import { DEMO } from "../../observations/types.ts"

/** Keywords of a storefront, whoever tracks them, whose latest answer is of that UTC day or later. */
export interface MarketLists extends Side {
  since: string
  /** Left out: the demo's are none. */
  withDemo?: true
}

/** Such lists as on a UTC day, by which figures are young enough. */
export interface PlacedLists extends MarketLists {
  today: string
}

/** What rows of list_now must be. */
export function inMarket(sql: Sql, { platform, storefront, since, withDemo }: MarketLists): Fragment {
  return sql`
    day >= ${since}::date and storefront = ${storefront} and platform = ${platform}
      and (${withDemo ?? false}::boolean or origin <> ${DEMO})`
}

export async function countMarketLists(sql: Sql, lists: MarketLists): Promise<number> {
  const [row] = await sql<[{ lists: number }]>`select ${marketCount(sql, lists)} as lists`
  return row.lists
}

/** How many there are, as an expression. */
export function marketCount(sql: Sql, { platform, storefront, since, withDemo }: MarketLists): Fragment {
  return sql`
    (
      select count(*)
      from list
      where platform = ${platform} and storefront = ${storefront} and last_day >= ${since}::date
    )::int - (
      select count(*)
      from list_now n
      join list l on l.id = n.list_id
      where n.origin = ${DEMO} and n.day >= ${since}::date and not ${withDemo ?? false}::boolean
        and l.platform = ${platform} and l.storefront = ${storefront}
    )::int`
}
