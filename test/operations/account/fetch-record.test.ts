import { beforeAll, describe, expect, test } from "bun:test"
import { readTree } from "../../../src/database/assets.ts"
import type { Sql } from "../../../src/database/types.ts"
import { record } from "../../../src/observations/record.ts"
import { fetchRecord } from "../../../src/operations/account/fetch-record.ts"
import { search } from "../../../src/operations/account/search.ts"
import { getApp } from "../../../src/operations/apps/apps.ts"
import { getRankHistory } from "../../../src/operations/keywords/history.ts"
import { listKeywordRanks } from "../../../src/operations/keywords/keywords.ts"
import { trackApp } from "../../../src/tracking/apps.ts"
import { parseRecordId } from "../../../src/vocabulary/record-ids.ts"
import { faultOf } from "../../access/registered.ts"
import { freshDatabase } from "../../database.ts"
import { type House, openHouse } from "../../house.ts"
import { ask, contextOf, NOW, newWorkspace, reading } from "../../observations/measured.ts"

let sql: Sql
let house: House
let workspaceId: number
let lumen: string

const DAY = "2025-11-19T10:00:00Z"
const TERMS = [
  "tea",
  "mate",
  "milk",
  "50% off",
  "c++",
  "a:b",
  "ça va",
  "日本語 辞書",
  "50%20off",
  "what? & why#",
  "%41",
]

beforeAll(async () => {
  sql = await freshDatabase()
  house = openHouse({ sql, now: () => NOW })
  workspaceId = await newWorkspace(sql)
  lumen = await track({
    name: "Lumen Journal",
    iosId: "70001",
    androidPkg: "com.example.lumen",
    countries: ["us", "de"],
    keywords: TERMS,
    manualRivals: ["ios:70004", "android:com.example.moodleaf"],
  })
  const results = [
    { id: "70002", name: "Daybook Garden", ratings: 120, developer: "Garden Ltd", icon: "https://example.com/d.png" },
    { id: "70003" },
    { id: "70001", name: "Lumen", ratings: 7 },
    { id: "70004", name: "Moodleaf\nPro", ratings: 9 },
    { id: "70005", name: "Far Below" },
  ]
  await record(
    sql,
    [
      reading("tea", "2025-11-17T10:00:00Z", ["70001"], { depth: 30 }),
      reading("tea", DAY, [], { depth: 30, results }),
      reading("mate", DAY, ["70002", "70004"], { depth: 40 }),
      reading("milk", "2025-11-18T10:00:00Z", ["70002", "70001"], { depth: 30 }),
    ],
    () => NOW,
  )
})

async function track(asked: Partial<Parameters<typeof trackApp>[1]>, workspace = workspaceId): Promise<string> {
  return await sql.begin((tx) =>
    trackApp(tx, { workspaceId: workspace, countries: ["us"], keywords: [], origin: "own", ...asked }),
  )
}
const fetched = (id: string, ctx = contextOf(sql, workspaceId)) => ask(fetchRecord, ctx, { id })

describe("a keyword", () => {
  test("ranked: its rank, the apps above it in their order, and its history", async () => {
    expect(await fetched(`kw:${lumen}:us:tea`)).toEqual({
      id: `kw:${lumen}:us:tea`,
      title: "tea",
      url: "https://apps.apple.com/us/iphone/search?term=tea",
      text: '"tea" in us on the App Store, for Lumen Journal: rank 3 of the 30 places read on 2025-11-19.',
      metadata: {
        term: "tea",
        country: "us",
        platform: "ios",
        current: {
          term: "tea",
          measured: true,
          ...{ day: "2025-11-19", measuredAt: "2025-11-19T10:00:00.000Z", source: "import" },
          rank: 3,
          ...{ demand: null, demandAt: null },
          depth: 30,
          above: [
            { id: "70002", name: "Daybook Garden", ratings: 120, ratingsDay: "2025-11-19", ratingsSource: "import" },
            { id: "70003", name: "70003", ratings: null, ratingsDay: null, ratingsSource: null },
          ],
        },
        adsPopularity: { state: "not_connected", account: null, from: null, to: null, below: null, terms: [] },
        sources: [{ source: "import", from: "2025-11-17", to: "2025-11-19" }],
        history: [
          ["2025-11-17", 1],
          ["2025-11-19", 3],
        ],
      },
    })
  })

  test("measured and absent: no rank, all results above", async () => {
    const { text, metadata } = await fetched(`kw:${lumen}:us:mate`)
    expect(text).toEndWith("not among the 40 places read on 2025-11-19.")
    expect(metadata.current).toEqual({
      term: "mate",
      measured: true,
      ...{ day: "2025-11-19", measuredAt: "2025-11-19T10:00:00.000Z", source: "import" },
      rank: null,
      ...{ demand: null, demandAt: null },
      depth: 40,
      above: [
        { id: "70002", name: "Daybook Garden", ratings: 120, ratingsDay: "2025-11-19", ratingsSource: "import" },
        { id: "70004", name: "Moodleaf\nPro", ratings: 9, ratingsDay: "2025-11-19", ratingsSource: "import" },
      ],
    })
    expect(metadata.history).toEqual([["2025-11-19", null]])
  })

  test("not measured on the day shown: whatever an earlier day says, which the history keeps", async () => {
    const { text, metadata } = await fetched(`kw:${lumen}:us:milk`)
    expect(text).toEndWith("not measured on 2025-11-19, the latest day measured there.")
    const unmeasured = {
      measured: false,
      measuredAt: null,
      source: null,
      rank: null,
      demand: null,
      depth: null,
      above: [],
    }
    expect(metadata.current).toEqual({ term: "milk", day: "2025-11-19", ...unmeasured, demandAt: null })
    expect(metadata.history).toEqual([["2025-11-18", 2]])
    const never = await fetched(`kw:${lumen}:de:milk`)
    expect(never.text).toEndWith("not measured yet.")
    expect(never.metadata).toMatchObject({
      country: "de",
      current: { term: "milk", day: null, ...unmeasured },
      history: [],
    })
  })

  test("says what list_keyword_ranks and get_rank_history say of it", async () => {
    const ctx = contextOf(sql, workspaceId)
    const { keywords } = await ask(listKeywordRanks, ctx, { appId: lumen })
    const history = await ask(getRankHistory, ctx, { appId: lumen })
    for (const [at, { term, searchDepth, ...row }] of keywords.entries()) {
      const { measured, measuredAt, source, rank, demand, demandAt } = row
      const { metadata } = await fetched(`kw:${lumen}:us:${encodeURIComponent(term)}`)
      expect(metadata.current).toMatchObject({
        term,
        measured,
        measuredAt,
        source,
        rank,
        demand,
        demandAt,
        depth: searchDepth,
      })
      expect(metadata.history).toEqual(history.keywords[at].series)
      expect(metadata.sources).toEqual(history.keywords[at].sources)
    }
  })

  test("history goes back as far as the plan's, and no day further", async () => {
    const workspace = await newWorkspace(sql)
    const app = await track({ iosId: "71001", keywords: ["old"] }, workspace)
    const days = ["2025-08-22", "2025-08-23", "2025-11-20"]
    await record(
      sql,
      days.map((day) => reading("old", `${day}T10:00:00Z`, ["71001"])),
      () => NOW,
    )
    const { metadata } = await fetched(`kw:${app}:us:old`, contextOf(sql, workspace))
    expect(metadata.history.map(([day]: [string]) => day)).toEqual(["2025-08-23", "2025-11-20"])
  })

  test("at most 50 apps are above, also where the app itself is absent", async () => {
    const workspace = await newWorkspace(sql)
    const app = await track({ iosId: "72001", keywords: ["deep", "first", "without"] }, workspace)
    const others = Array.from({ length: 80 }, (_, i) => 73_000 + i)
    await record(
      sql,
      [
        reading("deep", DAY, [...others, 72001]),
        reading("first", DAY, [72001, ...others]),
        reading("without", DAY, others),
      ],
      () => NOW,
    )
    for (const [term, rank, count] of [
      ["deep", 81, 50],
      ["first", 1, 0],
      ["without", null, 50],
    ] as const) {
      const { current } = (await fetched(`kw:${app}:us:${term}`, contextOf(sql, workspace))).metadata
      expect([term, current.rank]).toEqual([term, rank])
      expect(current.above.map(({ id }: { id: string }) => id)).toEqual(others.slice(0, count).map(String))
    }
  })

  test("of an app on Google Play alone is Google Play's", async () => {
    const workspace = await newWorkspace(sql)
    const app = await track({ androidPkg: "com.example.tasse", keywords: ["tasse"] }, workspace)
    const { url, metadata } = await fetched(`kw:${app}:us:tasse`, contextOf(sql, workspace))
    expect(url).toBe("https://play.google.com/store/search?q=tasse&c=apps&gl=US")
    expect(metadata.platform).toBe("android")
  })
})

describe("every tracked keyword is fetched by the id that search gives", () => {
  for (const term of TERMS) {
    test(term, async () => {
      const ctx = contextOf(sql, workspaceId)
      const { results } = await ask(search, ctx, { q: term })
      const found = results.find(({ title }: { title: string }) => title === term)
      expect(found.id).toBe(`kw:${lumen}:us:${encodeURIComponent(term)}`)
      const { text: _, metadata, ...shown } = await fetched(found.id)
      expect({ ...shown, kind: "keyword" }).toEqual(found)
      expect(metadata.term).toBe(term)
    })
  }

  test("over REST too, encoded as a value should be", async () => {
    const { key } = await limited(null)
    for (const term of TERMS) {
      const id = `kw:${lumen}:us:${encodeURIComponent(term)}`
      const { status, body } = await house.call(`/v1/fetch?id=${encodeURIComponent(id)}`, { key })
      expect([term, status, body.id, body.title]).toEqual([term, 200, id, term])
    }
  })

  test("an id put into the address unencoded is decoded once on the way and still names its keyword", async () => {
    const { key } = await limited(null)
    for (const term of TERMS.filter((spelt) => spelt !== "50%20off" && spelt !== "%41")) {
      const { body } = await house.call(`/v1/fetch?id=kw:${lumen}:us:${encodeURIComponent(term)}`, { key })
      expect([term, body.title]).toEqual([term, term])
    }
  })
})

test("an app: what get_app says of it", async () => {
  const { metadata, ...rest } = await fetched(`app:${lumen}`)
  expect(rest).toEqual({
    id: `app:${lumen}`,
    title: "Lumen Journal",
    url: "https://apps.apple.com/us/app/id70001",
    text: `Lumen Journal: App Store id 70001, Google Play package com.example.lumen; tracked keywords: ${TERMS.length * 2}, in us, de.`,
  })
  expect(metadata).toEqual(await ask(getApp, contextOf(sql, workspaceId), { appId: lumen }))
})

describe("a rival", () => {
  test("its facts, its ratings with day and source, and where it stands above, storefront by storefront", async () => {
    expect(await fetched(`rival:${lumen}:70002`)).toEqual({
      id: `rival:${lumen}:70002`,
      title: "Daybook Garden",
      url: "https://apps.apple.com/us/app/id70002",
      text: "Daybook Garden, a rival of Lumen Journal on the App Store: above it on 2 keywords in us on 2025-11-19.",
      metadata: {
        platform: "ios",
        storeId: "70002",
        name: "Daybook Garden",
        developer: "Garden Ltd",
        icon: "https://example.com/d.png",
        manual: false,
        app: { id: lumen, name: "Lumen Journal" },
        storefronts: [
          {
            country: "us",
            day: "2025-11-19",
            ratings: { count: 120, day: "2025-11-19", source: "import" },
            terms: [
              { term: "tea", theirRank: 1, ourRank: 3 },
              { term: "mate", theirRank: 1, ourRank: null },
            ],
          },
          { country: "de", day: null, ratings: null, terms: [] },
        ],
      },
    })
  })

  test("named by hand: all it holds, in one line whatever its name", async () => {
    const { title, text, metadata } = await fetched(`rival:${lumen}:70004`)
    expect(title).toBe("Moodleaf\nPro")
    expect(text).toBe(
      "Moodleaf Pro, a rival of Lumen Journal on the App Store: above it on 1 keyword in us on 2025-11-19.",
    )
    expect(metadata.manual).toBe(true)
    expect(metadata.storefronts[0].terms).toEqual([
      { term: "tea", theirRank: 4, ourRank: 3 },
      { term: "mate", theirRank: 2, ourRank: null },
    ])
  })

  test("named by hand and never seen: nothing is made up", async () => {
    const { title, text, metadata } = await fetched(`rival:${lumen}:com.example.moodleaf`)
    expect(title).toBe("com.example.moodleaf")
    expect(text).toEndWith("on Google Play: above it on no keyword of the latest measured days.")
    const standing = { day: null, ratings: null, terms: [] }
    expect(metadata).toMatchObject({ platform: "android", name: null, developer: null, icon: null, manual: true })
    expect(metadata.storefronts).toEqual([
      { country: "us", ...standing },
      { country: "de", ...standing },
    ])
  })

  test("that fell below since: known, and above on nothing", async () => {
    const { metadata } = await fetched(`rival:${lumen}:70005`)
    expect(metadata.storefronts[0]).toMatchObject({ day: "2025-11-19", terms: [] })
  })

  test("an app of the world that is in none of the results, or the app itself, is no rival", async () => {
    await record(sql, [reading("elsewhere", DAY, ["79999"])], () => NOW)
    for (const id of ["79999", "70001", "79998", "com.example.lumen"]) {
      expect([id, (await faultOf(fetched(`rival:${lumen}:${id}`))).code]).toEqual([id, "not_found"])
    }
  })
})

describe("refusals", () => {
  test("malformed ids are bad_id and cost nothing", async () => {
    const key = await house.key(await house.workspace())
    const malformed = ["", "x", "app:", "kw:a:us:", "rival:a:1", `app:${"a".repeat(65)}`, "app:a%00", "kw:a:us:%"]
    for (const id of malformed) {
      const { status, body, credits } = await house.call(`/v1/fetch?id=${id}`, { key })
      expect([id, status, body.error, body.field, credits.used]).toEqual([id, 400, "bad_id", "id", 0])
    }
    expect((await house.call("/v1/fetch", { key })).body.error).toBe("bad_id")
  })

  test("ids of nothing and of another workspace are not_found", async () => {
    const other = await newWorkspace(sql)
    const foreign = await track({ iosId: "74001", keywords: ["tea"], manualRivals: ["ios:70002"] }, other)
    const ids = [
      "app:app_neverexisted", `app:${foreign}`, `kw:${foreign}:us:tea`, `rival:${foreign}:70002`, `kw:${lumen}:us:coffee`,
      `kw:${lumen}:gb:tea`, `kw:${lumen}:zz:tea`,
    ] // biome-ignore format: a list to scan
    for (const id of ids) {
      expect(parseRecordId(id)).not.toBeNull()
      expect([id, (await faultOf(fetched(id))).code]).toEqual([id, "not_found"])
    }
  })

  test("an app off the key's own list is app_not_allowed, whether it exists or not", async () => {
    const { key, app, other } = await limited("own")
    for (const id of [`app:${other}`, `kw:${other}:us:tea`, `rival:${other}:70002`, "app:app_neverexisted"]) {
      const { status, body } = await house.call(`/v1/fetch?id=${encodeURIComponent(id)}`, { key })
      expect([id, status, body.error]).toEqual([id, 403, "app_not_allowed"])
    }
    expect((await house.call(`/v1/fetch?id=app:${app}`, { key })).status).toBe(200)
  })
})

/** A key of a workspace of the house; limited to the first of two apps, or of the workspace above when null. */
async function limited(list: "own" | null) {
  if (list === null) {
    await sql`update workspace set overrides = '{"ratePerSecond": 100000}' where id = ${workspaceId}`
    const [{ name } = { name: "" }] = await sql<
      { name: string }[]
    >`select name from workspace where id = ${workspaceId}`
    return { key: await house.key(workspaceId, { workspace: name }), app: lumen, other: "" }
  }
  const workspace = await house.workspace()
  const app = await track({ iosId: "75001" }, workspace)
  const other = await track({ iosId: "75002", keywords: ["tea"], manualRivals: ["ios:70002"] }, workspace)
  return { key: await house.key(workspace, { appList: [app] }), app, other }
}

describe("the sample answers", () => {
  const fixtures = readTree("fixtures/sandbox", ".json")
  const answer = (id: string) => JSON.parse(fixtures.get(`${id}.json`) as string).answer

  test("fetch shows the first that search finds, as the other samples know it", () => {
    const [found] = answer("search").results
    const { text: _, metadata, ...shown } = answer("fetch")
    expect({ ...shown, kind: "keyword" }).toEqual(found)
    const ranks = answer("list_keyword_ranks")
    const row = ranks.keywords.find(({ term }: { term: string }) => term === metadata.term)
    const { term, measured, measuredAt, source, rank, demand, demandAt, searchDepth } = row
    expect(metadata).toMatchObject({ term, country: ranks.country, platform: ranks.platform })
    const figures = { measured, measuredAt, source, rank, demand, demandAt, depth: searchDepth }
    expect(metadata.current).toMatchObject({ term, ...figures })
    const history = answer("get_rank_history").keywords.find((line: { term: string }) => line.term === term)
    expect([metadata.history, metadata.sources]).toEqual([history.series, history.sources])
    const above = answer("list_rivals").rivals.flatMap((rival: SampleRival) =>
      rival.terms
        .filter((held) => held.term === term && held.theirRank < rank)
        .map(({ theirRank }) => ({
          theirRank,
          shown: {
            id: rival.id,
            name: rival.name,
            ratings: rival.ratings,
            ratingsDay: rival.ratingsDay,
            ratingsSource: rival.ratingsSource,
          },
        })),
    )
    above.sort((a: { theirRank: number }, b: { theirRank: number }) => a.theirRank - b.theirRank)
    expect(metadata.current.above).toEqual(above.map(({ shown }: { shown: object }) => shown))
  })

  test("search names the app and its keywords as list_apps does", () => {
    const [app] = answer("list_apps").apps
    for (const { id, title, kind } of answer("search").results) {
      const parsed = parseRecordId(id)
      expect(parsed).toMatchObject({ kind, appId: app.id })
      if (parsed?.kind === "keyword") expect(app.keywordsByCountry[parsed.country]).toContain(title)
      else expect(title).toBe(app.name)
    }
  })
})

interface SampleRival {
  id: string
  name: string
  ratings: number
  ratingsDay: string
  ratingsSource: string
  terms: { term: string; theirRank: number }[]
}
