import { afterEach, beforeAll, beforeEach, setDefaultTimeout } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { lockRemoval } from "../../src/measuring/record/identities.ts"
import { freshDatabase } from "../database.ts"
import type { Answer } from "../service.ts"
import { type LiveStores, liveStores } from "./stores.ts"
import { explorerKey } from "./workspace.ts"

/** A service that reads stand-ins of the stores, and a workspace with Hive Explorer. */
export interface MarketWorld extends Omit<LiveStores, typeof Symbol.asyncDispose> {
  sql: Sql
  key: string
  get(path: string, key?: string): Promise<Answer>
  /** Credits that the workspace of `key` has spent. */
  creditsUsed(): Promise<number>
  forget(readings: PublicReadings): Promise<void>
}

/**
 * Public readings that can be deleted. All workspaces share them, so a new workspace does not hide them from the next
 * test.
 */
type PublicReadings = "searches" | keyof typeof TABLES

const TABLES = {
  charts: [
    "chart_now",
    "market_app",
    "app_first_seen",
    "chart_first_seen",
    "chart_place",
    "chart_results",
    "chart",
    "developer_shelf",
  ],
  estimates: ["app_estimate", "estimate_due"],
  names: ["store_app_name"],
  pages: ["listing_run", "listing_content"],
  reviews: ["review_day", "review_feed", "review_read", "review_version"],
}

/**
 * Creates one database for the file, and new stores and a new workspace for each test. Deletes the readings named by
 * `forget` before each test, for operations that answer from every app of a storefront. Other operations use store ids
 * that no other test uses.
 */
export function marketWorld({ forget = [] }: { forget?: readonly PublicReadings[] } = {}): MarketWorld {
  setDefaultTimeout(60_000)
  const world = {} as MarketWorld
  let stores: LiveStores

  world.get = (path, key = world.key) => world.service.call(path, { key })
  world.creditsUsed = async () => (await world.get("/v1/account")).body.credits.used

  world.forget = async (readings) => {
    if (readings === "searches") return await forgetSearches(world.sql)
    await world.sql.unsafe(TABLES[readings].map((table) => `delete from ${table};`).join(""))
  }

  beforeAll(async () => {
    world.sql = await freshDatabase()
  })

  beforeEach(async () => {
    stores = await liveStores(world.sql)
    Object.assign(world, stores)
    for (const readings of forget) await world.forget(readings)
    world.key = await explorerKey(world.service)
  })

  afterEach(() => stores[Symbol.asyncDispose]())

  return world
}

const SEARCHES = ["search_results", "list_now", "keyword_metric", "keyword_now", "hint_answer", "app_storefront"]

/** Deletes all search readings, in one transaction: a worker still recording one does so before or after it. */
export async function forgetSearches(sql: Sql): Promise<void> {
  const deletes = SEARCHES.map((table) => `delete from ${table};`)
  await sql.begin(async (tx) => {
    await lockRemoval(tx)
    await tx.unsafe(
      `${deletes.join("")} update list set first_day = null, last_day = null where coalesce(first_day, ` +
        "last_day) is not null",
    )
  })
}
