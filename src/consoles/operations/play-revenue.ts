import * as v from "valibot"
import type { Sql } from "../../database/types.ts"
import { addDays, later } from "../../lib/days.ts"
import { described, named } from "../../lib/schema.ts"
import { Count } from "../../tracking/shapes.ts"
import { type AppAccount, daysUpTo, type ReportQuery } from "../read/app-accounts.ts"
import {
  type EstimatedSums,
  type PlayStanding,
  readEstimatedSales,
  readPlayInstalls,
  readPlayStanding,
} from "../read/read-play.ts"
import { readSales, type Sold, soldIn } from "../read/read-sales.ts"
import { Money, ReportDay } from "./account-shapes.ts"

const estimates = {
  purchases: described(v.pipe(v.number(), v.integer()), "Sold minus refunded."),
  subscriptions: v.pipe(v.number(), v.integer()),
  refunds: Count,
  gross: described(v.array(Money), "With tax, before fees."),
}

/** Sales that Google has not settled yet. */
export const EstimatedSales = described(
  v.optional(
    v.nullable(
      named(
        "EstimatedSales",
        v.strictObject({
          from: described(ReportDay, "The day after the last settled day."),
          to: ReportDay,
          totals: v.strictObject(estimates),
          days: described(
            v.array(v.strictObject({ day: ReportDay, ...estimates })),
            "UTC days with a report, oldest first.",
          ),
        }),
      ),
    ),
  ),
  "Google Play only: estimated sales after the last settled day, whose proceeds are unknown. Null if there are none.",
)

/** Like Sold, but a figure is null if Google Play never reports it, or did not report it on that day. */
type PlaySold = { [Name in keyof Sold]: Sold[Name] | null }

const UNKNOWN_MONEY = {
  purchases: null,
  subscriptions: null,
  other: null,
  refunds: null,
  gross: null,
  proceeds: null,
}

/** Returns the app's installs, settled sales and estimated sales on Google Play. */
export async function readPlayRevenue(sql: Sql, account: AppAccount, query: ReportQuery & { days: number }) {
  const country = query.country !== null
  const installsReport = country ? ("play_installs_country" as const) : ("play_installs" as const)
  const reports = [
    ...new Set([installsReport, "play_installs_country" as const]),
    "play_earnings",
    "play_sales",
  ] as const
  const [installs, sales, ...standings] = await Promise.all([
    readPlayInstalls(sql, account, query),
    readSales(sql, account, query),
    ...reports.map((report) => readPlayStanding(sql, account, report, query)),
  ])
  const standingOf = (report: PlayStanding["report"]) => standings.find((one) => one.report === report)!
  const earned = new Set(standingOf("play_earnings").reported)
  const installed = new Set(standingOf(installsReport).reported)
  const byCountry = Map.groupBy(installs.countries, (row) => row.country)
  const daily = country ? installsByDay(installs.countries) : installs.days
  // The file of countries has no row for a country without an install.
  const installsOf = (day: string) =>
    installed.has(day) ? (daily.has(day) ? daily.get(day)! : country ? 0 : null) : null
  const days = daysUpTo(query.to, query.days)
  const moneyOf = (sold: Sold | undefined, isReported: boolean) =>
    isReported ? withoutDownloads(sold ?? NOTHING) : UNKNOWN_MONEY
  const counted = days.filter((day) => installed.has(day)).map(installsOf)
  const isCounted = standingOf("play_installs_country").reported.length > 0
  const countries = [...new Set([...byCountry.keys(), ...sales.countries.keys()])].map((name) => ({
    country: name,
    ...soldWith(
      isCounted ? summed((byCountry.get(name) ?? []).map((row) => row.installs)) : null,
      moneyOf(sales.countries.get(name), earned.size > 0),
    ),
  }))
  return {
    standings,
    totals: soldWith(counted.length > 0 ? summed(counted) : null, moneyOf(sales.total, earned.size > 0)),
    days: days.map((day) => ({
      day,
      reported: earned.has(day) || installed.has(day),
      ...soldWith(installsOf(day), moneyOf(sales.days.get(day), earned.has(day))),
    })),
    countries: countries.sort(byInstalls),
    products: sales.products.map(({ product, title, ...sold }) => ({
      product,
      title,
      ...soldWith(null, withoutDownloads(sold)),
    })),
    estimatedSales: await estimatedAfter(sql, account, { query, standings }),
  }
}

const NOTHING = soldIn([])

function withoutDownloads({ purchases, subscriptions, other, refunds, gross, proceeds }: Sold) {
  return { purchases, subscriptions, other, refunds, gross, proceeds }
}

type PlayMoney = ReturnType<typeof withoutDownloads> | typeof UNKNOWN_MONEY

function soldWith(downloads: number | null, money: PlayMoney): PlaySold {
  return { downloads, redownloads: null, updates: null, ...money }
}

/**
 * Returns the sum of the counts. Null if one of them is withheld, because the true sum is then larger than the sum of
 * the remaining counts.
 */
function summed(counts: readonly (number | null)[]): number | null {
  return counts.reduce<number | null>((sum, count) => (sum === null || count === null ? null : sum + count), 0)
}

function installsByDay(rows: readonly { day: string; installs: number | null }[]): Map<string, number | null> {
  const days = [...Map.groupBy(rows, ({ day }) => day)]
  return new Map(days.map(([day, of]) => [day, summed(of.map(({ installs }) => installs))]))
}

function byInstalls(a: PlaySold & { country: string }, b: PlaySold & { country: string }): number {
  return (b.downloads ?? -1) - (a.downloads ?? -1) || (a.country < b.country ? -1 : 1)
}

/** Returns the estimated sales. Days that are settled are left out, because the same orders would count twice. */
async function estimatedAfter(
  sql: Sql,
  account: AppAccount,
  { query, standings }: { query: ReportQuery; standings: readonly PlayStanding[] },
) {
  const reportedDays = (report: string) => standings.find((one) => one.report === report)!.reported
  const settled = reportedDays("play_earnings").at(-1)
  const from = settled === undefined ? query.from : later(query.from, addDays(settled, 1))
  const days = reportedDays("play_sales").filter((day) => day >= from)
  if (days.length === 0) return null
  const found = await readEstimatedSales(sql, account, { ...query, from })
  return {
    from,
    to: query.to,
    totals: found.total,
    days: days.map((day) => ({ day, ...(found.days.get(day) ?? NO_ORDERS) })),
  }
}

const NO_ORDERS: EstimatedSums = { purchases: 0, subscriptions: 0, refunds: 0, gross: [] }
