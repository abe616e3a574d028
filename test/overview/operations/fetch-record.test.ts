import { beforeAll, describe, expect, test } from "bun:test"
import { readTree } from "../../../src/database/assets.ts"
import { parseRecordId } from "../../../src/lib/record-ids.ts"
import { getApp } from "../../../src/overview/operations/apps.ts"
import { faultOf } from "../../access/registered.ts"
import { ask, contextOf, NOW, newWorkspace, reading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { begin, DAY, fetched, limited, lumen, service, sql, TERMS, track, workspaceId } from "./fetch-scene.ts"

beforeAll(begin)

test("a fetched app agrees with get_app", async () => {
  const { metadata, ...rest } = await fetched(`app:${lumen}`)
  expect(rest).toEqual({
    id: `app:${lumen}`,
    title: "Lumen Journal",
    url: "https://apps.apple.com/us/app/id70001",
    text:
      "Lumen Journal: App Store id 70001, Google Play package com.example.lumen; tracked keywords: " +
      `${TERMS.length * 2}, in us, de.`,
  })
  expect(metadata).toEqual(await ask(getApp, contextOf(sql, workspaceId), { appId: lumen }))
})

describe("a rival", () => {
  test("a rival has its facts, its ratings and, by storefront, the keywords where it ranks above the app", async () => {
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

  test("a rival added manually lists all its ranks and has a one-line text whatever its name", async () => {
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

  test("a rival added manually and never seen has no invented facts", async () => {
    const { title, text, metadata } = await fetched(`rival:${lumen}:com.example.moodleaf`)
    expect(title).toBe("com.example.moodleaf")
    expect(text).toEndWith("on Google Play: above it on no keyword of the latest measured days.")
    const emptyPlace = { day: null, ratings: null, terms: [] }
    expect(metadata).toMatchObject({ platform: "android", name: null, developer: null, icon: null, manual: true })
    expect(metadata.storefronts).toEqual([
      { country: "us", ...emptyPlace },
      { country: "de", ...emptyPlace },
    ])
  })

  test("a rival that fell below the app is still found, and ranks above the app on no keyword", async () => {
    const { metadata } = await fetched(`rival:${lumen}:70005`)
    expect(metadata.storefronts[0]).toMatchObject({ day: "2025-11-19", terms: [] })
  })

  test("an app outside the results, and the app itself, are refused as rivals with not_found", async () => {
    await record(sql, [reading("elsewhere", DAY, ["79999"])], () => NOW)
    for (const id of ["79999", "70001", "79998", "com.example.lumen"]) {
      expect([id, (await faultOf(fetched(`rival:${lumen}:${id}`))).code]).toEqual([id, "not_found"])
    }
  })
})

describe("refusals", () => {
  test("malformed ids are refused with bad_id and cost nothing", async () => {
    const key = await service.key(await service.workspace())
    const malformed = ["", "x", "app:", "kw:a:us:", "rival:a:1", `app:${"a".repeat(65)}`, "app:a%00", "kw:a:us:%"]
    for (const id of malformed) {
      const { status, body, credits } = await service.call(`/v1/fetch?id=${id}`, { key })
      expect([id, status, body.error, body.field, credits.used]).toEqual([id, 400, "bad_id", "id", 0])
    }
    expect((await service.call("/v1/fetch", { key })).body.error).toBe("bad_id")
  })

  test("ids that name nothing or belong to another workspace are refused with not_found", async () => {
    const other = await newWorkspace(sql)
    const foreign = await track({ iosId: "74001", keywords: ["tea"], manualRivals: ["ios:70002"] }, other)
    const ids = [
      "app:app_neverexisted",
      `app:${foreign}`,
      `kw:${foreign}:us:tea`,
      `rival:${foreign}:70002`,
      `kw:${lumen}:us:coffee`,
      `kw:${lumen}:gb:tea`,
      `kw:${lumen}:zz:tea`,
    ]
    for (const id of ids) {
      expect(parseRecordId(id)).not.toBeNull()
      expect([id, (await faultOf(fetched(id))).code]).toEqual([id, "not_found"])
    }
  })

  test("an app that the key may not see is refused with app_not_allowed, whether it exists or not", async () => {
    const { key, app, other } = await limited("own")
    for (const id of [`app:${other}`, `kw:${other}:us:tea`, `rival:${other}:70002`, "app:app_neverexisted"]) {
      const { status, body } = await service.call(`/v1/fetch?id=${encodeURIComponent(id)}`, { key })
      expect([id, status, body.error]).toEqual([id, 403, "app_not_allowed"])
    }
    expect((await service.call(`/v1/fetch?id=app:${app}`, { key })).status).toBe(200)
  })
})

describe("the sample answers", () => {
  const fixtures = readTree("fixtures/sandbox", ".json")
  const answer = (id: string) => JSON.parse(fixtures.get(`${id}.json`) as string).answer

  test("the sample of fetch is the first result of the sample of search and agrees with the other samples", () => {
    const [found] = answer("search").results
    const { text: _, metadata, ...rest } = answer("fetch")
    expect({ ...rest, kind: "keyword" }).toEqual(found)
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
        .filter((rivalRow) => rivalRow.term === term && rivalRow.theirRank < rank)
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

  test("the sample of search names the app and its keywords as the sample of list_apps does", () => {
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
