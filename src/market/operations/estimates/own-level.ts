import { type DownloadsPerRating, downloadsPerRating, type KnownApp } from "../../formulas/ratio.ts"
import { readGrossingTimes } from "./own-money.ts"
import { findReportedApps, knownApp, type OwnContext, readSoldMonths } from "./own-sales.ts"

/** Number of past months used to compute downloads per rating from own sales. */
const MONTHS = 3

/** Corrections to estimates that a workspace's own sales suggest. */
export interface OwnLevel {
  /** Own apps with known downloads per rating, by store_app id. Empty if there are none. */
  known: ReadonlyMap<number, KnownApp>
  /** Returns the ratio for an app (a store_app id) of a genre. */
  ratioOf(app: number, genre: string | null): DownloadsPerRating
  /** Factor between own revenue and the published revenue at the same ranks. Null if unknown. */
  timesOfPlaces: number | null
}

/** Null if own sales yield no correction, so the stored estimates apply. */
export async function readOwnLevel(ctx: OwnContext): Promise<OwnLevel | null> {
  const reportedApps = await findReportedApps(ctx)
  if (reportedApps.length === 0) return null
  const knownApps = new Map<number, KnownApp>()
  for (const months of (await readSoldMonths(ctx.sql, reportedApps, MONTHS)).values()) {
    const sold = knownApp(months)
    if (sold) knownApps.set(months[0]!.figure.app, sold)
  }
  const timesOfPlaces = await readGrossingTimes(ctx.sql, reportedApps, ctx.now())
  if (knownApps.size === 0 && timesOfPlaces === null) return null
  const all = [...knownApps.values()]
  const ratioOf = (app: number, genre: string | null) =>
    downloadsPerRating("ios", { own: knownApps.get(app) ?? null, genre }, all)
  return { known: knownApps, ratioOf, timesOfPlaces }
}
