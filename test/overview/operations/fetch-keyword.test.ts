import { beforeAll, describe, expect, test } from "bun:test"
import { getRankHistory } from "../../../src/keywords/operations/history.ts"
import { listKeywordRanks } from "../../../src/keywords/operations/keywords.ts"
import { search } from "../../../src/overview/operations/search.ts"
import { ask, contextOf, NOW, newWorkspace, reading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { begin, DAY, fetched, limited, lumen, service, sql, TERMS, track, workspaceId } from "./fetch-scene.ts"

beforeAll(begin)

describe("a keyword", () => {
  test("a ranked keyword has its rank, the apps above it in order, and its history", async () => {
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
          day: "2025-11-19",
          measuredAt: "2025-11-19T10:00:00.000Z",
          source: "import",
          rank: 3,
          demand: null,
          demandAt: null,
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

  test("a keyword that was measured without the app has no rank, and all results count as above it", async () => {
    const { text, metadata } = await fetched(`kw:${lumen}:us:mate`)
    expect(text).toEndWith("not among the 40 places read on 2025-11-19.")
    expect(metadata.current).toEqual({
      term: "mate",
      measured: true,
      day: "2025-11-19",
      measuredAt: "2025-11-19T10:00:00.000Z",
      source: "import",
      rank: null,
      demand: null,
      demandAt: null,
      depth: 40,
      above: [
        { id: "70002", name: "Daybook Garden", ratings: 120, ratingsDay: "2025-11-19", ratingsSource: "import" },
        { id: "70004", name: "Moodleaf\nPro", ratings: 9, ratingsDay: "2025-11-19", ratingsSource: "import" },
      ],
    })
    expect(metadata.history).toEqual([["2025-11-19", null]])
  })

  test("a keyword without a reading on the latest day is not measured, and its history stays", async () => {
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

  test("a fetched keyword agrees with list_keyword_ranks and get_rank_history", async () => {
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

  test("the history of a keyword begins with the first day of the plan's history", async () => {
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

  test("at most 50 apps are listed above a keyword's rank, even if the app is absent", async () => {
    const workspace = await newWorkspace(sql)
    const app = await track({ iosId: "72001", keywords: ["deep", "first", "without"] }, workspace)
    const otherIds = Array.from({ length: 80 }, (_, i) => 73_000 + i)
    await record(
      sql,
      [
        reading("deep", DAY, [...otherIds, 72001]),
        reading("first", DAY, [72001, ...otherIds]),
        reading("without", DAY, otherIds),
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
      expect(current.above.map(({ id }: { id: string }) => id)).toEqual(otherIds.slice(0, count).map(String))
    }
  })

  test("a keyword of an app that is only on Google Play has its Google Play ranks", async () => {
    const workspace = await newWorkspace(sql)
    const app = await track({ androidPkg: "com.example.tasse", keywords: ["tasse"] }, workspace)
    const { url, metadata } = await fetched(`kw:${app}:us:tasse`, contextOf(sql, workspace))
    expect(url).toBe("https://play.google.com/store/search?q=tasse&c=apps&gl=US")
    expect(metadata.platform).toBe("android")
  })
})

describe("every tracked keyword is fetched by the id that search returns", () => {
  for (const term of TERMS) {
    test(term, async () => {
      const ctx = contextOf(sql, workspaceId)
      const { results } = await ask(search, ctx, { q: term })
      const found = results.find(({ title }: { title: string }) => title === term)
      expect(found.id).toBe(`kw:${lumen}:us:${encodeURIComponent(term)}`)
      const { text: _, metadata, ...rest } = await fetched(found.id)
      expect({ ...rest, kind: "keyword" }).toEqual(found)
      expect(metadata.term).toBe(term)
    })
  }

  test("every tracked keyword is fetched over REST by its percent-encoded id", async () => {
    const { key } = await limited(null)
    for (const term of TERMS) {
      const id = `kw:${lumen}:us:${encodeURIComponent(term)}`
      const { status, body } = await service.call(`/v1/fetch?id=${encodeURIComponent(id)}`, { key })
      expect([term, status, body.id, body.title]).toEqual([term, 200, id, term])
    }
  })

  test("an id that is not percent-encoded in the URL is decoded once and still names its keyword", async () => {
    const { key } = await limited(null)
    for (const term of TERMS.filter((spelt) => spelt !== "50%20off" && spelt !== "%41")) {
      const { body } = await service.call(`/v1/fetch?id=kw:${lumen}:us:${encodeURIComponent(term)}`, { key })
      expect([term, body.title]).toEqual([term, term])
    }
  })
})
