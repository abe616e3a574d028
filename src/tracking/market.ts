import { takeSharedLock } from "../database/locks.ts"
import type { Sql } from "../database/types.ts"
import { retryDeadlocks } from "../observations/record.ts"
import type { MarketStorefront } from "../vocabulary/storefronts.ts"

/** One that stays keeps the day on which it came; again, or beside other processes, it changes nothing. */
export async function followMarket(sql: Sql, market: readonly MarketStorefront[]): Promise<void> {
  await retryDeadlocks(() =>
    sql.begin(async (tx) => {
      await takeSharedLock(tx, "tracking followed")
      // one after another, or each would make the other's rows wait in its own order
      await tx`lock table market_storefront in share row exclusive mode`
      const rows = tx`
        jsonb_to_recordset(${tx.json(market.map(({ storefront, genres }) => ({ storefront, genres: [...genres] })))}) m (
          storefront text, genres text[]
        )`
      await tx`
        delete from market_storefront
        where storefront not in (select m.storefront from ${rows})`
      await tx`
        update market_storefront held
        set genres = m.genres
        from ${rows}
        where m.storefront = held.storefront and m.genres <> held.genres`
      await tx`
        insert into market_storefront (storefront, genres, since)
        select m.storefront, m.genres, (now() at time zone 'utc')::date
        from ${rows}
        order by m.storefront
        on conflict (storefront) do nothing`
    }),
  )
}
