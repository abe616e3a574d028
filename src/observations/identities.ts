import type { Tx } from "../database/types.ts"
import type { Platform } from "./types.ts"

export interface ListKey {
  platform: Platform
  storefront: string
  term: string
}

export interface AppKey {
  platform: Platform
  id: string
}

/**
 * Keeps lists and apps from being removed until the transaction ends: ids inside app_ids have no foreign key. Whoever
 * looks ids up to store them takes it first of all.
 */
export async function holdIdentities(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock_shared(hashtextextended('identities removed', 0))`
}

/** Waits for all who hold identities, and keeps others from it: with this lists and apps nobody uses can be removed. */
export async function lockRemoval(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('identities removed', 0))`
}

/**
 * Holds off everybody else who would make lists or apps, until the transaction ends. Whoever makes some takes it before
 * any row lock, so that nobody waits in a circle.
 */
export async function lockIdentities(tx: Tx): Promise<void> {
  await holdIdentities(tx)
  await tx`select pg_advisory_xact_lock(hashtextextended('identities made', 0))`
}

/** The ids of these lists, in order; lists not known yet are made. Burns no identity value. */
export async function listIds(tx: Tx, keys: readonly ListKey[]): Promise<number[]> {
  const columns = [
    keys.map(({ platform }) => platform),
    keys.map(({ storefront }) => storefront),
    keys.map(({ term }) => term),
  ] as const
  const known = await findLists(tx, columns)
  if (!known.includes(null)) return known as number[]
  await lockIdentities(tx)
  await tx`
    insert into list (platform, storefront, term)
    select distinct k.*
    from unnest(${columns[0]}::text[], ${columns[1]}::text[], ${columns[2]}::text[]) k (platform, storefront, term)
    where not exists (
      select from list l
      where (l.platform, l.storefront, l.term) = (k.platform, k.storefront, k.term)
    )
    order by 1, 2, 3`
  return (await findLists(tx, columns)) as number[]
}

/** The ids of these apps, in order; apps not known yet are made, without facts. Burns no identity value. */
export async function appIds(tx: Tx, keys: readonly AppKey[]): Promise<number[]> {
  const columns = [keys.map(({ platform }) => platform), keys.map(({ id }) => id)] as const
  const known = await findApps(tx, columns)
  if (!known.includes(null)) return known as number[]
  await lockIdentities(tx)
  await tx`
    insert into store_app (platform, store_id)
    select distinct k.*
    from unnest(${columns[0]}::text[], ${columns[1]}::text[]) k (platform, store_id)
    where not exists (
      select from store_app a
      where (a.platform, a.store_id) = (k.platform, k.store_id)
    )
    order by 1, 2`
  return (await findApps(tx, columns)) as number[]
}

/** Locks lists against other writers of their readings, in the order everybody does. */
export async function lockLists(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx`
    select id
    from list
    where id = any(${[...new Set(ids)]}::int[])
    order by id
    for no key update`
}

async function findLists(tx: Tx, columns: readonly [string[], string[], string[]]): Promise<(number | null)[]> {
  const [platforms, storefronts, terms] = columns
  const rows = await tx<{ id: number | null }[]>`
    select l.id
    from unnest(${platforms}::text[], ${storefronts}::text[], ${terms}::text[])
      with ordinality k (platform, storefront, term, place)
    left join list l on (l.platform, l.storefront, l.term) = (k.platform, k.storefront, k.term)
    order by k.place`
  return rows.map(({ id }) => id)
}

async function findApps(tx: Tx, columns: readonly [string[], string[]]): Promise<(number | null)[]> {
  const [platforms, ids] = columns
  const rows = await tx<{ id: number | null }[]>`
    select a.id
    from unnest(${platforms}::text[], ${ids}::text[]) with ordinality k (platform, store_id, place)
    left join store_app a on (a.platform, a.store_id) = (k.platform, k.store_id)
    order by k.place`
  return rows.map(({ id }) => id)
}
