import * as v from "valibot"
import { ofApp, operation } from "../../core/operation.ts"
import type { Sql } from "../../database/types.ts"
import { described, named } from "../../lib/schema.ts"
import { Count, Time } from "../../tracking/shapes.ts"
import { findService } from "../billing/witnesses.ts"
import {
  type AppAccount,
  daysUpTo,
  type MoneyAccounts,
  type OwnApp,
  type ReportQuery,
  readStanding,
} from "../read/app-accounts.ts"
import {
  readBundles,
  readPlayRestatements,
  readRestatements,
  readSales,
  type Sold,
  soldIn,
} from "../read/read-sales.ts"
import {
  findReportingAccounts,
  Money,
  ReportDay,
  ReportStore,
  reportFields,
  reportInput,
  reportQuery,
  requestedStore,
  requireReported,
  sourceShape,
} from "./account-shapes.ts"
import { BillingFigures, readBillingFigures } from "./billing-figures.ts"
import { EstimatedSales, readPlayRevenue } from "./play-revenue.ts"
import { Reconciliation, readReconciliation } from "./reconciliation.ts"

const Units = v.pipe(v.number(), v.integer())

const soldFields = {
  downloads: described(Units, "First downloads; on Google Play users who installed the app."),
  redownloads: described(Units, "Downloads by people who had the app before."),
  updates: Units,
  purchases: described(Units, "In-app purchases and non-renewing subscriptions, minus refunds."),
  subscriptions: described(Units, "Payments for auto-renewable subscriptions, new and renewed, minus refunds."),
  other: described(Units, "Units of all other product types."),
  refunds: described(Count, "Refunded units."),
  gross: described(v.array(Money), "Paid by customers, minus refunds, one amount per currency."),
  proceeds: described(
    v.array(Money),
    "Proceeds of the seller: Apple's estimate; on Google Play the settled sum after fees.",
  ),
}

const unknownUnits = Object.fromEntries(
  Object.entries(soldFields).map(([name, schema]) => [name, v.nullable(schema)]),
) as { [Name in keyof typeof soldFields]: v.NullableSchema<(typeof soldFields)[Name], undefined> }

const SoldShape = named("Sold", v.strictObject(unknownUnits), "Figures that the store does not report are null.")

const ProductSales = named(
  "ProductSales",
  v.strictObject({ product: described(v.string(), "SKU of the seller."), title: v.string(), ...unknownUnits }),
)

export const getRevenue = operation({
  id: "get_revenue",
  method: "GET",
  path: "/apps/:appId/revenue",
  group: "Revenue and ads",
  toolset: "revenue",
  summary: "Returns the app's sales by day, country and product.",
  description: "A day that is not reported is null, and one without sales is 0. Currencies are never mixed.",
  effect: "reads",
  scope: "revenue:read",
  price: 1,
  faults: ["not_connected", "not_measured", "unsupported_platform"],
  input: ofApp({ ...reportInput, platform: ReportStore }),
  narrow: { rows: ["days", "countries", "products"] },
  output: v.strictObject({
    ...reportFields,
    totals: described(SoldShape, "Sums over the reported days only; see reportedDays of the source."),
    days: described(
      v.array(
        v.strictObject({
          day: ReportDay,
          reported: described(v.boolean(), "False if unknown; every figure is then null."),
          ...unknownUnits,
        }),
      ),
      "Every requested day, oldest first.",
    ),
    countries: described(
      v.array(v.strictObject({ country: v.string(), ...unknownUnits })),
      "Storefronts with sales, most downloads first. A storefront not listed had none on the reported days.",
    ),
    products: described(v.array(ProductSales), "The app itself and its in-app products."),
    bundles: described(
      v.nullable(v.array(ProductSales)),
      "App bundles sold by the account, at most 50. No other figure includes them, because reports do not list " +
        "the apps of a bundle. Null for a key limited to some apps.",
    ),
    restatements: described(
      v.array(
        v.strictObject({
          day: ReportDay,
          seenAt: described(Time, "Time of the first report with the new figures."),
          report: described(
            v.optional(v.picklist(["play_installs", "play_earnings"])),
            "Google Play only: the report that was restated, either of installs or of settled units.",
          ),
          unitsBefore: described(Units, "All units of the app on that day, before the restatement."),
          units: described(Units, "All units after the restatement."),
        }),
      ),
      "Days that the console later restated, newest first, at most 50.",
    ),
    estimatedSales: EstimatedSales,
    billing: BillingFigures,
    reconciliation: described(
      v.nullable(Reconciliation),
      "The same purchases as reported by a billing service or the App Store, with the causes of differences. On " +
        "Google Play only settled days are compared. Null without such a source. Neither source's figures are " +
        "corrected: use the console for money and the service for recent events.",
    ),
  }),
}).run(async ({ app, platform, ...rest }, ctx) => {
  const { sql } = ctx
  const query = reportQuery(rest, ctx.now())
  const store = requestedStore(app, platform)
  const accounts = await findReportingAccounts(app, ctx, store)
  const { seller: account } = accounts
  const { workspaceId } = ctx.caller
  if (store === "android") return await revenueOnPlay(sql, accounts, { ...query, workspaceId, app, days: rest.days })
  const [standing, { total, days, countries, products }, bundles, restatements, billing, service] = await Promise.all([
    readStanding(sql, account.id, "sales", query),
    readSales(sql, account, query),
    ctx.caller.appList === null ? readBundles(sql, account.id, query) : null,
    readRestatements(sql, account, query),
    readBillingFigures(sql, accounts, query),
    findService(sql, accounts, { workspaceId, app, days: query, store: "app_store" }),
  ])
  requireReported(account, { ...standing, report: "sales" })
  const reported = new Set(standing.reported)
  return {
    dayZone: "America/Los_Angeles" as const,
    ...query,
    sources: [sourceShape(account, "sales", standing, rest.days)],
    totals: total,
    days: daysUpTo(query.to, rest.days).map((day) => {
      return reported.has(day)
        ? { day, reported: true, ...(days.get(day) ?? NOTHING) }
        : { day, reported: false, ...UNKNOWN }
    }),
    countries: [...countries].map(([country, sold]) => ({ country, ...sold })).sort(byDownloads),
    products,
    bundles,
    restatements: restatements.map((item) => ({ ...item, seenAt: item.seenAt.toISOString() })),
    billing,
    reconciliation: await readReconciliation(
      sql,
      { seller: account, service },
      { ...query, reported: standing.reported },
    ),
  }
})

async function revenueOnPlay(
  sql: Sql,
  accounts: MoneyAccounts & { seller: AppAccount },
  { days: count, workspaceId, app, ...query }: ReportQuery & { workspaceId: number; app: OwnApp; days: number },
) {
  const { seller: account } = accounts
  const [{ standings, ...figures }, restatements, billing, service] = await Promise.all([
    readPlayRevenue(sql, account, { ...query, days: count }),
    readPlayRestatements(sql, account, query),
    readBillingFigures(sql, accounts, query),
    findService(sql, accounts, { workspaceId, app, days: query, store: "play_store" }),
  ])
  requireReported({ ...account, expects: "a running server reads the files of a month within minutes" }, ...standings)
  // Only settled days are compared, because estimated orders may still fail.
  const { reported } = standings.find(({ report }) => report === "play_earnings")!
  return {
    dayZone: "America/Los_Angeles" as const,
    ...query,
    sources: standings.map((standing) => sourceShape(account, standing.report, standing, count)),
    ...figures,
    bundles: null,
    restatements: restatements.map((item) => ({ ...item, seenAt: item.seenAt.toISOString() })),
    billing,
    reconciliation: await readReconciliation(sql, { seller: account, service }, { ...query, reported }),
  }
}

const NOTHING = soldIn([])
const UNKNOWN = Object.fromEntries(Object.keys(soldFields).map((name) => [name, null])) as Record<keyof Sold, null>

function byDownloads(a: Sold & { country: string }, b: Sold & { country: string }): number {
  return b.downloads - a.downloads || (a.country < b.country ? -1 : 1)
}
