import { findReportNames, isConnected } from "../../../consoles/read/app-accounts.ts"
import { readDownloads } from "../../../consoles/read/read-downloads.ts"
import type { Context } from "../../../core/operation.ts"
import type { Sql } from "../../../database/types.ts"
import { addDays, daysInMonth } from "../../../lib/days.ts"
import { MONTH_DAYS } from "../../formulas/count-readings.ts"
import { ESTIMATE_FORMULA } from "../../formulas/downloads.ts"
import { type KnownApp, STORE_PRIORS } from "../../formulas/ratio.ts"
import { readStoredFigures, type StoredFigure } from "../../read/grades.ts"

export type OwnContext = Pick<Context, "sql" | "caller" | "visibleApps" | "now">

/** A stored estimate of an own app, and what its console reported for the same 30 days and storefronts. */
export interface SoldMonth {
  figure: StoredFigure
  /** Number of the 30 days that the console has reported. */
  reportedDays: number
  /** First-time downloads. Null if not all days are reported. */
  downloads: number | null
}

/** An own App Store app, with its name in the console's reports. */
export interface ReportedApp {
  iosId: string
  account: string
  sku: string
}

/**
 * Returns the own apps that a console reports on. Empty if no console is connected or the key may not read its reports.
 * Apps that the key may not see are missing.
 */
export async function findReportedApps(
  { sql, caller: { scopes, workspaceId }, visibleApps }: OwnContext,
  only: string | null = null,
): Promise<ReportedApp[]> {
  const kind = "app-store-connect"
  if (!scopes.includes("revenue:read") || !(await isConnected(sql, { workspaceId, kind }))) return []
  const apps = (await visibleApps()).filter(({ iosId }) => iosId !== null && (only === null || iosId === only))
  if (apps.length === 0) return []
  const names = await findReportNames(sql, { workspaceId, kind }, apps)
  return apps.flatMap(({ id, iosId }) => {
    const name = names.get(id)
    return name ? [{ iosId: iosId!, account: name.id, sku: name.sku }] : []
  })
}

/** Returns the last months of own apps, by App Store id, newest first. */
export async function readSoldMonths(
  sql: Sql,
  apps: readonly ReportedApp[],
  months: number,
): Promise<Map<string, SoldMonth[]>> {
  if (apps.length === 0) return new Map()
  const ids = apps.map(({ iosId }) => iosId)
  const figures = await readStoredFigures(sql, ids, months)
  const wanted = apps.flatMap(({ iosId, account, sku }) =>
    (figures.get(iosId) ?? []).map((figure) => ({ iosId, figure, account, sku, ...daysOf(figure) })),
  )
  const reported = await readDownloads(
    sql,
    wanted.map(({ account, sku, from, to }) => ({ account, sku, from, to })),
  )
  const sold = wanted.map(({ iosId, figure }, at) => {
    const { reportedDays, countries } = reported[at]!
    const isWhole = reportedDays === MONTH_DAYS
    return { iosId, figure, reportedDays, downloads: isWhole ? downloadsIn(countries, figure) : null }
  })
  const none = ids.map((id) => [id, [] as SoldMonth[]] as const)
  return new Map([...none, ...Map.groupBy(sold, ({ iosId }) => iosId)])
}

function daysOf({ month }: StoredFigure) {
  const to = addDays(month, daysInMonth(month) - 1)
  return { from: addDays(to, 1 - MONTH_DAYS), to }
}

/** A reported day without a row for a storefront had no downloads there. */
function downloadsIn(countries: Readonly<Record<string, number>>, { storefronts }: StoredFigure): number {
  return storefronts.reduce((sum, storefront) => sum + (countries[storefront] ?? 0), 0)
}

/** Returns downloads and gained ratings of the completely reported months. Null if either is zero. */
export function knownApp(months: readonly SoldMonth[]): KnownApp | null {
  const whole = months.filter(({ downloads, figure }) => downloads !== null && figure.formula === ESTIMATE_FORMULA)
  const downloads = whole.reduce((sum, month) => sum + month.downloads!, 0)
  // an estimate is gained ratings times the prior; a month with only an upper bound gained none
  const ratings = whole.reduce((sum, { figure }) => sum + (figure.value ?? 0), 0) / 10 ** STORE_PRIORS.ios.mean
  return downloads > 0 && ratings > 0 ? { genre: whole[0]!.figure.genre, downloads, ratings } : null
}
