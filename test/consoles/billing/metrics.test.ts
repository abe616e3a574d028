import { afterAll, beforeAll, expect, test } from "bun:test"
import { readStoredReports } from "../../../src/commands/replay/replay-account-reports.ts"
import { pacificDay } from "../../../src/consoles/pacific.ts"
import { addAccount, type Register, removeAccount, rotateKey, setMapping } from "../../../src/consoles/register.ts"
import { createAccountReading } from "../../../src/consoles/worker.ts"
import { addDays } from "../../../src/lib/days.ts"
import { silentLog } from "../../../src/lib/log.ts"
import type { RawBody } from "../../../src/measuring/source.ts"
import { recording } from "../../../src/recording.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { freshDatabase } from "../../database.ts"
import { errorOf } from "../../error-of.ts"
import { record } from "../../record.ts"
import { reported } from "../reported.ts"
import { type AccountScene, accountScene, reachOf, TEA } from "../scene.ts"
import { salesReport } from "../stand-in.ts"

const KEY = "sk_abcdefghijklmnop"
const PROJECT = "proj1ab2c3d4"
const NOW = new Date()

/** A stand-in on localhost for RevenueCat's API v2, with the same checks, lists, limits and refusals. */
const revenueCat = {
  key: KEY,
  apps: [{ id: "app1", name: "Tea", type: "app_store", app_store: { bundle_id: TEA.bundleId } }] as object[],
  metrics: [] as object[],
  denied: [] as string[],
  before: null as (() => Response) | null,
  asked: [] as string[],
}
const figure = (id: string, value: number, period = "P0D") => {
  return { object: "overview_metric", id, name: id, description: "", unit: "#", period, value, last_updated_at: 1 }
}
const error = (status: number, type: string) =>
  Response.json({ object: "error", type, message: "no", retryable: false }, { status })
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    const { pathname, searchParams } = new URL(request.url)
    revenueCat.asked.push(pathname)
    if (revenueCat.before) return revenueCat.before()
    if (request.headers.get("authorization") !== `Bearer ${revenueCat.key}`) return error(401, "authentication_error")
    if (revenueCat.denied.some((end) => pathname.endsWith(end))) return error(403, "authorization_error")
    const list = (items: object[], next: string | null = null) =>
      Response.json({ object: "list", items, next_page: next, url: pathname })
    if (pathname === "/v2/projects") return list([{ object: "project", id: PROJECT, name: "Teas" }])
    if (pathname === `/v2/projects/${PROJECT}/apps`)
      return searchParams.has("starting_after")
        ? list(revenueCat.apps.slice(1))
        : list(revenueCat.apps.slice(0, 1), `https://elsewhere.example/v2/projects/${PROJECT}/apps?starting_after=app1`)
    if (pathname !== `/v2/projects/${PROJECT}/metrics/overview`) return error(404, "resource_missing")
    expect(searchParams.get("currency")).toBe("USD")
    return Response.json({ object: "overview_metrics", metrics: revenueCat.metrics })
  },
})

const bodies = new Map<string, RawBody>()

let scene: AccountScene
let register: Register
let key: string
beforeAll(async () => {
  scene = await accountScene(await freshDatabase(), NOW)
  register = { ...scene.register, reach: reachOf(server.url.href.replace(/\/$/, "")) }
  key = await scene.service.key(scene.workspaceId)
  await scene.sql`update store_app set bundle_id = ${TEA.bundleId} where store_id = ${TEA.id}`
  const yesterday = addDays(pacificDay(NOW), -1)
  const row = {
    SKU: TEA.sku,
    Title: "Tea",
    "Product Type Identifier": "1F",
    Units: "5",
    "Developer Proceeds": "0",
    "Customer Currency": "EUR",
    "Country Code": "DE",
    "Currency of Proceeds": "EUR",
    "Customer Price": "0",
  }
  scene.standIn.report = (type, day) =>
    type === "SALES" && day === yesterday ? { tsv: salesReport(day, [row]) } : "no sales"
  await scene.add()
  await readWith(scene.register)
})
afterAll(async () => {
  await Promise.all([scene.standIn.stop(), server.stop(true)])
})

const readBilling = async (path = "revenue") =>
  (await scene.service.call(`/v1/apps/${scene.appId}/${path}?days=2`, { key })).body.billing

const add = async (apiKey = KEY, part: string | null = null) =>
  await addAccount(register, scene.workspaceId, { kind: "revenuecat-metrics", key: { apiKey }, part })

async function readWith({ reach }: Register): Promise<void> {
  const keep = async (body: RawBody) => void bodies.set(Buffer.from(body.sha256).toString("hex"), body)
  const parts = { sql: scene.sql, sealer, log: silentLog, reach, now: () => new Date(), keep }
  await createAccountReading({ recording, ...parts, gapMs: 0, atMost: 3 }).runOnce()
}

/** Makes only the account under test due, because only its host is replaced by the test server. */
async function readFigures(id: string): Promise<void> {
  await scene.sql`update connected_account set next_at = case when id = ${id} then now() end where sealed is not null`
  await readWith(register)
}

let id: string

test("billing figures are null without an account; an invalid key is refused", async () => {
  expect(await readBilling()).toBeNull()
  expect(await readBilling("subscriptions")).toBeNull()
  expect(String(await errorOf(add("pk_abcdefghijklmnop")))).toMatch("begins with sk_")
  expect(String(await errorOf(add(`${KEY}x`)))).toMatch("refuses the key")
  expect(await scene.sql`select from connected_account where kind = 'revenuecat-metrics'`).toHaveLength(0)
  const account = await add()
  id = account.id
  expect(account).toMatchObject({ part: PROJECT, shown: "key …mnop", state: "ok" })
  expect(account.apps).toMatchObject([{ outsideId: "app1", appId: scene.appId, byHand: false }])
  expect(revenueCat.asked.filter((path) => path.endsWith("/apps"))).toHaveLength(2)
})

test("billing figures are null before the first read, and afterwards have the service's values and time", async () => {
  const unknown = { mrr: null, activeSubscriptions: null, activeTrials: null }
  expect(await readBilling()).toEqual({
    id,
    kind: "revenuecat-metrics",
    state: "ok",
    why: null,
    projectApps: 1,
    asOf: null,
    ...unknown,
    days: [],
  })
  revenueCat.metrics = [figure("mrr", 4210.55, "P28D"), figure("active_subscriptions", 0), figure("revenue", 1, "P28D")]
  await readFigures(id)
  const read = await readBilling()
  const figures = { mrr: { amount: "4210.55", currency: "USD" }, activeSubscriptions: 0, activeTrials: null }
  // The requested days have no figures, because they end yesterday and only today was read.
  expect(read).toMatchObject({ ...figures, days: [] })
  const yesterday = addDays(pacificDay(NOW), -1)
  const reading = reported("billing_metrics", { account: id, day: yesterday, seenAt: new Date(Date.now() - 60_000) })
  await record(scene.sql, [reading])
  expect((await readBilling()).days).toEqual([
    { day: yesterday, mrr: { amount: "4210.55", currency: "USD" }, activeSubscriptions: 1035, activeTrials: 58 },
  ])
  expect(Date.now() - Date.parse(read.asOf)).toBeLessThan(600_000)
  expect(await readBilling("subscriptions")).toEqual(await readBilling())
  // A later read on the same day replaces the day's figures.
  const compared: unknown[] = []
  for await (const page of readStoredReports(scene.sql, { since: null, source: "revenuecat-metrics" }))
    for (const subject of page) {
      const body = bodies.get(Buffer.from(subject.sha256).toString("hex"))
      // The test itself recorded yesterday's figures.
      if (body) compared.push(subject.compare(await subject.read({ ...body, seenAt: subject.seenAt })))
    }
  expect(compared).toEqual([[null]])
  revenueCat.metrics = [figure("mrr", 4300, "P28D"), figure("active_subscriptions", 7), figure("active_trials", 2)]
  await readFigures(id)
  expect(await readBilling()).toMatchObject({ mrr: { amount: "4300" }, activeTrials: 2 })
  expect(await scene.sql`select from billing_metric_day where account_id = ${id}`).toHaveLength(2)
})

test("stored figures remain after unreadable figures, a rate limit, a lost connection or a denied right", async () => {
  const before = await readBilling()
  revenueCat.metrics = []
  await readFigures(id)
  revenueCat.before = () =>
    Response.json(
      { object: "error", type: "rate_limit_error", backoff_ms: 1 },
      { status: 429, headers: { "retry-after": "3600" } },
    )
  await readFigures(id)
  const [row] = await scene.sql`
      select extract(epoch from next_at - now())::int as s, failure from connected_account where id = ${id}`
  expect(row?.failure).toBe("too many requests")
  expect(row?.s).toBeGreaterThan(3_000)
  expect(await readBilling()).toEqual({ ...before, state: "unavailable", why: "too many requests" })
  revenueCat.before = null
  await scene.sql`update connected_account set next_at = now() where id = ${id}`
  await readWith({ ...register, reach: reachOf("http://127.0.0.1:9") })
  expect(await readBilling()).toEqual({
    ...before,
    state: "unavailable",
    why: expect.stringContaining("RevenueCat was not reached"),
  })
  revenueCat.denied = ["/overview"]
  await scene.sql`update connected_account set checked_at = null where id = ${id}`
  await readFigures(id)
  expect(await readBilling()).toMatchObject({
    state: "limited",
    why: expect.stringContaining("charts"),
    activeTrials: 2,
  })
  revenueCat.denied = []
  const refusal = await rotateKey(register, scene.workspaceId, id, { apiKey: "sk_another_one_of_ours" }).catch(String)
  expect(refusal).toContain("refuses the key")
  revenueCat.key = "sk_another_one_of_ours"
  await rotateKey(register, scene.workspaceId, id, { apiKey: revenueCat.key })
  expect((await readBilling()).state).toBe("ok")
})

test("an unmapped app and a key without revenue:read get no billing figures", async () => {
  revenueCat.apps.push({
    id: "app2",
    name: "Coffee",
    type: "app_store",
    app_store: { bundle_id: "com.example.coffee" },
  })
  await scene.sql`update connected_account set checked_at = null where id = ${id}`
  revenueCat.metrics = [figure("mrr", 1)]
  await readFigures(id)
  expect((await readBilling()).projectApps).toBe(2)
  const limitedKey = await scene.service.key(scene.workspaceId, { scopes: ["apps:read"] })
  const response = await scene.service.call(`/v1/apps/${scene.appId}/revenue`, { key: limitedKey })
  expect([response.status, JSON.stringify(response.body).includes(id)]).toEqual([403, false])
  await setMapping(scene.sql, scene.workspaceId, { id, outsideId: "app1", appId: null })
  expect(await readBilling()).toBeNull()
  await setMapping(scene.sql, scene.workspaceId, { id, outsideId: "app1", appId: scene.appId })
  await removeAccount(scene.sql, scene.workspaceId, id, false)
  expect((await readBilling()).state).toBe("removed")
  await removeAccount(scene.sql, scene.workspaceId, id, true)
  expect(await readBilling()).toBeNull()
})
