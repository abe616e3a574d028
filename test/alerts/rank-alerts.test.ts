import { beforeEach, describe, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import type { SearchObservation } from "../../src/keywords/kinds/search-shape.ts"
import { freshDatabase } from "../database.ts"
import { long, slow } from "../long.ts"
import { reading } from "../measuring/record/measured.ts"
import { deriveFor, lines, listOf, RANKS, readAlerts, storeAll, TODAY, trackNew } from "./derived-alerts.ts"

let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
})

/** Returns a reading of the term at 10:00 on that day of November, with the app at `rank`. */
function rankReading(day: number, rank: number | null, rest: Partial<SearchObservation> = {}, term = "tea") {
  return reading(term, `2025-11-${String(day).padStart(2, "0")}T10:00:00Z`, listOf(rank, rest.depth ?? 100), rest)
}

async function alertsOf(...readings: SearchObservation[]): Promise<string[]> {
  await trackNew(sql, ["tea"])
  await storeAll(sql, readings)
  await deriveFor(sql)
  return lines(await readAlerts(sql, ...RANKS))
}

describe("a tracked keyword", () => {
  test("a fall of a keyword shows the ranks before and after, and the time of the reading", async () => {
    expect(await alertsOf(rankReading(19, 3), rankReading(20, 12, { depth: 80 }))).toEqual(["2025-11-20 rank_drop tea"])
    const [alert] = await readAlerts(sql, ...RANKS)
    expect(alert).toEqual({
      type: "rank_drop",
      storefront: "us",
      subject: "tea",
      day: "2025-11-20",
      at: new Date("2025-11-20T10:00:00Z"),
      facts: { term: "tea", rank: 12, was: 3, depth: 80, wasDepth: 100, source: "import", against: "2025-11-19" },
    })
  })

  test.each([
    [3, 5, []],
    [3, 6, ["2025-11-20 rank_drop tea"]],
    [6, 4, []],
    [6, 3, ["2025-11-20 rank_rise tea"]],
    [null, 100, ["2025-11-20 entered tea"]],
    [100, null, ["2025-11-20 dropped_out tea"]],
    [null, null, []],
  ])("a keyword that moves from rank %p to %p gets the alerts %p", async (before, after, expected) => {
    expect(await alertsOf(rankReading(19, before), rankReading(20, after))).toEqual(expected)
  })

  slow("a keyword is compared across any number of unmeasured days", async () => {
    expect(await alertsOf(rankReading(17, 3), rankReading(20, 12))).toEqual(["2025-11-20 rank_drop tea"])
    await sql`delete from alert`
    const longAgo = reading("coffee", "2024-11-01T10:00:00Z", listOf(90, 100))
    await trackNew(sql, ["coffee"], { workspaceId: (await workspaces())[0] as number, iosId: "10002" })
    await sql`update tracked_app set ios_app = (select id from store_app where store_id = '10001')`
    const lessDeep = reading("coffee", "2024-11-01T12:00:00Z", listOf(null, 50))
    await storeAll(sql, [
      longAgo,
      lessDeep,
      rankReading(10, 40, { complete: false }, "coffee"),
      rankReading(20, 10, {}, "coffee"),
    ])
    await deriveFor(sql)
    const [alert] = await readAlerts(sql, "rank_rise")
    expect(alert?.facts).toMatchObject({ term: "coffee", rank: 10, was: 90, against: "2024-11-01" })
  })

  test("an unfinished reading of a keyword counts as no reading", async () => {
    expect(await alertsOf(rankReading(18, 3), rankReading(19, 40, { complete: false }), rankReading(20, 4))).toEqual([])
  })

  test("a keyword is not compared with an earlier day if the source changed on its previous measured day", async () => {
    const other = { source: "apple-web-search" as const }
    expect(await alertsOf(rankReading(18, 3), rankReading(19, 30, other), rankReading(20, 60))).toEqual([])
  })

  test("an absence in a reading shallower than the keyword's rank is neither a drop-out nor an entry", async () => {
    const shallow = { depth: 40 }
    expect(await alertsOf(rankReading(18, 41), rankReading(19, null, shallow), rankReading(20, 41))).toEqual([])
  })

  test("a keyword has dropped out if a reading exactly as deep as its last rank does not contain the app", async () => {
    const shallow = { depth: 40 }
    expect(await alertsOf(rankReading(18, 40), rankReading(19, null, shallow), rankReading(20, 40))).toEqual([
      "2025-11-19 dropped_out tea",
      "2025-11-20 entered tea",
    ])
  })

  test("a keyword causes no alert on its first measured day", async () => {
    expect(await alertsOf(rankReading(20, 3))).toEqual([])
  })

  test("alerts about a keyword are derived for the last three days only", async () => {
    const days = [
      rankReading(16, 1),
      rankReading(17, 11),
      rankReading(18, 21),
      rankReading(19, 31),
      rankReading(20, 41),
    ]
    expect(await alertsOf(...days)).toEqual([
      "2025-11-18 rank_drop tea",
      "2025-11-19 rank_drop tea",
      "2025-11-20 rank_drop tea",
    ])
    await sql`delete from alert`
    await deriveFor(sql, {}, new Date(TODAY.getTime() + 86_400_000))
    expect(lines(await readAlerts(sql, ...RANKS))).toEqual(["2025-11-19 rank_drop tea", "2025-11-20 rank_drop tea"])
  })

  test("a keyword has at most one move per day, based on the deepest reading of the day", async () => {
    const deeper = reading("tea", "2025-11-20T08:00:00Z", listOf(13, 150))
    expect(await alertsOf(rankReading(19, 3), rankReading(20, 4), deeper)).toEqual(["2025-11-20 rank_drop tea"])
  })
})

describe("days before tracking", () => {
  test.each([
    ["2025-11-19", ["2025-11-19 rank_drop tea", "2025-11-20 rank_drop tea"]],
    ["2025-11-20", ["2025-11-20 rank_drop tea"]],
    ["2025-11-21", []],
  ])("an app tracked since %s gets the alerts %p", async (since, expected) => {
    const appId = await trackNew(sql, ["tea"])
    await sql`update tracked_app set created_at = ${`${since}T23:59:59Z`} where id = ${appId}`
    await storeAll(sql, [rankReading(18, 1), rankReading(19, 11), rankReading(20, 21)])
    await deriveFor(sql)
    expect(lines(await readAlerts(sql, ...RANKS))).toEqual(expected)
  })

  test("a keyword tracked since yesterday is compared with the day before, which gets no alert itself", async () => {
    const appId = await trackNew(sql, ["tea", "mate"])
    await sql`update tracked_term set added_at = '2025-11-19T00:00:00Z' where app_id = ${appId} and term = 'mate'`
    const readings = ["tea", "mate"].flatMap((term) =>
      [1, 11, 21, 31].map((rank, at) => rankReading(17 + at, rank, {}, term)),
    )
    await storeAll(sql, readings)
    await deriveFor(sql)
    expect(lines(await readAlerts(sql, ...RANKS))).toEqual([
      "2025-11-18 rank_drop tea",
      "2025-11-19 rank_drop mate",
      "2025-11-19 rank_drop tea",
      "2025-11-20 rank_drop mate",
      "2025-11-20 rank_drop tea",
    ])
  })
})

test("readings of another origin cause no alert and are skipped when this instance's days are compared", async () => {
  const other = { origin: "elsewhere" }
  expect(await alertsOf(rankReading(18, 3), rankReading(19, 60, other), rankReading(20, 4))).toEqual([])
  sql = await freshDatabase()
  expect(await alertsOf(rankReading(18, 3), rankReading(19, 4, other), rankReading(20, 60))).toEqual([
    "2025-11-20 rank_drop tea",
  ])
})

long("the findings of 1,000 keywords are derived in parts and are complete", async () => {
  const terms = Array.from({ length: 1_000 }, (_, at) => `term ${at}`)
  await trackNew(sql, terms)
  const day = (day: number, rank: number) => terms.map((term) => rankReading(day, rank, { depth: 10 }, term))
  await storeAll(sql, [...day(19, 2), ...day(20, 9)])
  await deriveFor(sql)
  expect(lines(await readAlerts(sql, "rank_drop")).sort()).toEqual(
    terms.map((term) => `2025-11-20 rank_drop ${term}`).sort(),
  )
})

async function workspaces(): Promise<number[]> {
  return (await sql<{ id: number }[]>`select id from workspace order by id`).map(({ id }) => id)
}
