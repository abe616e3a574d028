import { expect, test } from "bun:test"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { ownerOf } from "../../pages/app-scene.ts"
import { playFacts } from "./facts-scene.ts"
import { hundredths, rawLines, recordedFiles } from "./recorded.ts"

const EARNINGS_HEAD =
  "Description,Transaction Date,Transaction Type,Product id,Sku Id,Buyer Country,Buyer Currency," +
  "Amount (Buyer Currency),Merchant Currency,Amount (Merchant Currency)"
const SALES_HEAD =
  "Order Number,Order Charged Date,Financial Status,Product ID,SKU ID,Currency of Sale,Charged Amount,Country of Buyer"
const lines = (...all: string[]) => all.join("\n")

const tea = async () =>
  await playFacts(await freshDatabase(), { app: "com.tea", now: new Date("2026-11-10T12:00:00Z") })

test("revenue of recorded earnings equals the sum of the raw lines in each currency, and names its file", async () => {
  const { name, text } = recordedFiles().find((file) => file.name.startsWith("earnings/"))!
  const scene = await playFacts(await freshDatabase(), {
    app: "member.android.cableshop",
    now: new Date("2019-12-06T12:00:00Z"),
  })
  await scene.store(name, text, "2019-12-05T12:00:00Z")
  const { status, body } = await scene.call("revenue?days=30&to=2019-11-30")
  expect([status, body.from, body.to]).toEqual([200, "2019-11-01", "2019-11-30"])
  const raw = rawLines(text)
  const proceeds = raw.reduce((sum, line) => sum + hundredths(line["Amount (Merchant Currency)"]!), 0n)
  expect(body.totals.proceeds.map((money: { amount: string }) => hundredths(money.amount))).toEqual([proceeds])
  const charges = raw.filter((line) => line["Transaction Type"] === "Charge")
  const gross = Map.groupBy(charges, (line) => line["Buyer Currency"]!)
  for (const { currency, amount } of body.totals.gross)
    expect([currency, hundredths(amount)]).toEqual([
      currency,
      gross.get(currency)!.reduce((sum, line) => sum + hundredths(line["Amount (Buyer Currency)"]!), 0n),
    ])
  expect(body.totals.gross).toHaveLength(gross.size)
  // The installs are unknown, which differs from zero.
  expect(body.totals).toMatchObject({
    subscriptions: charges.length,
    downloads: null,
    redownloads: null,
    updates: null,
  })
  expect(body.days.filter((day: { proceeds: unknown[] }) => day.proceeds.length === 0)).toHaveLength(25)
  expect(body.sources.find((source: { report: string }) => source.report === "play_earnings")).toMatchObject({
    kind: "google-play-console",
    file: `${name}#1`,
    asOf: "2019-12-05T12:00:00.000Z",
    reportedDays: 30,
    lateDays: [],
  })
})

test("a late day, a day without installs and a day with a withheld count are reported differently", async () => {
  const scene = await tea()
  const installs = "stats/installs/installs_com.tea_202611_overview.csv"
  await scene.store(
    installs,
    lines("Date,Package Name,Daily User Installs", "2026-11-05,com.tea,0", "2026-11-06,com.tea,"),
    "2026-11-08T00:00:00Z",
  )
  const { body } = await scene.call("revenue?days=3&to=2026-11-07")
  const unreported = { redownloads: null, updates: null, proceeds: null, gross: null }
  expect(body.days).toMatchObject([
    { day: "2026-11-05", reported: true, downloads: 0, ...unreported },
    { day: "2026-11-06", reported: true, downloads: null, ...unreported },
    { day: "2026-11-07", reported: false, downloads: null, ...unreported },
  ])
  expect(body.totals.downloads).toBeNull()
  expect(
    body.sources.map((source: { report: string; lateDays: string[] }) => [source.report, source.lateDays.length]),
  ).toEqual([
    ["play_installs", 1],
    ["play_installs_country", 3],
    ["play_earnings", 3],
    ["play_sales", 3],
  ])
  await scene.store(
    installs,
    lines("Date,Package Name,Daily User Installs", "2026-11-05,com.tea,4", "2026-11-06,com.tea,2"),
    "2026-11-09T00:00:00Z",
  )
  const restated = (await scene.call("revenue?days=3&to=2026-11-07")).body
  expect(restated.totals.downloads).toBe(6)
  expect(restated.restatements).toEqual([
    { report: "play_installs", day: "2026-11-05", seenAt: "2026-11-09T00:00:00.000Z", unitsBefore: 0, units: 4 },
  ])
})

slow("estimated sales begin after the last settled day and are included in no other figure", async () => {
  const scene = await tea()
  await scene.store(
    "earnings/earnings_202610_1-1.zip",
    lines(
      EARNINGS_HEAD,
      'GPA.1,"Oct 30, 2026",Charge,com.tea,pro,DE,EUR,9.99,USD,11.10',
      'GPA.1,"Oct 30, 2026",Google fee,com.tea,pro,DE,EUR,-1.50,USD,-1.67',
      'GPA.2,"Oct 30, 2026",Charge,com.mug,pro,DE,EUR,5.00,USD,5.50',
    ),
    "2026-11-05T00:00:00Z",
  )
  for (const month of ["202610", "202611"])
    await scene.store(
      `sales/salesreport_${month}.zip`,
      lines(
        SALES_HEAD,
        ...[
          "GPA.1,2026-10-30,Charged,com.tea,pro,EUR,11.89,DE",
          "GPA.3,2026-11-02,Charged,com.tea,pro,EUR,11.89,DE",
        ].filter((line) => line.includes(`${month.slice(0, 4)}-${month.slice(4)}`)),
      ),
      "2026-11-04T00:00:00Z",
    )
  const { body } = await scene.call("revenue?days=10&to=2026-11-08")
  expect(body.totals).toMatchObject({
    purchases: 1,
    gross: [{ currency: "EUR", amount: "9.99" }],
    proceeds: [{ currency: "USD", amount: "9.43" }],
  })
  expect(body.estimatedSales).toMatchObject({
    from: "2026-11-01",
    totals: { purchases: 1, gross: [{ currency: "EUR", amount: "11.89" }] },
    days: [
      { day: "2026-11-01", purchases: 0 },
      { day: "2026-11-02", purchases: 1 },
    ],
  })
  const owner = await ownerOf(scene.service, scene.workspaceId)
  const { status, text } = await owner.open(`/app/apps/${scene.appId}/revenue`)
  expect(status).toBe(200)
  expect(text).toContain("Estimated sales")
  expect(text).toContain("/reports?report=play_earnings")
  const evidence = await owner.open(`/app/apps/${scene.appId}/reports?report=play_earnings&day=2026-10-30`)
  expect(evidence.text).toContain("earnings/earnings_202610_1-1.zip#1")
  // Figures of another app in the same file are not shown.
  expect(evidence.text).not.toContain("com.mug")
})

test("the funnel and revenue list installs by country, and store page visitors by country and by source", async () => {
  const scene = await tea()
  const updated = "2026-11-08T00:00:00Z"
  await scene.store(
    "stats/installs/installs_com.tea_202611_country.csv",
    lines("Date,Package Name,Country,Daily User Installs", "2026-11-05,com.tea,DE,7", "2026-11-05,com.tea,,2"),
    updated,
  )
  const visits = "stats/store_performance/store_performance_com.tea_202611"
  await scene.store(
    `${visits}_country.csv`,
    lines(
      "Date,Package name,Country / Region,Store listing acquisitions,Store listing visitors",
      "2026-11-05,com.tea,DE,60,200",
      "2026-11-05,com.tea,Other,20,50",
    ),
    updated,
  )
  await scene.store(
    `${visits}_traffic_source.csv`,
    lines(
      "Date,Package name,Traffic source,Search term,Store listing acquisitions,Store listing visitors",
      "2026-11-05,com.tea,Google Play search,tea,50,150",
      "2026-11-05,com.tea,Third-party referral,,30,100",
    ),
    updated,
  )
  const revenue = (await scene.call("revenue?days=2&to=2026-11-05")).body
  expect(revenue.countries).toMatchObject([
    { country: "de", downloads: 7 },
    { country: "zz", downloads: 2 },
  ])
  const { status, body } = await scene.call("funnel?days=2&to=2026-11-05")
  expect([status, body.dayZone, body.completeTo]).toEqual([200, "America/Los_Angeles", "2026-11-05"])
  const rates = { downloaded: { value: 0.32, count: 250 }, viewed: { value: null } }
  expect(body.totals).toMatchObject({ impressions: null, pageViews: 250, taps: null, firstDownloads: 80, rates })
  expect(body.days).toMatchObject([
    { pageViews: null, complete: false },
    { pageViews: 250, complete: true },
  ])
  expect(body.countries).toMatchObject([
    { country: "de", pageViews: 200, firstDownloads: 60 },
    { country: null, pageViews: 50 },
  ])
  expect(body.trafficSources).toMatchObject([
    { source: "search", pageViews: 150, firstDownloads: 50 },
    { source: "other", pageViews: 100, firstDownloads: 30 },
  ])
  const german = (await scene.call("funnel?days=2&to=2026-11-05&country=de")).body
  expect([german.totals.pageViews, german.trafficSources]).toEqual([200, []])
  const searched = (await scene.call("funnel?days=2&to=2026-11-05&source=search")).body
  expect([searched.totals.pageViews, searched.countries]).toEqual([150, []])
  const both = (await scene.call("funnel?days=2&to=2026-11-05&source=search&country=de")).body
  expect(both.totals.pageViews).toBeNull()
})

test("the revenue page of an app in both stores shows the selected store", async () => {
  const scene = await playFacts(await freshDatabase(), {
    app: "com.tea",
    iosId: "310633997",
    now: new Date("2026-11-10T12:00:00Z"),
  })
  await scene.store(
    "stats/installs/installs_com.tea_202611_overview.csv",
    lines("Date,Package Name,Daily User Installs", "2026-11-05,com.tea,41", "2026-11-06,com.tea,1"),
    "2026-11-08T00:00:00Z",
  )
  await scene.store(
    "stats/store_performance/store_performance_com.tea_202611_country.csv",
    lines(
      "Date,Package name,Country / Region,Store listing acquisitions,Store listing visitors",
      "2026-11-05,com.tea,DE,60,217",
    ),
    "2026-11-08T00:00:00Z",
  )
  const owner = await ownerOf(scene.service, scene.workspaceId)
  const first = (await owner.open(`/app/apps/${scene.appId}/revenue`)).text
  expect(first).toContain("App Store Connect is not connected")
  const choices = /<select[^>]*name="at"[\s\S]*?<\/select>/.exec(first)?.[0] ?? ""
  expect([...choices.matchAll(/value="([^"]+)"[^>]*>([^<]+)</g)].map(([, value, name]) => [value, name])).toEqual([
    ["us-ios", "App Store"],
    ["us-android", "Google Play"],
  ])
  const play = (await owner.open(`/app/apps/${scene.appId}/revenue?at=us-android`)).text
  // The page shows 41 and 1 installs, and 217 visitors of the store page.
  expect(play).toMatch(/Downloads<[\s\S]{0,80}>42</)
  expect(play).toMatch(/217/)
  expect(play).toContain("/reports?report=play_store_country")
  expect(play).not.toContain("is not connected")
  expect(play).not.toContain("Subscriptions</h2>")
})

test("revenue of a store without the app, or before the first reading, is refused with a reason", async () => {
  const scene = await tea()
  const ios = await scene.call("revenue?platform=ios")
  expect(ios.body.error).toBe("unsupported_platform")
  const empty = await scene.call("revenue")
  expect([empty.body.error, empty.body.detail]).toEqual([
    "not_measured",
    "Connected since 2019-01-01T00:00Z; a running server reads the files of a month within minutes.",
  ])
})
