import { expect } from "bun:test"
import type { Observation } from "../../../src/kinds.ts"
import { readChartedApps } from "../../../src/market/read/publishers.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { charted } from "../../measuring/record/charted.ts"
import { appsReading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"

const APP = "10001"
const MAKER = "400000024"
const READINGS = [
  charted("2025-11-26T10:00:00Z", ["10002", APP], { device: "ipad", chart: "free" }),
  charted("2025-11-18T10:00:00Z", ["10003", APP], { device: "iphone", chart: "paid" }),
  charted("2025-11-19T10:00:00Z", ["10004", APP], { device: "iphone", chart: "free", genre: "6000" }),
]

slow("if an app has the same rank on two charts, the same chart is shown in any order of recording", async () => {
  const places = []
  for (const order of [READINGS, READINGS.toReversed(), [READINGS[1]!, READINGS[0]!, READINGS[2]!]]) {
    const sql = await freshDatabase()
    const seller = appsReading("2025-11-20T10:00:00Z", [{ id: APP, name: "Tea", developerId: MAKER }])
    const observations: Observation[] = [seller, ...order]
    for (const reading of observations)
      expect((await record(sql, [reading], () => new Date("2025-11-27T00:00:00Z"))).refused).toEqual([])
    const [app] = await readChartedApps(sql, MAKER)
    places.push([app?.device, app?.kind, app?.genre, app?.rank, app?.day])
  }
  expect(places).toEqual(Array(3).fill(["iphone", "free", "6000", 2, "2025-11-19"]))
})
