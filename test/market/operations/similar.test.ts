import { expect, test } from "bun:test"
import { slow } from "../../long.ts"
import { fixture } from "../../stores/parsing/parsed.ts"
import { marketWorld } from "../../world/market.ts"

/** The apps of the recorded pages. */
const APP = "1600000101"
const GERMAN = "1610000300"
const scene = marketWorld({ forget: ["pages"] })

const ask = (id: string, query = "") => scene.get(`/v1/hive/similar/${id}${query}`)
const HTML = { headers: { "content-type": "text/html; charset=utf-8" } }
const page = (country: string, body: string) =>
  scene.stores.on("apps.apple.com", `/${country}/app/`, () => new Response(body, HTML))

test("the similar apps of an untracked app are read on request, in page order, and stored", async () => {
  page("us", fixture("apple-app-page-us.html"))
  const { status, body } = await ask(APP)
  expect([status, body.id, body.platform, body.country, body.source]).toEqual([200, APP, "ios", "us", "apple-app-page"])
  expect(body.day).toBe(new Date().toISOString().slice(0, 10))
  expect(body.apps.length).toBeGreaterThan(3)
  expect(body.apps.map(({ place }: { place: number }) => place)).toEqual(
    body.apps.map((_: unknown, i: number) => i + 1),
  )
  for (const app of body.apps) expect([app.id, app.name === app.id]).toEqual([expect.stringMatching(/^\d+$/), false])
  const requests = scene.stores.requests.length
  await scene.sql`update listing_run set origin = 'a peer' where section = 'similar'`
  const repeated = (await ask(APP, "?country=us")).body
  expect([body.origin, repeated.origin, repeated.apps]).toEqual(["own", "a peer", body.apps])
  expect([scene.stores.requests.length, await scene.creditsUsed()]).toEqual([requests, 20])
})

test("without a storefront the answer has the similar apps of the latest reading in any storefront", async () => {
  page("de", fixture("apple-app-page-de.html"))
  expect((await ask(GERMAN, "?country=de")).body.country).toBe("de")
  const requests = scene.stores.requests.length
  for (const query of ["", "?country="]) expect((await ask(GERMAN, query)).body.country).toBe("de")
  expect(scene.stores.requests.length).toBe(requests)
})

test("without a stored reading the similar apps are read in the first followed storefront", async () => {
  page("de", fixture("apple-app-page-de.html"))
  await scene.sql`delete from listing_run`
  await scene.sql`
    insert into market_storefront (storefront, genres, since)
      values ('gb', '{36}', '2025-08-29'), ('de', '{36}', '2025-08-29')`
  expect((await ask(GERMAN)).body.country).toBe("de")
  await scene.sql`delete from market_storefront`
})

slow("a page without similar apps gives an empty answer, and a missing page fails with not_measured", async () => {
  const withoutSimilar = fixture("apple-app-page-us.html").replaceAll('"similarItems"', '"otherItems"')
  page("us", withoutSimilar)
  const { status, body } = await ask(APP)
  expect([status, body.apps, await scene.creditsUsed()]).toEqual([200, [], 10])
  scene.stores.on("apps.apple.com", "/us/app/", () => new Response("gone", { status: 404 }))
  const missing = await ask("1437843999")
  expect([missing.status, missing.body.error, await scene.creditsUsed()]).toEqual([404, "not_measured", 11])
  expect(missing.body.detail).toContain("does not list it there")
})

test("an id of neither store fails with bad_app_id and costs nothing", async () => {
  for (const id of ["12", "abc", "app_12345", "com"])
    expect((await ask(id)).body).toMatchObject({ error: "bad_app_id", field: "appId" })
  expect(await scene.creditsUsed()).toBe(0)
})
