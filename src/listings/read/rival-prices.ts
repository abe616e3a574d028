import type { Db } from "../../database/types.ts"

/** Prices of an app's tracked rivals in one storefront. */
export interface RivalPrices {
  country: string
  currency: string
  /** Prices of the paid rivals, cheapest first. */
  prices: number[]
  /** Number of rivals that are free to download. */
  free: number
  /** The earliest reading time of these prices. */
  seenAt: Date
}

/** Returns the latest iOS prices by storefront and currency. Rivals without a known price are not counted. */
export async function readRivalPrices(sql: Db, appId: string): Promise<RivalPrices[]> {
  return await sql<RivalPrices[]>`
    select r.storefront as country, f.currency,
      coalesce(array_agg(f.price::float8 order by f.price) filter (where f.price > 0), '{}') as prices,
      (count(*) filter (where f.price = 0))::int as free, min(f.seen_at) as "seenAt"
    from app_rival r
    cross join lateral (
      select available, price, currency, seen_at
      from app_storefront
      where app_id = r.rival and storefront = r.storefront and price is not null and currency is not null
      order by seen_at desc, source
      limit 1
    ) f
    where r.app_id = ${appId} and r.platform = 'ios' and f.available
    group by r.storefront, f.currency
    order by r.storefront, f.currency
    limit 1000`
}
