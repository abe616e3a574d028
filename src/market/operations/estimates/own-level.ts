import { type DownloadsPerRating, downloadsPerRating, type KnownApp } from "../../formulas/ratio.ts"
import { readGrossingTimes } from "./own-money.ts"
import { findReportedApps, knownApp, type OwnContext, readSoldMonths } from "./own-sales.ts"

/** What own apps sold for each rating is asked of so many months. */
const MONTHS = 3

/** What a workspace's own sales say of downloads per rating, and of the money of places. */
export interface OwnLevel {
  /** Own apps that downloads per rating rest on, by store_app id; empty = own sales say nothing of them. */
  known: ReadonlyMap<number, KnownApp>
  /** Of an app (a store_app id) of a genre. */
  ratioOf(app: number, genre: string | null): DownloadsPerRating
  /** How many times the money that is published of places; null = own sales say nothing of it. */
  timesOfPlaces: number | null
}

/** Null = they say nothing, and figures stand as they are stored. */
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
