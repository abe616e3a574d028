import * as v from "valibot"
import { RangeDay } from "../../core/day-range.ts"
import type { Platform } from "../../core/observation/provenance.ts"
import type { Context } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { addDays, earlier } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { Country, wholeNumber } from "../../lib/fields.ts"
import { coded, described, named } from "../../lib/schema.ts"
import {
  ANALYTICS_REPORTS,
  type AnalyticsReport,
  PLAY_REPORT_NAMES,
  type PlayReport,
  REPORTS,
  type Report,
} from "../../lib/upstreams.ts"
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
  SELLER_KINDS,
  type SellerKind,
} from "../read/app-accounts.ts"
import { ANSWERED_STATES } from "../state.ts"
import { reportTroubleText, troubledState } from "../troubles.ts"

/** Number of days for which the console offers daily reports. */
const MAX_DAYS = 365
const DAYS = 30

export const ReportDay = v.pipe(v.string(), v.isoDate(), v.description("A day in dayZone, YYYY-MM-DD."))

export const reportInput = {
  country: described(v.optional(Country), "Two-letter storefront code. Default: all."),
  days: v.optional(wholeNumber(1, MAX_DAYS, "Days up to the last.", "bad_days"), DAYS),
  to: RangeDay("Last day, in Pacific time. Default: yesterday."),
}

export const Money = named(
  "Money",
  v.strictObject({
    amount: described(v.pipe(v.string(), v.regex(/^-?\d+(\.\d+)?$/)), "Decimal number."),
    currency: described(
      v.pipe(v.string(), v.regex(/^[A-Z]{3}$/)),
      "ISO 4217 code. Amounts are never converted or summed across currencies.",
    ),
  }),
)

export const AccountSource = named(
  "AccountSource",
  v.strictObject({
    id: described(v.string(), "The connected account, as in `appmeter account list`."),
    kind: v.picklist(Object.values(SELLER_KINDS)),
    report: described(
      v.picklist([...REPORTS, ...ANALYTICS_REPORTS, ...PLAY_REPORT_NAMES]),
      "The report that the figures are from.",
    ),
    file: described(
      v.optional(v.nullable(v.string())),
      "Google Play only: the latest file with one of these days, then # and the generation. Null if there is " +
        "none.",
    ),
    state: described(
      v.picklist(ANSWERED_STATES),
      "limited: a permission is missing; agreement_required: the account holder must accept an agreement; " +
        "revoked: the key is refused; unavailable: the latest request failed and is retried; demo: invented sample " +
        "data. asOf dates earlier readings.",
    ),
    why: described(
      v.nullable(v.string()),
      "Who must do what, or which days failed or have unreadable rows, and why. Null if there is no problem.",
    ),
    asOf: described(v.nullable(Time), "Time of the latest reading of these days. Null if none was read."),
    reportedDays: described(Count, "Days that were reported, with or without sales."),
    days: described(Count, "Requested days."),
    lateDays: described(v.array(ReportDay), "Days not published yet: unknown, not zero."),
  }),
)

export const reportFields = {
  dayZone: described(v.literal(REPORT_ZONE), "Time zone of the days."),
  from: described(ReportDay, "First requested day."),
  to: described(ReportDay, "Last requested day."),
  country: described(v.nullable(v.string()), "The requested storefront. Null for all."),
  sources: described(v.array(AccountSource), "Sources of the figures and how completely they were read."),
}

/** The store whose console provides the figures. */
export const ReportStore = v.optional(
  coded(
    v.pipe(v.picklist(["ios", "android"]), v.description("Default: ios if the app is there.")),
    "invalid_arguments",
  ),
)

export function requestedStore({ iosId }: TrackedApp, platform: Platform | undefined): Platform {
  return platform ?? (iosId === null ? "android" : "ios")
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

/** Returns the account that provides the app's figures. Throws unsupported_platform or not_connected. */
export async function findReportingAccount(
  app: TrackedApp,
  { sql, caller: { workspaceId } }: Pick<Context, "sql" | "caller">,
  store: Platform = "ios",
): Promise<AppAccount> {
  checkStore(app, store)
  const account = await findAppAccount(sql, { workspaceId, kind: SELLER_KINDS[store] }, app)
  return account ?? (await refuse(app, sql, { workspaceId, store }))
}

/** Like findReportingAccount, but also returns the other accounts that report the app's money. */
export async function findReportingAccounts(
  app: TrackedApp,
  { sql, caller: { workspaceId } }: Pick<Context, "sql" | "caller">,
  store: Platform = "ios",
): Promise<MoneyAccounts & { seller: AppAccount }> {
  checkStore(app, store)
  const accounts = await findMoneyAccounts(sql, workspaceId, app, store)
  return { ...accounts, seller: accounts.seller ?? (await refuse(app, sql, { workspaceId, store })) }
}

function checkStore({ iosId, androidPkg }: TrackedApp, store: Platform): void {
  if (store === "ios" && iosId === null)
    throw new Fault("unsupported_platform", {
      detail: "The app is only on Google Play, and Google Play Console does not report this.",
    })
  if (store === "android" && androidPkg === null)
    throw new Fault("unsupported_platform", { field: "platform", detail: "The app is only on the App Store: use ios." })
}

/**
 * Throws not_connected, or unsupported_platform. For an app on Google Play the platform counts as unsupported until its
 * console is connected, as in reply_review.
 */
async function refuse(
  { iosId, androidPkg }: TrackedApp,
  sql: Sql,
  { workspaceId, store }: { workspaceId: number; store: Platform },
): Promise<never> {
  const kind = SELLER_KINDS[store]
  const connecting = `Connect the seller's console with: appmeter account add ${kind}.`
  if (await isConnected(sql, { workspaceId, kind }))
    throw new Fault("not_connected", {
      detail:
        `The connected account does not have app ${store === "ios" ? iosId : androidPkg}. ` +
        "See: appmeter account list, appmeter account map.",
    })
  throw new Fault(store === "android" ? "unsupported_platform" : "not_connected", { detail: connecting })
}

/** Throws not_measured when the account has no data for the request yet. */
export function requireReported(
  {
    createdAt,
    state,
    why,
    denied,
    expects = "a running server reads yesterday's report within minutes",
  }: AppAccount & {
    expects?: string
  },
  ...standings: readonly (ReportStanding & { report: Report | AnalyticsReport | PlayReport })[]
): void {
  if (standings.some(({ isKnown }) => isKnown)) return
  const since = `Connected since ${createdAt.toISOString().slice(0, 16)}Z`
  if (denied !== null)
    throw new Fault("not_measured", { detail: `${since}, but its key cannot read reports: it ${denied}.` })
  if (why !== null) throw new Fault("not_measured", { detail: `${since}; ${state}: ${why}.` })
  const troubles = standings.flatMap((standing) => reportTroubleText(standing.report, standing.troubles) ?? [])
  if (troubles.length > 0)
    throw new Fault("not_measured", { detail: `${since}, but the data was not read: ${troubles.join("; ")}.` })
  throw new Fault("not_measured", { detail: `${since}; ${expects}.` })
}

export function sourceShape(
  { id, kind, state, why }: AppAccount,
  report: Report | AnalyticsReport | PlayReport,
  {
    late,
    asOf,
    troubles,
    ...rest
  }: Pick<ReportStanding, "reported" | "late" | "asOf" | "troubles" | "file"> | ReportSpan,
  days: number,
): v.InferOutput<typeof AccountSource> {
  const reportedDays = "reported" in rest ? rest.reported.length : rest.reportedDays
  const standing = { asOf: asOf?.toISOString() ?? null, reportedDays, days, lateDays: late }
  return {
    id,
    kind: kind as SellerKind,
    report,
    ...("file" in rest && { file: rest.file }),
    state: troubledState(state, troubles, { isRead: reportedDays > 0 }),
    why: why ?? reportTroubleText(report, troubles),
    ...standing,
  }
}
