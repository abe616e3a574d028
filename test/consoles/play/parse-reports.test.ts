import { describe, expect, test } from "bun:test"
import type { PlayEarningsRow } from "../../../src/consoles/kinds/play-shape.ts"
import { type ParsedPlayReport, PLAY_REPORTS, parsePlayReport } from "../../../src/consoles/sources/play/reports.ts"
import { slow } from "../../long.ts"
import { hundredths, rawLines, recordedFiles } from "./recorded.ts"

const UPDATED = "2025-11-06T03:25:01.123Z"
const parse = (name: string, text: string, updated = UPDATED) =>
  parsePlayReport({ name, generation: "7", updated, text })
const parseReport = async (...args: Parameters<typeof parse>) => {
  const parsed = await parse(...args)
  if (parsed.problem !== null) throw new Error(parsed.problem)
  return parsed as Extract<ParsedPlayReport, { problem: null }>
}

const OVERVIEW = "stats/installs/installs_com.tea_202510_overview.csv"
const COUNTRY = "stats/installs/installs_com.tea_202510_country.csv"
const EARNINGS = "earnings/earnings_202510_1234567890-81.zip"
const SALES = "sales/salesreport_202510.zip"

describe("recorded files", () => {
  test("every recorded file belongs to one kind of report and is read without skipping a row", async () => {
    for (const { name, text } of recordedFiles()) {
      const { family, putAside, days } = await parseReport(name, text)
      expect([name, putAside, family.prefix === `${name.split("/").slice(0, -1).join("/")}/`]).toEqual([
        name,
        null,
        true,
      ])
      expect(days.length).toBeGreaterThan(0)
    }
    expect(new Set(PLAY_REPORTS.map(({ report }) => report)).size).toBe(PLAY_REPORTS.length)
  })

  test("counts of installs and visitors equal those of the raw lines", async () => {
    const titles = {
      "Daily User Installs": "userInstalls",
      "Active Device Installs": "activeDevices",
      "Install events": "installEvents",
      "Store listing visitors": "visitors",
      "Store listing acquisitions": "acquisitions",
    }
    for (const { name, text } of recordedFiles().filter((file) => file.name.startsWith("stats/"))) {
      const { days } = await parseReport(name, text)
      const rows = days.flatMap(({ rows }) => rows as Record<string, number | undefined>[])
      const lines = rawLines(text)
      for (const [title, measure] of Object.entries(titles)) {
        const raw = lines.filter((line) => (line[title] ?? "") !== "").map((line) => Number(line[title]))
        const sum = (counts: number[]) => [counts.length, counts.reduce((total, count) => total + count, 0)]
        const found = rows.flatMap((row) => row[measure] ?? [])
        expect([name, title, ...sum(found)]).toEqual([name, title, ...sum(raw)])
      }
    }
  })

  test("proceeds and gross by day and currency equal those of the raw lines, to the last digit", async () => {
    const { name, text } = recordedFiles().find((file) => file.name.startsWith("earnings/"))!
    const { days } = await parseReport(name, text)
    const expected = new Map<string, bigint>()
    const add = (key: string, amount: bigint) => expected.set(key, (expected.get(key) ?? 0n) + amount)
    for (const line of rawLines(text)) {
      const day = `2019-11-0${/Nov (\d),/.exec(line["Transaction Date"]!)?.[1]}`
      add(`${day} proceeds ${line["Merchant Currency"]}`, hundredths(line["Amount (Merchant Currency)"]!))
      if (line["Transaction Type"] === "Charge")
        add(`${day} gross ${line["Buyer Currency"]}`, hundredths(line["Amount (Buyer Currency)"]!))
    }
    const found = new Map<string, bigint>()
    for (const { day, rows } of days)
      for (const row of rows as PlayEarningsRow[]) {
        const keys = [`${day} proceeds ${row.merchantCurrency}`, `${day} gross ${row.currency}`] as const
        found.set(keys[0], (found.get(keys[0]) ?? 0n) + hundredths(row.proceeds))
        if (hundredths(row.gross) !== 0n) found.set(keys[1], (found.get(keys[1]) ?? 0n) + hundredths(row.gross))
      }
    expect(Object.fromEntries([...found].sort())).toEqual(Object.fromEntries([...expected].sort()))
    // Some days of the month have no sale: these are zeros, and every day of the month is reported.
    expect([days.length, days.filter(({ rows }) => rows.length === 0).length]).toEqual([30, 25])
    const sold = days.flatMap(({ rows }) => rows as PlayEarningsRow[])
    expect([sold.reduce((sum, { units }) => sum + units, 0), new Set(sold.map(({ soldAs }) => soldAs))]).toEqual([
      7,
      new Set(["subscription"]),
    ])
  })
})

const head = '"Date","Package Name","Country","Daily User Installs"'

describe("a file of counts", () => {
  test("an empty cell means withheld, a zero means zero, and an absent day is not reported", async () => {
    const text = `${head}\n2025-10-02,com.tea,DE,\n2025-10-02,com.tea,US,0\n2025-10-04,com.tea,,8\n`
    expect(await parseReport(COUNTRY, text)).toMatchObject({
      app: "com.tea",
      file: `${COUNTRY}#7`,
      putAside: null,
      days: [
        { day: "2025-10-02", rows: [{ country: "de" }, { country: "us", userInstalls: 0 }] },
        { day: "2025-10-04", rows: [{ userInstalls: 8 }] },
      ],
    })
    expect((await parseReport(COUNTRY, `${head}\n`)).days).toEqual([])
  })

  test("unknown columns are ignored, and the error for a missing column names the column and the line", async () => {
    const text = "Date,Package Name,Moons,Daily User Installs\n2025-10-02,com.tea,9,3\n"
    expect((await parseReport(OVERVIEW, text)).days).toEqual([{ day: "2025-10-02", rows: [{ userInstalls: 3 }] }])
    expect(await parse(COUNTRY, text)).toEqual({ problem: 'line 1 has no column "Country"' })
    expect(await parse(OVERVIEW, "")).toEqual({
      problem: 'line 1 has no column "Date", "Package Name", "Daily User Installs"',
    })
    expect(await parse("stats/moons/moons_com.tea_202510.csv", text)).toEqual({
      problem: "the file name belongs to no report that is read",
    })
  })

  test("unreadable rows are skipped and reported with their line, and the other rows are read", async () => {
    const rows = [
      "2025-10-02,com.tea,DE,5",
      "2025-10-02,com.tea,US,many",
      "2025-10-02,com.tea,US,-3",
      "2025-10-02,com.tea,US,99999999999",
      "2025-10-02,com.coffee,US,3",
      "2025-09-30,com.tea,US,3",
      "2025-10-32,com.tea,US,3",
      "2025-10-02,com.tea,US",
      '2025-10-02,com.tea,"US,3',
      "2025-10-02,com.tea,Other,3",
    ]
    const { days, putAside } = await parseReport(COUNTRY, `${head}\n${rows.join("\n")}\n`)
    expect(putAside).toBe('8 rows cannot be read (the first: line 3: "Daily User Installs" is not a number ("many"))')
    expect(days).toEqual([{ day: "2025-10-02", rows: [{ country: "de", userInstalls: 5 }, { userInstalls: 3 }] }])
    expect(await parse(COUNTRY, `${head}\n2025-10-02,com.tea,US,many\n`)).toEqual({
      problem: '1 row cannot be read (line 2: "Daily User Installs" is not a number ("many"))',
    })
  })

  test("cells with hostile text are stored as data", async () => {
    const text = `Date,Package name,Traffic source,Search term,Store listing acquisitions,Store listing visitors
2025-10-02,com.tea,"=cmd|' /C calc'!A0","<script>, ""tea""\u0000",1,"1,234"
`
    const name = "stats/store_performance/store_performance_com.tea_202510_traffic_source.csv"
    expect((await parseReport(name, text)).days[0]?.rows).toEqual([
      { from: "=cmd|' /C calc'!A0", term: '<script>, "tea"', acquisitions: 1, visitors: 1234 },
    ])
    expect((await parseReport(name, text.replaceAll("\n", "\r\n"))).days).toHaveLength(1)
  })

  test("averages of ratings stay decimal text, and NA is left out", async () => {
    const name = "stats/ratings/ratings_com.tea_202510_overview.csv"
    const text = "Date,Package Name,Daily Average Rating,Total Average Rating\n2025-10-02,com.tea,NA,4.61\n"
    expect((await parseReport(name, text)).days).toEqual([{ day: "2025-10-02", rows: [{ rating: "4.61" }] }])
  })
})

const earningsHead =
  "Description,Transaction Date,Transaction Time,Transaction Type,Refund Type,Product Title,Product id,Sku Id," +
  "Buyer Country,Buyer Currency,Amount (Buyer Currency),Merchant Currency,Amount (Merchant Currency),Base Plan ID"
const earningsRow = (rest: Partial<Record<string, string>>) => {
  const cells: Record<string, string> = {
    order: "GPA.1",
    day: '"Oct 2, 2025"',
    time: "3:29:44 AM PDT",
    type: "Charge",
    refund: "",
    title: "Tea Pro",
    app: "com.tea",
    sku: "pro",
    country: "DE",
    currency: "EUR",
    paid: "0.10",
    merchant: "USD",
    amount: "0.20",
    plan: "",
    ...rest,
  }
  return Object.values(cells).join(",")
}

describe("files of money", () => {
  test("charges, refunds, fees and taxes of a day are summed up exactly and by currency", async () => {
    const lines = [
      earningsRow({}),
      earningsRow({ paid: "0.20", amount: "0.10" }),
      earningsRow({ type: "Google fee", paid: "-0.03", amount: "-0.03" }),
      earningsRow({ type: "Tax", paid: "0.05", amount: "0.06" }),
      earningsRow({ type: "Charge refund", refund: "Full", paid: "-0.10", amount: "-0.20" }),
      earningsRow({ type: "Charge refund", refund: "Partial", paid: "-0.01", amount: "-0.01" }),
      earningsRow({ country: "US", currency: "USD", paid: '"1,234.50"', amount: '"1,234.50"' }),
      earningsRow({ sku: "", paid: "0", amount: "0" }),
      earningsRow({ sku: "plus", plan: "monthly" }),
      earningsRow({ sku: "old", order: "GPA.1..0" }),
      earningsRow({ sku: "old" }),
    ]
    const { days } = await parseReport(EARNINGS, `${earningsHead}\n${lines.join("\n")}\n`)
    const rows = days[1]?.rows as PlayEarningsRow[]
    const eur = { units: 1, refunds: 1, free: 0, gross: "0.19", refunded: "0.11", proceeds: "0.12" }
    expect(rows[0]).toMatchObject({ product: "pro", soldAs: "purchase", currency: "EUR", ...eur })
    expect(rows[1]).toMatchObject({ country: "us", currency: "USD", units: 1, gross: "1234.50", proceeds: "1234.50" })
    expect(rows[2]).toMatchObject({ product: "com.tea", soldAs: "app", units: 1, free: 1, gross: "0" })
    expect(rows.slice(3).map(({ product, soldAs, units }) => [product, soldAs, units])).toEqual([
      ["plus", "subscription", 1],
      ["old", "subscription", 2],
    ])
    expect([days.length, days[0]?.rows, days[30]?.rows]).toEqual([31, [], []])
  })

  test("a row without an amount is skipped and reported, and does not count as zero", async () => {
    const { days, putAside } = await parseReport(
      EARNINGS,
      [earningsHead, earningsRow({}), earningsRow({ amount: "" })].join("\n"),
    )
    expect(putAside).toBe('1 row cannot be read (line 3: "Amount (Merchant Currency)" is empty)')
    expect(days[1]?.rows).toHaveLength(1)
  })

  test("estimated sales cover the days up to the last order, or the whole month once it is over", async () => {
    const head =
      "Order Number,Order Charged Date,Financial Status,Product Title,Product ID,SKU ID,Currency of Sale," +
      "Charged Amount,Country of Buyer"
    const lines = [
      "GPA.1,2025-10-02,Charged,Tea Pro,com.tea,pro,EUR,9.99,DE",
      "GPA.2,2025-10-04,Charged,Tea Pro,com.tea,pro,EUR,9.99,DE",
      "GPA.1,2025-10-04,Refund,Tea Pro,com.tea,pro,EUR,9.99,DE",
      "GPA.3,2025-10-04,Pending,Tea Pro,com.tea,pro,EUR,9.99,DE",
    ]
    const growing = await parseReport(SALES, [head, ...lines].join("\n"), "2025-10-05T00:00:00Z")
    expect(growing.days.map(({ day, rows }) => [day, rows.length])).toEqual([
      ["2025-10-01", 0],
      ["2025-10-02", 1],
      ["2025-10-03", 0],
      ["2025-10-04", 1],
    ])
    expect(growing.days[3]?.rows[0]).toMatchObject({ units: 0, refunds: 1, gross: "0", refunded: "9.99" })
    expect(growing.putAside).toContain('line 5: "Financial Status" is unknown ("pending")')
    expect((await parseReport(SALES, [head, ...lines].join("\n"))).days).toHaveLength(31)
  })

  slow("other work runs while a month of thirty thousand rows is summed up", async () => {
    const lines = Array.from({ length: 30_000 }, (_, place) => earningsRow({ order: `GPA.${place}` }))
    let turns = 0
    const timer = setInterval(() => turns++, 0)
    const { days } = await parseReport(EARNINGS, `${earningsHead}\n${lines.join("\n")}`)
    clearInterval(timer)
    expect(days[1]?.rows).toMatchObject([{ units: 30_000, gross: "3000", proceeds: "6000" }])
    expect(turns).toBeGreaterThan(5)
  })
})
