import { beforeEach, describe, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { listKeywordRanks } from "../../../src/keywords/operations/keywords.ts"
import { deriveKeywordMetrics } from "../../../src/keywords/store/keyword-metrics.ts"
import { fetchRecord } from "../../../src/overview/operations/fetch-record.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import {
  ask,
  contextOf,
  hintsReading,
  NOW,
  newWorkspace,
  popularityReading,
  reading,
} from "../../measuring/record/measured.ts"
import { signOfLife } from "../../measuring/record/reading-processes.ts"
import { importLines, record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"

let sql: Sql
let workspaceId: number
let appId: string

beforeEach(async () => {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
  const tracked = {
    workspaceId,
    iosId: "10001",
    countries: ["us", "gb"],
    keywords: ["tea", "mate", "milk"],
    origin: "own",
  }
  appId = await trackOwn(sql, tracked)
})

const ranks = (input: object = {}, now = NOW) =>
  ask(listKeywordRanks, contextOf(sql, workspaceId, now), { appId, ...input })

test("keywords distinguish three states: ranked, measured and absent, not measured", async () => {
  const line = (term: string, ids: string[]) =>
    JSON.stringify({
      kind: "search",
      source: "import",
      platform: "ios",
      storefront: "us",
      term,
      depth: 30,
      seenAt: "2025-11-19T10:00:00Z",
      results: ids.map((id) => ({ id })),
    })
  async function* file() {
    yield line("tea", ["10002", "10001"])
    yield line("mate", ["10002"])
  }
  await importLines(sql, file(), { now: () => NOW })
  const unknown = {
    demand: null,
    hintCount: null,
    popularity: null,
    popularitySource: null,
    popularityWeek: null,
    popularityLow: null,
    popularityHigh: null,
    popularityNone: false,
    difficulty: null,
    difficultyBand: null,
    difficultyNone: false,
    demandAt: null,
    hintCountAt: null,
    popularityAt: null,
    difficultyAt: null,
    // no worker is running
    popularityMeasuring: false,
    popularityNotMeasuring: "no_worker",
    difficultyMeasuring: false,
    difficultyNotMeasuring: "no_worker",
    measuring: false,
    notMeasuring: "no_worker",
  }
  const at = "2025-11-19T10:00:00.000Z"
  // three results are too few for a difficulty
  const read = { measuredAt: at, source: "import", searchDepth: 30, difficultyNone: true, difficultyAt: at }
  expect(await ranks()).toEqual({
    country: "us",
    platform: "ios",
    live: false,
    measuredAt: "2025-11-19T10:00:00.000Z",
    keywords: [
      { term: "tea", measured: true, rank: 2, ...unknown, ...read },
      { term: "mate", measured: true, rank: null, ...unknown, ...read },
      { term: "milk", measured: false, rank: null, measuredAt: null, source: null, ...unknown, searchDepth: null },
    ],
    adsPopularity: null,
  })
})

test("a keyword is being measured while a process reads its store, and no longer once the process ends", async () => {
  const flags = async () =>
    (await ranks()).keywords.map((row: Record<string, unknown>) => [row.measuring, row.notMeasuring])
  const sign = await signOfLife(sql)
  expect(await flags()).toEqual(Array(3).fill([true, null]))
  await sign.end()
  expect(await flags()).toEqual(Array(3).fill([false, "no_worker"]))
})

test("a term that was not measured on the day shown is unmeasured, even if an earlier day was measured", async () => {
  await record(
    sql,
    [reading("tea", "2025-11-18T10:00:00Z", [10001]), reading("mate", "2025-11-19T10:00:00Z", [10001])],
    () => NOW,
  )
  expect(short(await ranks())).toEqual([
    ["tea", false, null],
    ["mate", true, 1],
    ["milk", false, null],
  ])
})

test("`live` is true on the day of the reading until midnight UTC", async () => {
  await record(sql, [reading("tea", "2025-11-20T00:00:00Z", [10001])], () => NOW)
  expect((await ranks()).live).toBe(true)
  expect((await ranks({}, new Date("2025-11-20T23:59:59.999Z"))).live).toBe(true)
  expect((await ranks({}, new Date("2025-11-21T00:00:00Z"))).live).toBe(false)
})

test("each storefront has its own ranks, and every term of an untracked storefront is unmeasured", async () => {
  await record(
    sql,
    ["us", "gb", "de"].map((storefront, i) =>
      reading("tea", "2025-11-19T10:00:00Z", [10001 + (i % 2)], { storefront }),
    ),
    () => NOW,
  )
  expect(short(await ranks({ country: "us" }))[0]).toEqual(["tea", true, 1])
  expect(short(await ranks({ country: "gb" }))[0]).toEqual(["tea", true, null])
  const untracked = await ranks({ country: "de" })
  expect(short(untracked)).toEqual([
    ["tea", false, null],
    ["mate", false, null],
    ["milk", false, null],
  ])
  expect(untracked).toMatchObject({ country: "de", live: false, measuredAt: null })
})

test("every keyword is unmeasured in a store that does not list the app", async () => {
  await record(
    sql,
    [reading("tea", "2025-11-19T10:00:00Z", ["com.example.tea"], { platform: "android", source: "play-search" })],
    () => NOW,
  )
  const { keywords, measuredAt } = await ranks({ platform: "android" })
  expect(short({ keywords })).toEqual([
    ["tea", false, null],
    ["mate", false, null],
    ["milk", false, null],
  ])
  expect(measuredAt).toBeNull()
})

slow("an app with thousands of keywords lists each keyword once and in order, with its latest rank", async () => {
  const keywords = Array.from({ length: 1_100 }, (_, n) => `word ${(n * 701) % 1_100}`)
  const large = await trackOwn(sql, { workspaceId, iosId: "10007", countries: ["us"], keywords })
  const measured = [0, 499, 500, 1_099].map((at) => keywords[at]!)
  await record(
    sql,
    [
      ...measured.map((term) => reading(term, "2025-11-19T10:00:00Z", [10001, 10007])),
      reading(keywords[600]!, "2025-11-18T10:00:00Z", [10007]),
    ],
    () => NOW,
  )
  const answer = await ranks({ appId: large })
  expect(short(answer)).toEqual(
    keywords.map((term) => (measured.includes(term) ? [term, true, 2] : [term, false, null])),
  )
  expect(answer.measuredAt).toBe("2025-11-19T10:00:00.000Z")
})

test("an app without keywords has an empty answer", async () => {
  await sql`delete from tracked_term`
  expect(await ranks()).toMatchObject({ live: false, measuredAt: null, keywords: [] })
})

describe("the figures of a keyword", () => {
  const NOTHING = {
    demand: null,
    hintCount: null,
    popularity: null,
    popularitySource: null,
    popularityWeek: null,
    popularityLow: null,
    popularityHigh: null,
    popularityNone: false,
    difficulty: null,
    difficultyBand: null,
    difficultyNone: false,
    demandAt: null,
    hintCountAt: null,
    popularityAt: null,
    difficultyAt: null,
    popularityMeasuring: false,
    popularityNotMeasuring: "not_scheduled",
    difficultyMeasuring: false,
    difficultyNotMeasuring: "not_scheduled",
    measuring: false,
    notMeasuring: "not_scheduled",
  }
  const at = "2025-11-19T10:00:00Z"
  const seenAt = "2025-11-19T10:00:00.000Z"
  const ten = (rest: object = {}) =>
    reading("tea", at, [], {
      depth: 30,
      results: Array.from({ length: 10 }, (_, i) => ({ id: String(30_001 + i), name: `Tea ${i}`, ratings: 2_000 })),
      ...rest,
    })
  const derive = (side: object = {}) =>
    sql.begin((tx) =>
      deriveKeywordMetrics(tx, [{ platform: "ios", storefront: "us", term: "tea", ...side }], new Date(at)),
    )
  const tea = async (input: object = {}, now = NOW) => {
    const { measured, rank, measuredAt, source, searchDepth, term, ...rest } = (await ranks(input, now)).keywords[0]
    return rest
  }

  beforeEach(async () => {
    await sql`delete from due`
  })

  test("a keyword has its figures besides its rank, and unmeasured figures are null", async () => {
    await record(sql, [ten(), hintsReading("tea", at, ["tea shop"])], () => NOW)
    expect(await tea()).toEqual(NOTHING)
    await derive()
    expect(await tea()).toEqual({
      ...NOTHING,
      demand: 44,
      hintCount: 1,
      popularityLow: 5,
      popularityHigh: 9,
      popularitySource: "estimate",
      difficulty: 77,
      difficultyBand: "hard",
      demandAt: seenAt,
      hintCountAt: seenAt,
      popularityAt: seenAt,
      difficultyAt: seenAt,
    })
    const { keywords } = await ranks()
    expect(keywords[1]).toMatchObject({ term: "mate", ...NOTHING })
  })

  test("a keyword's record has the demand of its own storefront only", async () => {
    await record(sql, [ten()], () => NOW)
    await derive()
    const demand = async (country: string) => {
      const { metadata } = await ask(fetchRecord, contextOf(sql, workspaceId), { id: `kw:${appId}:${country}:tea` })
      return metadata.current.demand
    }
    expect([await demand("us"), await demand("gb")]).toEqual([44, null])
  })

  test("a figure that was read and is empty differs from one that was not read", async () => {
    await record(sql, [reading("tea", at, [], { depth: 30 }), hintsReading("tea", at, [])], () => NOW)
    await derive()
    expect(await tea()).toEqual({
      ...NOTHING,
      hintCount: 0,
      popularityNone: true,
      difficultyNone: true,
      demandAt: seenAt,
      hintCountAt: seenAt,
      popularityAt: seenAt,
      difficultyAt: seenAt,
    })
  })

  test("Apple's published popularity replaces the estimate and is returned with its month", async () => {
    await record(sql, [ten(), popularityReading("tea", "2025-09-01", 58)], () => NOW)
    await derive()
    expect(await tea()).toMatchObject({
      popularity: 58,
      popularitySource: "apple-ads-report",
      popularityWeek: "2025-09",
      demand: 44,
      popularityAt: popularityReading("tea", "2025-09-01", 58).seenAt.toISOString(),
    })
  })

  test("a calculated figure is shown for 90 days, and Apple's own popularity without a time limit", async () => {
    await record(
      sql,
      [ten(), hintsReading("tea", at, ["tea shop"]), popularityReading("tea", "2025-09-01", 58)],
      () => NOW,
    )
    await derive()
    const [day] = await sql<[{ last: string; next: string }]>`
      select (max(day) + 90)::text as last, (max(day) + 91)::text as next
      from keyword_metric
      where metric = 'demand'`
    expect(await tea({}, new Date(`${day.last}T23:59:59Z`))).toMatchObject({ demand: 44, hintCount: 1, difficulty: 77 })
    expect(await tea({}, new Date(`${day.next}T00:00:00Z`))).toEqual({
      ...NOTHING,
      popularity: 58,
      popularitySource: "apple-ads-report",
      popularityWeek: "2025-09",
      popularityAt: popularityReading("tea", "2025-09-01", 58).seenAt.toISOString(),
    })
  })

  test("no figure is shown for another storefront, another store or a storefront that is not tracked", async () => {
    await record(
      sql,
      ["us", "de"].map((storefront) => ten({ storefront })),
      () => NOW,
    )
    await derive()
    await derive({ storefront: "de" })
    await sql`
      insert into due (kind, platform, storefront, subject)
        values ('search', 'ios', 'de', 'tea'), ('hints', 'android', 'us', 'tea')`
    for (const input of [{ country: "gb" }, { country: "de" }, { platform: "android" }]) {
      expect(await tea(input)).toEqual(NOTHING)
    }
  })
})

function short({ keywords }: { keywords: { term: string; measured: boolean; rank: number | null }[] }) {
  return keywords.map(({ term, measured, rank }) => [term, measured, rank])
}
