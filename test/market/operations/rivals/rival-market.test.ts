import { afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { MarketFacts } from "../../../../src/core/observation/line-parts.ts"
import type { Sql } from "../../../../src/database/types.ts"
import { freshDatabase } from "../../../database.ts"
import { slow } from "../../../long.ts"
import { appsReading, reading } from "../../../measuring/record/measured.ts"
import { record } from "../../../record.ts"
import { fixture } from "../../../stores/parsing/parsed.ts"
import { answersLookUps, type Live, live } from "../../../world/stores.ts"

setDefaultTimeout(60_000)

const RIVAL = "1600000101"
const MINECRAFT = "com.mojang.minecraftpe"
const DAY_MS = 86_400_000
const ago = (ms: number) => new Date(Date.now() - ms).toISOString()
const dayOf = (ms: number) => ago(ms).slice(0, 10)
let sql: Sql
let scene: Live

beforeAll(async () => {
  sql = await freshDatabase()
})

beforeEach(async () => {
  scene = await live(sql, [`ios:${RIVAL}`, `android:${MINECRAFT}`])
})

afterEach(() => scene[Symbol.asyncDispose]())

const path = (rivalId = RIVAL, query = "") => `/v1/apps/${scene.appId}/rivals/${rivalId}/market${query}`
const android = () => path(MINECRAFT, "?platform=android")
const used = async () => (await scene.service.call("/v1/account", { key: scene.key })).body.credits.used
const onPlay = (ms: number, market: MarketFacts, rest: object = {}) =>
  appsReading(ago(ms), [{ id: MINECRAFT, name: "Minecraft", price: 6.99, currency: "USD", market, ...rest }], {
    source: "play-details",
    platform: "android",
  })

const NOTHING = { inAppPrices: null, installs: null, installsDay: null, installsChange: null }

describe("market data of the App Store", () => {
  const page = () =>
    scene.stores.on("apps.apple.com", "/us/app/", () => new Response(fixture("apple-app-page-us.html"), HTML))

  slow("price, ratings and release are from the iTunes lookup, and in-app purchases from the app's page", async () => {
    answersLookUps(scene.stores, { [RIVAL]: {} })
    page()
    const { status, body, text, pending } = await scene.settled(path())
    for (const answer of pending) expect(answer.body.eta).toBeWithin(1, 120)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      country: "us",
      platform: "ios",
      id: RIVAL,
      available: true,
      price: 2.99,
      currency: "USD",
      ...NOTHING,
      ratings: 1_234,
      rating: 4.5,
      ratingsDay: dayOf(0),
      ratingsSource: "itunes-lookup",
      releasedAt: "2020-01-01T08:00:00.000Z",
      hasInAppPurchases: true,
      measuredAt: expect.any(String),
    })
    expect(body).not.toHaveProperty("eta")
    expect(body.name).not.toBe(RIVAL)
    const requests = scene.stores.requests.length
    expect((await scene.service.call(path(), { key: scene.key })).text).toBe(text)
    expect(scene.stores.requests.length).toBe(requests)
  })

  test("a page that cannot be read leaves only its fields null", async () => {
    answersLookUps(scene.stores, { [RIVAL]: {} })
    scene.stores.on("apps.apple.com", "/us/app/", () => new Response("no", { status: 403 }))
    const { status, body } = await scene.settled(path())
    expect([status, body.hasInAppPurchases, body.price]).toEqual([200, null, 2.99])
  })

  slow("market data that is almost 7 days old is used, and older data is read again", async () => {
    page()
    await record(sql, [appsReading(ago(7 * DAY_MS - 60_000), [{ id: RIVAL, name: "Old", price: 9, currency: "USD" }])])
    answersLookUps(scene.stores, { [RIVAL]: {} })
    expect((await scene.settled(path())).body.price).toBe(9)
    await sql`update app_storefront set seen_at = seen_at - interval '2 minutes'`
    expect((await scene.settled(path())).body.price).toBe(2.99)
  })

  test("an app that is not sold in the storefront is answered as unavailable at the full price", async () => {
    answersLookUps(scene.stores, {})
    const { status, body, pending, credits } = await scene.settled(path())
    expect([status, credits.used]).toEqual([200, 1 + pending.length])
    expect(body).toMatchObject({ available: false, price: null, releasedAt: null, ratings: null, ...NOTHING })
  })

  test("a call that the store refuses fails with measure_busy, and nothing is charged or stored", async () => {
    scene.stores.on("itunes.apple.com", "/lookup", () => new Response("no", { status: 403 }))
    page()
    const { status, body, headers } = await scene.service.call(path(), { key: scene.key })
    expect([status, body.error, headers.get("retry-after")]).toEqual([503, "measure_busy", "60"])
    expect(await used()).toBe(0)
    expect(await sql`select from app_storefront where source = 'itunes-lookup'`).toHaveLength(0)
  })

  slow("a call whose reading is slow returns 202 with the stored data", async () => {
    page()
    await record(sql, [
      appsReading(ago(8 * DAY_MS), [{ id: RIVAL, name: "Old", price: 9, currency: "USD", ratings: 7 }]),
    ])
    answersLookUps(scene.stores, { [RIVAL]: {} }, 4_000)
    const first = await scene.service.call(path(), { key: scene.key })
    expect([first.status, first.credits.used]).toEqual([202, 1])
    expect(first.body).toMatchObject({ price: 9, ratings: 7, eta: expect.any(Number) })
    expect((await scene.settled(path())).body.price).toBe(2.99)
  })
})

const HTML = { headers: { "content-type": "text/html" } }

describe("market data of Google Play", () => {
  test("the page gives exact installs and in-app prices", async () => {
    scene.stores.on(
      "play.google.com",
      "/store/apps/details",
      () => new Response(fixture("play-details-minecraft.html"), HTML),
    )
    const { status, body } = await scene.settled(android())
    expect(status).toBe(200)
    expect(body).toMatchObject({
      platform: "android",
      id: MINECRAFT,
      name: "Minecraft: Dream it, Build it!",
      available: true,
      hasInAppPurchases: true,
      installsDay: dayOf(0),
      installsChange: null,
    })
    expect([body.installs, body.inAppPrices]).toEqual([91_130_079, { least: 0.99, most: 49.99, currency: "USD" }])
  })

  test("installs are compared with the previous measured day of the same source", async () => {
    await record(sql, [onPlay(5 * DAY_MS, { installs: 900 }), onPlay(3 * DAY_MS, { installs: 1_000 })])
    await record(sql, [onPlay(2 * DAY_MS, {})])
    await sql`
      insert into market_fact (app_id, storefront, source, day, seen_at, installs, parser, origin, sha256)
      select app_id, storefront, 'import', ${dayOf(DAY_MS)}, now() - interval '2 days', 5, 1, 'own', ''
      from market_fact
      limit 1`
    await record(sql, [onPlay(60_000, { installs: 940, hasInAppPurchases: false })])
    const { body } = await scene.service.call(android(), { key: scene.key })
    expect(body).toMatchObject({
      installs: 940,
      installsDay: dayOf(60_000),
      hasInAppPurchases: false,
      inAppPrices: null,
      installsChange: { change: -60, from: dayOf(3 * DAY_MS), to: dayOf(60_000) },
    })
    expect(scene.stores.requests).toEqual([])
  })

  test("in-app purchases keep their last known state, while prices come from the latest day only", async () => {
    const prices = { inAppLeast: 0.99, inAppMost: 9.99, inAppCurrency: "USD" }
    await record(sql, [onPlay(4 * DAY_MS, { installs: 10, hasInAppPurchases: false })])
    await record(sql, [onPlay(3 * DAY_MS, { installs: 20, hasInAppPurchases: true, ...prices })])
    await record(sql, [onPlay(2 * DAY_MS, { installs: 30 }), onPlay(60_000, { installs: 40 })])
    const { body } = await scene.service.call(android(), { key: scene.key })
    expect(body).toMatchObject({ hasInAppPurchases: true, inAppPrices: null, installs: 40 })
    expect(body.installsChange).toEqual({ change: 10, from: dayOf(2 * DAY_MS), to: dayOf(60_000) })
  })

  test("a single install count has no change", async () => {
    await record(sql, [onPlay(60_000, { installs: 0 })])
    const { body } = await scene.service.call(android(), { key: scene.key })
    expect(body).toMatchObject({ installs: 0, installsChange: null, inAppPrices: null, hasInAppPurchases: null })
    expect(body).toMatchObject({ price: 6.99, currency: "USD", ratings: null, releasedAt: null })
  })

  test("a storefront that this instance cannot read fails with not_measured and costs nothing", async () => {
    const { status, body } = await scene.service.call(`${android()}&country=de`, { key: scene.key })
    expect([status, body.error]).toEqual([404, "not_measured"])
    expect(await used()).toBe(0)
  })
})

test("each storefront has its own market data", async () => {
  await record(sql, [
    appsReading(ago(DAY_MS), [{ id: RIVAL, price: 1, currency: "EUR" }], { storefront: "de" }),
    appsReading(ago(DAY_MS), [{ id: RIVAL, price: 2, currency: "USD" }]),
    reading("x", ago(DAY_MS), [], { storefront: "de", depth: 1, results: [{ id: RIVAL, ratings: 8 }] }),
  ])
  scene.stores.on("apps.apple.com", "/", () => new Response("no", { status: 403 }))
  expect((await scene.settled(path())).body).toMatchObject({ country: "us", price: 2, ratings: null })
  expect((await scene.settled(path(RIVAL, "?country=DE"))).body).toMatchObject({ country: "de", price: 1, ratings: 8 })
})

test("an app that is no rival fails with not_found, and a key needs the scope and access to the app", async () => {
  expect((await scene.service.call(path("10099"), { key: scene.key })).body.error).toBe("not_found")
  expect((await scene.service.call(path("x"), { key: scene.key })).body).toMatchObject({
    error: "bad_app_id",
    field: "rivalId",
  })
  expect((await scene.service.call(path(RIVAL, "?country=zz"), { key: scene.key })).body.error).toBe("bad_country")
  const limitedKey = await scene.service.key(scene.workspaceId, { scopes: ["hive:read"] })
  expect((await scene.service.call(path(), { key: limitedKey })).body.error).toBe("scope_required")
  const limited = await scene.service.key(scene.workspaceId, { appList: [scene.appId] })
  const otherPath = path().replace(scene.appId, "app_other")
  expect((await scene.service.call(otherPath, { key: limited })).body.error).toBe("app_not_allowed")
})
