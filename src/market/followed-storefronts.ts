import { takeSharedLock } from "../database/locks.ts"
import type { Db, Sql, Tx } from "../database/types.ts"
import type { MarketStorefront } from "../lib/storefronts.ts"
import { retryDeadlocks } from "../measuring/record/record.ts"

/**
 * Follows the storefronts of the setting MARKET and those chosen on pages, and no others. Storefronts that remain keep
 * their first day, so repeated or concurrent calls change nothing. Each storefront is added in its own transaction,
 * because some 10,000 apps become due if its charts were read before.
 */
export async function followMarket(sql: Sql, setting: readonly MarketStorefront[]): Promise<void> {
  const market = unionOf(setting, await readChosenMarket(sql))
  if (await isFollowed(sql, market)) return
  const changed = await retryDeadlocks(() => sql.begin((tx) => removeUnlisted(tx, market)))
  for (const followed of market.filter(({ storefront }) => changed.has(storefront)))
    await retryDeadlocks(() => sql.begin((tx) => follow(tx, followed)))
}

/**
 * Returns whether exactly these storefronts are followed, which is the case at most starts. This check needs no lock.
 */
async function isFollowed(sql: Sql, market: readonly MarketStorefront[]): Promise<boolean> {
  const rows = await sql<MarketStorefront[]>`select storefront, genres from market_storefront`
  const genresOf = new Map(rows.map(({ storefront, genres }) => [storefront, genres.join()]))
  return (
    rows.length === market.length &&
    market.every(({ storefront, genres }) => genresOf.get(storefront) === genres.join())
  )
}

/**
 * Stops following storefronts that are not in the list. Returns the listed storefronts that are not followed yet or are
 * followed with other genres.
 */
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
  // serialises the writers, which would otherwise deadlock: each writes the rows in its own order
  await tx`lock table market_storefront in share row exclusive mode`
}

/**
 * The key in the table `instance` whose value lists the storefronts and genres that an operator follows on pages,
 * besides those of MARKET.
 */
const CHOSEN = "market"

/** Follows further genres of a storefront, as chosen on a page. Repeating it changes nothing. */
export async function followGenres(sql: Sql, wanted: MarketStorefront): Promise<void> {
  await retryDeadlocks(() =>
    sql.begin(async (tx) => {
      await lockMarket(tx)
      const followed = await readGenres(tx, wanted.storefront)
      // genres of MARKET are changed only by the setting, so that they cannot be dropped on a page
      const added = wanted.genres.filter((genre) => !followed.includes(genre))
      if (added.length === 0) return
      await writeChosen(tx, unionOf(await readChosenMarket(tx), [{ ...wanted, genres: added }]))
      await follow(tx, { storefront: wanted.storefront, genres: [...followed, ...added] })
    }),
  )
}

/** Stops following genres that were chosen on a page. Genres of MARKET are still followed. */
export async function dropGenres(sql: Sql, { storefront, genres }: MarketStorefront): Promise<void> {
  await retryDeadlocks(() =>
    sql.begin(async (tx) => {
      await lockMarket(tx)
      const chosen = await readChosenMarket(tx)
      const dropped = (chosen.find((one) => one.storefront === storefront)?.genres ?? []).filter((genre) =>
        genres.includes(genre),
      )
      const without = (list: readonly string[]) => list.filter((genre) => !dropped.includes(genre))
      await writeChosen(
        tx,
        chosen.map((one) => (one.storefront === storefront ? { ...one, genres: without(one.genres) } : one)),
      )
      const left = without(await readGenres(tx, storefront))
      if (left.length > 0) await follow(tx, { storefront, genres: left })
      else await tx`delete from market_storefront where storefront = ${storefront}`
    }),
  )
}

async function readGenres(tx: Tx, storefront: string): Promise<readonly string[]> {
  const [row] = await tx<{ genres: string[] }[]>`
    select genres
    from market_storefront
    where storefront = ${storefront}`
  return row?.genres ?? []
}

/** Returns the storefronts and genres that an operator follows on pages, besides those of MARKET. */
export async function readChosenMarket(sql: Db): Promise<MarketStorefront[]> {
  const [row] = await sql<{ value: string }[]>`
    select value
    from instance
    where key = ${CHOSEN}`
  return row ? (JSON.parse(row.value) as MarketStorefront[]) : []
}

async function writeChosen(tx: Tx, market: readonly MarketStorefront[]): Promise<void> {
  const value = JSON.stringify(market.filter(({ genres }) => genres.length > 0))
  await tx`
    insert into instance (key, value)
    values (${CHOSEN}, ${value})
    on conflict (key) do update set value = excluded.value`
}

/** Joins the genres of each storefront. */
export function unionOf(...lists: readonly (readonly MarketStorefront[])[]): MarketStorefront[] {
  const byStorefront = Map.groupBy(lists.flat(), ({ storefront }) => storefront)
  return [...byStorefront].map(([storefront, parts]) => {
    return { storefront, genres: [...new Set(parts.flatMap(({ genres }) => genres))] }
  })
}
