import { beforeAll, describe, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { chargeAlone } from "../../access/registered.ts"
import { freshDatabase } from "../../database.ts"
import { openService, type Service } from "../../service.ts"

let sql: Sql
let service: Service

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql, now: () => new Date("2026-11-02T23:59:59Z") })
})

describe("GET /account", () => {
  test("GET /account returns the caller, the rights of the key and the remaining credits", async () => {
    const workspace = await service.workspace({ plan: "studio" })
    const app = await track(workspace, ["us", "gb"], { us: ["journal"] })
    const key = await service.key(workspace, { scopes: ["apps:read", "hive:read"] })
    const { body } = await service.call("/v1/account", { key })
    expect(body).toEqual({
      plan: "studio",
      auth: "live key",
      scopes: ["apps:read", "hive:read"],
      apps: [{ id: app, name: `App ${app}`, countries: ["us", "gb"] }],
      appRestriction: false,
      credits: { used: 0, limit: 50_000, resetsAt: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00\.000Z$/) },
      hive: { perDay: 0 },
      ratePerSecond: 100_000,
      docs: "http://127.0.0.1:8787/docs",
    })
  })

  test("GET /account costs nothing and includes credits that another process has just charged", async () => {
    const workspace = await service.workspace({ plan: "pro" })
    const key = await service.key(workspace)
    expect((await service.call("/v1/account", { key })).body.credits.used).toBe(0)
    await chargeAlone(sql, {
      workspaceId: workspace,
      keyId: await keyOf(workspace),
      cost: 7,
      operation: "x",
      requestId: "r",
    })
    expect((await service.call("/v1/account", { key })).body.credits).toMatchObject({ used: 7, limit: 10_000 })
    expect((await service.call("/v1/account", { key })).body.credits.used).toBe(7)
  })

  test("GET /account works without a scope and without credits", async () => {
    const workspace = await service.workspace({ plan: "pro", overrides: { credits: 0 } })
    const key = await service.key(workspace, { scopes: [] })
    expect((await service.call("/v1/account", { key })).body).toMatchObject({
      scopes: [],
      credits: { used: 0, limit: 0 },
    })
  })

  test("a key limited to one app sees in GET /account neither other apps nor those of another workspace", async () => {
    const [workspace, other] = [await service.workspace(), await service.workspace()]
    const [visibleApp, hidden] = [await track(workspace, ["us"]), await track(workspace, ["de"])]
    await track(other, ["us"])
    const key = await service.key(workspace, { appList: [visibleApp] })
    const { body } = await service.call("/v1/account", { key })
    expect(body).toMatchObject({ appRestriction: true, apps: [{ id: visibleApp }] })
    expect(body.apps).toHaveLength(1)
    expect(JSON.stringify(body)).not.toContain(hidden)
  })

  test("GET /account shows 10,000 Hive calls with Explorer and 500 with a pack", async () => {
    const perDay = async (workspace: number) =>
      (await service.call("/v1/account", { key: await service.key(workspace) })).body.hive.perDay
    expect(await perDay(await service.workspace({ explorer: true }))).toBe(10_000)
    const packed = await service.workspace()
    await sql`update account set pack = 3 where workspace_id = ${packed}`
    expect(await perDay(packed)).toBe(500)
  })
})

describe("GET /usage", () => {
  test("GET /usage counts a keyword once per app and storefront", async () => {
    const workspace = await service.workspace({ plan: "pro" })
    const first = await track(workspace, ["us", "gb"], { us: ["journal", "diary"], gb: ["journal"] })
    const two = await track(workspace, ["us"], { us: ["journal"] })
    const none = await track(workspace, ["us"])
    await track(await service.workspace(), ["us"], { us: ["journal"] })
    const { body } = await service.call("/v1/usage", { key: await service.key(workspace) })
    expect(quota(body, "trackedKeywords")).toEqual({
      key: "trackedKeywords",
      kind: "stock",
      used: 4,
      limit: 1_000,
      byApp: [
        { appId: first, name: `App ${first}`, used: 3 },
        { appId: two, name: `App ${two}`, used: 1 },
        { appId: none, name: `App ${none}`, used: 0 },
      ],
    })
    expect(quota(body, "apps")).toEqual({ key: "apps", kind: "stock", used: 3, limit: 10 })
  })

  test("a key limited to one app sees the workspace's totals in GET /usage, but only its own app's share", async () => {
    const workspace = await service.workspace({ plan: "pro" })
    const visibleApp = await track(workspace, ["us"], { us: ["journal"] })
    const hidden = await track(workspace, ["us"], { us: ["journal", "diary"] })
    const { body, text } = await service.call("/v1/usage", {
      key: await service.key(workspace, { appList: [visibleApp] }),
    })
    expect(quota(body, "trackedKeywords")).toMatchObject({ used: 3, byApp: [{ appId: visibleApp, used: 1 }] })
    expect(quota(body, "apps").used).toBe(2)
    expect(text).not.toContain(hidden)
  })

  test("a quota without a meter is null in GET /usage, never zero", async () => {
    const { body } = await service.call("/v1/usage", {
      key: await service.key(await service.workspace({ plan: "studio" })),
    })
    for (const key of ["discovery", "aiQuestions"])
      expect(quota(body, key)).toMatchObject({ kind: "month", used: null })
    expect(quota(body, "reviewAi")).toEqual({ key: "reviewAi", kind: "month", used: 0, limit: 200 })
    expect(quota(body, "spy")).toEqual({ key: "spy", kind: "month", used: 0, limit: 150 })
    expect(quota(body, "ratePerSecond")).toMatchObject({ kind: "rate", used: null, limit: body.ratePerSecond })
    expect(quota(body, "trackedKeywords").used).toBe(0)
    expect(body.quotas.map(({ key }: { key: string }) => key)).toEqual([
      "trackedKeywords",
      "apps",
      "discovery",
      "aiQuestions",
      "reviewAi",
      "aiVisibility",
      "spy",
      "apiCredits",
      "hive",
      "ratePerSecond",
      "aiWriting",
      "listingWrites",
    ])
  })

  test("GET /usage counts listing writes per month (on Free for all time), and AI writing separately", async () => {
    const askFor = async (plan: "free" | "pro") => {
      const workspace = await service.workspace({ plan, ...(plan === "free" && { pack: 100 }) })
      await sql`
        insert into allowance_used (workspace_id, allowance, period, used)
        select ${workspace}, what, case what when 'listingWritesEver' then date '0001-01-01'
            else date_trunc('month', now() at time zone 'utc')::date end, used
        from (values ('listingWritesEver', 1), ('listingWrites', 3), ('aiWriting', 2)) u (what, used)`
      return (await service.call("/v1/usage", { key: await service.key(workspace) })).body
    }
    const [free, pro] = [await askFor("free"), await askFor("pro")]
    expect(quota(free, "listingWrites")).toEqual({ key: "listingWrites", kind: "total", used: 1, limit: 1 })
    expect(quota(pro, "listingWrites")).toMatchObject({ kind: "month", used: 3 })
    expect(quota(pro, "aiWriting")).toMatchObject({ kind: "month", used: 2 })
  })

  test("GET /usage has the same credits as the headers and lists the rest of a pack separately", async () => {
    const workspace = await service.workspace({ plan: "pro" })
    await sql`update account set used = 42, pack = 250 where workspace_id = ${workspace}`
    const { body, credits } = await service.call("/v1/usage", { key: await service.key(workspace) })
    expect(quota(body, "apiCredits")).toMatchObject({ kind: "month", used: 42, limit: 10_250 })
    expect(credits).toMatchObject({ used: 42, limit: 10_250 })
    expect(body.packs).toEqual({
      ask: 0,
      reviewAi: 0,
      aiText: 0,
      aiVisibility: 0,
      apiCredits: 250,
      explorer: false,
      prices: {},
    })
  })

  test("the Hive day in GET /usage ends at 00:00 UTC", async () => {
    const { body } = await service.call("/v1/usage", {
      key: await service.key(await service.workspace({ explorer: true })),
    })
    expect(body.hive).toEqual({ perDay: 10_000, usedToday: 0, resetsAt: "2026-11-03T00:00:00.000Z" })
    expect(quota(body, "hive")).toEqual({ key: "hive", kind: "day", used: 0, limit: 10_000 })
  })

  test("GET /usage counts today's Hive calls", async () => {
    const workspace = await service.workspace({ explorer: true })
    await sql`
      insert into allowance_used (workspace_id, allowance, period, used)
      values (${workspace}, 'hive', (now() at time zone 'utc')::date, 12)`
    const { body } = await service.call("/v1/usage", { key: await service.key(workspace) })
    expect([body.hive.usedToday, quota(body, "hive").used]).toEqual([12, 12])
  })
})

interface QuotaRow {
  key: string
  kind: string
  used: number | null
  limit: number | null
  byApp?: object[]
}

function quota(body: { quotas: QuotaRow[] }, key: string): QuotaRow {
  return body.quotas.find((row) => row.key === key) as QuotaRow
}

let count = 0

async function track(workspace: number, countries: string[], terms: Record<string, string[]> = {}): Promise<string> {
  const id = `app_test${++count}`
  const [app] = await sql<{ id: number }[]>`
    insert into store_app (platform, store_id)
    values ('ios', ${String(9_990_100_000 + count)})
    returning id`
  await sql`
    insert into tracked_app (id, workspace_id, name, ios_app, countries, created_at)
    values (${id}, ${workspace}, ${`App ${id}`}, ${app!.id}, ${countries}, now() + ${count} * interval '1 second')`
  for (const [country, list] of Object.entries(terms))
    for (const [position, term] of list.entries())
      await sql`
        insert into tracked_term (app_id, country, term, position)
        values (${id}, ${country}, ${term}, ${position})`
  return id
}

async function keyOf(workspace: number): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    select id
    from api_key
    where workspace_id = ${workspace}
    order by id
    limit 1`
  return row!.id
}
