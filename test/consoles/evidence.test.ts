import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { hash } from "node:crypto"
import { readStoredReports } from "../../src/commands/replay/replay-account-reports.ts"
import { pacificDay } from "../../src/consoles/pacific.ts"
import { readReportEvidence } from "../../src/consoles/read/read-evidence.ts"
import { createAccountReading } from "../../src/consoles/worker.ts"
import { addDays } from "../../src/lib/days.ts"
import { silentLog } from "../../src/lib/log.ts"
import type { RawBody } from "../../src/measuring/source.ts"
import { recording } from "../../src/recording.ts"
import { browserOf } from "../access/sign-in/browser.ts"
import { sealer } from "../alerts/delivery/scene.ts"
import { freshDatabase } from "../database.ts"
import { ownerOf } from "../pages/app-scene.ts"
import { type AccountScene, accountScene, TEA } from "./scene.ts"
import { type SalesRow, salesReport } from "./stand-in.ts"

setDefaultTimeout(60_000)

const NOW = new Date()
const DAY = addDays(pacificDay(NOW), -1)
const APP: SalesRow = {
  SKU: TEA.sku,
  Title: "Tea Timer",
  "Product Type Identifier": "1F",
  Units: "5",
  "Developer Proceeds": "0",
  "Customer Currency": "EUR",
  "Country Code": "DE",
  "Currency of Proceeds": "EUR",
  "Customer Price": "0",
}
const OTHERS: SalesRow = { ...APP, SKU: "OTHER", Title: "Not ours", Units: "900" }

let scene: AccountScene
const bodies = new Map<string, RawBody>()

/** Makes the console report this many units on the newest day, and reads that report. */
async function readReport(units: string): Promise<void> {
  const { sql, standIn, register, clock } = scene
  standIn.report = (type, day) =>
    type === "SALES" && day === DAY ? { tsv: salesReport(day, [{ ...APP, Units: units }, OTHERS]) } : "late"
  await sql`update account_task set next_at = case when task = 'sales' and subject = ${DAY} then now() end`
  await sql`update connected_account set next_at = now()`
  const keep = async (body: RawBody) => void bodies.set(Buffer.from(body.sha256).toString("hex"), body)
  const parts = { sql, sealer, log: silentLog, reach: register.reach, now: () => clock.now, keep }
  await createAccountReading({ recording, ...parts, gapMs: 0, atMost: 3 }).runOnce()
}

beforeAll(async () => {
  scene = await accountScene(await freshDatabase(), NOW)
  await scene.add()
  await readReport("5")
  scene.clock.now = new Date(NOW.getTime() + 60_000)
  await readReport("7")
})
afterAll(() => scene.standIn.stop())

const evidence = (workspaceId = scene.workspaceId) =>
  readReportEvidence(
    scene.sql,
    workspaceId,
    { id: scene.appId, iosId: TEA.id, androidPkg: null },
    { report: "sales", day: DAY },
  )

test("the evidence lists only the app's rows, for the current report and then for the replaced report", async () => {
  const report = (await evidence())!
  expect(report).toMatchObject({ report: "sales", state: "ok", dayZone: "America/Los_Angeles" })
  expect(report.said.map(({ count, rows }) => [count, rows.map(({ app, units }) => [app, units])])).toEqual([
    [1, [[TEA.sku, 7]]],
    [1, [[TEA.sku, 5]]],
  ])
  const key = await scene.service.key(scene.workspaceId)
  const { body } = await scene.service.call(`/v1/apps/${scene.appId}/revenue?days=1`, { key })
  expect(body.totals.downloads).toBe(7)
})

test("the evidence has the hash of the stored body, and replaying that body gives the same rows", async () => {
  for (const { sha256, source, parser, origin } of (await evidence())!.said) {
    const body = bodies.get(sha256)!
    expect(hash("sha256", body.bytes)).toBe(sha256)
    expect([source, parser > 0, origin]).toEqual(["asc-sales", true, "own"])
  }
  let replayed = 0
  for await (const page of readStoredReports(scene.sql, { since: null, source: null }))
    for (const subject of page) {
      const body = bodies.get(Buffer.from(subject.sha256).toString("hex"))!
      expect(subject.compare(await subject.read(body))).toEqual([null])
      replayed++
    }
  expect(replayed).toBe(2)
})

test("evidence is visible to the workspace's owner, but not to other workspaces or over the API", async () => {
  const page = `/app/apps/${scene.appId}/reports?report=sales&day=${DAY}`
  const owner = await ownerOf(scene.service, scene.workspaceId)
  const { status, text } = await owner.open(page)
  expect(status).toBe(200)
  for (const { sha256 } of (await evidence())!.said) expect(text).toContain(sha256)
  expect(text).not.toContain("Not ours")
  expect((await owner.open(`/app/apps/${scene.appId}/revenue`)).text).toContain("/reports?report=sales")
  const otherWorkspace = await scene.service.workspace()
  expect((await (await ownerOf(scene.service, otherWorkspace)).open(page)).status).toBe(404)
  expect((await browserOf(scene.service).open(page)).status).not.toBe(200)
  expect(await evidence(otherWorkspace)).toBe(null)
  const key = await scene.service.key(scene.workspaceId)
  const path = `/v1/page/${scene.appId}/report-evidence?report=sales`
  expect((await scene.service.call(path, { key })).body.error).toBe("unknown_endpoint")
})
