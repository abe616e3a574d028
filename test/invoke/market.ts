import { hash } from "node:crypto"
import type { Sql } from "../../src/database/types.ts"
import { deriveKeywordMetrics } from "../../src/observations/derived/keyword-metrics.ts"
import { record } from "../../src/observations/record.ts"
import type { AppsObservation, DeveloperAppsObservation, ListingObservation } from "../../src/observations/types.ts"
import { dayOf } from "../../src/vocabulary/days.ts"
import { charted } from "../observations/charted.ts"
import { reading } from "../observations/measured.ts"
import { reviewed } from "../observations/reviewed.ts"
import { forgetSearches } from "../world/market.ts"

const DAY_MS = 86_400_000

/** Where, and on which day, the market was made, as long as nothing of it was taken away. */
let made: { sql: Sql; day: string } | null = null

/** What the samples of the Hive ask about, as the stores showed it today and yesterday. To make it takes 70 ms of the processor. */
export async function makeMarket(sql: Sql): Promise<void> {
  const day = dayOf(new Date())
  if (made?.sql === sql && made.day === day) return
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
  made = { sql, day }
}

/** Another told of the same: it is made anew where it is needed next. */
export function outdateMarket(): void {
  made = null
}

/** The results of a keyword, packed, with an end that lies before the one before it. */
export async function damageSearches(sql: Sql): Promise<void> {
  outdateMarket()
  await sql`
    insert into search_fortnight (
      list_id, fortnight, part, source, complete, parser, origin, egress, seen_ats, depths, ends, sha256s, apps, places
    )
    select distinct on (list_id) list_id, fortnight_of(day), 0, source, complete, parser, origin, egress,
      array[seen_at, seen_at], '\\x0a0a', '{3,2}', sha256 || sha256, app_ids, '\\x0001'
    from search_results
    where list_id in (select id from list where term = 'journal')
    order by list_id, day desc, source`
  await sql`delete from search_results where list_id in (select list_id from search_fortnight)`
  // the last day's answer is too short for what asks for ten places, which looks for one before it
  await sql`
    update list_now
    set depth = cardinality(app_ids)
    where list_id in (select list_id from search_fortnight)`
}

/** Nobody ever read any of it. */
export async function forgetMarket(sql: Sql): Promise<void> {
  outdateMarket()
  for (const table of READ) await sql`delete from ${sql(table)}`
  await forgetSearches(sql)
}

const READ = [
  "developer_shelf", "chart_now", "storefront_now", "app_first_seen", "chart_first_seen", "app_storefront", "rating_count", "chart_place", "chart_results", "chart", "listing_run", "listing_content", "review_day", "review_feed", "review_read",
  "review_version", "store_app_name", "app_text", "app_shown", "name_search", "rating_quarter", "app_estimate", "estimate_due",
] // biome-ignore format: a list to scan

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
