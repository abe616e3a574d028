import { afterEach, beforeEach, describe, expect } from "bun:test"
import { createAccountReading } from "../../../src/consoles/worker.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { recording } from "../../../src/recording.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { appsReading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { type AccountScene, accountScene, isReport, putOffReports, TEA } from "../scene.ts"
import type { StandInPrice } from "../stand-in-prices.ts"

const NOW = new Date()

let scene: AccountScene
let key: string
beforeEach(async () => {
  scene = await accountScene(await freshDatabase(), NOW)
  key = await scene.service.key(scene.workspaceId, { plan: "pro" } as never)
})
afterEach(() => scene.standIn.stop())

const call = (query = "", callerKey = key) =>
  scene.service.call(`/v1/apps/${scene.appId}/country-prices${query}`, { key: callerKey })

const worker = () => {
  const parts = { sql: scene.sql, sealer, log: silentLog, reach: scene.register.reach, now: () => scene.clock.now }
  return createAccountReading({ recording, ...parts, gapMs: 0, atMost: 40, pollMs: 50 })
}

async function readPrices(): Promise<void> {
  await putOffReports(scene)
  await scene.sql`update connected_account set next_at = now()`
  await worker().runOnce()
}

const price = (territory: string, currency: string, amount: string, rest: Partial<StandInPrice> = {}): StandInPrice => {
  return { territory, currency, price: amount, ...rest }
}

/** Adds a subscription, a purchase and the free app. */
function sells(): void {
  const day = (days: number) => new Date(NOW.getTime() + days * 86_400_000).toISOString().slice(0, 10)
  scene.standIn.products.push(
    {
      id: "77",
      app: TEA.id,
      soldAs: "subscription",
      sku: "tea.year",
      name: "Tea Pro",
      prices: [
        ...[price("USA", "USD", "20.00"), price("DEU", "EUR", "22.00", { startDate: day(-40) })],
        ...[price("DEU", "EUR", "18.00", { startDate: day(-400), preserved: true })],
        ...[price("DEU", "EUR", "25.00", { startDate: day(10) }), price("JPN", "JPY", "3000")],
        ...[price("XKS", "EUR", "9.00"), price("ANT", "USD", "1.00"), price("KAZ", "KZT", "9000")],
      ],
      equal: { DEU: "24.99", USA: "20.00", JPN: "3200" },
    },
    {
      id: "88",
      app: TEA.id,
      soldAs: "purchase",
      sku: "tea.cup",
      name: "A cup",
      prices: [price("USA", "USD", "1.99", { manual: true })],
    },
    {
      id: TEA.id,
      app: TEA.id,
      soldAs: "app",
      sku: TEA.sku,
      name: TEA.name,
      prices: [price("USA", "USD", "0.00", { manual: true }), price("DEU", "EUR", "0.00")],
    },
  )
}

slow("each country has price, proceeds, Apple's equivalent, dollars at a dated rate, and affordability", async () => {
  sells()
  const { id } = await scene.add(scene.standIn.key("ADMIN"))
  await readPrices()
  const { status, body, credits } = await call()
  expect([status, credits.used]).toEqual([200, 1])
  expect(body).toMatchObject({
    product: { product: "77", soldAs: "subscription", sku: "tea.year", name: "Tea Pro", period: "ONE_YEAR" },
    account: { id, state: "ok", why: null },
    live: false,
    affordabilitySource: { name: "The Economist, Big Mac index", licence: "CC BY 4.0", asOf: "2026-01-01" },
  })
  expect(body.products.map(({ sku }: { sku: string }) => sku)).toEqual(["tea.year", "tea.cup", "TEA01"])
  const rows = Object.fromEntries(body.countries.map((row: { country: string }) => [row.country, row]))
  // A territory where nothing is sold any more is left out, and Kosovo is included.
  expect(Object.keys(rows)).toEqual(["de", "jp", "kz", "us", "xk"])
  expect(rows.de).toMatchObject({
    currency: "EUR",
    price: "22.00",
    proceeds: "15.40",
    proceedsYear2: "18.70",
    automatic: null,
    preserved: 1,
    upcoming: { price: "25.00" },
    applePrice: "24.99",
    index: 128,
    usd: { value: 25.52, rate: 0.86192, rateDate: "2026-01-01" },
    affordability: { bigMacs: 3.62, index: 111 },
  })
  expect(rows.kz).toMatchObject({
    price: "9000",
    usd: null,
    index: null,
    affordability: null,
    applePrice: null,
    upcoming: null,
  })
  // This country pays in euros but is not in the euro area of the index.
  expect(rows.xk).toMatchObject({ affordability: null, usd: { value: 10.44 } })
  const german = (await call("?country=DE&product=TEA01")).body
  expect(german.countries).toMatchObject([
    { country: "de", price: "0.00", automatic: true, affordability: { bigMacs: 0, index: null } },
  ])
  const answer = await scene.service.tool("get_country_prices", { appId: scene.appId }, { key })
  expect(answer.result.structuredContent).toEqual(body)
  const unknown = await call("?product=tea.month")
  expect([unknown.status, unknown.body.error, unknown.body.detail]).toEqual([
    ...[400, "invalid_arguments", "The app has no product tea.month. The console lists tea.year, tea.cup, TEA01."],
  ])
})

slow("prices over a day old are read during the call if a worker runs, otherwise returned from storage", async () => {
  sells()
  await scene.add(scene.standIn.key("ADMIN"))
  await readPrices()
  const reading = worker()
  reading.start()
  try {
    // If two readings have the same time, the hash of the body decides which one is the day's.
    scene.clock.now = new Date(NOW.getTime() + 60_000)
    scene.standIn.products[0]!.prices[0]!.price = "21.00"
    await scene.sql`
      update account_task set read_at = now() - interval '25 hours', next_at = now() + interval '1 hour'
      where not ${isReport(scene.sql)}`
    const callers = await Promise.all([call(), call(), call()])
    for (const { body } of callers) {
      expect([body.live, body.countries.find(({ country }: { country: string }) => country === "us").price]).toEqual([
        true,
        "21.00",
      ])
    }
    expect((await call()).body.live).toBe(false)
    const requestCount = scene.standIn.requests.filter((path) => path.startsWith("/v1/subscriptions/77/prices")).length
    expect(requestCount).toBe(2)
  } finally {
    await reading.stop()
  }
  const [days] = await scene.sql`select count(*)::int as days from price_day where product = '77'`
  expect(days).toEqual({ days: 1 })
  await scene.sql`update account_task set read_at = now() - interval '25 hours' where not ${isReport(scene.sql)}`
  await scene.sql`update connected_account set last_ok = now() - interval '3 hours'`
  const startedAt = performance.now()
  expect((await call()).body.live).toBe(false)
  expect(performance.now() - startedAt).toBeLessThan(3_000)
})

slow("unchanged prices are not stored again, and a removed product keeps its price history", async () => {
  sells()
  await scene.add(scene.standIn.key("ADMIN"))
  await readPrices()
  const readPriceDays = async () => (await scene.sql`select product, seen_at from price_day order by product`).length
  expect(await readPriceDays()).toBe(3)
  scene.clock.now = new Date(NOW.getTime() + 86_400_000)
  scene.standIn.products.splice(1, 1)
  await scene.sql`update account_task set next_at = now() where not ${isReport(scene.sql)}`
  await readPrices()
  await scene.sql`update account_task set next_at = now() where not ${isReport(scene.sql)}`
  await readPrices()
  expect(await readPriceDays()).toBe(3)
  expect((await call()).body.products.map(({ sku }: { sku: string }) => sku)).toEqual(["tea.year", "TEA01"])
})

describe("refusals of country prices, over REST and as a tool", () => {
  const refusal = async () => {
    const rest = await call()
    const answer = await scene.service.tool("get_country_prices", { appId: scene.appId }, { key })
    expect(JSON.parse(answer.result.content[0].text)).toMatchObject({
      error: rest.body.error,
      detail: rest.body.detail,
    })
    expect(rest.credits.used).toBe(0)
    return [rest.status, rest.body.error, rest.body.detail]
  }

  slow("country prices are refused without an account, before a reading and without the right to prices", async () => {
    expect(await refusal()).toEqual([404, "not_connected", expect.stringContaining("appmeter account add")])
    await scene.add(scene.standIn.key("SALES"))
    expect(await refusal()).toEqual([404, "not_measured", expect.stringContaining("within the first hour")])
    await readPrices()
    expect(await refusal()).toEqual([404, "not_measured", expect.stringContaining("role App Manager or Admin")])
  })
})

slow("the app's price is compared if at least three paid rivals have prices in the same currency", async () => {
  sells()
  await scene.add(scene.standIn.key("ADMIN"))
  await readPrices()
  const rivals = ["9990501", "9990502", "9990503", "9990504", "9990505"]
  const facts = (country: string, prices: (number | null)[], currency: string) => {
    const apps = rivals.map((id, place) => {
      const price = prices[place] ?? null
      return { id, name: `Rival ${id}`, ...(price !== null && { price, currency }) }
    })
    return appsReading(NOW.toISOString(), apps, { storefront: country })
  }
  const observations = [facts("us", [4.99, 1.99, 2.99, 0, null], "USD"), facts("de", [4.99, 1.99, 0, 0, null], "EUR")]
  expect((await record(scene.sql, observations, () => NOW)).refused).toEqual([])
  await scene.sql`
    insert into app_rival (app_id, platform, storefront, rival, manual, terms)
    select ${scene.appId}, 'ios', c, id, true, 0
    from store_app
    cross join unnest(array['us', 'de']) c
    where platform = 'ios' and store_id = any(${rivals}::text[])`
  const rivalsIn = async (query: string) => {
    const { countries } = (await call(query)).body
    return Object.fromEntries(countries.map(({ country, rivals }: Record<string, string>) => [country, rivals]))
  }
  expect(await rivalsIn("?product=TEA01")).toEqual({
    us: { median: "2.99", count: 3, free: 1, asOf: NOW.toISOString() },
    de: null,
  })
  // Rivals' in-app prices are public only as ranges.
  expect((await rivalsIn("?product=tea.year")).us).toBeNull()
})
