import type { ChartKey } from "../../core/observation/subjects.ts"
import { takeLocks, takeSharedLock } from "../../database/locks.ts"
import type { Tx } from "../../database/types.ts"
import { lockIdentities, missingOf } from "./identities.ts"

/** Returns the ids of charts, in order, and creates missing ones. Existing charts use no identity value. */
export async function ensureChartIds(tx: Tx, keys: readonly ChartKey[]): Promise<number[]> {
  const columns = columnsOf(keys)
  const existing = await findCharts(tx, columns)
  if (!existing.includes(null)) return existing as number[]
  await lockIdentities(tx)
  const [platforms, storefronts, devices, charts, genres] = columnsOf(missingOf(keys, await findCharts(tx, columns)))
  await tx`
    insert into chart (platform, storefront, device, chart, genre)
    select distinct k.*
    from unnest(${platforms}::text[], ${storefronts}::text[], ${devices}::text[], ${charts}::text[], ${genres}::text[])
      k (platform, storefront, device, chart, genre)
    order by 1, 2, 3, 4, 5`
  return (await findCharts(tx, columns)) as number[]
}

/**
 * Locks charts and their storefronts, in a fixed order, against other writers of readings. The storefronts are locked
 * because the first days and best places of apps depend on all charts of a storefront. Writers of estimates are blocked
 * too, because market_app contains both.
 */
export async function lockCharts(tx: Tx, ids: readonly number[]): Promise<void> {
  const rows = await tx<{ storefront: string }[]>`
    select id, storefront
    from chart
    where id = any(${[...new Set(ids)]}::int[])
    order by id
    for no key update`
  await takeLocks(
    tx,
    "new apps",
    rows.map(({ storefront }) => [storefront]),
  )
  await takeSharedLock(tx, "estimates")
}

/** Returns the parts of the keys as columns for `unnest`. */
export function columnsOf(keys: readonly ChartKey[]): Columns {
  return [
    keys.map(({ platform }) => platform),
    keys.map(({ storefront }) => storefront),
    keys.map(({ device }) => device),
    keys.map(({ chart }) => chart),
    keys.map(({ genre }) => genre),
  ]
}

type Columns = [string[], string[], string[], string[], string[]]

async function findCharts(tx: Tx, columns: Columns): Promise<(number | null)[]> {
  const [platforms, storefronts, devices, charts, genres] = columns
  const rows = await tx<{ id: number | null }[]>`
    select c.id
    from unnest(${platforms}::text[], ${storefronts}::text[], ${devices}::text[], ${charts}::text[], ${genres}::text[])
      with ordinality k (platform, storefront, device, chart, genre, place)
    left join lateral (
      select id
      from chart
      where (platform, storefront, device, chart, genre) = (k.platform, k.storefront, k.device, k.chart, k.genre)
      offset 0
    ) c on true
    order by k.place`
  return rows.map(({ id }) => id)
}
