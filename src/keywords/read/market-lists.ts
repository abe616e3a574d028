import type { Fragment } from "postgres"
import type { Side } from "../../core/observation/provenance.ts"
import type { Sql } from "../../database/types.ts"

/** The keywords of a storefront whose latest search results are from the UTC day `since` or later, in any workspace. */
export interface MarketLists extends Side {
  since: string
}

/** Market lists on a UTC day. The day decides which figures are too old to show. */
export interface MarketDay extends MarketLists {
  today: string
}

/** Returns the condition on list_now for market keywords. */
export function inMarket(sql: Sql, { platform, storefront, since }: MarketLists): Fragment {
  return sql`day >= ${since}::date and storefront = ${storefront} and platform = ${platform}`
}

export async function countMarketLists(sql: Sql, { platform, storefront, since }: MarketLists): Promise<number> {
  const [row] = await sql<[{ lists: number }]>`
    select count(*)::int as lists
    from list
    where platform = ${platform} and storefront = ${storefront} and last_day >= ${since}::date`
  return row.lists
}
