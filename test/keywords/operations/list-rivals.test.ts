import { beforeAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Sql } from "../../../src/database/types.ts"
import { DEMO_APPS, DEMO_FILE, loadDemo } from "../../../src/demo/demo.ts"
import { listRivals } from "../../../src/keywords/operations/list-rivals.ts"
import { recording } from "../../../src/recording.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { ask, contextOf, NOW, newWorkspace, reading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"

const text = readFileSync(join(import.meta.dirname, "../../../fixtures/demo", DEMO_FILE), "utf8")
let sql: Sql

beforeAll(async () => {
  sql = await freshDatabase()
})

interface Line {
  term: string
  results: { id: string; name: string; ratings: number }[]
}

describe("rivals in the demo's file", () => {
  const lines = text
    .trim()
    .split("\n")
    .map((line): Line => JSON.parse(line))

  slow("the rivals are the apps that the demo file lists above each app", async () => {
    const workspaceId = await newWorkspace(sql)
    const { apps } = await loadDemo(recording, sql, workspaceId, text)
    for (const [at, { id }] of apps.entries()) {
      const { rivals } = await ask(listRivals, contextOf(sql, workspaceId), { appId: id })
      const { iosId, keywords } = DEMO_APPS[at] as (typeof DEMO_APPS)[number]
      expect(rivals.length).toBeGreaterThan(10)
      const undated = rivals.map(({ ratingsDay, ratingsSource, ...rival }: Record<string, unknown>) => {
        expect([ratingsDay, ratingsSource]).toEqual(["2025-10-25", "foreign"])
        return rival
      })
      expect(undated).toEqual(fromFile(iosId, keywords))
    }
  })

  function fromFile(ownId: string, keywords: readonly string[]) {
    const rivals = new Map<string, { id: string; name: string; ratings: number; terms: RivalRow[]; manual: boolean }>()
    for (const term of keywords) {
      const results = lines.find((line) => line.term === term)?.results ?? []
      const ownPlace = results.findIndex(({ id }) => id === ownId)
      for (const [place, { id, name, ratings }] of results.entries()) {
        if (id === ownId || (ownPlace >= 0 && place > ownPlace)) continue
        const rival = rivals.get(id) ?? { id, name, ratings, terms: [], manual: false }
        rival.terms.push({ term, theirRank: place + 1, ourRank: ownPlace < 0 ? null : ownPlace + 1 })
        rivals.set(id, rival)
      }
    }
    const best = ({ terms }: { terms: RivalRow[] }) => Math.min(...terms.map(({ theirRank }) => theirRank))
    return [...rivals.values()]
      .sort((a, b) => b.terms.length - a.terms.length || best(a) - best(b) || (a.id < b.id ? -1 : 1))
      .slice(0, 50)
  }
})

interface RivalRow {
  term: string
  theirRank: number
  ourRank: number | null
}

describe("rivals added by hand", () => {
  const ratings = (storefront: string, at: string, count: number, id = "30002") =>
    reading("elsewhere", at, [], { storefront, depth: 1, results: [{ id, ratings: count }] })

  test("rivals added by hand are listed at any rank and without readings, and only for their own store", async () => {
    const workspaceId = await newWorkspace(sql)
    const manualRivals = ["ios:30002", "ios:39999", "android:com.example.rival"]
    const tracked = {
      workspaceId,
      iosId: "30001",
      countries: ["us"],
      keywords: ["rt", "rm"],
      origin: "own",
      manualRivals,
    }
    const appId = await trackOwn(sql, tracked)
    await record(
      sql,
      [
        reading("rt", "2025-11-19T10:00:00Z", [30003, 30001, 30002]),
        reading("rm", "2025-11-19T10:00:00Z", [30002, 30003, 30001, 30004]),
        ratings("us", "2025-11-01T10:00:00Z", 5),
        ratings("us", "2025-11-02T10:00:00Z", 6),
        ratings("gb", "2025-11-03T10:00:00Z", 7),
      ],
      () => NOW,
    )
    const { rivals, ...moment } = await ask(listRivals, contextOf(sql, workspaceId), { appId })
    const read = { day: "2025-11-19", measuredAt: "2025-11-19T10:00:00.000Z", sources: ["import"] }
    expect(moment).toEqual({ country: "us", platform: "ios", ...read, omitted: 0 })
    const rt = (theirRank: number) => ({ term: "rt", theirRank, ourRank: 2 })
    const rm = (theirRank: number) => ({ term: "rm", theirRank, ourRank: 3 })
    const none = { ratings: null, ratingsDay: null, ratingsSource: null }
    const rated = { ratings: 6, ratingsDay: "2025-11-02", ratingsSource: "import" }
    expect(rivals).toEqual([
      { id: "30002", name: "30002", ...rated, terms: [rt(3), rm(1)], manual: true },
      { id: "30003", name: "30003", ...none, terms: [rt(1), rm(2)], manual: false },
      { id: "39999", name: "39999", ...none, terms: [], manual: true },
    ])
    const untracked = await ask(listRivals, contextOf(sql, workspaceId), { appId, country: "de" })
    expect(untracked).toMatchObject({ day: null, measuredAt: null, sources: [] })
    expect(untracked.rivals.map(({ id, terms }: { id: string; terms: [] }) => [id, terms])).toEqual([
      ["30002", []],
      ["39999", []],
    ])
    const android = await ask(listRivals, contextOf(sql, workspaceId), { appId, platform: "android" })
    expect(android.rivals.map(({ id }: { id: string }) => id)).toEqual(["com.example.rival"])
  })

  test("at most 50 rivals are listed, including those added by hand, and the others are counted", async () => {
    const workspaceId = await newWorkspace(sql)
    const tracked = { workspaceId, iosId: "50001", countries: ["us"], keywords: ["many"], origin: "own" }
    const appId = await trackOwn(sql, { ...tracked, manualRivals: ["ios:49999"] })
    const ids = Array.from({ length: 200 }, (_, i) => 40_000 + i)
    await record(sql, [reading("many", "2025-11-19T10:00:00Z", [...ids, 49999, 50001])], () => NOW)
    const { rivals, omitted } = await ask(listRivals, contextOf(sql, workspaceId), { appId })
    const listed = rivals.map(({ id }: { id: string }) => id)
    expect(listed).toEqual([...ids.slice(0, 49).map(String), "49999"])
    expect(omitted).toBe(151)
  })
})
