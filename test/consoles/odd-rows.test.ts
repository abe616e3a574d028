import { afterEach, beforeEach, describe, expect } from "bun:test"
import { gzipSync } from "node:zlib"
import { pacificDay } from "../../src/consoles/pacific.ts"
import { findAccount } from "../../src/consoles/register.ts"
import { reportLines } from "../../src/consoles/sources/report-lines.ts"
import { createAccountReading } from "../../src/consoles/worker.ts"
import { addDays } from "../../src/lib/days.ts"
import { silentLog } from "../../src/lib/log.ts"
import { recording } from "../../src/recording.ts"
import { sealer } from "../alerts/delivery/scene.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { type AccountScene, accountScene, isReport, TEA } from "./scene.ts"
import { type SalesRow, salesReport, table } from "./stand-in.ts"

const YESTERDAY = addDays(pacificDay(new Date()), -1)
const BEFORE = addDays(YESTERDAY, -1)

const APP: SalesRow = {
  SKU: "TEA01",
  Title: "Tea Timer",
  "Product Type Identifier": "1F",
  Units: "5",
  "Developer Proceeds": "0",
  "Customer Currency": "EUR",
  "Country Code": "DE",
  "Currency of Proceeds": "EUR",
  "Customer Price": "0",
}

let scene: AccountScene
beforeEach(async () => {
  scene = await accountScene(await freshDatabase())
})
afterEach(() => scene.standIn.stop())

/** Simulates a server over this many hours, with up to 60 requests in each. */
async function readHours(hours: number, atMost = 60): Promise<void> {
  const { sql, register, clock } = scene
  const parts = { sql, sealer, log: silentLog, reach: register.reach, now: () => clock.now, gapMs: 0, atMost }
  for (let hour = 0; hour < hours; hour++) {
    await sql`update connected_account set next_at = now()`
    await createAccountReading({ recording, ...parts }).runOnce()
  }
}

const account = async () => {
  const [row] = await scene.sql<{ id: string }[]>`select id from connected_account`
  return await findAccount(scene.sql, scene.workspaceId, row!.id)
}

const call = async (path: string) => {
  const key = await scene.service.key(scene.workspaceId)
  return await scene.service.call(`/v1/apps/${scene.appId}/${path}`, { key })
}

describe("an unusual row", () => {
  const LONG = "Volume after volume, ".repeat(60)
  const oddRows: [string, SalesRow, Record<string, unknown>][] = [
    ["a title of 1,260 characters is shortened", { Title: LONG }, { title: LONG.slice(0, 500), units: 5 }],
    ["a SKU of 1,800 characters is stored whole", { SKU: "S".repeat(1_800) }, { product: "S".repeat(1_800) }],
    ["a SKU of 2,400 characters is shortened", { SKU: "S".repeat(2_400) }, { product: "S".repeat(2_000) }],
    ["a blank currency is stored as XXX", { "Customer Currency": " " }, { currency: "XXX", units: 5 }],
    ["a blank currency of proceeds is stored as XXX", { "Currency of Proceeds": "" }, { proceedsCurrency: "XXX" }],
    ["a blank country is stored as zz", { "Country Code": " " }, { country: "zz", units: 5 }],
    ["a blank type is stored as UNKNOWN", { "Product Type Identifier": "" }, { type: "UNKNOWN", units: 5 }],
    ["a number of units may have decimal places", { Units: "3.00" }, { units: 3 }],
    [
      "an amount may begin with the decimal point",
      { "Customer Price": ".7", "Developer Proceeds": "-.5" },
      { price: "0.7", proceeds: "-0.5" },
    ],
    ["an amount may have ten decimal places", { "Customer Price": "4.9900000000" }, { price: "4.990000" }],
    ["a promo code of 300 characters is shortened", { "Promo Code": "p".repeat(300) }, { promo: "p".repeat(100) }],
  ]
  for (const [label, cells, read] of oddRows)
    slow(`${label}, and the day is read once`, async () => {
      scene.standIn.report = (type, day) =>
        type === "SALES" && day === YESTERDAY ? { tsv: salesReport(day, [{ ...APP, ...cells }]) } : "no sales"
      await scene.add()
      await readHours(1, 8)
      const [day] = await scene.sql`select rows from report_day where report = 'sales' and day = ${YESTERDAY}`
      expect(day!.rows).toMatchObject([read])
      const requests = scene.standIn.requests.filter(
        (path) => path.includes(`reportDate]=${YESTERDAY}`) && path.includes("reportType]=SALES"),
      )
      expect(requests).toHaveLength(1)
      expect((await account()).troubles).toEqual([])
    })

  const unreadable: [string, (report: string) => string, string][] = [
    ["with fewer cells than columns", (report) => `${report}TEA01\t5\n`, "it has 2 cells instead of 28"],
    [
      "with units that are not a number",
      (report) => report + cells({ Units: "many" }),
      'Units is not a number ("many")',
    ],
    ["with half a unit", (report) => report + cells({ Units: "1.5" }), 'Units is not a number ("1.5")'],
    [
      "with more units than can be counted",
      (report) => report + cells({ Units: "9999999999" }),
      "units must be a whole number",
    ],
    ["without a SKU", (report) => report + cells({ SKU: "" }), "it has no SKU"],
    [
      "of a different day",
      (report) => report + cells({ "Begin Date": "01/02/2024" }),
      `it is of another day than ${YESTERDAY}`,
    ],
  ]
  const cells = (row: SalesRow) =>
    salesReport(YESTERDAY, [{ ...APP, ...row }])
      .split("\n")[1]!
      .concat("\n")
  for (const [label, spoil, reason] of unreadable)
    slow(`a row ${label} is skipped and shown to the owner, and the other rows count`, async () => {
      scene.standIn.report = (type, day) =>
        type === "SALES" && day === YESTERDAY
          ? new Response(Bun.gzipSync(spoil(salesReport(day, [APP]))))
          : { tsv: salesReport(day, [APP]) }
      await scene.add()
      await readHours(1, 12)
      const [day] = await scene.sql`select rows from report_day where report = 'sales' and day = ${YESTERDAY}`
      expect(day!.rows).toMatchObject([{ units: 5 }])
      const explanation = `1 row cannot be read (row 2: ${reason})`
      expect((await account()).troubles).toContainEqual({
        what: `sales of ${YESTERDAY}`,
        why: explanation,
        isFailed: false,
        nextAt: expect.any(String),
      })
      const { body } = await call("revenue?days=1")
      expect(body.sources).toMatchObject([
        { state: "ok", reportedDays: 1, why: `sales of ${YESTERDAY}: ${explanation}` },
      ])
    })

  slow("a day whose report has only unreadable rows is late and not empty", async () => {
    scene.standIn.report = (type, day) =>
      type === "SALES"
        ? {
            tsv: salesReport(day, [
              { ...APP, Units: "many" },
              { ...APP, SKU: "" },
            ]),
          }
        : "no sales"
    await scene.add()
    await readHours(1, 8)
    expect(await scene.sql`select from report_day where report = 'sales'`).toHaveLength(0)
    const turns = await scene.sql`select state from account_task where task = 'sales' and subject = ${YESTERDAY}`
    expect([...turns]).toEqual([{ state: "late" }])
  })
})

slow("the credit of a completed bundle lowers the money without counting as a refund", async () => {
  const paid = { ...APP, "Product Type Identifier": "1", "Customer Price": "4.99", "Developer Proceeds": "3.49" }
  const credit = { ...paid, Units: "-1", "Customer Price": "-4.99", "Developer Proceeds": "-3.49", CMB: "CMB-C" }
  scene.standIn.report = (type, day) =>
    type === "SALES" && day === YESTERDAY ? { tsv: salesReport(day, [paid, credit]) } : "no sales"
  await scene.add()
  await readHours(1, 8)
  const { body } = await call("revenue?days=1")
  expect(body.totals).toMatchObject({
    downloads: 5,
    refunds: 0,
    gross: [{ amount: "19.96", currency: "EUR" }],
    proceeds: [{ amount: "13.96", currency: "EUR" }],
  })
})

slow("a bundle is listed separately, and none of the app's figures includes it", async () => {
  const paid = { ...APP, "Product Type Identifier": "1", "Customer Price": "4.99", "Developer Proceeds": "3.49" }
  const bundle = { ...paid, SKU: "TEA-PACK", Title: "Tea and cups", "Product Type Identifier": "1-B", Units: "3" }
  scene.standIn.report = (type, day) =>
    type === "SALES" && day === YESTERDAY ? { tsv: salesReport(day, [paid, bundle]) } : "no sales"
  await scene.add()
  await readHours(1, 8)
  const { body } = await call("revenue?days=1")
  const bundles = body.bundles.map(({ product, title, downloads, gross }: Record<string, unknown>) => {
    return { product, title, downloads, gross }
  })
  const gross = [{ amount: "14.97", currency: "EUR" }]
  expect(bundles).toEqual([{ product: "TEA-PACK", title: "Tea and cups", downloads: 3, gross }])
  expect([body.totals.downloads, body.products.length]).toEqual([5, 1])
})

slow.each(["gzip", "text"])("a report is read the same if its body is %s", async (form) => {
  const report = "Provider\tUnits\r\nAPPLE\t3\r\n"
  const bytes = new TextEncoder().encode(report)
  const lines: string[] = []
  for await (const line of reportLines(form === "gzip" ? gzipSync(bytes) : bytes)) lines.push(line)
  expect(lines).toEqual(["Provider\tUnits", "APPLE\t3"])
})

slow("an analytics file with unreadable rows is read once, and those rows are skipped", async () => {
  const { analytics } = scene.standIn
  analytics.requests.push({ id: "request-1", app: TEA.id })
  const columns = ["Date", "App Apple Identifier", "Download Type", "Source Type", "Territory", "Counts"]
  const row = {
    Date: BEFORE,
    "App Apple Identifier": TEA.id,
    "Download Type": "First-time download",
    "Source Type": "App Store search",
    Territory: "DE",
    Counts: "4",
  }
  const rows = [row, { ...row, "Download Type": " " }, { ...row, Counts: "few" }, { ...row, Date: "later" }]
  analytics.files.push({
    app: TEA.id,
    report: "App Downloads Standard",
    processed: YESTERDAY,
    parts: [table(columns, rows)],
  })
  await scene.add()
  await scene.sql`update account_task set next_at = null where ${isReport(scene.sql)}`
  await readHours(4, 20)
  expect(analytics.fetched).toHaveLength(1)
  const [day] = await scene.sql`select rows from analytics_day where report = 'downloads'`
  expect(day!.rows).toMatchObject([
    { event: "First-time download", count: 4 },
    { event: "Unknown", count: 4 },
  ])
  expect((await account()).troubles).toContainEqual(
    expect.objectContaining({
      what: `downloads files of ${YESTERDAY}`,
      why: expect.stringMatching(/^2 rows cannot be read \(the first: row 3: Counts is not a number/),
    }),
  )
})
