import type { AppKey, ListKey } from "../../core/observation/subjects.ts"
import { takeLock, takeLocks, takeSharedLock } from "../../database/locks.ts"
import type { Tx } from "../../database/types.ts"

/**
 * Keeps identities from being deleted until the transaction ends, because ids inside app_ids have no foreign key. Must
 * be the first lock.
 */
export async function holdIdentities(tx: Tx): Promise<void> {
  await takeSharedLock(tx, "identities removed")
}

/**
 * Waits for the end of all transactions that hold identities (holdIdentities) and blocks new ones, so that unused lists
 * and apps can be deleted.
 */
export async function lockRemoval(tx: Tx): Promise<void> {
  await takeLock(tx, "identities removed")
}

/**
 * Locks the creation of identities. Call it before any row lock of a transaction that creates lists or apps, to avoid
 * deadlocks.
 */
export async function lockIdentities(tx: Tx): Promise<void> {
  await holdIdentities(tx)
  await takeLock(tx, "identities made")
}

/** Returns the ids of lists, in order, and creates missing lists. Uses up no sequence value for existing ones. */
export async function listIds(tx: Tx, keys: readonly ListKey[]): Promise<number[]> {
  const columns = [
    keys.map(({ platform }) => platform),
    keys.map(({ storefront }) => storefront),
    keys.map(({ term }) => term),
  ] as const
  const found = await findLists(tx, columns)
  if (!found.includes(null)) return found as number[]
  await lockIdentities(tx)
  const missing = missingOf(keys, await findLists(tx, columns))
  await tx`
    insert into list (platform, storefront, term)
    select distinct k.*
    from unnest(
      ${missing.map(({ platform }) => platform)}::text[],
      ${missing.map(({ storefront }) => storefront)}::text[],
      ${missing.map(({ term }) => term)}::text[]
    ) k (platform, storefront, term)
    order by 1, 2, 3`
  return (await findLists(tx, columns)) as number[]
}

/**
 * Returns the ids of apps, in order, and creates missing apps without facts. Uses up no sequence value for existing
 * ones.
 */
export async function ensureAppIds(tx: Tx, keys: readonly AppKey[]): Promise<number[]> {
  const columns = [keys.map(({ platform }) => platform), keys.map(({ id }) => id)] as const
  const found = await findApps(tx, columns)
  if (!found.includes(null)) return found as number[]
  await lockIdentities(tx)
  const missing = missingOf(keys, await findApps(tx, columns))
  await tx`
    insert into store_app (platform, store_id)
    select distinct k.*
    from unnest(${missing.map(({ platform }) => platform)}::text[], ${missing.map(({ id }) => id)}::text[])
      k (platform, store_id)
    order by 1, 2`
  return (await findApps(tx, columns)) as number[]
}

/** Locks lists against other writers of their readings, in id order to avoid deadlocks. */
export async function lockLists(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx`
    select id
    from list
    where id = any(${[...new Set(ids)]}::int[])
    order by id
    for no key update`
}

/** Locks the series of these apps. Groups of apps share a lock, so that a large import takes few. */
export async function lockSeries(tx: Tx, apps: readonly number[]): Promise<void> {
  const shares = new Set(apps.map((app) => app % SERIES_LOCKS))
  await takeLocks(
    tx,
    "listing",
    [...shares].map((share) => [share]),
  )
}

const SERIES_LOCKS = 64

/** Returns the keys that were not found. */
export function missingOf<Key>(keys: readonly Key[], found: readonly (number | null)[]): Key[] {
  return keys.filter((_, place) => found[place] === null)
}

// Looks up key by key: without statistics, the planner would join the keys with the whole table.
async function findLists(tx: Tx, columns: readonly [string[], string[], string[]]): Promise<(number | null)[]> {
  const [platforms, storefronts, terms] = columns
  const rows = await tx<{ id: number | null }[]>`
    select l.id
    from unnest(${platforms}::text[], ${storefronts}::text[], ${terms}::text[])
      with ordinality k (platform, storefront, term, place)
    left join lateral (
      select id
      from list
      where (platform, storefront, term) = (k.platform, k.storefront, k.term)
      offset 0
    ) l on true
    order by k.place`
  return rows.map(({ id }) => id)
}

async function findApps(tx: Tx, columns: readonly [string[], string[]]): Promise<(number | null)[]> {
  const [platforms, ids] = columns
  const rows = await tx<{ id: number | null }[]>`
    select a.id
    from unnest(${platforms}::text[], ${ids}::text[]) with ordinality k (platform, store_id, place)
    left join lateral (
      select id
      from store_app
      where (platform, store_id) = (k.platform, k.store_id)
      offset 0
    ) a on true
    order by k.place`
  return rows.map(({ id }) => id)
}
