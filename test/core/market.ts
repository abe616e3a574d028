import { hash } from "node:crypto"
import type { Sql } from "../../src/database/types.ts"
import { deriveKeywordMetrics } from "../../src/keywords/store/keyword-metrics.ts"
import { dayOf } from "../../src/lib/days.ts"
import type { AppsObservation } from "../../src/stores/kinds/apps-shape.ts"
import type { DeveloperAppsObservation } from "../../src/stores/kinds/developer.ts"
import type { ListingObservation } from "../../src/stores/kinds/listing-shape.ts"
import { charted } from "../measuring/record/charted.ts"
import { reading } from "../measuring/record/measured.ts"
import { reviewed } from "../measuring/record/reviewed.ts"
import { record } from "../record.ts"
import { forgetSearches } from "../world/market.ts"

const DAY_MS = 86_400_000

/** The database and day of the last makeMarket. Null if some of its data was deleted since. */
let cached: { sql: Sql; day: string } | null = null

/** Records the readings that the Hive samples need, of today and yesterday. */
export async function makeMarket(sql: Sql): Promise<void> {
  const day = dayOf(new Date())
  if (cached?.sql === sql && cached.day === day) return
  const list = { source: "apple-charts", genre: "6012" } as const
  await record(sql, [
    charted(new Date(Date.now() - DAY_MS).toISOString(), ["9990000101", "9990000102"], list),
    charted(new Date().toISOString(), ["9990000102", "9990000101", "9990000214"], list),
    page("9990000101", ["9990000102", "9990000103"]),
    lookedUp("9990000102", "Daybook Garden"),
    sells("9990009001", ["9990000101"]),
    reviewed(new Date().toISOString(), [{ id: "736" }], {
      storeId: "9990000101",
      end: { pages: 1, complete: true, empty: false },
    }),
    reading("journal", new Date().toISOString(), ["9990000102", "9990000101"], {
      source: "apple-web-search",
      depth: 10,
    }),
  ])
  const term = { platform: "ios", storefront: "us", term: "journal" } as const
  await sql.begin((tx) => deriveKeywordMetrics(tx, [term], new Date()))
  cached = { sql, day }
}

/** Makes the next makeMarket record everything again. */
export function outdateMarket(): void {
  cached = null
}

/**
 * Makes the database report a damaged page when it reads the apps of search results, until repairSearches restores it.
 */
export async function damageSearches(sql: Sql): Promise<void> {
  outdateMarket()
  await sql`
    create or replace function read_damaged(app_ids int[]) returns int[] language plpgsql as $$
    begin raise exception 'invalid page in block 7 of relation search_results' using errcode = 'XX001'; end $$`
  await sql`alter table search_results rename to damaged_results`
  await sql`
    create view search_results as
    select list_id, day, source, seen_at, depth, complete, parser, origin, egress, sha256,
      read_damaged(app_ids) as app_ids
    from damaged_results`
  // too short for operations that need ten places, so that they look for an earlier reading in search_results
  await sql`update list_now set depth = cardinality(app_ids)`
}

export async function repairSearches(sql: Sql): Promise<void> {
  const [damaged] = await sql`select from pg_class where oid = to_regclass('damaged_results')`
  if (!damaged) return
  await sql`drop view search_results`
  await sql`alter table damaged_results rename to search_results`
}

/** Deletes everything that makeMarket recorded. */
export async function forgetMarket(sql: Sql): Promise<void> {
  outdateMarket()
  for (const table of READ) await sql`delete from ${sql(table)}`
  await forgetSearches(sql)
}

const READ = [
  "developer_shelf",
  "chart_now",
  "market_app",
  "app_first_seen",
  "chart_first_seen",
  "app_storefront",
  "rating_count",
  "chart_place",
  "chart_results",
  "chart",
  "listing_run",
  "listing_content",
  "review_day",
  "review_feed",
  "review_read",
  "review_version",
  "store_app_name",
  "app_text",
  "name_search",
  "rating_quarter",
  "app_estimate",
  "estimate_due",
]

function lookedUp(id: string, name: string): AppsObservation {
  const apps = [{ id, name, version: "1.0", price: 0, currency: "USD", ratings: 12, rating: 4.5 }]
  const read = { kind: "apps", source: "itunes-lookup", platform: "ios", storefront: "us", asked: [id], apps } as const
  return { ...read, ...seenNow(read) } as unknown as AppsObservation
}

function sells(developerId: string, ids: readonly string[]): DeveloperAppsObservation {
  const apps = ids.map((id) => ({ id, name: `App ${id}`, developerId }))
  const read = {
    kind: "developer",
    source: "itunes-developer",
    platform: "ios",
    storefront: "us",
    developerId,
  } as const
  return { ...read, apps, complete: true, ...seenNow(read) } as unknown as DeveloperAppsObservation
}

function page(id: string, similar: string[]): ListingObservation {
  const listing = { name: `App ${id}`, similar: similar.map((id) => ({ id, name: `App ${id}` })) }
  const read = { kind: "listing", source: "apple-app-page", platform: "ios", storefront: "us", id, listing } as const
  return { ...read, ...seenNow(read) } as ListingObservation
}

function seenNow(read: object) {
  return { seenAt: new Date(), parser: 1, origin: "own", sha256: hash("sha256", JSON.stringify(read), "buffer") }
}
