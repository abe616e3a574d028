import { TERMS_AT_ONCE } from "../history/term-days.ts"
import type { Platform } from "../observations/types.ts"
import { addDays, dayOf } from "../vocabulary/days.ts"
import type { FollowedRival } from "./rival-facts.ts"

export interface Place {
  appId: string
  workspaceId: number
  platform: Platform
  storefront: string
  own: number
  /** The app is in no store: what the demo says of it is compared. */
  isInvented: boolean
  /** The store's own id of its main genre; null = not known. */
  genre: string | null
  categories: string[]
  /** The UTC day since when it is tracked. */
  since: string
  manualRivals: string[] | null
}

/** The days to derive for a place, each compared with the measured day before it. */
export interface PlaceDays {
  place: Place
  /** Tracked keywords. */
  terms: readonly string[]
  rivals: readonly FollowedRival[]
  /** Genres of the charts: the app's own, and those of alerts that were told when it had another. */
  genres: readonly string[]
  /** Keys of alerts (keyOf) that stay as long as the readings show them. */
  standing: ReadonlySet<string>
  from: string
  to: string
}

/** Returns the concatenated results of `read` over parts of the keywords. */
export async function readParts<Row>(
  { terms }: PlaceDays,
  read: (terms: readonly string[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let at = 0; at < terms.length; at += TERMS_AT_ONCE)
    rows.push(...(await read(terms.slice(at, at + TERMS_AT_ONCE))))
  return rows
}

/** UTC days, today included. Alerts of earlier days are history: marked as read, and never delivered. */
const DAYS_LOOKED_AT = 3

/** The first UTC day of which something is news. */
export function firstNewsDay(now: Date): string {
  return addDays(dayOf(now), 1 - DAYS_LOOKED_AT)
}

/** Where and when an alert is, as its sentence says it. */
export interface AlertPlace {
  platform: Platform | null
  /** Null where it is of a language, not of a storefront. */
  storefront: string | null
  day: string
}
