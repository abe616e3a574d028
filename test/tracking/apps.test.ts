import { beforeEach, describe, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { getRankHistory } from "../../src/keywords/operations/history.ts"
import { listApps } from "../../src/overview/operations/apps.ts"
import {
  countUsage,
  listTracked,
  type NewApp,
  overLimit,
  removeApp,
  setGoal,
  trackApp,
} from "../../src/tracking/apps.ts"
import { TrackingProblem } from "../../src/tracking/checks.ts"
import { addTerms, buryTerms, removeTerms, tagTerms } from "../../src/tracking/terms.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { ask, contextOf, NOW, newWorkspace, reading } from "../measuring/record/measured.ts"
import { record } from "../record.ts"

let sql: Sql
let workspaceId: number

beforeEach(async () => {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
})

const track = (rest: Partial<NewApp> = {}) =>
  sql.begin((tx) =>
    trackApp(tx, { workspaceId, iosId: "10001", countries: ["us"], keywords: ["tea"], origin: "own", ...rest }),
  )
const series = async (appId: string, country = "us") => {
  const { keywords } = await ask(getRankHistory, contextOf(sql, workspaceId), { appId, country })
  return keywords.map(({ term, series }: { term: string; series: [] }) => [term, series])
}
const readApp = async () => (await ask(listApps, contextOf(sql, workspaceId))).apps[0]

describe("tracking an app", () => {
  test("an app id has 12 characters from the given random bytes and no colon", async () => {
    const options = { workspaceId, iosId: "10001", countries: ["us"], keywords: [], origin: "own" }
    const id = await sql.begin((tx) => trackApp(tx, options, (size) => new Uint8Array(size).fill(61)))
    expect(id).toBe("app_zzzzzzzzzzzz")
    expect(await track({ iosId: "10002" })).toMatch(/^app_[0-9A-Za-z]{12}$/)
  })

  test("an app's name is the given one, else the store's, else the store id", async () => {
    const results = [{ id: "10002", name: "Shown" }]
    await record(sql, [reading("tea", "2025-11-19T10:00:00Z", [], { depth: 1, results })], () => NOW)
    await track({ iosId: "10001", name: " Given " })
    await track({ iosId: "10002" })
    await track({ iosId: "10003" })
    expect((await listTracked(sql, workspaceId)).map(({ name }) => name)).toEqual(["Given", "Shown", "10003"])
  })

  test("a newly tracked app's history has all earlier readings of its terms, from every month", async () => {
    await record(
      sql,
      [
        reading("tea", "2025-09-30T10:00:00Z", [10002, 10001]),
        reading("tea", "2025-11-02T10:00:00Z", [10002]),
        reading("tea", "2025-10-05T10:00:00Z", [10001], { storefront: "de" }),
        reading("mate", "2025-11-03T10:00:00Z", [10001]),
      ],
      () => NOW,
    )
    expect(await sql`select 1 from rank_month`).toHaveLength(0)
    const appId = await track({ countries: ["us", "de"] })
    expect(await series(appId)).toEqual([
      [
        "tea",
        [
          ["2025-09-30", 2],
          ["2025-11-02", null],
        ],
      ],
    ])
    expect(await series(appId, "de")).toEqual([["tea", [["2025-10-05", 1]]]])
  })

  test("invalid input is refused with one sentence, and nothing is stored", async () => {
    const cases: [Partial<NewApp>, string][] = [
      [{ iosId: "abc" }, "5 to 12 digits"],
      [{ androidPkg: "nodots" }, "package name"],
      [{ iosId: undefined } as never, "App Store id"],
      [{ countries: [] }, "at least one storefront"],
      [{ countries: ["xx"] }, "two-letter code"],
      [{ keywords: [" "] }, "1 to 150"],
      [{ keywords: ["x".repeat(151)] }, "1 to 150"],
      [{ keywords: ["a\0b"] }, "1 to 150"],
      [{ manualRivals: ["10002"] }, "ios:"],
      [{ name: "x".repeat(101) }, "1 to 100"],
      [{ workspaceId: 999_999 }, "no such workspace"],
    ]
    for (const [options, words] of cases) {
      const problem = await track(options).catch((error) => error)
      expect(problem).toBeInstanceOf(TrackingProblem)
      expect(problem.message).toContain(words)
    }
    expect(await sql`select 1 from store_app`).toHaveLength(0)
    expect(await sql`select 1 from list`).toHaveLength(0)
  })

  test("a workspace tracks a store app once, and another workspace may track it too", async () => {
    const id = await track()
    expect((await track({ androidPkg: "com.example.tea" }).catch((error) => error)).message).toContain(id)
    expect(await track({ workspaceId: await newWorkspace(sql) })).not.toBe(id)
  })
})

describe("terms", () => {
  const add = (appId: string, terms: string[], countries: string[] | "all" = "all") =>
    sql.begin((tx) => addTerms(tx, appId, countries, terms))
  const remove = (appId: string, terms: string[], countries: string[] | "all" = "all") =>
    sql.begin((tx) => removeTerms(tx, appId, countries, terms))

  test("terms that are already tracked are returned and not added twice, and new terms follow in order", async () => {
    const appId = await track({ countries: ["us", "de"], keywords: ["tea", "mate"] })
    expect(await add(appId, ["Mate", "cocoa", " COCOA ", "ale"])).toEqual({
      added: ["cocoa", "ale"],
      alreadyTracked: ["mate"],
    })
    expect(await add(appId, ["zen", "tea"], ["DE"])).toEqual({ added: ["zen"], alreadyTracked: ["tea"] })
    expect(await add(appId, ["zen"])).toEqual({ added: ["zen"], alreadyTracked: [] })
    expect((await readApp()).keywordsByCountry).toEqual({
      us: ["tea", "mate", "cocoa", "ale", "zen"],
      de: ["tea", "mate", "cocoa", "ale", "zen"],
    })
    expect((await add(appId, ["x"], ["fr"]).catch((error) => error)).message).toContain("does not track")
  })

  slow("untracked terms keep their readings, and tracking them again restores their history", async () => {
    const appId = await track({ keywords: ["tea", "mate"] })
    await record(sql, [reading("tea", "2025-11-01T10:00:00Z", [10001])], () => NOW)
    expect(await remove(appId, ["tea", "never"])).toEqual({ removed: ["tea"], notTracked: ["never"] })
    expect(await series(appId)).toEqual([["mate", []]])
    await record(sql, [reading("tea", "2025-11-02T10:00:00Z", [10002, 10001])], () => NOW)
    await record(sql, [reading("tea", "2025-11-01T10:00:00Z", [10002])], () => NOW)
    await add(appId, ["tea"])
    expect(await series(appId)).toEqual([
      ["mate", []],
      [
        "tea",
        [
          ["2025-11-01", null],
          ["2025-11-02", 2],
        ],
      ],
    ])
  })

  slow("ranks that a correction removed while a term was untracked do not return with the term", async () => {
    const at = (day: string, rest: object = {}) => reading("tea", `${day}T10:00:00Z`, [10001], rest)
    await record(sql, [at("2025-08-05"), at("2025-09-05"), at("2025-10-05"), at("2025-11-05")], () => NOW)
    const other = await newWorkspace(sql)
    const appId = await track()
    await track({ workspaceId: other, iosId: "10002" })
    await sql.begin((tx) => removeTerms(tx, appId, "all", ["tea"]))
    const brokenOff = { complete: false, parser: 2 }
    await record(sql, [at("2025-08-05", brokenOff), at("2025-11-05", brokenOff)], () => NOW)
    await sql.begin((tx) => addTerms(tx, appId, "all", ["tea"]))
    const remaining = ["2025-09-01", "2025-10-01"]
    for (const table of ["rank_month", "list_month"]) {
      const rows = await sql`select distinct month from ${sql(table)} order by month`
      expect(rows.map(({ month }) => month)).toEqual(remaining)
    }
    const [app] = await listTracked(sql, other)
    for (const id of [appId, app?.id as string]) await sql.begin((tx) => removeTerms(tx, id, "all", ["tea"]))
    await record(sql, [at("2025-09-05", brokenOff), at("2025-10-05", brokenOff)], () => NOW)
    await sql.begin((tx) => addTerms(tx, appId, "all", ["tea"]))
    expect(await series(appId)).toEqual([["tea", []]])
    expect(await sql`select 1 from list_month`).toHaveLength(0)
  })

  test("tags, buried terms and the goal are shown on the app and can be removed", async () => {
    const appId = await track({ keywords: ["tea", "mate"] })
    await sql.begin(async (tx) => {
      await tagTerms(tx, appId, ["Tea", "mate"], ["core", "core", "hot"])
      await tagTerms(tx, appId, ["mate"], [])
      await buryTerms(tx, appId, ["ale"])
      await buryTerms(tx, appId, ["Ale", "wine"])
      await setGoal(tx, appId, "rank")
    })
    expect(await readApp()).toMatchObject({
      keywords: ["tea", "mate"],
      keywordTags: { tea: ["core", "hot"] },
      buriedKeywords: ["ale", "wine"],
      goal: "rank",
    })
    await sql.begin(async (tx) => {
      await tagTerms(tx, appId, ["tea"], [])
      await setGoal(tx, appId, null)
    })
    expect(await readApp()).toMatchObject({ keywordTags: null, goal: null })
    const problems = await Promise.all([
      sql.begin((tx) => tagTerms(tx, appId, ["never"], ["core"])).catch((error) => error.message),
      sql.begin((tx) => setGoal(tx, appId, "fame")).catch((error) => error.message),
      sql.begin((tx) => addTerms(tx, "app_none", "all", ["tea"])).catch((error) => error.message),
    ])
    expect(problems).toEqual([
      "only tracked keywords can be tagged",
      "the goal must be one of downloads, rank, revenue",
      "there is no such app",
    ])
  })

  test("removing an app removes its terms and keeps their readings", async () => {
    const appId = await track()
    await record(sql, [reading("tea", "2025-11-01T10:00:00Z", [10001])], () => NOW)
    await sql.begin((tx) => removeApp(tx, appId))
    expect(await listTracked(sql, workspaceId)).toHaveLength(0)
    expect(await sql`select 1 from search_results`).toHaveLength(1)
    expect(await series(await track())).toEqual([["tea", [["2025-11-01", 1]]]])
    expect((await sql.begin((tx) => removeApp(tx, appId)).catch((error) => error)).message).toBe("there is no such app")
  })
})

test("a keyword counts once for each storefront of each app, and the first exceeded limit is named", async () => {
  await track({ countries: ["us", "de"], keywords: ["tea", "mate"] })
  await track({ iosId: "10002", keywords: [] })
  const usage = await countUsage(sql, workspaceId)
  expect(usage).toEqual({ apps: 2, trackedKeywords: 4 })
  const limits = { apps: 2, trackedKeywords: 5 }
  expect(overLimit(limits, usage, { trackedKeywords: 1 })).toBeNull()
  expect(overLimit(limits, usage, { trackedKeywords: 2 })).toEqual({ limit: "trackedKeywords", allowed: 5, total: 6 })
  expect(overLimit(limits, usage, { apps: 1, trackedKeywords: 2 })).toEqual({ limit: "apps", allowed: 2, total: 3 })
  // over the limit after a downgrade: a call that adds nothing is not refused
  expect(overLimit({ apps: 1, trackedKeywords: 1 }, usage, {})).toBeNull()
})
