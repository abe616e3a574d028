import { afterAll, expect, setSystemTime } from "bun:test"
import { openWorkers } from "../../../src/commands/process/workers.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { readSettings } from "../../../src/settings/settings.ts"
import { listOf, OWN, readAlerts, storeAll, trackNew } from "../../alerts/derived-alerts.ts"
import { freshDatabase } from "../../database.ts"
import { until } from "../../jobs/platform.ts"
import { slow } from "../../long.ts"
import { appsReading, reading } from "../../measuring/record/measured.ts"

const MONDAY = new Date("2025-11-17T08:30:00Z")
afterAll(() => setSystemTime())

slow("a process with DELIVER=no still writes the weekly summary into the feed of alerts", async () => {
  const sql = await freshDatabase()
  await trackNew(sql, ["tea"])
  await storeAll(sql, [
    appsReading("2025-11-01T10:00:00Z", [{ id: OWN, name: "Tea Timer" }]),
    reading("tea", "2025-11-12T10:00:00Z", listOf(9, 60)),
    reading("tea", "2025-11-14T10:00:00Z", listOf(3, 60)),
  ])
  setSystemTime(MONDAY)
  const settings = readSettings({ DELIVER: "no", MEASURE: "no" }, () => "")
  const workers = await openWorkers(settings, { sql, log: silentLog, as: "server" })
  workers.start()
  try {
    await until(async () => (await sql`select from alert`).length > 0)
    expect((await readAlerts(sql)).map(({ type }) => type)).toEqual(["weekly"])
  } finally {
    await workers.stop()
  }
})
