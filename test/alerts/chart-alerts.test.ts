import { beforeEach, describe, expect, test } from "bun:test"
import type { ChartObservation } from "../../src/charts/kinds/chart-shape.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { charted } from "../measuring/record/charted.ts"
import { appsReading } from "../measuring/record/measured.ts"
import { deriveFor, lines, listOf, OWN, readAlerts, storeAll, trackNew } from "./derived-alerts.ts"

let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
  await trackNew(sql, ["tea"])
  await storeAll(sql, [appsReading("2025-11-01T10:00:00Z", [{ id: OWN, name: "Tea", genre: "6015" }])])
})

/** Returns the US chart of free iPhone apps in the app's genre, with the app at `rank`. */
function chart(day: number, rank: number | null, rest: Partial<ChartObservation> = {}) {
  return charted(`2025-11-${day}T05:00:00Z`, listOf(rank, rest.depth ?? 200), rest)
}

async function alertsOf(...readings: ChartObservation[]): Promise<string[]> {
  await storeAll(sql, readings)
  await deriveFor(sql)
  return lines(await readAlerts(sql))
}

const dropped = ["2025-11-20 chart_drop iphone free 6015"]
const entered = ["2025-11-20 chart_enter iphone free 6015"]

describe("a chart of the app's category", () => {
  slow("a large fall on a chart shows the rank before and after", async () => {
    expect(await alertsOf(chart(19, 40), chart(20, 75, { depth: 190 }))).toEqual(dropped)
    const [alert] = await readAlerts(sql)
    expect(alert).toMatchObject({ storefront: "us", at: new Date("2025-11-20T05:00:00Z") })
    expect(alert?.facts).toEqual({
      device: "iphone",
      chart: "free",
      genre: "6015",
      genreName: null,
      rank: 75,
      was: 40,
      depth: 190,
      wasDepth: 200,
      source: "import",
      against: "2025-11-19",
    })
  })

  test.each([
    [40, 49, []],
    [40, 50, dropped],
    [80, 99, []],
    [80, 100, dropped],
    [180, null, dropped],
    [181, null, []],
    [null, 100, entered],
    [null, 101, []],
    [101, 100, entered],
    [100, 60, []],
  ])("an app that moves from rank %p to %p on a chart gets the alerts %p", async (before, after, expected) => {
    // as shallow as possible, since each rank of a chart is one or two rows
    const depth = Math.max(before ?? 0, after ?? 0) > 101 ? 200 : 110
    expect(await alertsOf(chart(19, before, { depth }), chart(20, after, { depth }))).toEqual(expected)
  })

  slow(
    "a chart causes no alert on its first measured day, and incomplete readings of a chart are skipped",
    async () => {
      const brokeOff = { complete: false }
      expect(await alertsOf(chart(14, 1), chart(15, 80, brokeOff))).toEqual([])
      expect(await alertsOf(chart(19, 85, brokeOff), chart(20, 90))).toEqual(dropped)
      expect((await readAlerts(sql))[0]?.facts).toMatchObject({ was: 1, against: "2025-11-14" })
    },
  )

  slow("a chart is not compared across a change of source or with an absence in a too shallow reading", async () => {
    const other = { source: "apple-charts" as const }
    expect(await alertsOf(chart(18, 10), chart(19, 150, other), chart(20, 10))).toEqual([])
    expect(await alertsOf(chart(18, 90, { chart: "paid" }), chart(19, null, { chart: "paid", depth: 89 }))).toEqual([])
    expect(await alertsOf(chart(20, 90, { chart: "paid" }))).toEqual([])
  })

  slow("a chart reading of another origin causes no alert", async () => {
    const other = { origin: "elsewhere" }
    expect(await alertsOf(chart(18, 10), chart(19, 150, other), chart(20, 11))).toEqual([])
  })

  test("only the six charts of the app's category and storefront are compared", async () => {
    const charts = (["iphone", "ipad"] as const).flatMap((device) =>
      (["free", "paid", "grossing"] as const).map((chart) => ({ device, chart, depth: 40 })),
    )
    const otherCharts = [{ genre: "36" }, { genre: "6016" }, { storefront: "de" }].map((rest) => ({
      ...rest,
      depth: 40,
    }))
    const falls = charts.flatMap((rest) => [chart(19, 1, rest), chart(20, 30, rest)])
    const entries = otherCharts.flatMap((rest) => [chart(19, null, rest), chart(20, 30, rest)])
    expect(await alertsOf(...falls, ...entries)).toEqual(
      charts.map(({ device, chart }) => `2025-11-20 chart_drop ${device} ${chart} 6015`).sort(),
    )
  })

  test("a chart is not compared while the app's category is unknown", async () => {
    await sql`update store_app set genre = null`
    expect(await alertsOf(chart(19, 1, { depth: 40 }), chart(20, 30, { depth: 40 }))).toEqual([])
  })
})
