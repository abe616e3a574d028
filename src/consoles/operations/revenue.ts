import * as v from "valibot"
import { ofApp, operation } from "../../core/operation.ts"
import { described, named } from "../../lib/schema.ts"
import { Count, Time } from "../../tracking/shapes.ts"
import { findService } from "../billing/witnesses.ts"
import { daysUpTo, readStanding } from "../read/app-accounts.ts"
import { readBundles, readRestatements, readSales, type Sold, soldIn } from "../read/read-sales.ts"
import {
  checkKnown,
  findReportingAccounts,
  Money,
  ReportDay,
  reportFields,
  reportInput,
  reportQuery,
  sourceShape,
} from "./account-shapes.ts"
import { BillingFigures, readBillingFigures } from "./billing-figures.ts"
import { Reconciliation, readReconciliation } from "./reconciliation.ts"

const Units = v.pipe(v.number(), v.integer())

const soldFields = {
  downloads: described(Units, "First downloads."),
  redownloads: described(Units, "By people who had it before."),
  updates: Units,
  purchases: described(Units, "In-app purchases and non-renewing subscriptions, less refunds."),
  subscriptions: described(Units, "Auto-renewable subscriptions paid, begun and renewed, less refunds."),
  other: described(Units, "Units of types that count as none of these."),
  refunds: described(Count, "Units given back."),
  gross: described(v.array(Money), "What customers paid, less refunds, each currency by itself."),
  proceeds: described(v.array(Money), "What the seller gets, as the report estimates; Apple settles it later."),
}

const SoldShape = named("Sold", v.strictObject(soldFields))

const ProductSales = named(
  "ProductSales",
  v.strictObject({ product: described(v.string(), "The seller's SKU."), title: v.string(), ...soldFields }),
)

const unknownUnits = Object.fromEntries(
  Object.entries(soldFields).map(([name, schema]) => [name, v.nullable(schema)]),
) as { [Name in keyof typeof soldFields]: v.NullableSchema<(typeof soldFields)[Name], undefined> }

export const getRevenue = operation({
  id: "get_revenue",
  method: "GET",
  path: "/apps/:appId/revenue",
  group: "Revenue and ads",
  toolset: "revenue",
  summary: "What the app sold, by day, country and product.",
  description:
    "From the seller's console. A day not reported is null, one without sales 0. Money stays in its currency.",
  effect: "reads",
  scope: "revenue:read",
  price: 1,
  faults: ["not_connected", "not_measured", "unsupported_platform"],
  input: ofApp(reportInput),
  narrow: { rows: ["days", "countries", "products"] },
  output: v.strictObject({
    ...reportFields,
    totals: described(SoldShape, "Over the reported days alone: see reportedDays of the source."),
    days: described(
      v.array(
        v.strictObject({
          day: ReportDay,
          reported: described(v.boolean(), "False = not known: every figure is null."),
          ...unknownUnits,
        }),
      ),
      "Every day asked for, oldest first.",
    ),
    countries: described(
      v.array(v.strictObject({ country: v.string(), ...soldFields })),
      "Storefronts with any, the most downloads first. One that is not listed had none on the reported days.",
    ),
    products: described(v.array(ProductSales), "The app itself and what is sold within it."),
    bundles: described(
      v.nullable(v.array(ProductSales)),
      "App bundles that the account sold, at most 50. They are in no other figure: reports do not list a bundle's apps. Null for a key limited to some apps.",
    ),
    restatements: described(
      v.array(
        v.strictObject({
          day: ReportDay,
          seenAt: described(Time, "When the report first said otherwise."),
          unitsBefore: described(Units, "All the app's units of that day, as said before."),
          units: described(Units, "As said since."),
        }),
      ),
      "Days whose figures were changed by the console afterwards, newest first, at most 50.",
    ),
    billing: BillingFigures,
    reconciliation: described(
      v.nullable(Reconciliation),
      "The same purchases as a billing service or the App Store told them, and why the two differ. Null = nobody tells of them. Neither is corrected: the console counts for money, the service for what just happened.",
    ),
  }),
}).run(async ({ app, ...asked }, ctx) => {
  const { sql } = ctx
  const query = reportQuery(asked, ctx.now())
  const accounts = await findReportingAccounts(app, ctx)
  const { seller: account } = accounts
  const [standing, { total, days, countries, products }, bundles, restatements, billing, service] = await Promise.all([
    readStanding(sql, account.id, "sales", query),
    readSales(sql, account, query),
    ctx.caller.appList === null ? readBundles(sql, account.id, query) : null,
    readRestatements(sql, account, query),
    readBillingFigures(sql, accounts, query),
    findService(sql, accounts, { workspaceId: ctx.caller.workspaceId, app, days: query }),
  ])
  checkKnown(account, { ...standing, report: "sales" })
  const reported = new Set(standing.reported)
  return {
    dayZone: "America/Los_Angeles" as const,
    ...query,
    sources: [sourceShape(account, "sales", standing, asked.days)],
    totals: total,
    days: daysUpTo(query.to, asked.days).map((day) => {
      return reported.has(day)
        ? { day, reported: true, ...(days.get(day) ?? NOTHING) }
        : { day, reported: false, ...UNKNOWN }
    }),
    countries: [...countries].map(([country, sold]) => ({ country, ...sold })).sort(byDownloads),
    products,
    bundles,
    restatements: restatements.map((one) => ({ ...one, seenAt: one.seenAt.toISOString() })),
    billing,
    reconciliation: await readReconciliation(
      sql,
      { seller: account, service },
      { ...query, reported: standing.reported },
    ),
  }
})

const NOTHING = soldIn([])
const UNKNOWN = Object.fromEntries(Object.keys(soldFields).map((name) => [name, null])) as Record<keyof Sold, null>

function byDownloads(a: Sold & { country: string }, b: Sold & { country: string }): number {
  return b.downloads - a.downloads || (a.country < b.country ? -1 : 1)
}
