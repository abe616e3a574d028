import { beforeEach, expect, test } from "bun:test"
import { trackApp } from "../../src/actions/tracking.ts"
import type { Sql } from "../../src/database/types.ts"
import { importLines } from "../../src/observations/import-lines.ts"
import { record } from "../../src/observations/record.ts"
import { listKeywordRanks } from "../../src/operations/keywords.ts"
import { freshDatabase } from "../database.ts"
import { ask, contextOf, NOW, newWorkspace, reading } from "../observations/measured.ts"

let sql: Sql
let workspaceId: number
let appId: string

beforeEach(async () => {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
  const asked = {
    workspaceId,
    iosId: "10001",
    countries: ["us", "gb"],
    keywords: ["tea", "mate", "milk"],
    origin: "own",
  }
  appId = await sql.begin((tx) => trackApp(tx, asked))
})

const ranks = (input: object = {}, now = NOW) =>
  ask(listKeywordRanks, contextOf(sql, workspaceId, now), { appId, ...input })

test("three states stand side by side: ranked, measured and absent, not measured", async () => {
  const line = (term: string, ids: string[]) =>
    JSON.stringify({
      ...{ kind: "search", source: "import", platform: "ios", storefront: "us", term, depth: 30 },
      ...{ seenAt: "2025-11-19T10:00:00Z", results: ids.map((id) => ({ id })) },
    })
  async function* file() {
    yield line("tea", ["10002", "10001"])
    yield line("mate", ["10002"])
  }
  await importLines(sql, file(), { now: () => NOW })
  const unknown = {
    ...{ demand: null, hintCount: null, popularity: null, popularitySource: null, popularityWeek: null },
    ...{ popularityNone: false, difficulty: null, difficultyBand: null, difficultyNone: false },
    ...{ popularityMeasuring: false, difficultyMeasuring: false, measuring: false },
  }
  expect(await ranks()).toEqual({
    country: "us",
    platform: "ios",
    live: false,
    measuredAt: "2025-11-19T10:00:00.000Z",
    keywords: [
      { term: "tea", measured: true, rank: 2, ...unknown, searchDepth: 30 },
      { term: "mate", measured: true, rank: null, ...unknown, searchDepth: 30 },
      { term: "milk", measured: false, rank: null, ...unknown, searchDepth: null },
    ],
  })
})

test("a term that was not measured on the day shown is unmeasured, whatever an earlier day says", async () => {
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

test("it is live on the day itself and no longer after midnight UTC", async () => {
  await record(sql, [reading("tea", "2025-11-20T00:00:00Z", [10001])], () => NOW)
  expect((await ranks()).live).toBe(true)
  expect((await ranks({}, new Date("2025-11-20T23:59:59.999Z"))).live).toBe(true)
  expect((await ranks({}, new Date("2025-11-21T00:00:00Z"))).live).toBe(false)
})

test("each storefront answers for itself, and one that is not tracked answers every term as unmeasured", async () => {
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

test("a store the app is not in has nothing measured", async () => {
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

test("an app without keywords answers none", async () => {
  await sql`delete from tracked_term`
  expect(await ranks()).toMatchObject({ live: false, measuredAt: null, keywords: [] })
})

function short({ keywords }: { keywords: { term: string; measured: boolean; rank: number | null }[] }) {
  return keywords.map(({ term, measured, rank }) => [term, measured, rank])
}
