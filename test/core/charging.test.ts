import { beforeAll, describe, expect, test } from "bun:test"
import { setWorkspace } from "../../src/access/workspaces.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { catalogWithSamples, fixturesWithSamples } from "../samples.ts"
import { openService, type Service } from "../service.ts"

let sql: Sql
let service: Service
let workspace: number
let key: string

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql, catalog: catalogWithSamples, fixtures: fixturesWithSamples() })
  workspace = await service.workspace({
    plan: "studio",
    explorer: true,
    overrides: { credits: 100_000, ratePerSecond: 100_000 },
  })
  key = await service.key(workspace)
})

const readSpent = async () => {
  const [row] = await sql<{ used: number; ledger: number }[]>`
    select a.used, (select coalesce(sum(cost), 0)::bigint from ledger l where l.workspace_id = a.workspace_id) as ledger
    from account a
    where a.workspace_id = ${workspace}`
  return row as { used: number; ledger: number }
}

const costs: {
  name: string
  path: string
  status: number
  code?: string
  cost: number
  method?: string
  body?: unknown
}[] = [
  { name: "a plain answer costs its price", path: "/v1/hive/samples/tea", status: 200, cost: 10 },
  { name: "a Hive answer with an empty result costs 1", path: "/v1/hive/samples/nothing", status: 200, cost: 1 },
  {
    name: "a Hive 404 with nothing measured costs 1",
    path: "/v1/hive/samples/unmeasured",
    status: 404,
    code: "not_measured",
    cost: 1,
  },
  { name: "a Hive answer still pending costs 1", path: "/v1/hive/samples/pending", status: 202, cost: 1 },
  { name: "a failure costs nothing", path: "/v1/hive/samples/broken", status: 500, code: "internal_error", cost: 0 },
  { name: "a price by rows is that of the answer", path: "/v1/hive/explored?rows=7", status: 200, cost: 35 },
  {
    name: "a refused parameter costs nothing",
    path: "/v1/hive/explored?rows=11",
    status: 400,
    code: "bad_days",
    cost: 0,
  },
  { name: "an unknown path costs nothing", path: "/v1/nowhere", status: 404, code: "unknown_endpoint", cost: 0 },
  {
    name: "a wrong method costs nothing",
    path: "/v1/apps",
    method: "PUT",
    status: 405,
    code: "method_not_allowed",
    cost: 0,
  },
  {
    name: "a body of another type costs nothing",
    path: "/v1/samples",
    method: "POST",
    body: "x",
    status: 400,
    code: "invalid_arguments",
    cost: 0,
  },
  {
    name: "a post costs its price",
    path: "/v1/samples",
    method: "POST",
    body: { scope: "track", note: "n" },
    status: 200,
    cost: 2,
  },
  { name: "the account costs nothing", path: "/v1/account", status: 200, cost: 0 },
  { name: "the usage costs nothing", path: "/v1/usage", status: 200, cost: 0 },
  { name: "the list of apps costs 1", path: "/v1/apps", status: 200, cost: 1 },
  { name: "an unknown app costs nothing", path: "/v1/apps/nobody", status: 404, code: "not_found", cost: 0 },
]

describe("the price of a call", () => {
  for (const { name, path, status, code, cost, method, body } of costs) {
    test(name, async () => {
      const before = await readSpent()
      const answer = await service.call(path, { key, method, body })
      const after = await readSpent()
      expect([answer.status, answer.body.error]).toEqual([status, code])
      expect(after.used - before.used).toBe(cost)
      expect(after.ledger).toBe(after.used)
      expect(answer.credits.used).toBe(after.used)
      expect(answer.credits.remaining).toBe(answer.credits.limit - answer.credits.used)
    })
  }

  test("free calls work without credits; every other call is refused with 402 and changes nothing", async () => {
    const empty = await service.workspace({ plan: "pro", overrides: { credits: 1, ratePerSecond: 1_000 } })
    const poorKey = await service.key(empty)
    expect((await service.call("/v1/apps", { key: poorKey })).status).toBe(200)
    const refused = await service.call("/v1/apps", { key: poorKey })
    expect([refused.status, refused.body.error]).toEqual([402, "credits_exhausted"])
    expect(refused.body).toMatchObject({ limit: 1, used: 1 })
    expect(refused.credits).toMatchObject({ used: 1, limit: 1, remaining: 0 })
    expect((await service.call("/v1/account", { key: poorKey })).body.credits).toMatchObject({ used: 1, limit: 1 })
  })

  test("an answer that costs more than the remaining credits is dropped, even if its minimum was covered", async () => {
    const few = await service.workspace({
      plan: "pro",
      explorer: true,
      overrides: { credits: 20, ratePerSecond: 1_000 },
    })
    const poorKey = await service.key(few)
    const refused = await service.call("/v1/hive/explored?rows=5", { key: poorKey })
    expect([refused.status, refused.body.error]).toEqual([402, "credits_exhausted"])
    expect(refused.body.rows).toBeUndefined()
    expect((await service.call("/v1/hive/explored?rows=4", { key: poorKey })).status).toBe(200)
  })

  test("a key that has used up its monthly budget gets 402, and the workspace's other keys keep working", async () => {
    const shared = await service.workspace({ plan: "pro", overrides: { credits: 100, ratePerSecond: 1_000 } })
    const [tight, free] = [await service.key(shared, { monthlyBudget: 1 }), await service.key(shared)]
    expect((await service.call("/v1/apps", { key: tight })).status).toBe(200)
    expect((await service.call("/v1/apps", { key: tight })).body.error).toBe("key_budget_reached")
    expect((await service.call("/v1/apps", { key: free })).status).toBe(200)
  })

  test("10 of 30 concurrent calls on 10 credits are paid, and every 402 has the credit headers", async () => {
    const few = await service.workspace({ plan: "pro", overrides: { credits: 10, ratePerSecond: 1_000 } })
    const poorKey = await service.key(few)
    const answers = await Promise.all(Array.from({ length: 30 }, () => service.call("/v1/apps", { key: poorKey })))
    const refused = answers.filter(({ status }) => status === 402)
    expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([10, 20])
    for (const { credits } of refused) expect(credits).toMatchObject({ used: 10, limit: 10, remaining: 0 })
  })

  test("the credits of a purchased pack are available to the next call", async () => {
    const name = `buyer ${process.pid}`
    const buyer = await service.workspace({ name, plan: "pro", overrides: { credits: 1, ratePerSecond: 1_000 } })
    const buying = await service.key(buyer)
    expect((await service.call("/v1/apps", { key: buying })).status).toBe(200)
    expect((await service.call("/v1/apps", { key: buying })).status).toBe(402)
    await Bun.sleep(110) // after a refusal the key is reloaded, but at most every 100 ms
    await setWorkspace(sql, name, { addPack: 5 })
    const answer = await service.call("/v1/apps", { key: buying })
    expect([answer.status, answer.credits.limit]).toEqual([200, 6])
    const account = await service.call("/v1/account", { key: buying })
    expect(account.body.credits).toMatchObject({ used: account.credits.used, limit: account.credits.limit })
  })

  slow("a used-up credit pack keeps REST open for twelve months: free calls work, and paid calls get 402", async () => {
    const name = `packed ${process.pid}`
    const free = await service.workspace({
      name,
      plan: "free",
      pack: 2,
      overrides: { credits: 1, ratePerSecond: 1_000 },
    })
    const holder = await service.key(free)
    const statuses = []
    for (let i = 0; i < 5; i++) {
      const { status, body } = await service.call("/v1/apps", { key: holder })
      statuses.push(body.error ?? status)
    }
    expect(statuses).toEqual([200, 200, 200, "credits_exhausted", "credits_exhausted"])
    expect((await service.call("/v1/account", { key: holder })).body.credits).toMatchObject({ used: 3, limit: 3 })
    await sql`update account set pack_bought_at = pack_bought_at - interval '12 months' where workspace_id = ${free}`
    await Bun.sleep(1_000) // a key is cached for 750 ms
    expect((await service.call("/v1/account", { key: holder })).body.error).toBe("plan_required")
    const other = await service.key(await service.workspace({ plan: "free" }))
    expect((await service.call("/v1/account", { key: other })).body.error).toBe("plan_required")
  })

  test("a Hive call that is refused for lack of credits does not use up the daily Hive limit", async () => {
    const empty = await service.workspace({
      plan: "pro",
      explorer: true,
      overrides: { credits: 0, ratePerSecond: 1_000 },
    })
    const poorKey = await service.key(empty)
    expect((await service.call("/v1/hive/samples/tea", { key: poorKey })).body.error).toBe("credits_exhausted")
    expect((await service.call("/v1/usage", { key: poorKey })).body.hive.usedToday).toBe(0)
  })

  test("the text of an internal error is not sent to the caller, and the log contains the request id", async () => {
    const answer = await service.call("/v1/hive/samples/broken", { key })
    expect(answer.text).not.toContain("secret")
    expect(answer.text).not.toContain("hunter2")
    const line = service.logged.find(
      (l) => l.includes(answer.headers.get("x-request-id") as string) && l.includes("internal_error"),
    )
    expect(line).toBeDefined()
  })

  test("a test key is not charged for any call", async () => {
    const testKey = await service.key(workspace, { kind: "test" })
    const before = await readSpent()
    for (const path of ["/v1/apps", "/v1/hive/samples/tea", "/v1/hive/explored"]) {
      expect((await service.call(path, { key: testKey })).status).toBe(200)
    }
    expect(await readSpent()).toEqual(before)
  })
})
