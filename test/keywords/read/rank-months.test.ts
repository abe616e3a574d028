import { beforeAll, expect, test } from "bun:test"
import type { TrackedApp } from "../../../src/core/tracked-app.ts"
import type { Sql } from "../../../src/database/types.ts"
import { readAppRankMonths } from "../../../src/keywords/read/app-months.ts"
import { sideOf } from "../../../src/keywords/read/day-answers.ts"
import { readRankMonths, readSidesRankMonths } from "../../../src/keywords/read/rank-months.ts"
import { readRankSeries } from "../../../src/keywords/read/series.ts"
import { pointsOf, type StoredMonth } from "../../../src/lib/month-bytes.ts"
import { sourceOf } from "../../../src/lib/rank-sources.ts"
import { findApp } from "../../../src/tracking/tracked-app.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { contextOf, NOW, newWorkspace, reading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"

const SIDE = { platform: "ios" as const, storefront: "us" }
const MONTHS = ["2025-08-01", "2025-09-01", "2025-10-01", "2025-11-01"]
const SPAN = { from: "2025-08-01", to: "2025-11-30" }

let sql: Sql
let app: TrackedApp

beforeAll(async () => {
  sql = await freshDatabase()
  const workspaceId = await newWorkspace(sql)
  const tracked = { workspaceId, iosId: "10001", countries: ["us", "de"], keywords: ["tea", "mate"], origin: "own" }
  const appId = await trackOwn(sql, tracked)
  app = await findApp(sql, contextOf(sql, workspaceId).caller, appId)
  const days = ["2025-08-31", "2025-09-01", "2025-10-15", "2025-11-19"]
  const readings = days.map((day, n) => reading("tea", `${day}T10:00:00Z`, n === 2 ? [10_002] : [10_002, 10_001]))
  await record(sql, [...readings, reading("mate", "2025-09-30T10:00:00Z", [10_001])], () => NOW)
})

/** Returns the points of the months, in the form of a series. */
async function readMonths() {
  const terms = await readRankMonths(sql, app, SIDE, MONTHS)
  return terms.map(({ term, months }) => ({
    term,
    points: [...months]
      .flatMap(([month, bytes]) => pointsOf({ month, ...bytes }, SPAN.from, SPAN.to))
      .map((point) => ({ ...point, source: sourceOf(point.source) })),
  }))
}

slow("the rank months of all tracked terms equal the series of the terms, for few and for many terms", async () => {
  const few = await readMonths()
  expect(few.map(({ term, points }) => [term, points.length])).toEqual([
    ["tea", 4],
    ["mate", 1],
  ])
  const series = async () =>
    (await readRankSeries(sql, app, { ...SIDE, ...SPAN })).map(({ term, points }) => ({ term, points }))
  expect(few).toEqual(await series())
  // enough terms to read the months in several statements
  await sql`
    insert into tracked_term (app_id, country, term, position)
    select ${app.id}, 'us', 'more ' || n, n + 2
    from generate_series(1, 2600) n`
  const many = await readMonths()
  expect(many).toHaveLength(2_602)
  expect(many).toEqual(await series())
  expect(many.slice(0, 2)).toEqual(few)
})

slow("rank months of several storefronts and platforms read together equal those read separately", async () => {
  const sides = [SIDE, { ...SIDE, storefront: "de" }, { ...SIDE, storefront: "fr" }, SIDE]
  const batched = await readSidesRankMonths(
    sql,
    sides.map((side) => sideOf(app, side)),
    MONTHS,
  )
  const separate = await Promise.all(sides.map((side) => readRankMonths(sql, app, side, MONTHS)))
  expect(batched.map((terms) => terms.length)).toEqual([2_602, 2, 0, 2_602])
  const named = batched.map((terms) =>
    terms.map(({ term, months }) => ({ term, months: new Map(months.map(bytesOf)) })),
  )
  expect(named).toEqual(separate as typeof named)
  expect(batched[0]!.flatMap(({ months }) => months.map(({ month }) => month))).toEqual([...MONTHS, "2025-09-01"])
})

test("no rank months are returned if no month is requested or the storefront has no readings", async () => {
  expect(await readRankMonths(sql, app, SIDE, [])).toEqual([])
  const german = await readRankMonths(sql, app, { ...SIDE, storefront: "de" }, MONTHS)
  expect(german.map(({ term, months }) => [term, months.size])).toEqual([
    ["tea", 0],
    ["mate", 0],
  ])
})

test("on 1 March the last 30 days include the whole of February", async () => {
  const places = (day: string, ids: number[]) => reading("tea", `${day}T10:00:00Z`, ids)
  const readings = [places("2026-02-20", [10_001]), places("2026-03-01", [10_002, 10_001])]
  await record(sql, readings, () => new Date("2026-03-01T12:00:00Z"))
  const [month] = await readAppRankMonths(sql, [app], "2026-03-01")
  expect(month!.faller).toMatchObject({ term: "tea", from: 1, fromDay: "2026-02-20", to: 2, toDay: "2026-03-01" })
  expect(month!.line.filter((share) => share !== null)).toEqual([1, 1])
})

function bytesOf({ month, ranks, sources, depths, from }: StoredMonth) {
  const part = (bytes: Uint8Array, at: number) => bytes.subarray(at, at + 31)
  const of = {
    ranks: part(ranks, from!.ranks),
    sources: part(sources, from!.sources),
    depths: part(depths, from!.depths),
  }
  return [month, of] as const
}
