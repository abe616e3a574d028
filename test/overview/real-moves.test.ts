import { beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { addDays } from "../../src/lib/days.ts"
import { getTimeline } from "../../src/overview/operations/timeline.ts"
import { getToday } from "../../src/overview/operations/today.ts"
import { contextOn, IOS_ID, recordAll, trackTea } from "../core/paged.ts"
import { freshDatabase } from "../database.ts"
import { daysOf, movedBetween, rowsOf, SOME } from "../measuring/record/chart-rows.ts"
import { listed } from "../measuring/record/listed.ts"
import { ask, newWorkspace, reading } from "../measuring/record/measured.ts"

setDefaultTimeout(60_000)

/** Real days of a chart in Japan, and the days of those apps on it that entered, left or moved most. */
const days = daysOf(rowsOf(SOME))
const followed = mostMoved(24)
const DIRECTIONS = ["up", "down", "entered", "dropped"] as const

let sql: Sql
let workspaceId: number
let appId: string

/** each app has a keyword whose results are the daily chart, with the tracked app in the place of that app */
beforeAll(async () => {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
  appId = await trackTea(sql, workspaceId, { countries: ["jp"], keywords: followed })
  const place = { storefront: "jp", depth: 100 }
  for (const [day, ranks] of days) {
    const ranked = [...ranks].sort(([, a], [, b]) => a - b).map(([id]) => id)
    const readings = followed.map((followedId) => {
      const ids = ranked.map((id) => (id === followedId ? IOS_ID : id))
      return reading(followedId, `${day}T06:00:00Z`, ids, place)
    })
    await recordAll(sql, ...readings, listed(`${day}T05:00:00Z`, { version: day }, { storefront: "jp" }))
  }
})

const now = (day: string) => ({ now: new Date(`${day}T12:00:00Z`) })

test("get_today counts the movements of each real day as a direct comparison with the previous day does", async () => {
  const dates = [...days.keys()]
  let moved = 0
  for (const [at, day] of dates.entries()) {
    const ctx = contextOn(sql, workspaceId, now(day))
    const caller = { ...ctx.caller, scopes: ["apps:read" as const] }
    const { figures } = await ask(getToday, { ...ctx, caller }, { appId })
    const value = (key: string) =>
      figures.find((row: { key: string; country: string }) => row.key === key && row.country === "jp").value
    const later = days.get(day)!
    expect([day, value("keywordsMeasured"), value("keywordsRanked"), value("bestRank")]).toEqual([
      ...[day, followed.length, followed.filter((id) => later.has(id)).length],
      Math.min(...followed.map((id) => later.get(id) ?? 101)),
    ])
    const counts = ["Up", "Down", "Entered", "Dropped"].map((direction) => value(`keywords${direction}`))
    const before = dates[at - 1]
    const expected = before ? counted(days.get(before)!, later) : null
    expect([day, counts]).toEqual([day, expected ?? [null, null, null, null]])
    moved += expected?.reduce((sum, count) => sum + count, 0) ?? 0
  }
  expect(moved).toBeGreaterThan(dates.length)
})

test.each([1, 3, 30])(
  "get_timeline counts the movements within %d days after each change as a comparison of the ranks does",
  async (window) => {
    const dates = [...days.keys()]
    const last = dates.at(-1) as string
    const args = { appId, country: "jp", window }
    const { changes } = await ask(getTimeline, contextOn(sql, workspaceId, now(last)), args)
    expect(changes.map(({ day }: { day: string }) => day)).toEqual(dates.slice(1).toReversed())
    for (const change of changes) {
      const before = days.get(dates[dates.indexOf(change.day) - 1] as string)!
      const day = dates.findLast((date) => date > change.day && date <= addDays(change.day, window))
      const counts = DIRECTIONS.map((direction) => change[direction])
      if (!day) {
        expect([counts, change.unmeasured, change.biggest]).toEqual([[0, 0, 0, 0], followed.length, []])
        continue
      }
      expect([change.day, counts]).toEqual([change.day, counted(before, days.get(day)!)])
      const most = followed.map((id) => Math.abs((before.get(id) ?? 101) - (days.get(day)!.get(id) ?? 101)))
      const five = most
        .filter((places) => places > 0)
        .sort((a, b) => b - a)
        .slice(0, 5)
      expect(change.biggest.map(({ places }: { places: number }) => places)).toEqual(five)
    }
  },
)

/** Counts the apps that rose, fell, entered and left, by the words of movedBetween. */
function counted(earlier: Map<string, number>, later: Map<string, number>): number[] {
  const words = movedBetween(earlier, later).filter((line) => followed.includes(line.split(" ")[0] as string))
  return ["climbed", "fell", "entered", "left"].map((word) => words.filter((line) => line.includes(` ${word} `)).length)
}

function mostMoved(count: number): string[] {
  const tables = [...days.values()]
  const ids = [...new Set(tables.flatMap((ranks) => [...ranks.keys()]))]
  const distance = (id: string) =>
    tables.slice(1).reduce((sum, ranks, at) => sum + Math.abs((tables[at]!.get(id) ?? 101) - (ranks.get(id) ?? 101)), 0)
  return ids.sort((a, b) => distance(b) - distance(a) || (a < b ? -1 : 1)).slice(0, count)
}
