import { beforeEach, describe, expect, test } from "bun:test"
import type { Platform } from "../../../src/core/observation/provenance.ts"
import type { Sql, Tx } from "../../../src/database/types.ts"
import { removeDemo } from "../../../src/demo/remove-demo.ts"
import { demandOf } from "../../../src/keywords/formulas/demand.ts"
import type { SearchObservation } from "../../../src/keywords/kinds/search-shape.ts"
import { UNMEASURED } from "../../../src/keywords/store/keyword-figures.ts"
import { deriveKeywordMetrics, readKeywordMetrics } from "../../../src/keywords/store/keyword-metrics.ts"
import type { Observation } from "../../../src/kinds.ts"
import { freshDatabase } from "../../database.ts"
import { long, slow } from "../../long.ts"
import { appsReading, hintsReading, NOW, popularityReading, reading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"

let sql: Sql
const AT = "2025-11-19T10:00:00Z"
const SEEN_AT = "2025-11-19T10:00:00.000Z"

beforeEach(async () => {
  sql = await freshDatabase()
})

/** Returns ten apps whose names contain the term, with these ratings. */
function ten(
  term: string,
  ratings: (number | undefined)[] = Array(10).fill(1_000),
  rest: Partial<SearchObservation> = {},
) {
  const android = rest.platform === "android"
  const results = ratings.map((count, i) => ({
    id: android ? `com.example.app${i}` : String(20_001 + i),
    name: `${term} ${i}`,
    ...(count !== undefined && { ratings: count }),
  }))
  return reading(term, AT, [], { depth: 30, results, ...(android && { source: "play-search" as const }), ...rest })
}

async function derive(
  observations: Observation[],
  { term = "tea", platform = "ios" as Platform, storefront = "us", now = NOW } = {},
) {
  const { refused } = await record(sql, observations, () => new Date("2026-06-01T00:00:00Z"))
  expect(refused).toEqual([])
  await sql.begin((tx) => deriveKeywordMetrics(tx, [{ term, platform, storefront }], now))
}

async function figures(term = "tea", { platform = "ios" as Platform, storefront = "us", today = "2025-11-20" } = {}) {
  return (await readKeywordMetrics(sql, { platform, storefront, terms: [term], today })).get(term)
}

const rows = () =>
  sql`select metric, day, source, score, formula, seen_at, parts from keyword_metric order by metric, day, source`.then(
    (found) => [...found],
  )

describe("keyword metrics", () => {
  slow("a reading with ratings and suggestions gives all four figures", async () => {
    const answers = [
      hintsReading("tea", AT, ["tea", "tea timer", "tea shop"]),
      hintsReading("te", AT, ["tea", "tetris"]),
      hintsReading("t", AT, ["tiktok"]),
    ]
    await derive([ten("tea"), ...answers])
    expect(await figures()).toEqual({
      ...UNMEASURED,
      demandAt: SEEN_AT,
      hintCountAt: SEEN_AT,
      popularityAt: SEEN_AT,
      difficultyAt: SEEN_AT,
      demand: demandOf(Array(10).fill(1_000))!.score,
      hintCount: 2,
      popularityLow: 5,
      popularityHigh: 9,
      popularityOrder: 7,
      popularitySource: "estimate",
      difficulty: 73,
      difficultyBand: "hard",
    })
  })

  test("a figure whose inputs were not read is unmeasured and has no row", async () => {
    await derive([reading("tea", AT, [20_001, 20_002, 20_003, 20_004, 20_005])])
    expect(await rows()).toEqual([])
    expect(await figures()).toEqual(UNMEASURED)
    await derive([hintsReading("tea", AT, [])])
    expect((await rows()).map(({ metric, score }) => [metric, score])).toEqual([["hints", 0]])
    expect(await figures()).toEqual({ ...UNMEASURED, hintCount: 0, hintCountAt: SEEN_AT })
  })

  test("a keyword without results has no difficulty or demand, and no popularity without suggestions", async () => {
    const listed = { demandAt: SEEN_AT, difficultyNone: true, difficultyAt: SEEN_AT }
    await derive([reading("tea", AT, [], { depth: 30 })])
    expect(await figures()).toEqual({ ...UNMEASURED, ...listed })
    await derive([hintsReading("tea", AT, [])])
    expect(await figures()).toEqual({
      ...UNMEASURED,
      ...listed,
      hintCount: 0,
      hintCountAt: SEEN_AT,
      popularityNone: true,
      popularityAt: SEEN_AT,
    })
    expect((await rows()).map(({ metric, score }) => [metric, score])).toEqual([
      ["demand", null],
      ["difficulty", null],
      ["hints", 0],
      ["popularity", null],
    ])
  })

  test("each row lists the readings that it is based on", async () => {
    const search = ten("tea", Array(10).fill(undefined))
    const rated = appsReading(
      "2025-11-20T08:00:00Z",
      search.results.map(({ id }) => ({ id, ratings: 500 })),
    )
    const hint = hintsReading("tea", "2025-11-18T07:00:00Z", [])
    await derive([search, rated, hint])
    const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
    const ofSearch = { source: "import", seenAt: "2025-11-19T10:00:00.000Z", sha256: hex(search.sha256) }
    const ofHint = {
      source: "apple-hints",
      prefix: "tea",
      seenAt: "2025-11-18T07:00:00.000Z",
      sha256: hex(hint.sha256),
    }
    const ratings = { sources: ["itunes-lookup"], from: "2025-11-20T08:00:00.000Z", to: "2025-11-20T08:00:00.000Z" }
    const [demand, difficulty, hints, popularity] = await rows()
    const common = { day: "2025-11-20", seen_at: new Date("2025-11-20T08:00:00Z") }
    expect(demand).toMatchObject({ ...common, source: "calculated", parts: { read: [ofSearch], ratings, known: 10 } })
    expect(difficulty).toMatchObject({
      ...common,
      source: "calculated",
      parts: { read: [ofSearch], ratings, results: 10 },
    })
    expect(hints).toMatchObject({ seen_at: hint.seenAt, parts: { read: [ofHint], suggested: false, finished: true } })
    expect(popularity).toMatchObject({
      ...common,
      source: "estimate",
      parts: { of: { demand: "2025-11-20T08:00:00.000Z", hints: "2025-11-18T07:00:00.000Z" } },
    })
  })

  test("measuring the same readings again changes nothing, and older readings never replace a figure", async () => {
    await derive([ten("tea"), hintsReading("tea", AT, ["tea time"])])
    const before = await rows()
    await derive([])
    await derive([ten("tea"), hintsReading("tea", AT, ["tea time"])])
    expect(await rows()).toEqual(before)
    await sql`update keyword_metric set seen_at = seen_at + interval '1 hour', score = 1`
    const later = await rows()
    await derive([])
    expect(await rows()).toEqual(later)
    await sql`update keyword_metric set seen_at = seen_at - interval '1 day', formula = formula + 1`
    const newer = await rows()
    await derive([])
    expect(await rows()).toEqual(newer)
  })

  test("a day without a later reading gets no copy of an earlier day's figures", async () => {
    await derive([ten("tea"), hintsReading("tea", AT, ["tea time"])])
    const before = await rows()
    await derive([], { now: new Date("2025-11-25T00:00:00Z") })
    expect(await rows()).toEqual(before)
    await derive([hintsReading("tea", "2025-11-24T00:00:00Z", [])], { now: new Date("2025-11-25T00:00:00Z") })
    expect((await rows()).filter(({ day }) => day > "2025-11-20").map(({ metric }) => metric)).toEqual([
      "hints",
      "popularity",
    ])
  })

  test("each day keeps its own figures, and the latest are shown for ninety days", async () => {
    await derive([ten("tea")])
    const next = new Date("2025-11-21T09:00:00Z")
    await derive([{ ...ten("tea", Array(10).fill(50)), seenAt: new Date("2025-11-21T08:00:00Z") }], { now: next })
    expect((await rows()).filter(({ metric }) => metric === "demand").map(({ day }) => day)).toEqual([
      "2025-11-20",
      "2025-11-21",
    ])
    const stored = demandOf(Array(10).fill(50))!.score
    expect((await figures("tea", { today: "2025-11-21" }))?.demand).toBe(stored)
    expect((await figures("tea", { today: "2026-02-19" }))?.demand).toBe(stored)
    expect(await figures("tea", { today: "2026-02-20" })).toEqual(UNMEASURED)
  })
})

describe("the inputs of figures", () => {
  test("figures use the complete reading of the latest day, not a deeper reading of an earlier day", async () => {
    const other = (seenAt: string, rest: object) => ({
      ...ten("tea", Array(10).fill(undefined), { depth: 200, ...rest }),
      seenAt: new Date(seenAt),
    })
    await derive([
      ten("tea"),
      other("2025-11-18T10:00:00Z", {}),
      other("2025-11-19T11:00:00Z", { complete: false }),
      other("2025-11-20T11:00:00Z", { complete: false }),
    ])
    const [demand] = await rows()
    expect(demand?.parts.read[0].seenAt).toBe("2025-11-19T10:00:00.000Z")
  })

  test("figures use only the first ten results and their ratings in that storefront", async () => {
    const twelve = [...Array(10).fill(undefined), 9e7, 9e7]
    const german = ten("tee", Array(10).fill(9e7), { storefront: "de" })
    await derive([ten("tea", twelve), german])
    expect((await figures())?.demand).toBeNull()
    await derive([
      appsReading(
        AT,
        ten("tea").results.map(({ id }) => ({ id, ratings: 7 })),
      ),
    ])
    expect((await figures())?.demand).toBe(demandOf(Array(10).fill(7))!.score as number)
  })

  test("figures use no ratings or readings older than thirty days", async () => {
    await derive([ten("tea")], { now: new Date("2025-12-19T00:00:00Z") })
    expect((await rows()).length).toBeGreaterThan(0)
    await sql`delete from keyword_metric`
    await derive([], { now: new Date("2025-12-20T00:00:00Z") })
    expect(await rows()).toEqual([])
  })

  test("figures use the latest suggestions of each prefix, also those requested for another keyword", async () => {
    await derive([
      hintsReading("tea", "2025-11-10T10:00:00Z", []),
      hintsReading("tea", "2025-11-19T10:00:00Z", ["tea"]),
      hintsReading("te", "2025-11-18T10:00:00Z", []),
    ])
    expect((await rows())[0]).toMatchObject({ parts: { suggested: true, prefixDepth: 3, finished: true } })
  })

  test("figures never use readings of another storefront or platform", async () => {
    await derive([ten("tea"), hintsReading("tea", AT, ["tea time"])])
    for (const other of [
      { platform: "ios", storefront: "gb" },
      { platform: "android", storefront: "us" },
    ] as const) {
      await sql.begin((tx) => deriveKeywordMetrics(tx, [{ ...other, term: "tea" }], NOW))
      expect(await figures("tea", other)).toEqual(UNMEASURED)
    }
    await derive([ten("tea", Array(10).fill(2), { platform: "android" })], { platform: "android" })
    expect((await figures("tea", { platform: "android" }))?.demand).toBe(demandOf(Array(10).fill(2))!.score as number)
    expect((await figures())?.demand).toBe(demandOf(Array(10).fill(1_000))!.score as number)
  })

  test("the prefix depth is not measured on Google Play, where only whole keywords are requested", async () => {
    const android = { platform: "android", source: "play-suggest" }
    await derive([ten("tea", undefined, { platform: "android" }), hintsReading("tea", AT, ["tea time"], android)], {
      platform: "android",
    })
    expect((await rows()).find(({ metric }) => metric === "popularity")?.parts).toMatchObject({
      hintCount: 20,
      prefixDepth: null,
    })
  })

  test("many keywords measured in one call each get their own figures", async () => {
    const terms = Array.from({ length: 40 }, (_, i) => `word ${i}`)
    await record(
      sql,
      terms.flatMap((term, i) => [
        ten(
          term,
          Array.from({ length: 10 }, (_, at) => i * 100 + at),
        ),
        hintsReading(term, AT, [`${term}x`].slice(0, i % 2)),
      ]),
      () => NOW,
    )
    const lists = terms.map((term) => ({ term, platform: "ios" as const, storefront: "us" }))
    await sql.begin((tx) => deriveKeywordMetrics(tx, [...lists, ...lists.slice(0, 3)], NOW))
    const found = await readKeywordMetrics(sql, { platform: "ios", storefront: "us", terms, today: "2025-11-20" })
    expect([...found.keys()]).toEqual(terms)
    expect([...found.values()].map(({ hintCount }) => hintCount)).toEqual(terms.map((_, i) => i % 2))
  })
})

describe("concurrent measurements", () => {
  long("concurrent measurements of the same keywords in different orders do not deadlock", async () => {
    const terms = Array.from({ length: 20 }, (_, i) => `word ${i}`)
    const lists = terms.map((term) => ({ term, platform: "ios" as const, storefront: "us" }))
    const derived = (subjects: typeof lists) => ({ finish: (tx: Tx) => deriveKeywordMetrics(tx, subjects, NOW) })
    for (let round = 0; round < 5; round++) {
      const at = `2025-11-19T1${round}:00:00Z`
      const searches = terms.map((term) => ({
        ...ten(term, Array(10).fill(100 * (round + 1))),
        seenAt: new Date(at),
      }))
      const hints = terms.map((term) => hintsReading(term, at, [`${term} ${round}`]))
      await Promise.all([
        record(sql, searches, () => NOW, derived(lists)),
        record(sql, hints, () => NOW, derived(lists.toReversed())),
      ])
    }
    const last = await rows()
    await sql.begin((tx) => deriveKeywordMetrics(tx, lists, NOW))
    expect(await rows()).toEqual(last)
    expect(last).toHaveLength(80)
    expect((await figures("word 7"))?.demand).toBe(demandOf(Array(10).fill(500))!.score as number)
  })

  slow("two concurrent measurements of parts of a keyword are both used for its popularity", async () => {
    // creates the list first, since creating it would make the other measurement wait anyway
    await record(sql, [popularityReading("tea", "2025-08-01", 50)], () => NOW)
    const [derived, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const list = [{ term: "tea", platform: "ios" as const, storefront: "us" }]
    const first = record(sql, [ten("tea")], () => NOW, {
      async finish(tx) {
        await deriveKeywordMetrics(tx, list, NOW)
        derived.resolve()
        await open.promise
      },
    })
    await derived.promise
    const second = record(sql, [hintsReading("tea", "2025-11-19T11:00:00Z", [])], () => NOW, {
      finish: (tx) => deriveKeywordMetrics(tx, list, NOW),
    })
    await Bun.sleep(200)
    open.resolve()
    await Promise.all([first, second])
    const popularity = (await rows()).find(({ source }) => source === "estimate")
    expect(Object.keys(popularity?.parts.of)).toEqual(["hints", "demand"])
  })

  slow("removing the demo restores the figures from before the demo", async () => {
    const now = new Date("2025-11-19T23:59:59.999Z")
    await derive([ten("tea"), popularityReading("tea", "2025-09-01", 63)], { now })
    const before = await rows()
    const later = reading("tea", "2025-11-19T12:00:00Z", [], {
      origin: "demo",
      source: "foreign",
      depth: 30,
      results: Array.from({ length: 10 }, (_, i) => ({ id: String(10_001 + i), name: "tea", ratings: 5 })),
    })
    await derive([later, ten("mate", Array(10).fill(5), { origin: "demo" })], { now })
    await derive([], { term: "mate", now })
    expect(await rows()).not.toEqual(before)
    await removeDemo(sql, () => NOW)
    expect(await rows()).toEqual(before)
  })
})

describe("Apple's own figure", () => {
  test("Apple's own figure of the latest month takes precedence over an estimate", async () => {
    await derive([ten("tea"), popularityReading("tea", "2025-08-01", 61), popularityReading("tea", "2025-09-01", 63)])
    expect(await figures()).toMatchObject({
      popularity: 63,
      popularitySource: "apple-ads-report",
      popularityWeek: "2025-09",
      popularityNone: false,
    })
  })

  test("Apple's own figure is shown at any age, and also if no estimate exists", async () => {
    await derive([
      reading("tea", AT, [], { depth: 30 }),
      hintsReading("tea", AT, []),
      popularityReading("tea", "2024-01-01", 40),
    ])
    expect(await figures("tea", { today: "2025-11-20" })).toMatchObject({
      popularity: 40,
      popularityWeek: "2024-01",
      popularityNone: false,
    })
  })

  test("Apple's own figure belongs to its storefront only", async () => {
    await derive([popularityReading("tea", "2025-09-01", 63, { storefront: "gb" })])
    expect(await figures()).toEqual(UNMEASURED)
    expect(await figures("tea", { storefront: "gb" })).toMatchObject({ popularity: 63 })
  })
})
