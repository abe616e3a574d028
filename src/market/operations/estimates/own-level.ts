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
  const own = await findReportedApps(ctx)
  if (own.length === 0) return null
  const known = new Map<number, KnownApp>()
  for (const months of (await readSoldMonths(ctx.sql, own, MONTHS)).values()) {
    const sold = knownApp(months)
    if (sold) known.set(months[0]!.figure.app, sold)
  }
  const timesOfPlaces = await readGrossingTimes(ctx.sql, own, ctx.now())
  if (known.size === 0 && timesOfPlaces === null) return null
  const all = [...known.values()]
  const ratioOf = (app: number, genre: string | null) =>
    downloadsPerRating("ios", { own: known.get(app) ?? null, genre }, all)
  return { known, ratioOf, timesOfPlaces }
}
