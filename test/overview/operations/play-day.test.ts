import { expect, test } from "bun:test"
import { playFacts } from "../../consoles/play/facts-scene.ts"
import { reported } from "../../consoles/reported.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { ownerOf } from "../../pages/app-scene.ts"
import { record } from "../../record.ts"

const NOW = new Date("2026-11-10T12:00:00Z")
const EARNINGS_HEAD =
  "Description,Transaction Date,Transaction Type,Product id,Sku Id,Buyer Country,Buyer Currency," +
  "Amount (Buyer Currency),Merchant Currency,Amount (Merchant Currency)"
const SALES_HEAD =
  "Order Number,Order Charged Date,Financial Status,Product ID,SKU ID,Currency of Sale,Charged Amount,Country of Buyer"
const lines = (...all: string[]) => all.join("\n")

/** Installs up to 7 November, estimated sales up to 8 November, and settled earnings of October. */
async function reportedScene({ iosId }: { iosId?: string } = {}) {
  const scene = await playFacts(await freshDatabase(), { app: "com.tea", now: NOW, ...(iosId && { iosId }) })
  const updated = "2026-11-09T00:00:00Z"
  await scene.store(
    "stats/installs/installs_com.tea_202611_overview.csv",
    lines("Date,Package Name,Daily User Installs", "2026-11-06,com.tea,", "2026-11-07,com.tea,12"),
    updated,
  )
  await scene.store(
    "stats/installs/installs_com.tea_202610_overview.csv",
    lines("Date,Package Name,Daily User Installs", "2026-10-30,com.tea,9"),
    updated,
  )
  await scene.store(
    "earnings/earnings_202610_1-1.zip",
    lines(
      EARNINGS_HEAD,
      'GPA.1,"Oct 30, 2026",Charge,com.tea,pro,DE,EUR,9.99,USD,11.10',
      'GPA.1,"Oct 30, 2026",Google fee,com.tea,pro,DE,EUR,-1.50,USD,-1.67',
    ),
    updated,
  )
  await scene.store(
    "sales/salesreport_202610.zip",
    lines(SALES_HEAD, "GPA.1,2026-10-30,Charged,com.tea,pro,EUR,11.89,DE"),
    updated,
  )
  await scene.store(
    "sales/salesreport_202611.zip",
    lines(
      SALES_HEAD,
      "GPA.2,2026-11-07,Charged,com.tea,pro,EUR,11.89,DE",
      "GPA.3,2026-11-07,Charged,com.tea,pro,EUR,0.12,FR",
      "GPA.4,2026-11-07,Charged,com.tea,pro,GBP,8.00,GB",
      "GPA.5,2026-11-08,Charged,com.mug,pro,EUR,5.00,DE",
    ),
    updated,
  )
  const at = async (path: string, key = scene.key) => (await scene.service.call(`/v1${path}`, { key })).body
  return { ...scene, at }
}

slow("get_portfolio and get_today return a day's installs and its estimated sales in each currency", async () => {
  const { at, appId } = await reportedScene()
  const sales = {
    platform: "android",
    downloads: 12,
    proceeds: null,
    // 11.89 + 0.12; pounds are not added
    estimatedSales: [
      { currency: "EUR", amount: "12.01" },
      { currency: "GBP", amount: "8" },
    ],
  }
  const portfolio = await at("/portfolio?day=2026-11-07")
  const row = {
    ...sales,
    source: "google-play-console",
    asOf: "2026-11-09T00:00:00.000Z",
    reportedTo: "2026-11-07",
    why: "Settled earnings are reported up to 2026-10-31: Google Play Console publishes them in the next month.",
  }
  expect(portfolio.apps[0].sales).toEqual([row])
  expect(portfolio.totals.sales).toEqual([sales])
  const today = await at(`/apps/${appId}/today?day=2026-11-07`)
  expect(today.sales).toEqual([row])
  expect(today.figures.filter(({ key }: { key: string }) => key === "proceeds")).toMatchObject([
    { platform: "android", state: "not_measured", value: null },
  ])
})

slow("a settled day has earnings and no estimate, so that no order is counted twice", async () => {
  const { at, appId } = await reportedScene()
  const portfolio = await at("/portfolio?day=2026-10-30")
  // 11.10 − 1.67
  const proceeds = [{ currency: "USD", amount: "9.43" }]
  expect(portfolio.totals.sales).toEqual([{ platform: "android", downloads: 9, proceeds, estimatedSales: null }])
  expect(portfolio.apps[0].sales[0]).toMatchObject({ proceeds, estimatedSales: null, why: null })
  const today = await at(`/apps/${appId}/today?day=2026-10-30`)
  expect(today.figures.filter(({ key }: { key: string }) => key === "proceeds")).toMatchObject([
    { platform: "android", country: "de", currency: "USD", value: 9.43, state: "measured", source: "play-earnings" },
  ])
})

slow("sales are unknown on a day that Google reports late, and zero on a day without orders", async () => {
  const { at, appId } = await reportedScene()
  const portfolio = await at("/portfolio?day=2026-11-08")
  expect(portfolio.totals.sales).toEqual([
    { platform: "android", downloads: null, proceeds: null, estimatedSales: [], without: [appId] },
  ])
  const [row] = portfolio.apps[0].sales
  expect([row.downloads, row.reportedTo]).toEqual([null, "2026-11-07"])
  expect(row.why).toStartWith(
    "Installs are reported up to 2026-11-07: Google Play Console publishes them some days later.",
  )
  // the count of 6 November is withheld, which is not the same as reported late
  const withheld = (await at("/portfolio?day=2026-11-06")).apps[0].sales[0]
  expect([withheld.downloads, withheld.why.includes("Installs")]).toEqual([null, false])
})

slow("the figures of both stores are shown side by side, and never added", async () => {
  const { at, appId, service, workspaceId } = await reportedScene({ iosId: "310633997" })
  const account = "ac_0123456789abcdef03"
  const { sql } = service
  await sql`
    insert into connected_account (id, workspace_id, kind, shown, part, sealed, next_at, state, created_at)
    values (${account}, ${workspaceId}, 'app-store-connect', 'key …1', '85012345', 'v1.a.b.c',
      null, 'ok', '2019-01-01')`
  await sql`
    insert into account_app (account_id, outside_id, sku, name, bundle_id)
    values (${account}, '310633997', 'tea', 'Tea', 'com.tea')`
  const sold = { app: "tea", title: "Tea", country: "de", price: "0", currency: "EUR", proceedsCurrency: "EUR" }
  const rows = [
    { ...sold, product: "tea", type: "1F", units: 5, proceeds: "0" },
    { ...sold, product: "pro", type: "IA1", units: 1, price: "3", proceeds: "2.1" },
  ]
  const day = { account, day: "2026-11-07", seenAt: new Date("2026-11-08T13:00:00Z"), rows }
  const { refused } = await record(sql, [reported("sales", day)], () => NOW)
  expect(refused).toEqual([])
  const { totals } = await at("/portfolio?day=2026-11-07")
  const proceeds = [{ currency: "EUR", amount: "2.10" }]
  expect(totals.sales).toMatchObject([
    { platform: "ios", downloads: 5, proceeds },
    { platform: "android", downloads: 12, proceeds: null, estimatedSales: [{ amount: "12.01" }, { amount: "8" }] },
  ])
  const { sales, figures } = await at(`/apps/${appId}/today?day=2026-11-07`)
  expect(sales.map(({ source, why }: { source: string; why: string | null }) => [source, why === null])).toEqual([
    ["app-store-connect", true],
    ["google-play-console", false],
  ])
  expect(figures.filter(({ key }: { key: string }) => key === "proceeds")).toMatchObject([
    { platform: "ios", currency: "EUR", value: 2.1, source: "asc-sales" },
    { platform: "android", state: "not_measured" },
  ])
  const owner = await ownerOf(service, workspaceId)
  const revenue = /<dt>Revenue<\/dt><dd>([\s\S]*?)<\/dd>/.exec((await owner.open("/app")).text)?.[1] ?? ""
  expect(
    revenue
      .replace(/<[^>]+>/g, " ")
      .replace(/\s+/g, " ")
      .trim(),
  ).toBe("€2.10 App Store €12.01 + £8.00 Google Play, estimated sales")
})

test("a key without revenue:read and another workspace get no sales", async () => {
  const { at, appId, service, workspaceId } = await reportedScene()
  const poor = await service.key(workspaceId, { scopes: ["apps:read"] })
  const portfolio = await at("/portfolio?day=2026-11-07", poor)
  expect(["sales" in portfolio.apps[0], "sales" in portfolio.totals]).toEqual([false, false])
  expect("sales" in (await at(`/apps/${appId}/today?day=2026-11-07`, poor))).toBe(false)
  const other = await service.key(await service.workspace())
  expect("sales" in (await at("/portfolio?day=2026-11-07", other)).totals).toBe(false)
})

slow("the overview shows the estimated sales of seven days as estimates, in each currency", async () => {
  const { service, workspaceId } = await reportedScene()
  const owner = await ownerOf(service, workspaceId)
  const { status, text } = await owner.open("/app?order=revenue")
  const revenue = /<dt>Revenue<\/dt><dd>([\s\S]*?)<\/dd>/.exec(text)?.[1] ?? ""
  expect([
    status,
    revenue
      .replace(/<[^>]+>/g, "")
      .replace(/\s+/g, " ")
      .trim(),
  ]).toEqual([200, "€12.01 + £8.00 Google Play, estimated sales"])
  expect(text).not.toContain("not connected")
})
