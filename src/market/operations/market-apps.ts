import * as v from "valibot"
import type { Platform, Side } from "../../core/observation/provenance.ts"
import type { Sql } from "../../database/types.ts"
import { described } from "../../lib/schema.ts"
import { nameIn } from "../../stores/store/app-names.ts"

/** The fields that identify an app in every answer about the market. */
export const marketAppFields = {
  id: described(v.string(), "App Store id or package name."),
  name: described(v.string(), "Name in that storefront, else elsewhere, else the id."),
  publisher: described(v.nullable(v.string()), "Publisher in the store. Null if unknown."),
  publisherId: described(v.nullable(v.string()), "Publisher id for hive_get_publisher. Null if unknown."),
}

interface MarketApp {
  id: string
  name: string
  publisher: string | null
  publisherId: string | null
}

/** Returns the store_app id. Null if the app was never seen. */
export async function findStoreApp(sql: Sql, { platform, id }: { platform: Platform; id: string }) {
  const [row] = await sql<{ id: number }[]>`
    select id
    from store_app
    where (platform, store_id) = (${platform}, ${id})`
  return row?.id ?? null
}

/** Returns the App Store apps with a bundle id, in the order in which they were first seen. */
export async function findBundle(sql: Sql, bundleId: string, most: number): Promise<{ app: number; id: string }[]> {
  return await sql<{ app: number; id: string }[]>`
    select id as app, store_id as id
    from store_app
    where platform = 'ios' and bundle_id = ${bundleId}
    order by id
    limit ${most}`
}

/**
 * Returns the apps that were ever seen, by store id, with their names in a storefront. Omits ids that were never seen.
 */
export async function findMarketApps(
  sql: Sql,
  { platform, storefront }: Side,
  ids: readonly string[],
): Promise<Map<string, MarketApp & { app: number }>> {
  const rows = await sql<(MarketApp & { app: number })[]>`
    select s.id as app, s.store_id as id, s.developer as publisher, s.developer_id as "publisherId",
      coalesce(${nameIn(sql, sql`s.id`, { storefront, countries: [] })}, s.store_id) as name
    from store_app s
    where s.platform = ${platform} and s.store_id = any(${ids as string[]}::text[])
    order by s.id
    limit ${ids.length}`
  return new Map(rows.map((row) => [row.id, row]))
}

/** Returns apps by their store_app ids, with their names in a storefront. */
export async function readMarketApps(
  sql: Sql,
  apps: readonly number[],
  storefront: string,
): Promise<Map<number, MarketApp>> {
  const rows = await sql<(MarketApp & { app: number })[]>`
    select s.id as app, s.store_id as id, s.developer as publisher, s.developer_id as "publisherId",
      coalesce(${nameIn(sql, sql`s.id`, { storefront, countries: [] })}, s.store_id) as name
    from store_app s
    where s.id = any(${apps as number[]}::int[])
    order by s.id
    limit ${apps.length}`
  return new Map(rows.map(({ app, ...shown }) => [app, shown]))
}
