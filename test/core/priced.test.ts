import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import contract from "../contract/operations.json"
import { freshDatabase } from "../database.ts"
import { openService, type Service } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"

setDefaultTimeout(30_000)

const READS = [
  "list_alerts",
  "get_portfolio_overview",
  "get_store_page",
  "list_reviews",
  "get_chart_positions",
  "search_reviews",
  "get_review_stats",
  "get_timeline",
  "get_today",
  "get_keyword_competition",
  "get_rival",
  "get_rival_ad_networks",
  "get_rival_market",
  "get_storefront_audit",
  "validate_listing",
  "get_chart_movers",
  "get_featuring",
  "get_weekly_plan",
]
const RIVAL = "1600000101"
/** Operations that need a live read, which this service does not do. */
const ASKED_OF_STORES = ["get_rival_ad_networks", "get_rival_market"]

let sql: Sql
let service: Service
let workspaceId: number
let key: string
let appId: string
let foreign: string
let unscoped: string
let limited: string

const track = (workspace: number, iosId: string) =>
  trackOwn(sql, {
    workspaceId: workspace,
    iosId,
    countries: ["us"],
    keywords: ["tea"],
    origin: "own",
    manualRivals: [`ios:${RIVAL}`],
  })

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
  workspaceId = await service.workspace()
  key = await service.key(workspaceId)
  appId = await track(workspaceId, "10001")
  foreign = await track(await service.workspace(), "10001")
  unscoped = await service.key(workspaceId, { scopes: ["hive:read", "ai:read"] })
  limited = await service.key(workspaceId, { appList: [await track(workspaceId, "10002")] })
})

const readUsed = async () => (await service.call("/v1/account", { key })).body.credits.used as number

describe.each(READS)("%s", (id) => {
  const row = contract.find(({ operationId }) => operationId === id) as (typeof contract)[number]
  const isOfApp = row.path.includes("{appId}")
  const call = (query = "", { app = appId, by: callerKey = key } = {}) =>
    service.call(`/v1${row.path.replace("{appId}", app).replace("{rivalId}", RIVAL)}${query}`, {
      key: callerKey,
      method: row.method,
      ...(row.method === "POST" && { body: {} }),
    })

  test(`${id} before any measurement costs its minimum price, or nothing if it returns not_measured`, async () => {
    const before = await readUsed()
    const { status, body } = await call()
    if (ASKED_OF_STORES.includes(id)) {
      expect([status, body.error]).toEqual([404, "not_measured"])
      expect(await readUsed()).toBe(before)
    } else {
      expect([status, body.error]).toEqual([200, undefined])
      expect(await readUsed()).toBe(before + (row.price as { min: number }).min)
    }
  })

  test(`a refused call of ${id} costs nothing`, async () => {
    const before = await readUsed()
    const stray = await call("?stray=1")
    expect([stray.status, stray.body.error, stray.body.field]).toEqual([400, "invalid_arguments", "stray"])
    const refused = await call("", { by: unscoped })
    expect([refused.status, refused.body.error, refused.body.scope]).toEqual([403, "scope_required", row.scope])
    if (isOfApp) {
      const strange = await call("", { app: foreign })
      expect([strange.status, strange.body.error]).toEqual([404, "not_found"])
      const refusedCall = await call("", { by: limited })
      expect([refusedCall.status, refusedCall.body.error]).toEqual([403, "app_not_allowed"])
    }
    expect(await readUsed()).toBe(before)
  })
})
