import { readUsdProceeds } from "../../../consoles/read/read-proceeds.ts"
import type { Sql } from "../../../database/types.ts"
import { addDays, dayOf } from "../../../lib/days.ts"
import { valueAt } from "../../../lib/objects.ts"
import { type DownloadsPerRating, downloadsPerRating, type KnownApp } from "../../formulas/ratio.ts"
import { grossingTimes } from "../../formulas/revenue.ts"
import { readGrossingPlaces } from "../../read/grossing-places.ts"
import type { ReportedApp } from "./own-sales.ts"
import { findReportedApps, knownApp, type OwnContext, readSoldMonths } from "./own-sales.ts"

/** Number of past months used to compute downloads per rating from the workspace's sales. */
const MONTHS = 3

/** Corrections to estimates, derived from a workspace's own sales. */
export interface OwnLevel {
  /** The workspace's apps with known downloads per rating, by store_app id. Empty if there are none. */
  knownApps: ReadonlyMap<number, KnownApp>
  /** Returns the ratio for an app (a store_app id) of a genre. */
  ratioOf(app: number, genre: string | null): DownloadsPerRating
  /** Factor between the workspace's revenue and the published revenue at the same ranks. Null if unknown. */
  timesOfPlaces: number | null
}

/** Returns the corrections. Null if the workspace's sales yield none, so that the stored estimates apply. */
export async function readOwnLevel(ctx: OwnContext): Promise<OwnLevel | null> {
  const reportedApps = await findReportedApps(ctx, "ios")
  if (reportedApps.length === 0) return null
  const ratios = new Map<number, KnownApp>()
  for (const months of (await readSoldMonths(ctx.sql, reportedApps, MONTHS)).values()) {
    const sold = knownApp(months)
    if (sold) ratios.set(months[0]!.figure.app, sold)
  }
  const timesOfPlaces = await readGrossingTimes(ctx.sql, reportedApps, ctx.now())
  if (ratios.size === 0 && timesOfPlaces === null) return null
  const all = [...ratios.values()]
  const ratioOf = (app: number, genre: string | null) =>
    downloadsPerRating("ios", { ownFigures: ratios.get(app) ?? null, genre }, all)
  return { knownApps: ratios, ratioOf, timesOfPlaces }
}

/** Number of past days used to compare the workspace's revenue with ranks. */
const DAYS = 90

/**
 * Returns the factor between the revenue of the workspace's apps and the published revenue at their ranks on the
 * grossing chart. Null if unknown. A chart's day is a UTC day, while a console uses its own time zone; the difference
 * is ignored.
 */
async function readGrossingTimes(sql: Sql, reportedApps: readonly ReportedApp[], now: Date): Promise<number | null> {
  const to = dayOf(now)
  const days = { from: addDays(to, 1 - DAYS), to }
  const places = Map.groupBy(
    await readGrossingPlaces(
      sql,
      reportedApps.map(({ storeId }) => storeId),
      days,
    ),
    ({ id }) => id,
  )
  const listed = reportedApps.filter(({ storeId }) => places.has(storeId))
  const spans = listed.map(({ account, sku }) => ({ account, sku, ...days }))
  const money = Map.groupBy(await readUsdProceeds(sql, spans), ({ at }) => at)
  return grossingTimes(
    listed.map(({ storeId }, at) => {
      const usd = new Map(money.get(at)?.map((item) => [item.day, item.usd]))
      return valueAt(places, storeId).map(({ day, place }) => ({ place, usd: usd.get(day) ?? 0 }))
    }),
  )
}
