import { expect, test } from "bun:test"
import { slow } from "../../long.ts"
import { answersReviews, reviewPages } from "../../measuring/public-pages.ts"
import { reviewed } from "../../measuring/record/reviewed.ts"
import { record } from "../../record.ts"
import { fixture } from "../../stores/parsing/parsed.ts"
import { playAnswer } from "../../stores/parsing/review-pages.ts"
import { hoursAgo } from "../../world/clock.ts"
import { marketWorld } from "../../world/market.ts"

/** The app of the recorded feed. */
const APP = /\/id=(\d+)\//.exec(fixture("apple-reviews-us.xml"))![1]!
const PACKAGE = "com.example.harbor"
const scene = marketWorld({ forget: ["reviews"] })

const ask = (id: string, query = "") => scene.get(`/v1/hive/reviews/${id}${query}`)
const END = { pages: 1, complete: true, empty: false }
const sumOf = (counts: Record<string, number>) => Object.values(counts).reduce((sum, count) => sum + count, 0)
const feed = (body: string) => scene.stores.on("itunes.apple.com", "/us/rss/customerreviews/", () => new Response(body))

slow("concurrent calls for an untracked app share one reading of the newest page, which is stored", async () => {
  feed(fixture("apple-reviews-us.xml"))
  const all = await Promise.all(Array.from({ length: 10 }, () => ask(APP, "?limit=200")))
  const { status, body, text } = all[0]!
  expect([status, new Set(all.map(({ text }) => text)).size]).toEqual([200, 1])
  expect(body).toMatchObject({
    id: APP,
    platform: "ios",
    country: "us",
    feed: "us",
    source: "apple-reviews",
    origin: "own",
  })
  await scene.sql`update review_read set origin = 'a peer'`
  expect((await ask(APP)).body.origin).toBe("a peer")
  expect(body.reviews.length).toBeGreaterThan(3)
  const dates = body.reviews.map(({ date }: { date: string }) => date)
  expect(dates).toEqual(dates.toSorted().reverse())
  for (const name of ["title", "text", "version"]) expect(body.reviews[0][name]).toBeString()
  expect(sumOf(body.distribution)).toBe(body.reviews.length)
  expect([body.held, body.day]).toEqual([body.reviews.length, new Date().toISOString().slice(0, 10)])
  const requests = scene.stores.requests.length
  await ask(APP)
  expect([scene.stores.requests.length, requests, await scene.creditsUsed()]).toEqual([requests, 1, 120])
  // the answer contains no names of authors
  const names = [...fixture("apple-reviews-us.xml").matchAll(/<name>([^<]+)<\/name>/g)].map(([, name]) => name!)
  expect(names.length).toBeGreaterThan(3)
  for (const row of body.reviews)
    expect(Object.keys(row).sort()).toEqual(["date", "id", "rating", "seenAt", "text", "title", "version"])
  for (const name of ["author", "reviewer", "nickname"]) expect(text.toLowerCase()).not.toContain(`"${name}`)
})

slow("one request is enough to know whether all reviews of the feed are stored", async () => {
  answersReviews(scene.stores, "1000000001", reviewPages(9_000, 500))
  const { body } = await ask("1000000001")
  expect([body.reviews.length, body.held, body.complete]).toEqual([50, 50, false])
  expect(scene.stores.requests.length).toBe(1)
  answersReviews(scene.stores, "1000000002", reviewPages(9_000, 20))
  expect((await ask("1000000002")).body).toMatchObject({ held: 20, complete: true })
  const three = (await ask("1000000002", "?limit=3")).body
  expect([three.reviews.length, sumOf(three.distribution), three.held]).toEqual([3, 3, 20])
})

slow("a feed is fresh for 12 hours, and a new reading keeps the stored reviews", async () => {
  const old = { id: "8990", at: new Date(Date.UTC(2026, 0, 1)) }
  await record(scene.sql, [reviewed(hoursAgo(11), [old], { storeId: "1000000001", end: END })])
  expect([(await ask("1000000001")).body.held, scene.stores.requests.length]).toEqual([1, 0])
  await record(scene.sql, [reviewed(hoursAgo(13), [old], { storeId: "1000000002", end: END })])
  answersReviews(scene.stores, "1000000002", reviewPages(9_000, 20))
  const { body } = await ask("1000000002")
  expect([body.held, scene.stores.requests.length]).toEqual([20, 1])
})

slow("the latest 150 Google Play reviews are read once for all storefronts of a language", async () => {
  const ids = Array.from({ length: 150 }, (_, i) => 900 - i)
  scene.stores.on("play.google.com", "/_/PlayStoreUi", () => new Response(playAnswer(ids, "more")))
  const { status, body } = await ask(PACKAGE, "?limit=200")
  expect([status, body.platform, body.feed, body.reviews.length, body.complete]).toEqual([
    200,
    "android",
    "en",
    150,
    false,
  ])
  expect((await ask(PACKAGE, "?country=gb")).body.reviews.length).toBe(50)
  expect(scene.stores.requests.length).toBe(1)
})

test("the empty feed of an app without ratings gives no reviews, at the price of an empty answer", async () => {
  const none = { reviews: [], last: 1 }
  answersReviews(scene.stores, "1000000003", [none])
  const unsure = await ask("1000000003")
  expect([unsure.status, unsure.body.reviews, unsure.body.complete, unsure.body.distribution]).toEqual([
    200,
    [],
    false,
    null,
  ])
  await scene.sql`
    insert into rating_count (app_id, storefront, day, source, seen_at, origin, ratings)
    select id, 'us', current_date, 'itunes-lookup', now(), 'own', 0
    from store_app
    where store_id = '1000000003'`
  const sure = (await ask("1000000003")).body
  expect([sure.complete, sumOf(sure.distribution), await scene.creditsUsed()]).toEqual([true, 0, 2])
})

test("an empty feed that may be caused by a failure of the store fails with measure_busy for free", async () => {
  answersReviews(scene.stores, "1000000004", [{ reviews: [], last: null }])
  const { status, body } = await ask("1000000004")
  expect([status, body.error, await scene.creditsUsed()]).toEqual([503, "measure_busy", 0])
})

test("stored reviews are returned with their day if the store cannot be read", async () => {
  await record(scene.sql, [
    reviewed(hoursAgo(80), [{ id: "1", at: new Date(Date.UTC(2026, 0, 1)) }], { storeId: "1000000005", end: END }),
  ])
  scene.stores.on("itunes.apple.com", "/", () => new Response("no", { status: 503 }))
  const { status, body } = await ask("1000000005")
  expect([status, body.day, body.held]).toEqual([200, hoursAgo(80).slice(0, 10), 1])
})

test("an id of neither store and a limit over 200 are refused and cost nothing", async () => {
  expect((await ask("12")).body).toMatchObject({ error: "bad_app_id", field: "appId" })
  expect((await ask(APP, "?limit=201")).body).toMatchObject({ error: "invalid_arguments", field: "limit" })
  expect(await scene.creditsUsed()).toBe(0)
})
