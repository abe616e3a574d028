import { beforeEach, describe, expect, test } from "bun:test"
import { parsePlayReport, playObservations } from "../../../src/consoles/sources/play/reports.ts"
import { rebuildAccounts } from "../../../src/consoles/store/derived/rebuild.ts"
import { changedReports } from "../../../src/consoles/store/reports.ts"
import type { Sql } from "../../../src/database/types.ts"
import { KINDS } from "../../../src/kinds.ts"
import { freshDatabase } from "../../database.ts"
import { record } from "../../record.ts"
import { EXAMPLE_ACCOUNT, holdAccount } from "../reported.ts"
import { rawLines, recordedFiles } from "./recorded.ts"

let sql: Sql
beforeEach(async () => {
  sql = await freshDatabase()
  await holdAccount(sql)
})

const NOW = new Date("2025-12-01T00:00:00Z")

/** Parses and stores a file like a read of the account does. Returns the days that were stored. */
async function store(name: string, text: string, options: { generation?: string; seenAt?: string } = {}) {
  const changed = await changedReports(sql, await observe(name, text, options))
  const { refused } = await record(sql, changed, () => NOW)
  expect(refused).toEqual([])
  return changed.map(({ day }) => day)
}

async function observe(name: string, text: string, { generation = "1", seenAt = "2025-11-06T03:25:01Z" } = {}) {
  const parsed = await parsePlayReport({ name, generation, updated: seenAt, text })
  if (parsed.problem !== null) throw new Error(parsed.problem)
  const provenance = { seenAt: new Date(seenAt), sha256: new Uint8Array(32).fill(Number(generation)) }
  return playObservations(parsed, EXAMPLE_ACCOUNT, provenance)
}

const OVERVIEW = "stats/installs/installs_com.tea_202510_overview.csv"
const COUNTRY = "stats/installs/installs_com.tea_202510_country.csv"
const installs = (...rows: string[]) => ["Date,Package Name,Country,Daily User Installs", ...rows].join("\n")
const facts = async () => [
  ...(await sql`
    select app, report, day, country, counts_as as as, count
    from funnel_fact
    order by app, report, day, country nulls last, place`),
]

describe("files of Google Play", () => {
  test("every recorded file is stored, and its installs, visitors and money become facts", async () => {
    const days = await Promise.all(recordedFiles().map(({ name, text }) => observe(name, text)))
    await record(sql, days.flat(), () => NOW)
    const files = recordedFiles().map(({ name, text }) => ({ name, lines: rawLines(text) }))
    const sumOf = (part: string, title: string) =>
      files
        .filter(({ name }) => name.includes(part))
        .flatMap(({ lines }) => lines)
        .reduce((sum, line) => sum + Number(line[title]), 0)
    expect([
      ...(await sql`
        select report, counts_as as as, sum(count)::int as count
        from funnel_fact
        group by report, counts_as
        order by 1, 2`),
    ]).toEqual([
      { report: "play_installs", as: "firstDownloads", count: sumOf("_overview", "Daily User Installs") },
      {
        report: "play_installs_country",
        as: "firstDownloads",
        count: sumOf("/installs_com.cable.tv_201712_country", "Daily User Installs"),
      },
      {
        report: "play_store_country",
        as: "firstDownloads",
        count: sumOf("candyshop", "Store listing acquisitions"),
      },
      { report: "play_store_country", as: "pageViews", count: sumOf("candyshop", "Store listing visitors") },
      {
        report: "play_store_sources",
        as: "firstDownloads",
        count: sumOf("traffic_source", "Store listing acquisitions"),
      },
      { report: "play_store_sources", as: "pageViews", count: sumOf("traffic_source", "Store listing visitors") },
    ])
    const money = await sql`
      select proceeds_currency as currency, sum(proceeds)::text as proceeds, sum(units)::int as units
      from sales_fact
      group by 1`
    // The sum 3.43 - 1.5 + 4.99 + 4.99 + 26.65 - 0.75 + 26.64 + 3.57 - 0.75 + 4.72, added by hand.
    expect([...money]).toEqual([{ currency: "USD", proceeds: "71.99", units: 7 }])
  })

  test("damaged facts are derived again from the stored reports", async () => {
    await store(COUNTRY, installs("2025-10-02,com.tea,DE,5", "2025-10-03,com.tea,DE,6"))
    const before = await facts()
    expect(await rebuildAccounts(sql, KINDS, async () => {})).toBe(0)
    await sql`update funnel_fact_row set count = 7 where day = '2025-10-03'`
    expect(await rebuildAccounts(sql, KINDS, async () => {})).toBe(1)
    expect(await facts()).toEqual(before)
  })

  test("a withheld count is null, even if the count next to it is zero", async () => {
    await store(COUNTRY, installs("2025-10-02,com.tea,DE,", "2025-10-02,com.tea,US,0"))
    const row = { app: "com.tea", report: "play_installs_country", day: "2025-10-02", as: "firstDownloads" }
    expect(await facts()).toEqual([
      { ...row, country: "de", count: null },
      { ...row, country: "us", count: 0 },
    ])
  })

  test("a restated month replaces the facts of its changed days once, and the earlier report stays", async () => {
    const first = installs("2025-10-02,com.tea,DE,5", "2025-10-03,com.tea,DE,6")
    expect(await store(COUNTRY, first)).toEqual(["2025-10-02", "2025-10-03"])
    // Another app has the same days, and so has another file of the same app.
    await store(COUNTRY.replace("com.tea", "com.mug"), first.replaceAll("com.tea", "com.mug"))
    await store(OVERVIEW, "Date,Package Name,Daily User Installs\n2025-10-02,com.tea,5\n")
    const later = { generation: "2", seenAt: "2025-11-08T03:25:01Z" }
    const restated = installs("2025-10-02,com.tea,DE,4", "2025-10-03,com.tea,DE,6", "2025-10-04,com.tea,DE,1")
    expect(await store(COUNTRY, restated, later)).toEqual(["2025-10-02", "2025-10-04"])
    expect(await store(COUNTRY, restated, { ...later, generation: "3" })).toEqual([])
    const rows = await facts()
    expect(rows.map(({ app, report, day, count }) => [app, report.slice(5), day.slice(-2), count])).toEqual([
      ["com.mug", "installs_country", "02", 5],
      ["com.mug", "installs_country", "03", 6],
      ["com.tea", "installs", "02", 5],
      ["com.tea", "installs_country", "02", 4],
      ["com.tea", "installs_country", "03", 6],
      ["com.tea", "installs_country", "04", 1],
    ])
    const versions = await sql`
      select file
      from report_day
      where report = 'play_installs_country' and about = 'com.tea' and day = '2025-10-02'
      order by seen_at`
    expect(versions.map(({ file }) => file)).toEqual([`${COUNTRY}#1`, `${COUNTRY}#2`])
  })

  test("settled and estimated money of a day are separate, and a day without a sale is reported as zero", async () => {
    await store(
      "earnings/earnings_202510_12-81.zip",
      `Description,Transaction Date,Transaction Type,Product id,Sku Id,Buyer Country,Buyer Currency,\
Amount (Buyer Currency),Merchant Currency,Amount (Merchant Currency)
GPA.1,"Oct 2, 2025",Charge,com.tea,pro,DE,EUR,9.99,USD,11.10
GPA.1,"Oct 2, 2025",Google fee,com.tea,pro,DE,EUR,-1.50,USD,-1.67
`,
    )
    await store(
      "sales/salesreport_202510.zip",
      `Order Number,Order Charged Date,Financial Status,Product ID,SKU ID,Currency of Sale,Charged Amount,\
Country of Buyer
GPA.1,2025-10-02,Charged,com.tea,pro,EUR,11.89,DE
`,
    )
    const sold = await sql`
      select day, units, currency, gross::text, proceeds_currency as "proceedsCurrency", proceeds::text
      from sales_fact`
    const amounts = { currency: "EUR", gross: "9.99", proceedsCurrency: "USD", proceeds: "9.43" }
    expect([...sold]).toEqual([{ day: "2025-10-02", units: 1, ...amounts }])
    expect([...(await sql`select units, currency, gross::text from estimated_sales_fact`)]).toEqual([
      { units: 1, currency: "EUR", gross: "11.89" },
    ])
    const days = await sql`select report, count(*)::int as days from report_day group by report order by report`
    expect([...days]).toEqual([
      { report: "play_earnings", days: 31 },
      { report: "play_sales", days: 31 },
    ])
  })

  test("a day with many products is stored in pieces, and each product counts once", async () => {
    const lines = Array.from({ length: 600 }, (_, place) => {
      return `GPA.${place},"Oct 2, 2025",Charge,com.tea,sku${place},DE,EUR,1.00,USD,1.10`
    })
    const head =
      "Description,Transaction Date,Transaction Type,Product id,Sku Id,Buyer Country,Buyer Currency," +
      "Amount (Buyer Currency),Merchant Currency,Amount (Merchant Currency)"
    await store("earnings/earnings_202510_12-81.zip", [head, ...lines].join("\n"))
    const [sums] = await sql`select count(*)::int as rows, sum(proceeds)::text as proceeds from sales_fact`
    expect(sums).toEqual({ rows: 600, proceeds: "660.00" })
    expect(await sql`select from report_day where pieces is not null`).toHaveLength(1)
  })
})
