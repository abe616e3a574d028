import type { Fragment } from "postgres"
import type { Db } from "../database/types.ts"

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

/** A query: newest first, day by day and of a day by source. Of each source so many days are read: of a year's all were. */
export function marketDays(sql: Db, app: Fragment, storefront: string, limit: number): Fragment {
  const next = (beside: Fragment) => sql`(
          select source
          from market_fact
          where app_id = ${app} and storefront = ${storefront} ${beside}
          order by source
          limit 1
        )`
  return sql`
        with recursive told (source) as (
          ${next(sql``)}
          union all
          select ${next(sql`and source > told.source`)}
          from told
          where told.source is not null
        )
        select day, seen_at as "seenAt", source, installs, has_in_app_purchases as "hasInAppPurchases",
          in_app_least::float8 as "inAppLeast", in_app_most::float8 as "inAppMost", in_app_currency as "inAppCurrency"
        from told
        cross join lateral (
          select day, seen_at, installs, has_in_app_purchases, in_app_least, in_app_most, in_app_currency
          from market_fact
          where app_id = ${app} and storefront = ${storefront} and source = told.source
          order by day desc
          limit ${limit}
        ) latest
        order by day desc, seen_at desc, source
        limit ${limit}`
}
