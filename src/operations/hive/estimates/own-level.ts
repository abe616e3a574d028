import { type DownloadsPerRating, downloadsPerRating, type KnownApp } from "../../../formulas/estimates/ratio.ts"
import { knownApp, type OwnContext, readSoldMonths } from "./own-sales.ts"

/** What own apps sold for each rating is asked of so many months. */
const MONTHS = 3

/** What a workspace's own sales say of downloads per rating. */
export interface OwnLevel {
  /** Own apps that it rests on, by store_app id. */
  known: ReadonlyMap<number, KnownApp>
  /** Of an app (a store_app id) of a genre. */
  ratioOf(app: number, genre: string | null): DownloadsPerRating
}

/** Null = they say nothing, and figures stand as they are stored. */
export async function readOwnLevel(ctx: OwnContext): Promise<OwnLevel | null> {
  const known = new Map<number, KnownApp>()
  for (const months of (await readSoldMonths(ctx, { months: MONTHS })).values()) {
    const own = knownApp(months)
    if (own) known.set(months[0]!.figure.app, own)
  }
  if (known.size === 0) return null
  const all = [...known.values()]
  return { known, ratioOf: (app, genre) => downloadsPerRating("ios", { own: known.get(app) ?? null, genre }, all) }
}
