import { expect } from "bun:test"
import { slow } from "../../long.ts"
import { openService } from "../../service.ts"
import { fixture } from "../../stores/parsing/parsed.ts"
import { marketWorld } from "../../world/market.ts"
import { answersLookUps } from "../../world/stores.ts"

/** The app of the recorded page. */
const APP = "1600000101"
const scene = marketWorld({ forget: ["pages"] })

const ask = (id: string, query = "") => scene.get(`/v1/hive/apps/${id}${query}`)
const HTML = { headers: { "content-type": "text/html; charset=utf-8" } }
const page = (body: string, status = 200) =>
  scene.stores.on("apps.apple.com", "/us/app/", () => new Response(body, { ...HTML, status }))
const requests = (host: string) => scene.stores.requests.filter(({ url }) => url.hostname === host).length

slow("concurrent calls for an app share one iTunes lookup and one page reading, and both are stored", async () => {
  answersLookUps(scene.stores, { [APP]: { trackName: "Harbor", userRatingCount: 321, averageUserRating: 4.25 } })
  page(fixture("apple-app-page-us.html"))
  const all = await Promise.all(Array.from({ length: 10 }, () => ask(APP)))
  const { status, body } = all[0]!
  expect([status, new Set(all.map(({ text }) => text)).size]).toEqual([200, 1])
  expect(body).toMatchObject({ id: APP, platform: "ios", country: "us", available: true })
  expect(body).toMatchObject({ version: "1.0", price: 2.99, currency: "USD", genre: "6007", source: "itunes-lookup" })
  expect(body).toMatchObject({ ratings: 321, rating: 4.25, ratingsSource: "itunes-lookup", storefronts: ["us"] })
  expect(body).toMatchObject({ releasedAt: "2020-01-01T08:00:00.000Z", updatedAt: "2026-01-01T08:00:00.000Z" })
  // the look-up contained nothing about the build
  expect([body.languages, body.sizeBytes, body.builtAt, body.builtSource]).toEqual([null, null, null, null])
  // facts that only the page contains have the page's own time
  expect([typeof body.badge, body.inAppPurchaseCount]).toEqual(["boolean", body.listingExtras.inAppPurchases.length])
  expect(body.distributionSource).toBe("apple-app-page")
  expect(Object.values(body.distribution).every(Number.isInteger)).toBe(true)
  expect(body.listingExtras.languages.length).toBeGreaterThan(1)
  expect(Date.parse(body.listingExtras.measuredAt)).toBeWithin(Date.now() - 60_000, Date.now())
  expect((await ask(APP)).body).toEqual(body)
  expect([requests("itunes.apple.com"), requests("apps.apple.com"), await scene.creditsUsed()]).toEqual([1, 1, 110])
})

slow("each part of an app's answer has its origin", async () => {
  answersLookUps(scene.stores, { [APP]: { languageCodesISO2A: ["EN"], userRatingCount: 321, averageUserRating: 4.25 } })
  page(fixture("apple-app-page-us.html"))
  const origins = async () => {
    const { origin, builtOrigin, ratingsOrigin, distributionOrigin, listingExtras } = (await ask(APP)).body
    return [origin, builtOrigin, ratingsOrigin, distributionOrigin, listingExtras.origin]
  }
  expect(await origins()).toEqual(["own", "own", "own", "own", "own"])
  await scene.sql`update app_storefront set origin = 'a peer'`
  await scene.sql`update listing_run set origin = 'another peer'`
  expect(await origins()).toEqual(["a peer", "a peer", "own", "own", "another peer"])
  await scene.sql`update rating_count set origin = 'a third'`
  expect(await origins()).toEqual(["a peer", "a peer", "a third", "a third", "another peer"])
})

slow("fields of a page that cannot be read are null, never 0", async () => {
  answersLookUps(scene.stores, { [APP]: { userRatingCount: undefined, averageUserRating: undefined } })
  page("no", 503)
  const { status, body } = await ask(APP)
  expect([status, body.version, body.ratings, body.rating]).toEqual([200, "1.0", null, null])
  expect([body.badge, body.inAppPurchaseCount, body.distribution, body.distributionAt]).toEqual([
    null,
    null,
    null,
    null,
  ])
  expect(body.listingExtras).toEqual({
    measuredAt: null,
    origin: null,
    languages: null,
    size: null,
    minimumOs: null,
    ageRating: null,
    promotionalText: null,
    inAppPurchases: null,
  })
})

slow("the answer for an app that is not sold in the storefront lists the storefronts that sell it", async () => {
  answersLookUps(scene.stores, { [APP]: {} })
  page("no", 404)
  await ask(APP)
  answersLookUps(scene.stores, {})
  const { status, body } = await ask(APP, "?country=de")
  expect([status, body.available, body.price, body.storefronts, await scene.creditsUsed()]).toEqual([
    200,
    false,
    null,
    ["us"],
    20,
  ])
})

slow("languages and size come from the latest iTunes lookup that has them, in any storefront", async () => {
  page("no", 503)
  answersLookUps(scene.stores, { [APP]: { languageCodesISO2A: ["FR", "EN", "FR"], fileSizeBytes: "112401408" } })
  const { body } = await ask(APP)
  expect([body.languages, body.sizeBytes, body.builtSource]).toEqual([["en", "fr"], 112_401_408, "itunes-lookup"])
  expect(body.builtAt).toBe(body.measuredAt)
  // a look-up in another storefront that lacks these fields removes nothing
  answersLookUps(scene.stores, { [APP]: {} })
  const german = (await ask(APP, "?country=de")).body
  expect([german.languages, german.sizeBytes, german.builtAt]).toEqual([["en", "fr"], 112_401_408, body.builtAt])
  expect(german.measuredAt > german.builtAt).toBe(true)
})

slow("an instance that reads no store returns stored data, or lists the storefronts with stored data", async () => {
  answersLookUps(scene.stores, { [APP]: {} })
  page(fixture("apple-app-page-us.html"))
  await ask(APP)
  await scene.sql`update app_storefront set seen_at = seen_at - interval '3 days'`
  const service = openService({ sql: scene.sql })
  const stored = await service.call(`/v1/hive/apps/${APP}`, { key: scene.key })
  expect([stored.status, stored.body.measuredAt < new Date(Date.now() - 172_800_000).toISOString()]).toEqual([
    200,
    true,
  ])
  const { status, body } = await service.call(`/v1/hive/apps/${APP}?country=de`, { key: scene.key })
  expect([status, body.error, await scene.creditsUsed()]).toEqual([404, "not_measured", 21])
  expect(body.detail).toContain("does not read it")
  expect(body.detail).toContain("Storefronts that have it, for country: us.")
  const unknown = await service.call("/v1/hive/apps/1555555555", { key: scene.key })
  expect([unknown.body.error, unknown.body.detail.includes("Storefronts")]).toEqual(["not_measured", false])
})

slow("a Google Play app is read from its page and has no fields that only the App Store has", async () => {
  scene.stores.on("play.google.com", "/store/apps/details", () => new Response(fixture("play-details-translate.html")))
  const { status, body } = await ask("com.google.android.apps.translate")
  expect([status, body.platform, body.source, "listingExtras" in body]).toEqual([200, "android", "play-details", false])
  expect([body.badge, body.inAppPurchaseCount]).toEqual([null, null])
  expect(body.ratings).toBeGreaterThan(1_000)
  expect(body.distribution["5"]).toBeGreaterThan(1_000)
})

slow("a call for an app is free if the store is unavailable", async () => {
  scene.stores.on("itunes.apple.com", "/", () => new Response("no", { status: 503 }))
  page("no", 503)
  const { status, body } = await ask(APP)
  expect([status, body.error, await scene.creditsUsed()]).toEqual([503, "measure_busy", 0])
  expect((await ask("12")).body).toMatchObject({ error: "bad_app_id", field: "id" })
})
