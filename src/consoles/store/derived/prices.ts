import { json } from "../../../database/json.ts"
import type { Tx } from "../../../database/types.ts"
import { type PriceEntry, pricePeriods } from "../../formulas/price-periods.ts"

export interface PricedProduct {
  account: string
  app: string
  product: string
}

/** Replaces all price periods of a product. */
export async function derivePrices(tx: Tx, seen: readonly PricedProduct[]): Promise<void> {
  const products = new Map(seen.map((item) => [`${item.account} ${item.app} ${item.product}`, item]))
  for (const [, { account, app, product }] of [...products].sort()) {
    const days = await tx<{ day: string; entries: PriceEntry[] }[]>`
      select day, rows as entries
      from price_day
      where account_id = ${account} and app = ${app} and product = ${product}
      order by day`
    await tx`
      delete from price_period
      where account_id = ${account} and app = ${app} and product = ${product}`
    const periods = pricePeriods(days).map(({ country, from, sinceKnown, entry }) => ({
      country,
      from_day: from,
      since_known: sinceKnown,
      automatic: entry?.automatic ?? null,
      currency: entry?.currency ?? null,
      price: entry?.price ?? null,
      proceeds: entry?.proceeds ?? null,
      proceeds_year2: entry?.proceedsYear2 ?? null,
    }))
    await tx`
      insert into price_period (
        account_id, app, product, country, from_day, since_known, currency, price, proceeds, proceeds_year2, automatic
      )
      select ${account}, ${app}, ${product}, country, from_day, since_known, currency, price, proceeds, proceeds_year2,
        automatic
      from jsonb_populate_recordset(null::price_period, ${json(tx, periods)}) p
      order by country, from_day`
  }
}
