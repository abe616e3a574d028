import { expect } from "bun:test"
import type { TrackedApp } from "../../../src/core/tracked-app.ts"
import type { Sql } from "../../../src/database/types.ts"
import { readRankSeries } from "../../../src/keywords/read/series.ts"
import { addDays } from "../../../src/lib/days.ts"
import { findApp } from "../../../src/tracking/tracked-app.ts"
import { explainEach, type Work } from "../../core/explained.ts"
import { freshDatabase } from "../../database.ts"
import { beforeLong, long } from "../../long.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"
import { contextOf, NOW, newWorkspace, reading } from "./measured.ts"

const TERMS = ["tea", "tide", "time"]
/** A day in each of 13 months. */
const DAYS = Array.from({ length: 13 }, (_, i) => addDays("2025-11-03", -30 * i))

let sql: Sql
let app: TrackedApp

beforeLong(async () => {
  sql = await freshDatabase()
  const workspaceId = await newWorkspace(sql)
  const tracked = { workspaceId, iosId: "10001", countries: ["us"], keywords: TERMS, origin: "own" }
  const appId = await trackOwn(sql, tracked)
  app = await findApp(sql, contextOf(sql, workspaceId).caller, appId)
  const readings = DAYS.flatMap((day) => TERMS.map((term) => reading(term, `${day}T10:00:00Z`, [10_000, 10_001])))
  expect(await record(sql, readings, () => NOW)).toMatchObject({ recorded: readings.length })
  await sql`analyze`
})

long.each([
  ["within a month", "2025-11-01", "2025-11-07", ["2025_11"]],
  ["across the turn of a month", "2025-10-28", "2025-11-03", ["2025_10", "2025_11"]],
  ["across the turn of a year", "2024-12-29", "2025-01-04", ["2024_12", "2025_01"]],
])("7 days %s are read only from the partitions of their months", async (_, from, to, months) => {
  const works: Work[] = []
  const period = { platform: "ios" as const, storefront: "us", from, to }
  const series = await readRankSeries(explainEach(sql, works), app, period)
  expect(partitionsIn(works)).toEqual(months.flatMap((month) => [`list_month_${month}`, `rank_month_${month}`]).sort())
  const days = DAYS.filter((day) => from <= day && day <= to)
  expect(series.map(({ points }) => points.map(({ day, rank }) => [day, rank]))).toEqual(
    TERMS.map(() => days.map((day) => [day, 2])),
  )
})

function partitionsIn(works: readonly Work[]): string[] {
  const plans = JSON.stringify(works.map(({ plan }) => plan))
  return [...new Set(plans.match(/\b(list_month|rank_month|search_results)_\d{4}_\d{2}\b/g))].sort()
}
