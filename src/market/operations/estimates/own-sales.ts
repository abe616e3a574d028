import { findReportNames, isConnected, type OwnApp, SELLER_KINDS } from "../../../consoles/read/app-accounts.ts"
import { readDownloads, readInstalls } from "../../../consoles/read/read-downloads.ts"
import type { Platform } from "../../../core/observation/provenance.ts"
import type { Context } from "../../../core/operation.ts"
import type { Sql } from "../../../database/types.ts"
import { addDays, daysInMonth } from "../../../lib/days.ts"
import { MONTH_DAYS } from "../../formulas/count-readings.ts"
import { ESTIMATE_FORMULA } from "../../formulas/downloads.ts"
import { type KnownApp, STORE_PRIORS } from "../../formulas/ratio.ts"
import { readStoredFigures, type StoredFigure } from "../../read/grades.ts"

export type OwnContext = Pick<Context, "sql" | "caller" | "visibleApps" | "now">

/**
 * A stored estimate of one of the workspace's apps, and what its console reported for the same 30 days and storefronts.
 */
export interface SoldMonth {
  figure: StoredFigure
  /** Number of the 30 days that the console has reported. */
  reportedDays: number
  /** First-time downloads. Null if a day is not reported, or if Google withheld the count of a day. */
  downloads: number | null
}

/** One of the workspace's apps in a store, with the identifier that the console's reports use for it. */
export interface ReportedApp {
  platform: Platform
  storeId: string
  account: string
  /** The SKU of an App Store app, or the package name of an Android app. */
  sku: string
}

/**
 * Returns the workspace's apps of a store that a console reports on. Empty if no console is connected or the key may
 * not read its reports. Apps that the key may not see are missing.
 */
export async function findReportedApps(
  { sql, caller: { scopes, workspaceId }, visibleApps }: OwnContext,
  platform: Platform,
  only: string | null = null,
): Promise<ReportedApp[]> {
  const kind = SELLER_KINDS[platform]
  if (!scopes.includes("revenue:read") || !(await isConnected(sql, { workspaceId, kind }))) return []
  const idOf = ({ iosId, androidPkg }: OwnApp) => (platform === "ios" ? iosId : androidPkg)
  const apps = (await visibleApps()).filter((app) => idOf(app) !== null && (only === null || idOf(app) === only))
  if (apps.length === 0) return []
  const names = await findReportNames(sql, { workspaceId, kind }, apps)
  return apps.flatMap((app) => {
    const name = names.get(app.id)
    return name ? [{ platform, storeId: idOf(app)!, account: name.id, sku: name.sku }] : []
  })
}

/** Returns the last months of the workspace's apps of one store, by the store's id, newest first. */
export async function readSoldMonths(
  sql: Sql,
  apps: readonly ReportedApp[],
  months: number,
): Promise<Map<string, SoldMonth[]>> {
  const [first] = apps
  if (first === undefined) return new Map()
  const { platform } = first
  const ids = apps.map(({ storeId }) => storeId)
  const figures = await readStoredFigures(sql, { platform, ids }, months)
  const wanted = apps.flatMap((app) => (figures.get(app.storeId) ?? []).map((figure) => ({ ...app, figure })))
  const counted = platform === "ios" ? await countDownloads(sql, wanted) : await countInstalls(sql, wanted)
  const sold = wanted.map(({ storeId, figure }, at) => {
    const { reportedDays, downloads } = counted[at]!
    return { storeId, figure, reportedDays, downloads: reportedDays === MONTH_DAYS ? downloads : null }
  })
  const none = ids.map((id) => [id, [] as SoldMonth[]] as const)
  return new Map([...none, ...Map.groupBy(sold, ({ storeId }) => storeId)])
}

interface WantedMonth extends ReportedApp {
  figure: StoredFigure
}

async function countDownloads(sql: Sql, months: readonly WantedMonth[]) {
  const spans = months.map(({ account, sku, figure }) => ({ account, sku, ...daysOf(figure) }))
  const reported = await readDownloads(sql, spans)
  return reported.map(({ reportedDays, countries }, at) => {
    return { reportedDays, downloads: downloadsIn(countries, months[at]!.figure) }
  })
}

/** An Android app's figure covers the whole world, because Google Play shows its worldwide ratings everywhere. */
async function countInstalls(sql: Sql, months: readonly WantedMonth[]) {
  const spans = months.map(({ account, sku, figure }) => ({ account, androidPkg: sku, ...daysOf(figure) }))
  return (await readInstalls(sql, spans)).map(({ reportedDays, installs }) => ({ reportedDays, downloads: installs }))
}

function daysOf({ month }: StoredFigure) {
  const to = addDays(month, daysInMonth(month) - 1)
  return { from: addDays(to, 1 - MONTH_DAYS), to }
}

/** A reported day without a row for a storefront had no downloads there. */
function downloadsIn(countries: Readonly<Record<string, number>>, { storefronts }: StoredFigure): number {
  return storefronts.reduce((sum, storefront) => sum + (countries[storefront] ?? 0), 0)
}

/** Returns an App Store app's downloads and gained ratings in completely reported months. Null if either is zero. */
export function knownApp(months: readonly SoldMonth[]): KnownApp | null {
  const whole = months.filter(({ downloads, figure }) => downloads !== null && figure.formula === ESTIMATE_FORMULA)
  const downloads = whole.reduce((sum, month) => sum + month.downloads!, 0)
  // an estimate is the gained ratings times the prior; a month with only an upper bound gained no ratings
  const ratings = whole.reduce((sum, { figure }) => sum + (figure.value ?? 0), 0) / 10 ** STORE_PRIORS.ios.mean
  return downloads > 0 && ratings > 0 ? { genre: whole[0]!.figure.genre, downloads, ratings } : null
}
