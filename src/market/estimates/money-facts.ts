import type { Db } from "../../database/types.ts"
import { ALL_APPS } from "../../lib/charts.ts"

/** The facts that a revenue estimate is based on. */
interface MoneyFacts {
  /** Latest price in the United States. Null if unknown or in another currency. */
  priceUsd: number | null
  /**
   * True if the app is known to be sold in the United States. Only then does its absence from a chart mean anything.
   */
  isSold: boolean
  /**
   * Rank on the overall grossing chart for iPhone in the United States, read within the last week. Null if the app is
   * not on that chart.
   */
  place: number | null
  /** Number of ranks read on that chart. Null if it was not read. */
  depth: number | null
}

/** Reads the facts of an app (a store_app id). */
export async function readMoneyFacts(sql: Db, app: number): Promise<MoneyFacts> {
  const [row] = await sql<MoneyFacts[]>`
    select case when s.currency = 'USD' then s.price::float8 end as "priceUsd",
      coalesce(s.available, false) or p.rank is not null as "isSold", p.rank as place, n.depth
    from (values (1)) one
    left join lateral (
      select price, currency, available
      from app_storefront
      where (app_id, storefront) = (${app}, 'us')
      order by seen_at desc, source
      limit 1
    ) s on true
    left join lateral (
      select n.chart_id, n.depth, n.day
      from chart c
      join chart_now n on n.chart_id = c.id
      where (c.platform, c.storefront, c.device, c.chart, c.genre) = ('ios', 'us', 'iphone', 'grossing', ${ALL_APPS})
        and n.day >= (now() at time zone 'utc')::date - 7
    ) n on true
    left join chart_place p on p.app_id = ${app} and p.chart_id = n.chart_id and p.day = n.day`
  return row as MoneyFacts
}
