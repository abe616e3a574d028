import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { pacificDay } from "../../../src/consoles/pacific.ts"
import { removeAccount } from "../../../src/consoles/register.ts"
import { noteState } from "../../../src/consoles/state.ts"
import { createAccountReading } from "../../../src/consoles/worker.ts"
import { addDays } from "../../../src/lib/days.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { recording } from "../../../src/recording.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { trackOwn } from "../../world/tracked.ts"
import { type AccountScene, accountScene, isReport, TEA } from "../scene.ts"
import { type SalesRow, salesReport, table } from "../stand-in.ts"

const NOW = new Date()
const ago = (days: number) => addDays(pacificDay(NOW), -days)

let scene: AccountScene
let key: string
beforeEach(async () => {
  scene = await accountScene(await freshDatabase(), NOW)
  key = await scene.service.key(scene.workspaceId)
})
afterEach(() => scene.standIn.stop())

const APP: SalesRow = {
  SKU: TEA.sku,
  Title: "Tea Timer",
  "Product Type Identifier": "1F",
  Units: "5",
  "Developer Proceeds": "0",
  "Customer Currency": "EUR",
  "Country Code": "DE",
  "Currency of Proceeds": "EUR",
  "Customer Price": "0",
}
const YEAR: SalesRow = {
  ...APP,
  SKU: "TEA01.year",
  Title: "Tea Pro",
  "Product Type Identifier": "IAY",
  "Parent Identifier": TEA.sku,
  Units: "2",
  "Customer Price": "19.99",
  "Developer Proceeds": "14.28",
  Subscription: "New",
}
const DOLLARS: SalesRow = { ...YEAR, "Customer Currency": "USD", "Currency of Proceeds": "USD", "Country Code": "US" }
const BACK: SalesRow = { ...DOLLARS, Units: "-1", "Customer Price": "-19.99" }
const OTHERS: SalesRow = { ...APP, SKU: "OTHER", Title: "Not ours", Units: "900" }
const STRANGE: SalesRow = { ...APP, "Product Type Identifier": "ZZ9", Units: "4" }

const call = (path: string, callerKey = key) =>
  scene.service.call(`/v1/apps/${scene.appId}/${path}`, { key: callerKey })

/** Reads the newest reports, up to this number, as a server does in its first seconds. */
async function readReports(atMost: number): Promise<void> {
  await scene.sql`update connected_account set next_at = now()`
  const parts = { sql: scene.sql, sealer, log: silentLog, reach: scene.register.reach, now: () => scene.clock.now }
  await createAccountReading({ recording, ...parts, gapMs: 0, atMost }).runOnce()
}

const sold: Record<string, SalesRow[]> = {
  [ago(1)]: [APP, YEAR, DOLLARS, BACK, OTHERS, STRANGE],
  [ago(3)]: [{ ...APP, Units: "7", "Country Code": "JP" }],
}

/** The day before yesterday is empty, and only the newest three days are published. */
function daily(): void {
  scene.standIn.report = (type, day) => {
    if (type !== "SALES") return "late"
    if (day === ago(2)) return "no sales"
    return sold[day] ? { tsv: salesReport(day, sold[day]) } : "late"
  }
}

const NOTHING = { downloads: 0, redownloads: 0, updates: 0, purchases: 0, subscriptions: 0, other: 0, refunds: 0 }

slow("revenue lists each day as read, empty or unknown, and lists each currency separately", async () => {
  daily()
  const { id } = await scene.add()
  await readReports(16)
  const { status, body, credits } = await call("revenue?days=4")
  expect([status, credits.used]).toEqual([200, 1])
  expect(body).toMatchObject({ dayZone: "America/Los_Angeles", from: ago(4), to: ago(1), country: null })
  const { asOf, ...source } = body.sources[0]
  expect(source).toEqual({
    id,
    kind: "app-store-connect",
    report: "sales",
    state: "ok",
    why: null,
    reportedDays: 3,
    days: 4,
    lateDays: [ago(4)],
  })
  expect(new Date(asOf).getTime()).toBeGreaterThan(0)
  const eur = (amount: string) => ({ amount, currency: "EUR" })
  const usd = (amount: string) => ({ amount, currency: "USD" })
  expect(body.totals).toEqual({
    ...NOTHING,
    downloads: 12,
    subscriptions: 3,
    other: 4,
    refunds: 1,
    gross: [eur("39.98"), usd("19.99")],
    proceeds: [eur("28.56"), usd("14.28")],
  })
  expect(body.days.map(({ day, reported, downloads }: Record<string, unknown>) => [day, reported, downloads])).toEqual([
    [ago(4), false, null],
    [ago(3), true, 7],
    [ago(2), true, 0],
    [ago(1), true, 5],
  ])
  expect(body.days[0]).toMatchObject({ gross: null, proceeds: null, refunds: null })
  expect(body.days[2]).toEqual({ day: ago(2), reported: true, ...NOTHING, gross: [], proceeds: [] })
  expect(body.countries.map(({ country, downloads }: Record<string, unknown>) => [country, downloads])).toEqual([
    ["jp", 7],
    ["de", 5],
    ["us", 0],
  ])
  expect(body.products.map(({ product, title }: Record<string, string>) => [product, title])).toEqual([
    ["TEA01", "Tea Timer"],
    ["TEA01.year", "Tea Pro"],
  ])
  const german = (await call("revenue?days=4&country=DE")).body
  expect([german.country, german.totals.downloads, german.totals.gross]).toEqual(["de", 5, [eur("39.98")]])
  const earlier = (await call(`revenue?days=1&to=${ago(3)}`)).body
  expect([earlier.from, earlier.totals.downloads]).toEqual([ago(3), 7])
  expect(JSON.stringify(body)).not.toContain("Not ours")
  // The tool returns the same answer as REST.
  const answer = await scene.service.tool("get_revenue", { appId: scene.appId, days: 4 }, { key })
  expect(answer.result.structuredContent).toEqual(body)
})

test("money stays exact beyond the precision of floating-point numbers", async () => {
  const rows = Array.from({ length: 3 }, (_, i) => ({
    ...YEAR,
    SKU: `p${i}`,
    Units: "1000001",
    "Developer Proceeds": "123456789.01",
  }))
  scene.standIn.report = (type, day) => (type === "SALES" && day === ago(1) ? { tsv: salesReport(day, rows) } : "late")
  await scene.add()
  await readReports(1)
  expect((await call("revenue?days=1")).body.totals.proceeds).toEqual([
    { amount: "370370737400367.03", currency: "EUR" },
  ])
})

slow("a restated day is listed once with its figures before and after", async () => {
  daily()
  await scene.add()
  await readReports(3)
  const [before] = (await call("revenue?days=1")).body.days
  scene.standIn.report = (type, day) =>
    type === "SALES" && day === ago(1) ? { tsv: salesReport(day, [{ ...APP, Units: "6" }]) } : "late"
  scene.clock.now = new Date(NOW.getTime() + 1_000)
  for (let times = 0; times < 2; times++) {
    await scene.sql`
      update account_task set next_at = case when day = ${ago(1)} then now() end where ${isReport(scene.sql)}`
    await readReports(3)
  }
  const { body } = await call("revenue?days=1")
  expect([before.downloads, body.days[0].downloads]).toEqual([5, 6])
  expect(body.restatements).toMatchObject([{ day: ago(1), unitsBefore: 12, units: 6 }])
})

const EVENTS = [
  "Event Date",
  "Event",
  "App Name",
  "App Apple ID",
  "Subscription Name",
  "Subscription Apple ID",
  "Subscription Offer Type",
  "Device",
  "Country",
  "Quantity",
]

slow("subscriptions are counted by event, with free trials separate from paid starts, and by state", async () => {
  const plan = { "App Apple ID": TEA.id, "Subscription Apple ID": "77", "Subscription Name": "Tea Pro", Country: "DE" }
  const event = (Event: string, Quantity: string, overrides: object = {}) => ({
    ...plan,
    "Event Date": ago(1),
    Event,
    Quantity,
    ...overrides,
  })
  const trial = { "Subscription Offer Type": "Free Trial" }
  const stock = {
    ...plan,
    "Customer Price": "19.99",
    "Customer Currency": "EUR",
    "Active Standard Price Subscriptions": "12",
    "Active Free Trial Introductory Offer Subscriptions": "3",
    "Billing Retry": "1",
    "Grace Period": "2",
  }
  scene.standIn.report = (type, day) => {
    if (day !== ago(1) || type === "SALES") return "late"
    if (type === "SUBSCRIPTION") return { tsv: table(Object.keys(stock), [stock, { ...stock, Country: "US" }]) }
    const events = [
      event("Start Introductory Offer", "3", trial),
      event("Start Introductory Offer", "2", { "Subscription Offer Type": "Pay Up Front" }),
      event("Paid Subscription from Introductory Offer", "1", trial),
      event("Subscribe", "4"),
      event("Renew", "9"),
      event("Renew", "1", { Device: "iPad" }),
      event("Canceled from Billing Retry", "2"),
      event("Refund", "1"),
      event("Reactivate to Another Subscription", "1", { Country: "US" }),
      event("Something Apple Adds", "5"),
      event("Renew", "800", { "App Apple ID": "999" }),
    ]
    return { tsv: table(EVENTS, events) }
  }
  await scene.add()
  await readReports(3)
  const { status, body } = await call("subscriptions?days=2")
  expect(status).toBe(200)
  const noIssues = { planChanges: 0, billingIssues: 0 }
  expect(body.totals).toEqual({
    ...noIssues,
    trialStarts: 3,
    trialConversions: 1,
    paidStarts: 6,
    renewals: 10,
    reactivations: 1,
    cancellations: 2,
    refunds: 1,
    other: 5,
  })
  expect(body.stock).toEqual({ day: ago(1), active: 24, trials: 6, offers: 0, grace: 4, retry: 2 })
  expect(body.days.map(({ day, reported, renewals }: Record<string, unknown>) => [day, reported, renewals])).toEqual([
    [ago(2), false, null],
    [ago(1), true, 10],
  ])
  expect(body.countries.map(({ country, reactivations }: Record<string, unknown>) => [country, reactivations])).toEqual(
    [
      ["de", 0],
      ["us", 1],
    ],
  )
  expect((await call("subscriptions?days=2&country=us")).body.stock.active).toBe(12)
})

slow("the day and portfolio answers show dollars and trials, but no money to a key without the right", async () => {
  const trial = {
    "App Apple ID": TEA.id,
    "Subscription Apple ID": "77",
    "Subscription Name": "Tea Pro",
    Country: "DE",
  }
  scene.standIn.report = (type, day) => {
    if (type === "SALES" && day === ago(1)) return { tsv: salesReport(day, [APP, DOLLARS, BACK]) }
    if (type === "SALES" && day === ago(2)) return { tsv: salesReport(day, [YEAR, DOLLARS]) }
    if (type !== "SUBSCRIPTION_EVENT" || day !== ago(1)) return "late"
    const start = { Event: "Start Introductory Offer", "Subscription Offer Type": "Free Trial", Quantity: "3" }
    return { tsv: table(EVENTS, [{ ...trial, ...start, "Event Date": day }]) }
  }
  const zone = "tz=America/Los_Angeles"
  const figuresOn = async (day: string, callerKey = key) => {
    const { body } = await call(`today?${zone}&day=${day}`, callerKey)
    const moneyFigures = body.figures.filter(({ key }: { key: string }) =>
      ["subscriptionRevenue", "trials"].includes(key),
    )
    const portfolio = (await scene.service.call(`/v1/portfolio?${zone}&day=${day}`, { key: callerKey })).body
    const { subscriptionRevenue, trials } = portfolio.apps[0]
    expect([portfolio.totals.subscriptionRevenue, portfolio.totals.trials]).toEqual([subscriptionRevenue, trials])
    const connectedIds = (conns: { id: string; connected: boolean }[]) =>
      conns.filter((conn) => conn.connected).map(({ id }) => id)
    expect(connectedIds(portfolio.conns)).toEqual(connectedIds(body.conns))
    return {
      conns: connectedIds(body.conns),
      figures: moneyFigures.map(({ value, state, source }: Record<string, unknown>) => [value, state, source]),
      subscriptionRevenue,
      trials,
    }
  }
  const countriesOn = async (day: string, callerKey = key) => {
    const { cards } = (await scene.service.call(`/v1/portfolio?${zone}&day=${day}`, { key: callerKey })).body
    const { figures } = (await call(`today?${zone}&day=${day}`, callerKey)).body
    const proceeds = figures
      .filter(({ key }: { key: string }) => key === "proceeds")
      .map(({ country, value, currency, state }: Record<string, unknown>) => [country, value, currency, state])
    return { card: cards.find(({ id }: { id: string }) => id === "countries"), proceeds }
  }
  const open = [null, "not_connected", null]
  expect(await figuresOn(ago(1))).toEqual({
    conns: [],
    figures: [open, open],
    subscriptionRevenue: null,
    trials: null,
  })
  await scene.add()
  await readReports(9)
  expect(await figuresOn(ago(1))).toEqual({
    conns: ["subscriptions"],
    subscriptionRevenue: 14.28,
    trials: 3,
    figures: [
      [14.28, "measured", "asc-sales"],
      [3, "measured", "asc-subscription-events"],
    ],
  })
  const totalsOn = async (day: string) =>
    (await scene.service.call(`/v1/portfolio?${zone}&day=${day}`, { key })).body.totals
  expect((await totalsOn(ago(1))).subscriptionRevenueWithout).toBeUndefined()
  expect((await totalsOn(ago(2))).subscriptionRevenueWithout).toEqual([scene.appId])
  // Some of the proceeds are in euros, and currencies are never summed.
  expect(await figuresOn(ago(2))).toMatchObject({
    subscriptionRevenue: null,
    trials: null,
    figures: [
      [null, "measured", "asc-sales"],
      [null, "not_measured", null],
    ],
  })
  const dollars = { users: null, revenue: 14.28, proceeds: [{ amount: "14.28", currency: "USD" }] }
  const sold = [["us", 14.28, "USD", "measured"]]
  expect(await countriesOn(ago(1))).toEqual({
    card: { id: "countries", state: "measured", rows: [{ label: "us", ...dollars }] },
    proceeds: sold,
  })
  // The amounts are sorted by a dated exchange rate, the largest first, and each stays in its own currency.
  const both = await countriesOn(ago(2))
  expect(
    both.card.rows.map(({ label, revenue, proceeds }: Record<string, unknown>) => [label, revenue, proceeds]),
  ).toEqual([
    ["de", null, [{ amount: "28.56", currency: "EUR" }]],
    ["us", 28.56, [{ amount: "28.56", currency: "USD" }]],
  ])
  expect(both.proceeds.map(([country]: string[]) => country).sort()).toEqual(["de", "us"])
  const unread = await countriesOn(ago(3))
  expect(unread).toEqual({
    card: { id: "countries", state: "not_measured", rows: [] },
    proceeds: [[null, null, null, "not_measured"]],
  })
  const limitedKey = await scene.service.key(scene.workspaceId, { scopes: ["apps:read"] })
  expect(await countriesOn(ago(1), limitedKey)).toEqual({
    card: { id: "countries", state: "hidden", rows: [] },
    proceeds: [[null, null, null, "hidden"]],
  })
  expect(await figuresOn(ago(1), limitedKey)).toMatchObject({
    conns: ["subscriptions"],
    subscriptionRevenue: null,
    trials: 3,
    figures: [
      [null, "hidden", null],
      [3, "measured", "asc-subscription-events"],
    ],
  })
})

describe("refusals of revenue and subscriptions, over REST and as a tool", () => {
  const refusals = async (path = "revenue") => {
    const rest = await call(path)
    const name = path.startsWith("revenue") ? "get_revenue" : "get_subscriptions"
    const answer = await scene.service.tool(name, { appId: scene.appId }, { key })
    expect(answer.result.isError).toBe(true)
    expect(JSON.parse(answer.result.content[0].text)).toMatchObject({
      error: rest.body.error,
      detail: rest.body.detail,
    })
    expect(rest.credits.used).toBe(0)
    return [rest.status, rest.body.error, rest.body.detail]
  }

  test("revenue is refused without an account and with an account of another kind or app", async () => {
    for (const path of ["revenue", "subscriptions"])
      expect(await refusals(path)).toEqual([
        404,
        "not_connected",
        expect.stringContaining("appmeter account add app-store-connect"),
      ])
    // An account of another kind that has the app does not report sales.
    await scene.sql`
      insert into connected_account (id, workspace_id, kind, shown, part, sealed, next_at)
      values ('ac_0', ${scene.workspaceId}, 'apple-ads', 'key …1', '1', 'v1.a.b.c', null)`
    await scene.sql`insert into account_app values ('ac_0', ${TEA.id}, '', 'Tea', '', ${scene.appId})`
    expect((await refusals())[2]).toStartWith("Connect the seller's console")
    scene.standIn.apps = [{ ...TEA, id: "999" }]
    await scene.add()
    expect(await refusals()).toEqual([404, "not_connected", expect.stringContaining(`does not have app ${TEA.id}`)])
  })

  test("revenue is refused before the first read, and the error names a missing role of the console key", async () => {
    const { id } = await scene.add(scene.standIn.key("MARKETING"))
    expect(await refusals()).toEqual([404, "not_measured", expect.stringMatching(/needs the role Sales/)])
    await scene.sql`delete from connected_account`
    await scene.add()
    expect(await refusals("subscriptions")).toEqual([404, "not_measured", expect.stringMatching(/^Connected since/)])
    expect(id).toStartWith("ac_")
  })

  test("an app only on Google Play needs Play Console for revenue, and has no subscriptions", async () => {
    const input = {
      workspaceId: scene.workspaceId,
      androidPkg: "com.example.tea",
      countries: ["us"],
      keywords: [],
      origin: "own",
    }
    scene.appId = await trackOwn(scene.sql, input as never)
    expect(await refusals("subscriptions")).toEqual([400, "unsupported_platform", expect.any(String)])
    const missing = "Connect the seller's console with: appmeter account add google-play-console."
    expect(await refusals()).toEqual([400, "unsupported_platform", missing])
  })

  test("the refusal of revenue without the right does not reveal accounts, and invalid days are refused", async () => {
    const limitedKey = await scene.service.key(scene.workspaceId, { scopes: ["apps:read"] })
    for (const path of ["revenue", "subscriptions"])
      expect((await call(path, limitedKey)).body.error).toBe("scope_required")
    expect((await call("revenue?days=0")).body.error).toBe("bad_days")
    expect((await call("revenue?days=366")).body.error).toBe("bad_days")
    expect((await call("revenue?to=2026-02-30")).body.error).toBe("bad_range")
    expect((await call("revenue?country=zz")).body.error).toBe("bad_country")
  })

  slow("stored revenue is shown with the required action during an open agreement or an outage", async () => {
    daily()
    await scene.add()
    await readReports(3)
    scene.standIn.before = () => new Response("<html>", { status: 503 })
    await scene.sql`update account_task set next_at = now()`
    await readReports(3)
    expect((await call("revenue?days=1")).body).toMatchObject({
      totals: { downloads: 5 },
      sources: [{ state: "unavailable", why: "the console answers 503", asOf: expect.any(String) }],
    })
    scene.standIn.before = () => null
    await readReports(3)
    expect((await call("revenue?days=1")).body.sources).toMatchObject([{ state: "ok", why: null }])
    scene.standIn.agreement = true
    await readReports(3)
    for (const path of ["revenue?days=1", "subscriptions?days=1"]) {
      const { status, body } = await call(path)
      if (path.startsWith("revenue")) expect([status, body.totals.downloads]).toEqual([200, 5])
      else
        expect([status, body.error, body.detail]).toEqual([
          404,
          "not_measured",
          expect.stringContaining("an agreement is waiting"),
        ])
    }
    expect((await call("revenue?days=1")).body.sources[0]).toMatchObject({
      state: "agreement_required",
      why: expect.stringContaining("account holder"),
    })
  })

  test("a revoked or removed account still shows figures and state, and other workspaces see nothing", async () => {
    daily()
    const { id } = await scene.add()
    await readReports(3)
    await scene.sql.begin((tx) => noteState(tx, id, { state: "revoked", why: "the key is refused" }))
    const revoked = (await call("revenue?days=1")).body
    expect([revoked.sources[0].state, revoked.sources[0].why, revoked.totals.downloads]).toEqual([
      "revoked",
      "the key is refused",
      5,
    ])
    await removeAccount(scene.sql, scene.workspaceId, id, false)
    expect((await call("revenue?days=1")).body.sources[0].state).toBe("removed")
    const stranger = await accountScene(scene.sql, NOW)
    stranger.standIn.stop()
    const otherKey = await stranger.service.key(stranger.workspaceId)
    const response = await stranger.service.call(`/v1/apps/${stranger.appId}/revenue`, { key: otherKey })
    expect([response.status, response.body.error]).toEqual([404, "not_connected"])
    await removeAccount(scene.sql, scene.workspaceId, id, true)
    expect((await call("revenue")).body.error).toBe("not_connected")
  })
})
