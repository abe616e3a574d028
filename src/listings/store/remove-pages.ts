import type { Tx } from "../../database/types.ts"
import { lockSeries } from "../../measuring/record/identities.ts"

/** Removes a publisher's readings of app pages, with the changes derived from them. */
export async function removePages(tx: Tx, publisher: string) {
  const rows = await tx<{ id: number }[]>`
    select distinct app_id as id
    from listing_run
    where origin = ${publisher}
    order by id`
  const apps = rows.map(({ id }) => id)
  await lockSeries(tx, apps)
  const [readings] = await tx<[{ count: number }]>`
    select coalesce(sum(cardinality(moments)), 0)::int as count
    from listing_run
    where app_id = any(${apps}::int[]) and origin = ${publisher}`
  for (const table of ["listing_change", "listing_run", "listing_item", "listing_version"])
    await tx`
      delete from ${tx(table)}
      where app_id = any(${apps}::int[]) and origin = ${publisher}`
  await tx`
    delete from listing_content c
    where app_id = any(${apps}::int[]) and not exists (
      select
      from listing_run
      where (app_id, storefront, source, section, digest) = (c.app_id, c.storefront, c.source, c.section, c.digest)
    )`
  return { lists: [], apps, readings: readings.count }
}
