import { beforeEach, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { getRankHistory } from "../../../src/keywords/operations/history.ts"
import { freshDatabase } from "../../database.ts"
import { ask, contextOf, NOW, newWorkspace, reading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"

let sql: Sql
let workspaceId: number

beforeEach(async () => {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
})

const track = (rest: object) => trackOwn(sql, { workspaceId, keywords: ["tea", "mate"], ...rest })
const history = async (appId: string, input: object = {}) =>
  ask(getRankHistory, contextOf(sql, workspaceId), { appId, ...input })

test("a series has a point for each measured day of the plan's window, with a null rank if absent", async () => {
  const appId = await track({ iosId: "10001" })
  await record(
    sql,
    [
      reading("tea", "2025-08-22T23:59:59Z", [10001]),
      reading("tea", "2025-08-23T00:00:00Z", [10002, 10001]),
      reading("tea", "2025-10-31T10:00:00Z", [10002], { source: "foreign" }),
      reading("tea", "2025-11-01T10:00:00Z", [10002, 10003, 10001]),
      reading("tea", "2025-11-20T10:00:00Z", [10001]),
    ],
    () => NOW,
  )
  expect(await history(appId)).toEqual({
    country: "us",
    platform: "ios",
    from: "2025-08-23",
    to: "2025-11-20",
    keywords: [
      {
        term: "tea",
        // the unmeasured days between two spans belong to neither
        sources: [
          { source: "import", from: "2025-08-23", to: "2025-08-23" },
          { source: "foreign", from: "2025-10-31", to: "2025-10-31" },
          { source: "import", from: "2025-11-01", to: "2025-11-20" },
        ],
        series: [
          ["2025-08-23", 2],
          ["2025-10-31", null],
          ["2025-11-01", 3],
          ["2025-11-20", 1],
        ],
      },
      { term: "mate", sources: [], series: [] },
    ],
  })
})

test("an app that is only on Android shows its Android ranks", async () => {
  const appId = await track({ androidPkg: "com.example.tea" })
  const play = { platform: "android" as const, source: "play-search" as const }
  await record(sql, [reading("tea", "2025-11-19T10:00:00Z", ["com.other", "com.example.tea"], play)], () => NOW)
  const { platform, keywords } = await history(appId)
  expect(platform).toBe("android")
  expect(keywords[0]).toEqual({
    term: "tea",
    sources: [{ source: "play-search", from: "2025-11-19", to: "2025-11-19" }],
    series: [["2025-11-19", 2]],
  })
})

test("a storefront that is not tracked has the app's terms without points", async () => {
  const appId = await track({ iosId: "10001" })
  await record(sql, [reading("tea", "2025-11-19T10:00:00Z", [10001], { storefront: "de" })], () => NOW)
  const { country, keywords } = await history(appId, { country: "de" })
  expect(country).toBe("de")
  expect(keywords).toEqual(["tea", "mate"].map((term) => ({ term, sources: [], series: [] })))
})
