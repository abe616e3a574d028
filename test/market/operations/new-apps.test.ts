import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { ChartObservation } from "../../../src/charts/kinds/chart-shape.ts"
import type { Sql } from "../../../src/database/types.ts"
import { addDays } from "../../../src/lib/days.ts"
import { freshDatabase } from "../../database.ts"
import { long, slow } from "../../long.ts"
import { linesOf, rowsOf, SOME } from "../../measuring/record/chart-rows.ts"
import { charted } from "../../measuring/record/charted.ts"
import { importLines, record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"

setDefaultTimeout(60_000)

const TODAY = "2025-11-20"
let sql: Sql
let service: Service
let key: string
let usedCredits: number

beforeAll(async () => {
  sql = await freshDatabase()
})

beforeEach(async () => {
  for (const table of [
    "chart_now",
    "market_app",
    "app_first_seen",
    "chart_first_seen",
    "chart_place",
    "chart_results",
    "chart",
    "app_storefront",
  ])
    await sql`delete from ${sql(table)}`
  service = openService({ sql, now: () => new Date(`${TODAY}T12:00:00Z`) })
  usedCredits = 0
  key = await service.key(await service.workspace({ explorer: true, plan: "pro" }))
})

const ask = async (query = "", by = service) => {
  const before = usedCredits
  const answer = await by.call(`/v1/hive/new${query}`, { key })
  usedCredits = Number(answer.credits.used ?? before)
  return { ...answer, cost: usedCredits - before }
}
const recordChart = (day: string, ids: readonly (string | number)[], rest: Partial<ChartObservation> = {}) =>
  record(
    sql,
    [charted(`${day}T09:00:00Z`, ids, { source: "apple-charts", ...rest })],
    () => new Date(`${TODAY}T12:00:00Z`),
  )
// biome-ignore lint/suspicious/noExplicitAny: an answer
const rows = (body: any) => body.apps.map((app: any) => `${app.firstSeen} ${app.country} ${app.id} ${app.rank}`)

describe("new apps", () => {
  test("no app is new before the second day of readings, at the price of an empty answer", async () => {
    const none = await ask()
    expect([none.status, none.cost]).toEqual([200, 1])
    expect(none.body).toMatchObject({ country: null, days: 7, daysCovered: 0, searched: [], apps: [] })
    await recordChart(TODAY, [10001, 10002])
    const first = await ask("?country=us")
    expect(first.body).toMatchObject({ from: "2025-11-14", to: TODAY, daysCovered: 0, searched: ["us"], apps: [] })
    expect((await ask("?country=de")).body).toMatchObject({ daysCovered: 0, searched: [], apps: [] })
    expect(first.cost).toBe(1)
  })

  test("apps that first appear on a later day are new, newest first, with the chart and rank of that day", async () => {
    await recordChart("2025-11-17", [10001])
    await recordChart("2025-11-18", [10003, 10001])
    await recordChart(TODAY, [10001, 10003, 99999, 100010])
    const { body, cost } = await ask("?country=us")
    expect(rows(body)).toEqual([`${TODAY} us 100010 4`, `${TODAY} us 99999 3`, "2025-11-18 us 10003 1"])
    expect(body.apps[0]).toMatchObject({ device: "iphone", kind: "free", genre: "6015", releasedAt: null })
    const reading = { measuredAt: "2025-11-18T09:00:00.000Z", source: "apple-charts", origin: "own" }
    expect(body.apps[2]).toMatchObject(reading)
    expect([body.daysCovered, cost]).toEqual([2, 10])
    expect(rows((await ask("?country=us&limit=2")).body)).toHaveLength(2)
    expect(rows((await ask("?country=us&days=1")).body)).toHaveLength(2)
    expect((await ask("?country=us&days=2")).body.daysCovered).toBe(1)
  })

  test("apps on the first day of a newly followed chart are not new", async () => {
    await recordChart("2025-11-17", [10001])
    await recordChart("2025-11-18", [10001, 10002, 10003])
    await recordChart("2025-11-18", [10003, 10004], { chart: "paid" })
    await recordChart(TODAY, [10004, 10005], { chart: "paid" })
    await recordChart(TODAY, [10005, 10006], { chart: "grossing" })
    expect(rows((await ask("?country=us")).body)).toEqual(["2025-11-18 us 10002 2"])
  })

  slow("an import of earlier days of a chart changes which of its apps are new", async () => {
    await recordChart("2025-11-17", [10001])
    await recordChart(TODAY, [10001, 10002, 10003])
    await recordChart("2025-11-18", [10002], { chart: "paid" })
    await recordChart(TODAY, [10003], { chart: "paid" })
    expect(rows((await ask("?country=us")).body)).toEqual([`${TODAY} us 10003 3`])
    await recordChart("2025-11-10", [10003])
    // 10 November is now the chart's first day, so apps that appeared later are new
    expect(rows((await ask("?country=us")).body)).toEqual(["2025-11-17 us 10001 1"])
  })

  slow("a call for all storefronts has a new app once, in the storefront where it was first seen", async () => {
    for (const storefront of ["us", "de", "fr"]) await recordChart("2025-11-15", [10001], { storefront })
    await recordChart("2025-11-17", [10001, 10002], { storefront: "fr" })
    await recordChart("2025-11-18", [10001, 10002, 10003])
    await recordChart("2025-11-18", [10003], { storefront: "de" })
    await recordChart("2025-11-18", [10004], { storefront: "jp" })
    await recordChart(TODAY, [10004])
    await recordChart(TODAY, [10005], { storefront: "gb" })
    await recordChart(TODAY, [10005, 10004], { storefront: "de" })
    const all = await ask()
    expect(rows(all.body)).toEqual(["2025-11-18 de 10003 1", "2025-11-17 fr 10002 2"])
    expect(all.body.searched).toEqual(["de", "fr", "gb", "jp", "us"])
    expect(rows((await ask("?country=us")).body)).toEqual([
      `${TODAY} us 10004 1`,
      "2025-11-18 us 10003 3",
      "2025-11-18 us 10002 2",
    ])
    expect((await ask("?days=30")).body.daysCovered).toBe(3)
  })

  test("a new app's release date is from the iTunes lookup in its storefront, else in another storefront", async () => {
    await recordChart("2025-11-17", [10001])
    await recordChart(TODAY, [10001, 10002, 10003])
    for (const [id, storefront, at] of [
      ["10002", "de", "2014-01-02"],
      ["10002", "us", "2015-01-02"],
      ["10003", "de", "2016-01-02"],
    ] as const)
      await sql`
        insert into app_storefront (app_id, storefront, source, seen_at, available, released_at, parser, origin, sha256)
        select id, ${storefront}, 'itunes-lookup', now(), true, ${at}::date, 1, 'own', '' from store_app
        where store_id = ${id}`
    const { body } = await ask("?country=us")
    expect(body.apps.map(({ releasedAt }: { releasedAt: string }) => releasedAt)).toEqual([
      "2016-01-02T00:00:00.000Z",
      "2015-01-02T00:00:00.000Z",
    ])
  })

  test("days and limit beyond their bounds are refused and cost nothing", async () => {
    for (const [query, code] of [
      ["days=0", "bad_days"],
      ["days=31", "bad_days"],
      ["limit=201", "invalid_arguments"],
    ]) {
      const { body, cost } = await ask(`?${query}`)
      expect([body.error, cost]).toEqual([code, 0])
    }
  })
})

long("on each day of a real chart, the new apps are exactly the apps that no earlier reading has", async () => {
  const readings = rowsOf(SOME)
  const text = async function* () {
    yield* linesOf(readings)
  }
  const { bad } = await importLines(sql, text(), { now: () => new Date("2026-01-01") })
  expect(bad).toEqual([])
  // computed independently: every app's first day, and its rank in the latest reading of that day
  const first = new Map<string, { day: string; at: string; rank: number }>()
  for (const { at, id, rank } of readings.toSorted((a, b) => (a.at < b.at ? -1 : 1))) {
    const previous = first.get(id)
    if (!previous || previous.day === at.slice(0, 10)) first.set(id, { day: at.slice(0, 10), at, rank })
  }
  const days = [...new Set(readings.map(({ at }) => at.slice(0, 10)))].sort()
  expect(days.length).toBeGreaterThan(10)
  let rowCount = 0
  for (const today of days) {
    const pastService = openService({ sql, now: () => new Date(`${today}T23:59:00Z`) })
    for (const dayCount of [1, 7, 30]) {
      const from = addDays(today, 1 - dayCount)
      const within = (day: string) => day >= from && day <= today && day > days[0]!
      const expected = [...first]
        .filter(([, { day }]) => within(day))
        .sort(([a, entry], [b, other]) =>
          entry.day === other.day ? Number(b) - Number(a) : entry.day < other.day ? 1 : -1,
        )
        .map(([id, { day, rank }]) => `${day} jp ${id} ${rank}`)
      const { body, cost } = await ask(`?country=jp&days=${dayCount}&limit=200`, pastService)
      expect(rows(body)).toEqual(expected.slice(0, 200))
      expect(body.daysCovered).toBe(days.filter(within).length)
      expect(cost).toBe(expected.length > 0 ? 10 : 1)
      if (today === days[0]) expect(rows(body)).toEqual([])
      rowCount += expected.length
    }
  }
  expect(rowCount).toBeGreaterThan(50)
})
