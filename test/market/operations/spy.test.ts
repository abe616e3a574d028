import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { findAppKeywords } from "../../../src/keywords/read/keywords-of-apps.ts"
import { explainEach, readsOf, type Work } from "../../core/explained.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { popularityReading, reading, rename } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { dayAgo } from "../../world/clock.ts"
import { forgetSearches } from "../../world/market.ts"
import { byText, scatteredReadings, storeAnswers, walkedAnswers } from "./market-lists.ts"

setDefaultTimeout(60_000)

const WEB_SEARCH = { source: "apple-web-search" } as const
let sql: Sql
let service: Service
let key: string

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
})

beforeEach(async () => {
  await forgetSearches(sql)
  key = await service.key(await service.workspace({ pack: 100_000, plan: "pro", overrides: { ratePerSecond: 10_000 } }))
})

const ask = (id = "10001", query = "") => service.call(`/v1/hive/spy/${id}${query}`, { key })
const used = async () => (await service.call("/v1/account", { key })).body.credits.used
const at = (days: number) => `${dayAgo(days)}T00:00:01.000Z`

test("spy lists every keyword whose latest results contain the app, the best rank first", async () => {
  await record(sql, [
    reading("tide table", at(3), ["10001"], WEB_SEARCH),
    reading("tide table", at(1), ["10002", "10001"], { ...WEB_SEARCH, depth: 200 }),
    reading("left", at(3), ["10001"], WEB_SEARCH),
    reading("left", at(1), ["10002"], WEB_SEARCH),
    reading("sea", at(29), ["10001"], { source: "foreign", origin: "elsewhere" }),
    reading("old", at(30), ["10001"], WEB_SEARCH),
    reading("shown", at(1), ["10001"], { origin: "demo" }),
    reading("tide table", at(1), ["10001"], { ...WEB_SEARCH, storefront: "gb" }),
    popularityReading("tide table", "2025-09-01", 61),
  ])
  await rename(sql, "10001", "Tides", "us")
  const { status, body, text } = await ask()
  expect([status, body.id, body.name, body.country, body.platform, body.since]).toEqual([
    ...[200, "10001", "Tides", "us", "ios", dayAgo(29)],
  ])
  expect([body.searched, body.total, body.nextCursor, await used()]).toEqual([4, 3, null, 200])
  expect(text).toBe(JSON.stringify(body))
  const unknown = {
    popularity: null,
    popularityLow: null,
    popularityHigh: null,
    popularitySource: null,
    popularityWeek: null,
    difficulty: null,
  }
  expect(body.keywords).toEqual([
    { term: "sea", rank: 1, depth: 1, day: dayAgo(29), source: "foreign", origin: "elsewhere", ...unknown },
    { term: "shown", rank: 1, depth: 1, day: dayAgo(1), source: "import", origin: "demo", ...unknown },
    {
      term: "tide table",
      rank: 2,
      depth: 200,
      day: dayAgo(1),
      source: WEB_SEARCH.source,
      origin: "own",
      ...unknown,
      popularity: 61,
      popularityLow: null,
      popularityHigh: null,
      popularitySource: "apple-ads-report",
      popularityWeek: "2025-09",
    },
  ])
  expect((await ask("10001", "?country=GB")).body).toMatchObject({ searched: 1, total: 1, country: "gb" })
})

test("an app without keywords costs 1 credit and returns how many keywords were searched", async () => {
  await record(sql, [
    reading("left", at(3), ["10001"], WEB_SEARCH),
    reading("left", at(1), ["10002"], WEB_SEARCH),
    reading("broken off", at(1), ["10001"], { ...WEB_SEARCH, complete: false }),
  ])
  for (const id of ["10001", "99999"]) {
    const { status, body } = await ask(id)
    expect([status, body.keywords, body.total, body.searched]).toEqual([200, [], 0, 1])
  }
  expect((await ask("99999")).body.name).toBe("99999")
  expect(await used()).toBe(3)
})

test("a storefront without recent results fails with not_measured instead of an empty list", async () => {
  await record(sql, [reading("old", at(31), ["10001"], WEB_SEARCH)])
  const { status, body } = await ask()
  expect([status, body.error, await used()]).toEqual([404, "not_measured", 1])
})

test("spy refuses an id of the other store, a bad id, a foreign cursor and a missing scope at no cost", async () => {
  await record(sql, [
    reading("sea", at(1), ["com.example.sea"], { platform: "android", source: "play-search", egress: "us" }),
  ])
  expect((await ask("com.example.sea", "?platform=android")).body.keywords).toMatchObject([{ term: "sea", rank: 1 }])
  const before = await used()
  for (const [id, query, code] of [
    ["com.example.sea", "", "bad_app_id"],
    ["10001", "?platform=android", "bad_app_id"],
    ["nothing", "", "bad_app_id"],
    ["10001", "?country=zz", "bad_country"],
    ["10001", "?cursor=nothing", "bad_cursor"],
    ["10001", "?platform=windows", "invalid_arguments"],
  ] as const)
    expect((await ask(id, query)).body.error).toBe(code)
  expect((await ask("com.example.sea")).body.detail).toContain("Set platform to android")
  expect(await used()).toBe(before)
  const reader = await service.key(await service.workspace({ explorer: true, plan: "pro" }), { scopes: ["hive:read"] })
  const { body } = await service.call("/v1/hive/spy/10001", { key: reader })
  expect([body.error, body.scope]).toEqual(["scope_required", "hive:spy"])
})

slow("spy returns more than 1,000 keywords in pages, each keyword once, and charges each page", async () => {
  const terms = Array.from({ length: 2_300 }, (_, i) => `${["wort", "Été", "語"][i % 3]} ${i}`.toLowerCase())
  const answers = terms.map((term, i) => ({ term, ids: i % 2 ? ["10002", "10001"] : ["10001"] }))
  await storeAnswers(sql, dayAgo(1), answers)
  const pages: { term: string; rank: number }[][] = []
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body }: { body: { total: number; keywords: { term: string; rank: number }[]; nextCursor: string | null } } =
      await ask("10001", `?fields=term,rank${cursor && `&cursor=${cursor}`}`)
    expect(body.total).toBe(terms.length)
    pages.push(body.keywords)
    cursor = body.nextCursor
    if (cursor) expect((await ask("10002", `?cursor=${cursor}`)).body.error).toBe("bad_cursor")
  }
  expect([pages.map((page) => page.length), await used()]).toEqual([[1_000, 1_000, 300], 600])
  const expected = terms.map((term, i) => ({ term, rank: 1 + (i % 2) }))
  expect(pages.flat()).toEqual(expected.sort((a, b) => a.rank - b.rank || byText(a.term, b.term)))
})

describe("1,500 readings of many days, sources, origins, storefronts and depths", () => {
  const readings = scatteredReadings(1_500, 14)

  slow("spy finds the same keywords of each app as an independent computation over all readings", async () => {
    await record(sql, readings)
    let found = 0
    for (const platform of ["ios", "android"] as const)
      for (const storefront of ["us", "gb"]) {
        const answers = walkedAnswers(readings, platform, storefront)
        for (let n = 10_001; n <= 10_014; n += 3) {
          const id = platform === "ios" ? String(n) : `com.example.a${n}`
          const expected = answers.flatMap(({ ids, ...answer }) => {
            const rank = ids.indexOf(id) + 1
            return rank > 0 ? [{ ...answer, rank }] : []
          })
          const { body } = await ask(
            id,
            `?country=${storefront}&platform=${platform}&fields=term,rank,depth,day,source,origin`,
          )
          expect([id, body.searched, body.total]).toEqual([id, answers.length, expected.length])
          expect(body.keywords).toEqual(expected.sort((a, b) => a.rank - b.rank || byText(a.term, b.term)))
          found += expected.length
        }
      }
    expect(found).toBeGreaterThan(200)
  })
})

test("spy reads only the search results that contain the app", async () => {
  const otherSearches = Array.from({ length: 1_500 }, (_, i) => ({
    term: `other ${i}`,
    ids: [String(20_000 + (i % 700))],
  }))
  const rankedSearches = Array.from({ length: 12 }, (_, i) => ({ term: `tide ${i}`, ids: ["10002", "10001"] }))
  await storeAnswers(sql, dayAgo(1), [...otherSearches, ...rankedSearches])
  await sql`vacuum analyze list_now`
  await sql`vacuum analyze list`
  const [app] = await sql<{ id: number }[]>`select id from store_app where platform = 'ios' and store_id = '10001'`
  const works: Work[] = []
  const lists = { platform: "ios", storefront: "us", since: dayAgo(29), today: dayAgo(0) } as const
  const query = { app: app!.id, comparedApp: null, tracker: null }
  const found = await findAppKeywords(explainEach(sql, works), lists, query, { after: null, limit: 1_000 })
  expect([found.total, found.keywords.length]).toEqual([12, 12])
  expect(readsOf(works, "list_now")).toEqual([{ node: "Bitmap Heap Scan", rows: 12 }])
})
