import type { Fragment } from "postgres"
import type { Db } from "../../database/types.ts"

export interface MarketDay {
  day: string
  seenAt: Date
  source: string
  /** Number of installs. Exact if the store publishes an exact number. */
  installs: number | null
  hasInAppPurchases: boolean | null
  /** The cheapest and the most expensive in-app purchase, in `inAppCurrency` (ISO 4217). */
  inAppLeast: number | null
  inAppMost: number | null
  inAppCurrency: string | null
}

/**
 * SQL query for the relevant days among the last 30 of each source, newest first: the latest day, the latest day with
 * in-app purchase data, and with `installs` also the two latest days that have installs. A day may occur twice.
 */
export function tellingDays(
  sql: Db,
  app: Fragment,
  { storefront, installs }: { storefront: string; installs: boolean },
): Fragment {
  const next = (key: Fragment) => sql`(
          select source
          from market_fact
          where app_id = ${app} and storefront = ${storefront} ${key}
          order by source
          limit 1
        )`
  // a literal limit: with a parameter, PostgreSQL expects a tenth of a year's rows and plans the statement again at
  // each execution
  const newest = sql`(
              select *
              from market_fact
              where app_id = ${app} and storefront = ${storefront} and source = told.source
              order by day desc
              limit 30
            ) newest`
  return sql`
        with recursive told (source) as (
          ${next(sql``)}
          union all
          select ${next(sql`and source > told.source`)}
          from told
          where told.source is not null
        )
        select day, seen_at as "seenAt", latest.source, installs, has_in_app_purchases as "hasInAppPurchases",
          in_app_least::float8 as "inAppLeast", in_app_most::float8 as "inAppMost", in_app_currency as "inAppCurrency"
        from told
        cross join lateral (
          (select * from ${newest} limit 1)
          union all
          (select * from ${newest} where has_in_app_purchases is not null limit 1)
          ${installs ? sql`union all (select * from ${newest} where installs is not null limit 2)` : sql``}
        ) latest
        order by day desc, seen_at desc, source`
}
