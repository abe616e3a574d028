import { takeSharedLock } from "../database/locks.ts"
import type { Sql, Tx } from "../database/types.ts"
import type { MarketStorefront } from "../lib/storefronts.ts"
import { retryDeadlocks } from "../measuring/record/record.ts"

/**
 * Makes these storefronts the followed ones. Storefronts that stay keep their first day, so repeated or concurrent
 * calls change nothing. Each added storefront takes a transaction of its own: if its charts were read before, some
 * 10,000 apps become due with it.
 */
export async function followMarket(sql: Sql, market: readonly MarketStorefront[]): Promise<void> {
  if (await isFollowed(sql, market)) return
  const changed = await retryDeadlocks(() => sql.begin((tx) => removeUnlisted(tx, market)))
  for (const followed of market.filter(({ storefront }) => changed.has(storefront)))
    await retryDeadlocks(() => sql.begin((tx) => follow(tx, followed)))
}

/** Most starts change nothing, and this check needs no lock. */
async function isFollowed(sql: Sql, market: readonly MarketStorefront[]): Promise<boolean> {
  const rows = await sql<MarketStorefront[]>`select storefront, genres from market_storefront`
  const genresOf = new Map(rows.map(({ storefront, genres }) => [storefront, genres.join()]))
  return (
    rows.length === market.length &&
    market.every(({ storefront, genres }) => genresOf.get(storefront) === genres.join())
  )
}

/** Stops following all others. Returns the storefronts that are not followed yet, or with other genres. */
async function removeUnlisted(tx: Tx, market: readonly MarketStorefront[]): Promise<Set<string>> {
  await lockMarket(tx)
  const storefronts = market.map(({ storefront }) => storefront)
  const wanted = market.map(({ storefront, genres }) => ({ storefront, genres: [...genres] }))
  await tx`
    delete from market_storefront
    where storefront <> all(${storefronts}::text[])`
  const rows = await tx<{ storefront: string }[]>`
    select m.storefront
    from jsonb_to_recordset(${tx.json(wanted)}) m (
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
  // serialises the writers, which would deadlock because each writes the rows in its own order
  await tx`lock table market_storefront in share row exclusive mode`
}
