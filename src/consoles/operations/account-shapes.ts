import * as v from "valibot"
import { RangeDay } from "../../core/day-range.ts"
import type { Context } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { addDays, earlier } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { Country, wholeNumber } from "../../lib/fields.ts"
import { described, named } from "../../lib/schema.ts"
import { ANALYTICS_REPORTS, type AnalyticsReport, REPORTS, type Report } from "../../lib/upstreams.ts"
import { Count, Time } from "../../tracking/shapes.ts"
import { pacificDay, REPORT_ZONE } from "../pacific.ts"
import type { ReportQuery } from "../read/app-accounts.ts"
import {
  type AppAccount,
  findAppAccount,
  findMoneyAccounts,
  isConnected,
  type MoneyAccounts,
  type ReportSpan,
  type ReportStanding,
} from "../read/app-accounts.ts"
import { ANSWERED_STATES } from "../state.ts"
import { reportTroubleText, troubledState } from "../troubles.ts"

/** The console offers daily reports for this long. */
const MAX_DAYS = 365
const DAYS = 30

export const ReportDay = v.pipe(v.string(), v.isoDate(), v.description("A day in dayZone, YYYY-MM-DD."))

export const reportInput = {
  country: described(v.optional(Country), "Two-letter storefront code; all when left out."),
  days: v.optional(wholeNumber(1, MAX_DAYS, "So many days up to the last.", "bad_days"), DAYS),
  to: RangeDay("Last day, of Pacific time; yesterday when left out."),
}

export const Money = named(
  "Money",
  v.strictObject({
    amount: described(v.pipe(v.string(), v.regex(/^-?\d+(\.\d+)?$/)), "Decimal."),
    currency: described(
      v.pipe(v.string(), v.regex(/^[A-Z]{3}$/)),
      "ISO 4217. Nothing is converted or added across currencies.",
    ),
  }),
)

export const AccountSource = named(
  "AccountSource",
  v.strictObject({
    id: described(v.string(), "The connected account, as `appmeter account list` names it."),
    kind: v.picklist(["app-store-connect"]),
    report: described(v.picklist([...REPORTS, ...ANALYTICS_REPORTS]), "Which of its reports."),
    state: described(
      v.picklist(ANSWERED_STATES),
      "limited: a right is missing; agreement_required: the account holder must sign; revoked: the key is refused; unavailable: the last question failed, and is asked again; demo: every figure is invented. What was read before stays and is dated by asOf.",
    ),
    why: described(
      v.nullable(v.string()),
      "Who must do what; or which days failed, or have rows that cannot be read, and why. Null if all is well.",
    ),
    asOf: described(v.nullable(Time), "When a day of those was last read; null = none was."),
    reportedDays: described(Count, "Days that it said, be it that there was nothing."),
    days: described(Count, "Days asked for."),
    lateDays: described(v.array(ReportDay), "Not published yet: unknown, not zero."),
  }),
)

export const reportFields = {
  dayZone: described(v.literal(REPORT_ZONE), "The time zone whose days these are."),
  from: described(ReportDay, "First day asked for."),
  to: described(ReportDay, "Last day asked for."),
  country: described(v.nullable(v.string()), "As asked; null = all storefronts."),
  sources: described(v.array(AccountSource), "Where the figures come from, and how far they were read."),
}

/** The requested days. */
export function reportQuery(
  { days, to, country }: { days: number; to?: string; country?: string },
  now: Date,
): ReportQuery {
  const yesterday = addDays(pacificDay(now), -1)
  const last = earlier(to ?? yesterday, yesterday)
  return { from: addDays(last, 1 - days), to: last, country: country?.toLowerCase() ?? null }
}

/** Returns the account that provides the app's figures. Throws unsupported_platform, not_connected. */
export async function findReportingAccount(
  app: TrackedApp,
  { sql, caller: { workspaceId } }: Pick<Context, "sql" | "caller">,
): Promise<AppAccount> {
  checkIos(app)
  const account = await findAppAccount(sql, { workspaceId, kind: "app-store-connect" }, app)
  return account ?? (await refuse(app, sql, workspaceId))
}

/** Like findReportingAccount, with the other accounts that report the app's money. */
export async function findReportingAccounts(
  app: TrackedApp,
  { sql, caller: { workspaceId } }: Pick<Context, "sql" | "caller">,
): Promise<MoneyAccounts & { seller: AppAccount }> {
  checkIos(app)
  const accounts = await findMoneyAccounts(sql, workspaceId, app)
  return { ...accounts, seller: accounts.seller ?? (await refuse(app, sql, workspaceId)) }
}

function checkIos({ iosId }: TrackedApp): void {
  if (iosId !== null) return
  throw new Fault("unsupported_platform", {
    detail: "The app is on Google Play alone; only App Store Connect can be connected.",
  })
}

async function refuse({ iosId }: TrackedApp, sql: Sql, workspaceId: number): Promise<never> {
  const detail = (await isConnected(sql, { workspaceId, kind: "app-store-connect" }))
    ? `The connected account has no app ${iosId}; see: appmeter account list, appmeter account map.`
    : "Connect the seller's console with: appmeter account add app-store-connect."
  throw new Fault("not_connected", { detail })
}

/** Throws not_measured when the account has no data for the request yet. */
export function checkKnown(
  {
    createdAt,
    state,
    why,
    denied,
    expects = "a running server reads yesterday's report within minutes",
  }: AppAccount & {
    expects?: string
  },
  ...standings: readonly (ReportStanding & { report: Report | AnalyticsReport })[]
): void {
  if (standings.some(({ isKnown }) => isKnown)) return
  const since = `Connected since ${createdAt.toISOString().slice(0, 16)}Z`
  if (denied !== null)
    throw new Fault("not_measured", { detail: `${since}, but the key may not read reports: it ${denied}.` })
  if (why !== null) throw new Fault("not_measured", { detail: `${since}; ${state}: ${why}.` })
  const troubles = standings.flatMap((one) => reportTroubleText(one.report, one.troubles) ?? [])
  if (troubles.length > 0)
    throw new Fault("not_measured", { detail: `${since}, but not read: ${troubles.join("; ")}.` })
  throw new Fault("not_measured", { detail: `${since}; ${expects}.` })
}

export function sourceShape(
  { id, state, why }: AppAccount,
  report: Report | AnalyticsReport,
  { late, asOf, troubles, ...said }: Pick<ReportStanding, "reported" | "late" | "asOf" | "troubles"> | ReportSpan,
  days: number,
): v.InferOutput<typeof AccountSource> {
  const reportedDays = "reported" in said ? said.reported.length : said.reportedDays
  const standing = { asOf: asOf?.toISOString() ?? null, reportedDays, days, lateDays: late }
  return {
    id,
    kind: "app-store-connect",
    report,
    state: troubledState(state, troubles, { isRead: reportedDays > 0 }),
    why: why ?? reportTroubleText(report, troubles),
    ...standing,
  }
}
