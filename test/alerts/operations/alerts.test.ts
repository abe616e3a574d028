import { beforeAll, describe, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { freshDatabase } from "../../database.ts"
import { appsReading, reading } from "../../measuring/record/measured.ts"
import { openService, type Service } from "../../service.ts"
import { deriveFor, listOf, OWN, storeAll, trackNew } from "../derived-alerts.ts"

let sql: Sql
let service: Service
let workspaceId: number
let teaApp: string
let other: string
let key: string

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
  workspaceId = await service.workspace()
  teaApp = await trackNew(sql, ["tea"], { workspaceId, name: "Tea" })
  other = await trackNew(sql, ["mate"], { workspaceId, iosId: "20001", name: "Mate", manualRivals: [`ios:${OWN}`] })
  await storeAll(sql, [
    appsReading("2025-11-01T10:00:00Z", [{ id: OWN, name: "Tea Timer" }]),
    reading("tea", "2025-11-19T10:00:00Z", listOf(30, 60)),
    reading("tea", "2025-11-20T10:00:00Z", listOf(null, 50)),
    reading("mate", "2025-11-19T11:00:00Z", listOf(4, 60)),
    reading("mate", "2025-11-20T11:00:00Z", [OWN, ...listOf(null, 40)]),
  ])
  key = await service.key(workspaceId)
  await deriveFor(sql)
  await deriveFor(sql, { subject: "20001" })
})

describe("GET /v1/alerts", () => {
  test("GET /v1/alerts is empty if nothing was found", async () => {
    const empty = await service.key(await service.workspace())
    const { status, body } = await service.call("/v1/alerts", { key: empty })
    expect([status, body]).toEqual([200, { unread: 0, alerts: [], omitted: 0, nextCursor: null }])
  })

  test("GET /v1/alerts returns the alerts of all apps, newest first", async () => {
    const { status, body, credits } = await service.call("/v1/alerts", { key })
    expect(status).toBe(200)
    expect(credits.used).toBe(1)
    expect(body.unread).toBe(2)
    const [passed, dropped] = body.alerts
    expect(body.alerts).toHaveLength(2)
    const noFacts = {
      term: null,
      rivalId: null,
      rivalName: null,
      rivalManual: null,
      rivalBefore: null,
      rivalAfter: null,
      change: null,
      currency: null,
      device: null,
      chart: null,
      genre: null,
      before: null,
      after: null,
      platform: "ios",
      country: "us",
      day: "2025-11-20",
      read: false,
      source: "import",
      against: "2025-11-19",
      ads: null,
      week: null,
      deliveries: [],
      history: false,
      withdrawnAt: null,
    }
    expect(dropped).toEqual({
      ...noFacts,
      id: dropped.id,
      type: "dropped_out",
      appId: teaApp,
      appName: "Tea",
      at: "2025-11-20T10:00:00.000Z",
      sentence: '"tea" dropped out in the US App Store: not in the first 50 (before: 30)',
      term: "tea",
      before: 30,
      after: null,
      depth: 50,
    })
    expect(passed).toEqual({
      ...noFacts,
      id: passed.id,
      type: "rival_passed",
      appId: other,
      appName: "Mate",
      at: "2025-11-20T11:00:00.000Z",
      sentence: 'Tea Timer passed you on "mate" in the US App Store: 1 vs 2 (before: 4 vs 1)',
      term: "mate",
      rivalId: OWN,
      rivalName: "Tea Timer",
      rivalManual: true,
      rivalBefore: 4,
      rivalAfter: 1,
      before: 1,
      after: 2,
      depth: 41,
    })
  })

  test("a key limited to some apps sees and counts only their alerts", async () => {
    const limited = await service.key(workspaceId, { appList: [teaApp] })
    const { body } = await service.call("/v1/alerts", { key: limited })
    expect(body.unread).toBe(1)
    expect(body.alerts.map(({ appId }: { appId: string }) => appId)).toEqual([teaApp])
    expect(JSON.stringify(body)).not.toContain(other)
  })

  test.each(["0", "501", "1.5", "many"])("limit %p is refused", async (limit) => {
    const { status, body } = await service.call(`/v1/alerts?limit=${limit}`, { key })
    expect([status, body.error, body.field]).toEqual([400, "invalid_arguments", "limit"])
  })

  test.each([
    ["1", 1],
    ["500", 2],
  ])("limit %p returns %p alerts", async (limit, count) => {
    const { status, body } = await service.call(`/v1/alerts?limit=${limit}`, { key })
    expect([status, body.alerts.length, body.unread]).toEqual([200, count, 2])
  })

  test("a page has 50 alerts by default and at most 500, and `unread` counts all 501 unread alerts", async () => {
    const many = await service.workspace()
    const app = await trackNew(sql, [], { workspaceId: many, iosId: "10009" })
    // The two oldest alerts have the same time; with a limit of 500, the one that was found first is left out.
    await sql`
      insert into alert (workspace_id, app_id, type, platform, storefront, subject, day, at, facts)
      select ${many}, ${app}, 'rank_drop', 'ios', 'us', 'term ' || n, '2025-11-20',
        timestamptz '2025-11-20' + greatest(n, 2) * interval '1 second',
        jsonb_build_object('term', 'term ' || n, 'rank', 9, 'was', 3, 'depth', 50, 'wasDepth', 50, 'source', 'import',
          'against', '2025-11-19')
      from generate_series(1, 501) n
      order by n`
    const manyKey = await service.key(many)
    for (const [query, count] of [
      ["", 50],
      ["?limit=500", 500],
      ["?limit=51", 51],
    ] as const) {
      const { body } = await service.call(`/v1/alerts${query}`, { key: manyKey })
      expect([query, body.alerts.length, body.unread]).toEqual([query, count, 501])
      expect(body.omitted).toBe(501 - count)
      const newest = Array.from({ length: count }, (_, at) => `term ${501 - at}`)
      expect(body.alerts.map(({ term }: { term: string }) => term)).toEqual(newest)
    }
  })

  test("a read alert is returned and is not counted as unread", async () => {
    await sql`update alert set read_at = now() where app_id = ${other}`
    const { body } = await service.tool("list_alerts", {}, { key })
    expect(body.unread).toBe(1)
    expect(body.alerts.map(({ read }: { read: boolean }) => read)).toEqual([true, false])
  })

  test("the sandbox's alerts are in order, and their ranks match the sandbox's history", async () => {
    const [{ body: feed }, { body: history }] = [
      await service.call("/v1/sandbox/alerts"),
      await service.call("/v1/sandbox/apps/app_lumenjournal/history"),
    ]
    expect(feed.unread).toBe(feed.alerts.filter(({ read }: Shown) => !read).length)
    const newestFirst = (a: Shown, b: Shown) => Date.parse(b.at) - Date.parse(a.at) || b.id - a.id
    expect(feed.alerts).toEqual(feed.alerts.toSorted(newestFirst))
    const ranked = feed.alerts.filter(({ term, platform }: Shown) => term !== null && platform === "ios")
    expect(ranked.length).toBeGreaterThan(5)
    for (const { term, before, after, day, against } of ranked as Shown[]) {
      const { series } = history.keywords.find((keyword: { term: string }) => keyword.term === term)
      expect(series).toContainEqual([day, after])
      expect(series).toContainEqual([against, before])
    }
  })
})

interface Shown {
  id: number
  read: boolean
  at: string
  platform: string
  term: string | null
  before: number | null
  after: number | null
  day: string
  against: string
}
