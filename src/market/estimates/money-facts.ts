import type { Db } from "../../database/types.ts"
import { ALL_APPS } from "../../lib/charts.ts"

/** What money is thought by. */
interface MoneyFacts {
  /** In the United States, as it was said last; null = not said, or in another currency. */
  priceUsd: number | null
  /** It is known to be sold there: only then its absence from a list says something. */
  isSold: boolean
  /** On the overall grossing list of the United States' iPhones, as it was read in the last week. Null = not on it. */
  place: number | null
  /** How deep that list was read; null = it was not. */
  depth: number | null
}

/** Of an app (a store_app id). */
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
