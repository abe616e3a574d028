import { expect, test } from "bun:test"
import { readDays } from "../../../src/keywords/read/term-results.ts"
import { explainEach, type Work } from "../../core/explained.ts"
import { until } from "../../jobs/platform.ts"
import { long, slow } from "../../long.ts"
import { reading, rename } from "../../measuring/record/measured.ts"
import { searchPage, someApps } from "../../measuring/store-pages.ts"
import { record } from "../../record.ts"
import { openService } from "../../service.ts"
import { dayAgo, daysAgo } from "../../world/clock.ts"
import { marketWorld } from "../../world/market.ts"

const scene = marketWorld({ forget: ["searches"] })

const ask = (query = "", term = "tide%20table") => scene.get(`/v1/hive/keywords/${term}/ranks${query}`)
const webSearch = { source: "apple-web-search" } as const
// biome-ignore lint/suspicious/noExplicitAny: an answer
const idsOf = ({ apps }: any) => apps?.map(({ id }: { id: string }) => id) ?? null

test("each day has its best reading, the latest day first, and a day without a reading is unmeasured", async () => {
  await record(scene.sql, [
    reading("tide table", daysAgo(0), ["10002", "10001"], webSearch),
    reading("tide table", daysAgo(2), ["10009"]),
    reading("tide table", daysAgo(2), ["10001", "10002", "10003"], webSearch),
    reading("tide table", daysAgo(3), [], { depth: 200, ...webSearch }),
    reading("tide table", daysAgo(4), ["10001"], { source: "foreign", origin: "elsewhere" }),
    reading("tide table", daysAgo(5), ["10001"], { complete: false, ...webSearch }),
    reading("tide table", daysAgo(6), ["10001"], { origin: "demo" }),
    reading("tide table", daysAgo(7), ["10001"], webSearch),
  ])
  await rename(scene.sql, "10001", "Tides", "us")
  await rename(scene.sql, "10001", "Gezeiten", "de")
  const { status, body } = await ask("?top=2")
  expect([status, body.days, body.top, body.from, body.to]).toEqual([200, 7, 2, dayAgo(6), dayAgo(0)])
  expect(body.results.map((result: { day: string }) => result.day)).toEqual([0, 1, 2, 3, 4, 5, 6].map(dayAgo))
  expect(body.results.map(idsOf)).toEqual([
    ["10002", "10001"],
    null,
    ["10001", "10002"],
    [],
    ["10001"],
    null,
    ["10001"],
  ])
  expect(body.results[0].apps[1]).toEqual({ rank: 2, id: "10001", name: "Tides" })
  expect(body.results[1]).toEqual({
    day: dayAgo(1),
    measured: false,
    measuredAt: null,
    source: null,
    origin: null,
    depth: null,
    apps: null,
  })
  expect(body.results[2]).toMatchObject({ measured: true, source: "apple-web-search", origin: "own", depth: 3 })
  expect(body.results[4]).toMatchObject({ source: "foreign", origin: "elsewhere" })
  expect(body.results[6]).toMatchObject({ origin: "demo" })
  expect([await scene.creditsUsed(), scene.stores.requests.length]).toEqual([10, 0])
})

slow("concurrent calls for an unread keyword share one reading and cost 1 credit each", async () => {
  const apps = someApps(3)
  const { promise: allRequested, resolve: answer } = Promise.withResolvers<void>()
  scene.stores.on("apps.apple.com", "/", async ({ url }) => {
    await allRequested
    return searchPage("us", url.searchParams.get("term") as string, apps)
  })
  const all = await Promise.all(Array.from({ length: 20 }, () => ask()))
  for (const { status, body } of all) expect([status, body.error]).toEqual([404, "not_measured"])
  expect(all[0]!.body.detail).toMatch(/Try again in \d+ s/)
  expect(await scene.creditsUsed()).toBe(20)
  answer()
  await until(async () => (await scene.sql`select from search_results`).length > 0)
  const { status, body } = await ask()
  expect([status, idsOf(body.results[0]), body.results[1].measured]).toEqual([200, apps.map(({ id }) => id), false])
  expect(scene.stores.requests.length).toBe(1)
  await until(async () => (await scene.sql`select from due where subject = 'tide table'`).length === 0)
})

test("the error for a range of days without data has the last stored day before the range", async () => {
  await record(scene.sql, [reading("tide table", daysAgo(20), ["10001"], webSearch)])
  const { status, body } = await openService({ sql: scene.sql }).call("/v1/hive/keywords/tide%20table/ranks", {
    key: scene.key,
  })
  expect([status, body.error]).toEqual([404, "not_measured"])
  expect(body.detail).toContain("does not read it")
  expect(body.detail).toContain(`The last day stored is ${dayAgo(20)}.`)
  expect((await ask("?days=30")).status).toBe(200)
})

test("the price depends on the number of requested days, even if some have no data", async () => {
  await record(scene.sql, [reading("tide table", daysAgo(0), ["10001"], webSearch)])
  const prices: number[] = []
  for (const query of ["", "?days=7", "?days=8", "?days=30", "?days=31", "?days=90", "?days=90&top=250"]) {
    const before = await scene.creditsUsed()
    await ask(query)
    prices.push((await scene.creditsUsed()) - before)
  }
  expect(prices).toEqual([10, 10, 20, 20, 40, 40, 40])
})

test("an answer has fewer than 1,000 rows, and returns the reduced number of days", async () => {
  await record(scene.sql, [reading("tide table", daysAgo(0), ["10001"], webSearch)])
  for (const [top, dayCount, days] of [
    [20, 90, 49],
    [10, 90, 90],
    [11, 90, 90],
    [12, 90, 83],
    [250, 90, 3],
    [250, 2, 2],
    [1, 90, 90],
  ]) {
    const { body } = await ask(`?top=${top}&days=${dayCount}`)
    expect([top, body.days, body.results.length, body.from]).toEqual([top, days, days, dayAgo(days! - 1)])
    expect(top! * body.days).toBeLessThan(1_000)
  }
})

test("Google Play has separate days, and the requested keyword is normalised", async () => {
  await record(scene.sql, [
    reading("tide table", daysAgo(0), ["com.example.tides"], {
      platform: "android",
      source: "play-search",
      egress: "us",
    }),
  ])
  expect(idsOf((await ask("?platform=android", "%20Tide%20TABLE")).body.results[0])).toEqual(["com.example.tides"])
  expect((await ask()).status).toBe(404)
})

test("wrong days, a wrong top and an overlong keyword are refused for free", async () => {
  for (const [query, code] of [
    ["?days=0", "bad_days"],
    ["?days=91", "bad_days"],
    ["?top=0", "invalid_arguments"],
    ["?top=251", "invalid_arguments"],
  ])
    expect((await ask(query)).body.error).toBe(code)
  expect((await ask("", "x".repeat(151))).body.error).toBe("bad_term")
  expect(await scene.creditsUsed()).toBe(0)
})

test("CSV has one row per result, and one row for a day without results", async () => {
  await record(scene.sql, [
    reading("tide table", daysAgo(0), ["10001", "10002"], webSearch),
    reading("tide table", daysAgo(1), [], { depth: 200, ...webSearch }),
  ])
  const { text } = await scene.service.call("/v1/hive/keywords/tide%20table/ranks?days=3", {
    key: scene.key,
    headers: { accept: "text/csv" },
  })
  const rows = text.trim().split(/\r?\n/).slice(1)
  expect(rows.map((row) => row.split(",").slice(0, 4).join())).toEqual([
    `${dayAgo(0)},true,1,10001`,
    `${dayAgo(0)},true,2,10002`,
    `${dayAgo(1)},true,,`,
    `${dayAgo(2)},false,,`,
  ])
})

long("days are read by index, without rows of other keywords or of days outside the range", async () => {
  const otherSearches = Array.from({ length: 400 }, (_, i) =>
    reading(`other ${i}`, daysAgo(i % 20), ["10001"], webSearch),
  )
  const days = Array.from({ length: 60 }, (_, day) =>
    reading("tide table", daysAgo(day), ["10001", "10002"], webSearch),
  )
  await record(scene.sql, [...otherSearches, ...days])
  await scene.sql`analyze`
  const works: Work[] = []
  const list = { platform: "ios", storefront: "us", term: "tide table" } as const
  const read = await readDays(explainEach(scene.sql, works), list, { from: dayAgo(6), to: dayAgo(0), top: 1 })
  expect(read.map(({ day, appIds }) => [day, appIds.length])).toEqual(
    [0, 1, 2, 3, 4, 5, 6].map((day) => [dayAgo(day), 1]),
  )
  // nine plan steps for seven days: rows are found in either form, combined, sorted and joined
  expect(works.map(({ rows }) => rows < 70)).toEqual([true])
})
