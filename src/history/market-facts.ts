import type { Sql } from "../database/types.ts"

export interface MarketDay {
  day: string
  seenAt: Date
  source: string
  /** As exactly as the store says it. */
  installs: number | null
  hasInAppPurchases: boolean | null
  /** The cheapest and the dearest thing that is sold within the app, in `inAppCurrency` (ISO 4217). */
  inAppLeast: number | null
  inAppMost: number | null
  inAppCurrency: string | null
}

/** Newest first, day by day and of a day by source. */
export async function readMarketDays(
  sql: Sql,
  { appId, storefront }: { appId: number; storefront: string },
  limit: number,
): Promise<MarketDay[]> {
  const rows = await sql<MarketDay[]>`
    select day, seen_at as "seenAt", source, installs, has_in_app_purchases as "hasInAppPurchases",
      in_app_least::float8 as "inAppLeast", in_app_most::float8 as "inAppMost", in_app_currency as "inAppCurrency"
    from market_fact
    where app_id = ${appId} and storefront = ${storefront}
    order by day desc, seen_at desc, source
    limit ${limit}`
  return [...rows]
}
