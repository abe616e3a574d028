import { beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { addDays, dayOf } from "../../../src/lib/days.ts"
import { makeDue } from "../../../src/market/estimates/estimates.ts"
import { gradeNext } from "../../../src/market/estimates/grade-month.ts"
import { readGradedMonth } from "../../../src/market/read/grades.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { importLines } from "../../record.ts"

setDefaultTimeout(60_000)

const NOW = new Date()
const TODAY = dayOf(NOW)
let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
})

const counted = (daysAgo: number, installs: number, ratings = 100, id = "com.example.tide") => ({
  kind: "apps",
  source: "play-details",
  platform: "android",
  storefront: "us",
  asked: [id],
  seenAt: `${addDays(TODAY, -daysAgo)}T00:00:00Z`,
  apps: [{ id, name: "Tide", ratings, rating: 4, market: { installs } }],
})

async function importThenMake(...lines: object[]) {
  await importLines(sql, each(lines), { now: () => NOW, pause: async () => {} })
  while ((await makeDue(sql, NOW)) > 0);
  const [row] = await sql`select downloads, days from app_estimate order by made_at desc limit 1`
  return row && { downloads: Number(row.downloads), days: row.days }
}

async function* each(lines: object[]): AsyncGenerator<string> {
  for (const line of lines) yield JSON.stringify(line)
}

test("an import makes a new estimate with all imported counts, even if the last estimate is recent", async () => {
  expect(await importThenMake(counted(20, 1_000), counted(10, 1_300))).toEqual({ downloads: 300, days: 10 })
  expect(await importThenMake(counted(0, 1_700))).toEqual({ downloads: 700, days: 20 })
})

test("an app with one count gets its estimate when an import adds a second count", async () => {
  await importThenMake(counted(20, 1_000))
  expect(await importThenMake(counted(0, 1_400))).toEqual({ downloads: 400, days: 20 })
})

slow("the last month is graded again after an import adds readings to it", async () => {
  const gradeAll = async () => {
    while ((await gradeNext(sql, NOW)) === "more");
  }
  await gradeAll()
  expect(await readGradedMonth(sql)).toBeNull()
  const month = `${addDays(`${addDays(TODAY, -3).slice(0, 7)}-01`, -1).slice(0, 7)}`
  const daysAgo = (day: string) => Math.round((Date.parse(TODAY) - Date.parse(day)) / 86_400_000)
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => `com.example.app${from + n}`).flatMap((id, n) => [
      counted(daysAgo(`${month}-02`), 50_000, 100, id),
      counted(daysAgo(`${month}-27`), 50_700 + 100 * n, 110, id),
    ])
  const pairs = async () => Number((await sql`select count(*) from estimate_grade where truth is not null`)[0]?.count)
  await importThenMake(...lines(0, 12))
  await gradeAll()
  expect(await pairs()).toBe(12)
  await importThenMake(...lines(12, 25))
  await gradeAll()
  expect(await pairs()).toBe(25)
})
