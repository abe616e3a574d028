import { takeSharedLock } from "../database/locks.ts"
import type { Sql, Tx } from "../database/types.ts"
import type { MarketStorefront } from "../lib/storefronts.ts"
import { retryDeadlocks } from "../measuring/record/record.ts"

/**
 * One that stays keeps the day on which it came; again, or beside other processes, it changes nothing. Each that comes is a
 * transaction of its own: where its charts are known already, some 10,000 apps become due with it.
 */
export async function followMarket(sql: Sql, market: readonly MarketStorefront[]): Promise<void> {
  if (await isFollowed(sql, market)) return
  const changed = await retryDeadlocks(() => sql.begin((tx) => removeOthers(tx, market)))
  for (const one of market.filter(({ storefront }) => changed.has(storefront)))
    await retryDeadlocks(() => sql.begin((tx) => follow(tx, one)))
}

/** As most starts find it: they need no lock. */
async function isFollowed(sql: Sql, market: readonly MarketStorefront[]): Promise<boolean> {
  const held = await sql<MarketStorefront[]>`select storefront, genres from market_storefront`
  const genresOf = new Map(held.map(({ storefront, genres }) => [storefront, genres.join()]))
  return (
    held.length === market.length &&
    market.every(({ storefront, genres }) => genresOf.get(storefront) === genres.join())
  )
}

/** Returns those that are not followed yet, or in other genres. */
async function removeOthers(tx: Tx, market: readonly MarketStorefront[]): Promise<Set<string>> {
  await lockMarket(tx)
  const storefronts = market.map(({ storefront }) => storefront)
  await tx`
    delete from market_storefront
    where storefront <> all(${storefronts}::text[])`
  const rows = await tx<{ storefront: string }[]>`
    select m.storefront
    from jsonb_to_recordset(${tx.json(market.map(({ storefront, genres }) => ({ storefront, genres: [...genres] })))}) m (
      storefront text, genres text[]
    )
    left join market_storefront held on held.storefront = m.storefront
    where held.genres is distinct from m.genres
    order by m.storefront
    limit ${market.length}`
  return new Set(rows.map(({ storefront }) => storefront))
}

async function follow(tx: Tx, { storefront, genres }: MarketStorefront): Promise<void> {
  await lockMarket(tx)
  const { count } = await tx`
    update market_storefront
    set genres = ${genres as string[]}
    where storefront = ${storefront} and genres <> ${genres as string[]}::text[]`
  if (count > 0) return
  await tx`
    insert into market_storefront (storefront, genres, since)
    values (${storefront}, ${genres as string[]}, (now() at time zone 'utc')::date)
    on conflict (storefront) do nothing`
}

async function lockMarket(tx: Tx): Promise<void> {
  await takeSharedLock(tx, "tracking followed")
  // one after another, or each would make the other's rows wait in its own order
  await tx`lock table market_storefront in share row exclusive mode`
}
