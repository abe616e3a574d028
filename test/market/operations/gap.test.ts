import { beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { findAppKeywords, findGap } from "../../../src/keywords/read/keywords-of-apps.ts"
import { deriveKeywordMetrics } from "../../../src/keywords/store/keyword-metrics.ts"
import { explainEach, readsOf, type Work } from "../../core/explained.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { appsReading, popularityReading, reading, rename } from "../../measuring/record/measured.ts"
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
  key = await service.key(
    await service.workspace({ explorer: true, plan: "pro", overrides: { credits: 1_000_000, ratePerSecond: 10_000 } }),
  )
})

const ask = (ids: string, query = "") => service.call(`/v1/hive/gap?ids=${ids}${query}`, { key })
const used = async () => (await service.call("/v1/account", { key })).body.credits.used
const at = (days: number) => `${dayAgo(days)}T00:00:01.000Z`

test("gap lists every keyword that any of the apps ranks for, with each rank and the missing apps", async () => {
  await record(sql, [
    reading("both", at(1), ["10002", "10009", "10001"], { ...WEB_SEARCH, depth: 200 }),
    reading("first", at(2), ["10001"], WEB_SEARCH),
    reading("second", at(3), ["10009", "10002"], WEB_SEARCH),
    reading("popular", at(1), ["10002"], WEB_SEARCH),
    reading("neither", at(1), ["10009"], WEB_SEARCH),
    reading("first", at(1), ["10001"], { ...WEB_SEARCH, storefront: "gb" }),
    popularityReading("popular", "2025-09-01", 61),
    popularityReading("second", "2025-09-01", 12),
  ])
  await rename(sql, "10002", "Tides", "us")
  const { status, body } = await ask("10001,10002")
  expect([status, body.country, body.platform, body.searched, body.total, body.since]).toEqual([
    ...[200, "us", "ios", 5, 4, dayAgo(29)],
  ])
  const noPublisher = { publisher: null, publisherId: null }
  expect(body.apps).toEqual([
    { id: "10001", name: "10001", ...noPublisher, inside: true, keywords: 2 },
    { id: "10002", name: "Tides", ...noPublisher, inside: true, keywords: 3 },
  ])
  const rows = body.keywords.map(({ term, held: rankedApps, missing, ranks }: Record<string, unknown>) => ({
    term,
    held: rankedApps,
    missing,
    ranks,
  }))
  expect(rows).toEqual([
    { term: "both", held: 2, missing: [], ranks: { 10001: 3, 10002: 1 } },
    { term: "popular", held: 1, missing: ["10001"], ranks: { 10001: null, 10002: 1 } },
    { term: "second", held: 1, missing: ["10001"], ranks: { 10001: null, 10002: 2 } },
    { term: "first", held: 1, missing: ["10002"], ranks: { 10001: 1, 10002: null } },
  ])
  expect(body.keywords[0]).toMatchObject({
    depth: 200,
    day: dayAgo(1),
    source: WEB_SEARCH.source,
    origin: "own",
    popularity: null,
  })
  expect(body.keywords[1]).toMatchObject({
    popularity: 61,
    popularitySource: "apple-ads-report",
    popularityWeek: "2025-09",
  })
  expect([body.nextCursor, await used()]).toEqual([null, 400])
})

test("gap returns keywords and origins that contain commas unchanged", async () => {
  const term = "tide, 100%"
  await record(sql, [reading(term, at(1), ["10001"], { ...WEB_SEARCH, source: "foreign", origin: "a, peer" })])
  const { body } = await ask("10001,10002")
  expect(body.keywords).toMatchObject([{ term, ranks: { 10001: 1 }, origin: "a, peer", source: "foreign", depth: 1 }])
})

test("gap returns its fields in the order of the schema", async () => {
  const ids = ["com.example.sea", "com.example.b"]
  await record(sql, [
    reading('ti"de', at(1), ["10001", "10002"], { source: "foreign", origin: 'a "peer"', depth: 200 }),
    reading("sea", at(1), ["10002", "6450000001"], WEB_SEARCH),
    reading("wave", at(1), ids, { source: "play-search", platform: "android" }),
    popularityReading("sea", "2025-09-01", 61),
  ])
  for (const query of ["6450000001,10002,10001", `${ids}&platform=android`]) {
    const { text, body } = await ask(query)
    expect(text).toBe(JSON.stringify(body))
    expect(Object.keys(body)).toEqual(["country", "platform", ...HEAD, "keywords", "nextCursor"])
    expect(body.keywords).not.toEqual([])
    for (const row of body.keywords) expect(Object.keys(row)).toEqual(["term", "held", "missing", "ranks", ...FIELDS])
  }
})

const HEAD = ["since", "searched", "apps", "total"]
const FIELDS = [
  ...["depth", "day", "source", "origin", "popularity", "popularityLow", "popularityHigh", "popularitySource"],
  ...["popularityWeek", "difficulty"],
]

test("an app without keywords is outside the index and free; a call with only such apps costs 1 credit", async () => {
  await record(sql, [
    reading("tide", at(1), ["10001", "10002"], WEB_SEARCH),
    reading("sea", at(40), ["10003"], WEB_SEARCH),
  ])
  const { body } = await ask("10003,10001,99999")
  expect(body.apps.map(({ id, inside, keywords }: Record<string, unknown>) => [id, inside, keywords])).toEqual([
    ["10003", false, 0],
    ["10001", true, 1],
    ["99999", false, 0],
  ])
  expect(body.keywords).toMatchObject([{ term: "tide", held: 1, missing: [], ranks: { 10001: 1 } }])
  expect(await used()).toBe(200)
  const none = await ask("10003,99999")
  expect([none.status, none.body.total, none.body.keywords, none.body.searched]).toEqual([200, 0, [], 1])
  expect(await used()).toBe(201)
  await ask("10001,10002,10003,10004,10005")
  expect(await used()).toBe(601)
  await forgetSearches(sql)
  expect((await ask("10001,10002")).body).toMatchObject({ searched: 0, total: 0, keywords: [] })
  expect(await used()).toBe(602)
})

test("gap refuses fewer than two apps, more than five, duplicates and ids of another store at no cost", async () => {
  await record(sql, [reading("tide", at(1), ["10001", "10002"], WEB_SEARCH)])
  for (const [ids, query] of [
    ["10001"],
    ["10001,10002,10003,10004,10005,10006"],
    ["10001,10001"],
    ["10001,nothing"],
    ["10001,"],
    ["10001,com.example.sea"],
    ["10001,10002", "&platform=android"],
  ] as const)
    expect([ids, (await ask(ids, query)).body.error]).toEqual([ids, "bad_ids"])
  expect((await service.call("/v1/hive/gap", { key })).body.error).toBe("bad_ids")
  expect((await ask("10001,10002", "&country=zz")).body.error).toBe("bad_country")
  expect((await ask("10001,10002", "&cursor=nothing")).body.error).toBe("bad_cursor")
  const pack = await service.key(await service.workspace({ plan: "pro", pack: 1_000 }))
  const { body } = await service.call("/v1/hive/gap?ids=10001,10002", { key: pack })
  expect([body.error, await used()]).toEqual(["explorer_required", 0])
})

test("gap is refused without a charge if the credits do not cover every app inside the index", async () => {
  await record(sql, [reading("tide", at(1), ["10001", "10002"], WEB_SEARCH)])
  key = await service.key(await service.workspace({ explorer: true, plan: "pro", overrides: { credits: 399 } }))
  const { status, body } = await ask("10001,10002")
  expect([status, body.error, body.keywords, await used()]).toEqual([402, "credits_exhausted", undefined, 0])
  expect((await ask("10001,10009")).status).toBe(200)
})

slow("gap over 1,500 readings equals an independent computation, also page by page", async () => {
  const readings = scatteredReadings(1_500, 14)
  await record(sql, readings)
  const popular = new Map(["wort 1", "zoo 2", "été 3", "zoo 7", "wort 9"].map((term, i) => [term, 20 + 10 * (i % 3)]))
  await record(
    sql,
    [...popular].map(([term, figure]) => popularityReading(term, "2025-09-01", figure)),
  )
  for (const ids of [
    ["10001", "10002"],
    ["10005", "10014", "10003"],
    ["10001", "10004", "10002", "10013", "10009"],
  ]) {
    const answers = walkedAnswers(readings, "ios", "us")
    const expected = answers.flatMap(({ term, day, source, depth, ids: results }) => {
      const ranks = Object.fromEntries(ids.map((id) => [id, results.indexOf(id) + 1 || null]))
      const missing = ids.filter((id) => ranks[id] === null)
      const rankedApps = ids.length - missing.length
      return rankedApps > 0
        ? [{ term, held: rankedApps, missing, ranks, depth, day, source, popularity: popular.get(term) ?? null }]
        : []
    })
    expected.sort((a, b) => b.held - a.held || (b.popularity ?? 0) - (a.popularity ?? 0) || byText(a.term, b.term))
    expect(expected.length).toBeGreaterThan(20)
    const { body } = await ask(ids.join(","), "&fields=term,held,missing,ranks,depth,day,source,popularity")
    expect([body.searched, body.total]).toEqual([answers.length, expected.length])
    expect(body.keywords).toEqual(expected)
    const keywordCounts = ids.map((id) => expected.filter(({ ranks }) => ranks[id] !== null).length)
    expect(body.apps.map((app: { keywords: number }) => app.keywords)).toEqual(keywordCounts)
    const apps = await sql<{ id: number }[]>`
      select id
      from unnest(${ids}::text[]) with ordinality t (store_id, place)
      join store_app using (store_id)
      order by place`
    const lists = { platform: "ios", storefront: "us", since: dayAgo(29), today: dayAgo(0) } as const
    const pages: string[] = []
    for (let after: Parameters<typeof findGap>[3]["after"] = null, limit = 7; ; ) {
      const { keywords } = await findGap(
        sql,
        lists,
        apps.map(({ id }) => id),
        { after, limit },
      )
      pages.push(...keywords.map(({ term }) => term))
      if (keywords.length < limit) break
      after = keywords.at(-1)!
    }
    expect(pages).toEqual(expected.map(({ term }) => term))
  }
})

test("gap sorts keywords without a published popularity by their band while the estimate is current", async () => {
  const ten = Array.from({ length: 10 }, (_, i) => String(20_001 + i))
  const terms = ["big", "small", "zero"]
  await record(
    sql,
    terms.map((term, i) => reading(term, at(1), ["10001", ...ten.slice(0, 9 - 3 * i)], { ...WEB_SEARCH, depth: 200 })),
  )
  await record(sql, [
    appsReading(
      at(1),
      ten.map((id, i) => ({ id, name: "App", ratings: (10 ** (5 - i / 2)) | 0 })),
    ),
  ])
  const lists = terms.map((term) => ({ platform: "ios" as const, storefront: "us", term }))
  await sql.begin((tx) => deriveKeywordMetrics(tx, lists, new Date()))
  const readRows = async () => (await ask("10001,10002", "&fields=term,popularity,popularitySource")).body.keywords
  const rows = await readRows()
  const scores = await sql<{ term: string; estimate: number | null }[]>`
    select l.term, n.estimate
    from keyword_now n
    join list l on l.id = n.list_id
    order by width_bucket(coalesce(n.estimate::int, -1), array[0, 59, 73]) desc, l.term`
  expect(new Set(scores.map(({ estimate }) => estimate)).size).toBeGreaterThan(1)
  expect(rows).toEqual(
    scores.map(({ term, estimate }) => ({
      term,
      popularity: null,
      popularitySource: estimate === null ? null : "estimate",
    })),
  )
  await sql`update keyword_now set estimate_day = current_date - 91 where estimate is not null`
  await sql`update list_now set popular_until = current_date - 1 where popular_until is not null`
  expect((await readRows()).map(({ term }: { term: string }) => term)).toEqual(terms)
})

test("gap reads only the search results that contain one of the apps", async () => {
  const otherSearches = Array.from({ length: 1_500 }, (_, i) => ({
    term: `other ${i}`,
    ids: [String(20_000 + (i % 700))],
  }))
  const rankedSearches = Array.from({ length: 12 }, (_, i) => ({
    term: `tide ${i}`,
    ids: i % 2 ? ["10002", "10001"] : ["10001"],
  }))
  await storeAnswers(sql, dayAgo(1), [...otherSearches, ...rankedSearches])
  for (const table of ["list_now", "keyword_now"]) await sql`vacuum analyze ${sql(table)}`
  const apps = await sql<
    { id: number }[]
  >`select id from store_app where store_id in ('10001', '10002') order by store_id`
  const works: Work[] = []
  const lists = { platform: "ios", storefront: "us", since: dayAgo(29), today: dayAgo(0) } as const
  const page = { after: null, limit: 1_000 }
  const found = await findGap(
    explainEach(sql, works),
    lists,
    apps.map(({ id }) => id),
    page,
  )
  expect([found.total, found.totals]).toEqual([12, [12, 6]])
  // the statement reads each page by its key
  expect(readsOf(works, "list_now")).toEqual([
    { node: "Bitmap Heap Scan", rows: 18 },
    { node: "Index Scan", rows: 12 },
  ])
})

test("spy and gap sort keywords of equal rank by their bytes, also across pages", async () => {
  // characters of one to four bytes; UTF-16 orders the last two the other way round
  const terms = ["tea", "té", "tea,\t1", "\uff54ea", "\u{1f375} tea", "mate", "m\u{1f9c9}", "m\uff54"]
  await storeAnswers(
    sql,
    dayAgo(1),
    terms.map((term) => ({ term, ids: ["10001"] })),
  )
  const expected = terms.toSorted(byText)
  const { body } = await ask("10001,10002")
  expect(body.keywords.map(({ term }: { term: string }) => term)).toEqual(expected)
  const [app] = await sql<{ id: number }[]>`select id from store_app where platform = 'ios' and store_id = '10001'`
  const lists = { platform: "ios", storefront: "us", since: dayAgo(29), today: dayAgo(0) } as const
  for (const [at, term] of expected.entries()) {
    const after = { appCount: 1, popularityOrder: null, rank: 1, term }
    const gap = await findGap(sql, lists, [app!.id], { after, limit: 2 })
    const spied = await findAppKeywords(
      sql,
      lists,
      { app: app!.id, comparedApp: null, tracker: null },
      { after, limit: 2 },
    )
    for (const { keywords } of [gap, spied])
      expect(keywords.map((keyword) => keyword.term)).toEqual(expected.slice(at + 1, at + 3))
  }
})
