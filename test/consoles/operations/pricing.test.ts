import { beforeAll, describe, expect, test } from "bun:test"
import { removeAccount } from "../../../src/consoles/register.ts"
import { freshDatabase } from "../../database.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"
import { type BillingScene, billingScene, purchase } from "../billing/scene.ts"
import { reported } from "../reported.ts"
import { TEA } from "../scene.ts"

const NOW = new Date("2026-06-20T12:00:00Z")
const timeOn = (day: string) => new Date(`2026-${day}T10:00:00Z`)

let scene: BillingScene
let revenueCat: string
beforeAll(async () => {
  scene = await billingScene(await freshDatabase(), { now: NOW })
})

const call = (query = "", callerKey = scene.key, app = scene.appId) =>
  scene.service.call(`/v1/apps/${app}/pricing${query}`, { key: callerKey })

describe("refusals of pricing, over REST and as a tool", () => {
  const refusal = async (callerKey = scene.key, app = scene.appId) => {
    const rest = await call("", callerKey, app)
    const { result } = await scene.service.tool("get_pricing", { appId: app }, { key: callerKey })
    expect(JSON.parse(result.content[0].text)).toMatchObject({ error: rest.body.error, detail: rest.body.detail })
    expect(rest.credits.used).toBe(0)
    return [rest.status, rest.body.error, rest.body.detail]
  }

  test("pricing is refused without an account, on Google Play and without the right", async () => {
    expect(await refusal()).toEqual([404, "not_connected", expect.stringContaining("account add revenuecat")])
    const { sql, service, workspaceId } = scene
    const input = {
      workspaceId,
      androidPkg: "com.example.tea",
      countries: ["us"],
      keywords: [],
      origin: "own" as const,
    }
    const onPlay = await trackOwn(sql, input)
    expect((await refusal(scene.key, onPlay)).slice(0, 2)).toEqual([400, "unsupported_platform"])
    const limitedKey = await service.key(workspaceId, { scopes: ["apps:read"] })
    expect((await call("", limitedKey)).body.error).toBe("scope_required")
  })

  test("pricing is refused if the account has another app or has received no message", async () => {
    await scene.add("revenuecat", "999999")
    expect((await refusal())[1]).toBe("not_connected")
    revenueCat = await scene.add("revenuecat")
    expect(await refusal()).toEqual([404, "not_measured", expect.stringContaining(`/in/${revenueCat}`)])
  })
})

test("payments are listed by product, country and price, with separate trials and subtracted refunds", async () => {
  const events = [
    purchase({ id: "t1", type: "INITIAL_PURCHASE", period_type: "TRIAL", price: 0, usd: 0, at: timeOn("05-01") }),
    purchase({ id: "t2", type: "INITIAL_PURCHASE", period_type: "TRIAL", price: 0, usd: 0, at: timeOn("05-02") }),
    purchase({ id: "c1", is_trial_conversion: true, at: timeOn("05-08") }),
    purchase({ id: "r1", at: timeOn("05-09") }),
    purchase({ id: "r2", at: timeOn("06-09") }),
    purchase({ id: "b1", type: "CANCELLATION", cancel_reason: "CUSTOMER_SUPPORT", price: -19.99, at: timeOn("06-10") }),
    purchase({ id: "n1", price: 24.99, at: timeOn("06-12"), offer_code: "SPRING" }),
    purchase({ id: "n2", price: 24.99, at: timeOn("06-13"), offer_code: "SPRING" }),
    purchase({ id: "us", type: "INITIAL_PURCHASE", currency: "USD", country_code: "US", at: timeOn("06-01") }),
    purchase({ id: "x1", type: "CANCELLATION", cancel_reason: "UNSUBSCRIBE", price: 0, at: timeOn("06-14") }),
    // None of the following messages is counted.
    purchase({ id: "s1", environment: "SANDBOX", at: timeOn("06-01") }),
    purchase({ id: "p1", store: "PLAY_STORE", at: timeOn("06-01") }),
    purchase({ id: "u1", type: "SOMETHING_NEW", at: timeOn("06-01") }),
    purchase({ id: "o1", at: new Date("2025-06-01T10:00:00Z") }),
  ]
  for (const event of events) expect((await scene.send(revenueCat, event)).status).toBe(200)
  const { status, body, credits } = await call()
  expect([status, credits.used]).toEqual([200, 1])
  expect(body.sources).toEqual([
    {
      id: revenueCat,
      kind: "revenuecat",
      state: "ok",
      counted: true,
      since: NOW.toISOString(),
      asOf: NOW.toISOString(),
      events: 11,
      sandbox: 1,
      otherStores: 1,
      familyShared: 0,
      unknownTypes: 1,
    },
  ])
  const counts = {
    trialStarts: 0,
    paidStarts: 0,
    trialConversions: 0,
    renewals: 0,
    oneTime: 0,
    cancellations: 0,
    refunds: 0,
  }
  const eur = (amount: string) => ({ amount, currency: "EUR" })
  expect(body.paid).toEqual([
    {
      product: "tea.year",
      country: "de",
      countryIs: "last_contact",
      ...counts,
      trialStarts: 2,
      trialConversions: 1,
      renewals: 4,
      cancellations: 1,
      refunds: 1,
      prices: [
        { price: eur("24.99"), firstDay: "2026-06-12", lastDay: "2026-06-13", sales: 2, refunds: 0, revenue: "49.98" },
        { price: eur("19.99"), firstDay: "2026-05-08", lastDay: "2026-06-10", sales: 3, refunds: 1, revenue: "39.98" },
      ],
    },
    {
      product: "tea.year",
      country: "us",
      countryIs: "last_contact",
      ...counts,
      paidStarts: 1,
      prices: [
        {
          price: { amount: "19.99", currency: "USD" },
          firstDay: "2026-06-01",
          lastDay: "2026-06-01",
          sales: 1,
          refunds: 0,
          revenue: "19.99",
        },
      ],
    },
  ])
  expect(body.offers).toEqual([
    { offer: "SPRING", product: "tea.year", firstDay: "2026-06-12", lastDay: "2026-06-13", redemptions: 2 },
  ])
  expect(body.listed).toBeNull()
  const answer = await scene.service.tool("get_pricing", { appId: scene.appId }, { key: scene.key })
  expect(answer.result.structuredContent).toEqual(body)
  const american = (await call("?country=US")).body
  expect(american.paid.map(({ country }: { country: string }) => country)).toEqual(["us"])
  expect((await call("?product=tea.month")).body.paid).toEqual([])
})

test("purchases that two services report are counted from one service, even after its key is removed", async () => {
  const adapty = await scene.add("adapty")
  const properties = {
    profile_event_id: "a1",
    vendor_product_id: "tea.year",
    store: "app_store",
    environment: "Production",
  }
  const money = { price_local: 19.99, currency: "EUR", store_country: "DE" }
  const event = { event_type: "subscription_renewed", event_datetime: timeOn("06-09").toISOString() }
  await scene.send(adapty, { ...event, event_properties: { ...properties, ...money } })
  const { body } = await call()
  expect(body.sources.map(({ kind, counted }: Record<string, unknown>) => [kind, counted])).toEqual([
    ["adapty", true],
    ["revenuecat", false],
  ])
  expect(body.paid.map(({ renewals, countryIs }: Record<string, unknown>) => [renewals, countryIs])).toEqual([
    [1, "storefront"],
  ])
  await removeAccount(scene.sql, scene.workspaceId, adapty, false)
  expect((await call()).body.sources[0]).toMatchObject({ kind: "adapty", state: "removed", counted: true })
  await removeAccount(scene.sql, scene.workspaceId, adapty, true)
  expect((await call()).body.sources[0]).toMatchObject({ kind: "revenuecat", counted: true })
})

test("the console's price history is listed for the app's storefronts or for the requested one", async () => {
  const { sql, workspaceId, appId } = scene
  const account = "ac_00000000000000c0de"
  await sql`
    insert into connected_account (id, workspace_id, kind, shown, part, sealed, next_at, state)
    values (${account}, ${workspaceId}, 'app-store-connect', 'key …1', '85012345', 'v1.a.b.c', null, 'ok')`
  await sql`
    insert into account_app (account_id, outside_id, sku, name, bundle_id, app_id)
    values (${account}, ${TEA.id}, 'TEA01', 'Tea', 'com.example.tea', ${appId})`
  await sql`
    insert into account_product (account_id, app, product, sold_as, sku, name)
    values (${account}, ${TEA.id}, '6702026751', 'subscription', 'tea.year', 'Tea Pro')`
  const row = (country: string, price: string) => {
    return { country, currency: "USD", price, proceeds: "14.00", point: `point ${price}` }
  }
  const priceReport = (day: string, price: string) => {
    const common = {
      account,
      app: TEA.id,
      product: "6702026751",
      day,
      seenAt: new Date(`${day}T12:00:00Z`),
      origin: "own",
    }
    return reported("prices", { ...common, rows: [row("us", price), row("gb", "17.99")] })
  }
  const now = () => new Date("2026-12-31")
  const result = await record(
    sql,
    [priceReport("2024-01-01", "9.99"), priceReport("2025-01-01", "19.99"), priceReport("2026-06-01", "24.99")],
    now,
  )
  expect(result.refused).toEqual([])
  const { body } = await call()
  // The price 9.99 ended before the first of these days.
  expect(
    body.listed.map((period: Record<string, unknown>) => [
      period.country,
      period.from,
      period.sinceKnown,
      period.price,
    ]),
  ).toEqual([
    ["us", "2025-01-01", false, { amount: "19.99", currency: "USD" }],
    ["us", "2026-06-01", false, { amount: "24.99", currency: "USD" }],
  ])
  expect((await call("?country=gb")).body.listed).toMatchObject([
    { country: "gb", product: "tea.year", sinceKnown: false },
  ])
})
