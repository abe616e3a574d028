import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readChartMovers } from "../../../src/charts/read/chart-movers.ts"
import { readChart, readChartPositions, readChartSeries } from "../../../src/charts/read/charts.ts"
import type { Sql } from "../../../src/database/types.ts"
import { freshDatabase } from "../../database.ts"
import { charted, FINANCE } from "../../measuring/record/charted.ts"
import { NOW } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"

setDefaultTimeout(60_000)

let sql: Sql
const now = () => NOW
const PAID = { ...FINANCE, chart: "paid" as const }
const IPAD = { ...FINANCE, device: "ipad" as const }

beforeEach(async () => {
  sql = await freshDatabase()
})

const idOf = async (storeId: number) =>
  (await sql<{ id: number }[]>`select id from store_app where store_id = ${String(storeId)}`)[0]!.id

async function storeIds(ids: readonly number[]): Promise<number[]> {
  const rows = await sql<{ id: number; storeId: string }[]>`select id, store_id as "storeId" from store_app`
  return ids.map((id) => Number(rows.find((row) => row.id === id)!.storeId))
}

describe("a chart on a day", () => {
  test("a chart is returned for its last measured day on or before the requested day", async () => {
    await record(
      sql,
      [charted("2025-11-10T09:00:00Z", [10001, 10002]), charted("2025-11-18T09:00:00Z", [10002], { depth: 5 })],
      now,
    )
    const latest = await readChart(sql, FINANCE)
    expect(latest).toMatchObject({ day: "2025-11-18", depth: 5, source: "import", firstDay: "2025-11-10" })
    expect(await storeIds(latest!.appIds)).toEqual([10002])
    expect(await storeIds((await readChart(sql, FINANCE, "2025-11-10"))!.appIds)).toEqual([10001, 10002])
    for (const between of ["2025-11-11", "2025-11-17"])
      expect((await readChart(sql, FINANCE, between))?.day).toBe("2025-11-10")
    expect(await readChart(sql, FINANCE, "2025-11-09")).toBeNull()
    expect(await readChart(sql, PAID)).toBeNull()
  })
})

describe("the current ranks of an app", () => {
  test("an app on a chart is ranked, absent within the depth of the reading, or not measured", async () => {
    await record(
      sql,
      [
        charted("2025-11-10T09:00:00Z", [10001, 10002]),
        charted("2025-11-18T09:00:00Z", [10002, 10001], PAID),
        charted("2025-11-18T10:00:00Z", [10001], PAID),
        charted("2025-11-19T09:00:00Z", [10002], { ...FINANCE, depth: 30 }),
        charted("2025-11-19T09:00:00Z", [10001], { ...IPAD, complete: false }),
      ],
      now,
    )
    const positions = await readChartPositions(sql, await idOf(10001), [IPAD, PAID, FINANCE, { ...PAID, genre: "36" }])
    const unmeasured = {
      measured: false,
      rank: null,
      day: null,
      firstDay: null,
      depth: null,
      source: null,
      seenAt: null,
    }
    expect(positions).toEqual([
      { ...IPAD, ...unmeasured },
      {
        ...PAID,
        measured: true,
        rank: 2,
        day: "2025-11-18",
        firstDay: "2025-11-18",
        depth: 2,
        source: "import",
        seenAt: new Date("2025-11-18T09:00:00Z"),
      },
      {
        ...FINANCE,
        measured: true,
        rank: null,
        day: "2025-11-19",
        firstDay: "2025-11-10",
        depth: 30,
        source: "import",
        seenAt: new Date("2025-11-19T09:00:00Z"),
      },
      { ...PAID, genre: "36", ...unmeasured },
    ])
  })

  test("an app's rank is stored for each chart of each storefront", async () => {
    const at = "2025-11-18T09:00:00Z"
    const all = [
      charted(at, [10002, 10001]),
      charted(at, [10001], { storefront: "de", device: "ipad", chart: "grossing", genre: "36" }),
      charted(at, [10002], { storefront: "jp" }),
    ]
    await record(sql, all, now)
    const app = await idOf(10001)
    const places = await sql`
      select c.platform, c.storefront, c.device, c.chart, c.genre, p.rank, p.day
      from chart_place p
      join chart c on c.id = p.chart_id
      where p.app_id = ${app}
      order by p.rank`
    expect([...places]).toEqual([
      { ...FINANCE, storefront: "de", device: "ipad", chart: "grossing", genre: "36", rank: 1, day: "2025-11-18" },
      { ...FINANCE, rank: 2, day: "2025-11-18" },
    ])
  })
})

test("an app's history has a point for each measured day, and a null rank on days of absence", async () => {
  await record(
    sql,
    [
      charted("2025-09-30T09:00:00Z", [10001]),
      charted("2025-10-01T09:00:00Z", [10002, 10001]),
      charted("2025-10-01T12:00:00Z", [10001, 10002]),
      charted("2025-10-02T12:00:00Z", [10001], { complete: false, depth: 2 }),
      charted("2025-11-02T09:00:00Z", [10002, 10003], { source: "apple-charts" }),
      charted("2025-11-03T09:00:00Z", [10001]),
    ],
    now,
  )
  const window = { from: "2025-10-01", to: "2025-11-02" }
  expect(await readChartSeries(sql, await idOf(10001), [PAID, FINANCE], window)).toEqual([
    { ...PAID, firstDay: null, points: [] },
    {
      ...FINANCE,
      firstDay: "2025-09-30",
      points: [
        { day: "2025-10-01", rank: 1, depth: 2, source: "import" },
        { day: "2025-11-02", rank: null, depth: 2, source: "apple-charts" },
      ],
    },
  ])
})

describe("movers of a chart", () => {
  const readMoved = async (options: object = {}) => {
    const found = await readChartMovers(sql, FINANCE, options)
    const { climbed, fell, entered, left } = found!.movers!
    const withStoreIds = async <Row extends { app: number }>(rows: readonly Row[]) => {
      const ids = await storeIds(rows.map(({ app }) => app))
      return rows.map(({ app: _, ...row }, place) => [ids[place], ...Object.values(row)])
    }
    return {
      days: [found!.against!.day, found!.day.day],
      moved: [
        await withStoreIds(climbed),
        await withStoreIds(fell),
        await withStoreIds(entered),
        await withStoreIds(left),
      ],
    }
  }

  test("movers compare a day with the last measured day at least the given number of days earlier", async () => {
    await record(
      sql,
      [
        charted("2025-10-20T09:00:00Z", [10001, 10002, 10003, 10004]),
        charted("2025-11-17T09:00:00Z", [10001, 10003, 10002]),
        charted("2025-11-19T09:00:00Z", [10003, 10005, 10001, 10002]),
      ],
      now,
    )
    expect(await readMoved()).toEqual({
      days: ["2025-11-17", "2025-11-19"],
      moved: [
        [[10003, 1, 2]],
        [
          [10001, 3, 1],
          [10002, 4, 3],
        ],
        [[10005, 2]],
        [],
      ],
    })
    expect(await readMoved({ days: 7 })).toMatchObject({ days: ["2025-10-20", "2025-11-19"] })
    expect(await readMoved({ day: "2025-11-18", days: 28 })).toMatchObject({ days: ["2025-10-20", "2025-11-17"] })
    // 10004 was on place 4, and 3 places were read
    expect((await readMoved({ day: "2025-11-17", days: 1 })).moved[3]).toEqual([])
    expect((await readMoved({ days: 3, limit: 1, places: 2 })).moved).toEqual([
      [[10003, 1, 3]],
      [[10001, 3, 1]],
      [[10005, 2]],
      [[10004, 4]],
    ])
  })

  test("movers are null on the first day of a chart, and the result for an unmeasured chart is null", async () => {
    await record(sql, [charted("2025-11-19T09:00:00Z", [10001])], now)
    const app = await idOf(10001)
    expect(await readChartMovers(sql, FINANCE, { apps: [app] })).toMatchObject({
      day: { day: "2025-11-19", firstDay: "2025-11-19" },
      against: null,
      movers: null,
      stood: [{ app, rank: 1, was: null }],
    })
    expect(await readChartMovers(sql, PAID)).toBeNull()
    expect(await readChartMovers(sql, FINANCE, { day: "2025-11-18" })).toBeNull()
  })

  test("movers compare days of the same source only", async () => {
    await record(
      sql,
      [
        charted("2025-11-17T09:00:00Z", [10001, 10002]),
        charted("2025-11-18T09:00:00Z", [10002, 10001], { source: "apple-charts" }),
        charted("2025-11-18T12:00:00Z", [10002, 10001]),
        charted("2025-11-19T09:00:00Z", [10001, 10002], { source: "apple-charts" }),
      ],
      now,
    )
    const app = await idOf(10001)
    const changed = await readChartMovers(sql, FINANCE, { day: "2025-11-18", apps: [app] })
    expect(changed).toMatchObject({ movers: null, against: { source: "import" }, stood: [{ rank: 2, was: null }] })
    const same = await readChartMovers(sql, FINANCE, { apps: [app] })
    expect(same!.movers!.climbed).toEqual([{ app, rank: 1, was: 2 }])
    expect(same!.stood).toEqual([{ app, rank: 1, was: 2 }])
  })

  test("movers include the ranks of the requested apps", async () => {
    await record(
      sql,
      [charted("2025-11-18T09:00:00Z", [10001, 10002]), charted("2025-11-19T09:00:00Z", [10003, 10001])],
      now,
    )
    const apps = [await idOf(10002), await idOf(10003), await idOf(10001)]
    const ranks = (await readChartMovers(sql, FINANCE, { apps }))!.stood.map(({ was, rank }) => [was, rank])
    expect(ranks).toEqual([
      [2, null],
      [null, 1],
      [1, 2],
    ])
  })
})
