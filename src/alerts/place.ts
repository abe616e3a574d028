import type { Platform } from "../observations/types.ts"
import { addDays, dayOf } from "../vocabulary/days.ts"
import { saidStorefront } from "../vocabulary/storefront-names.ts"
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
  /** The UTC day since when it is tracked; null = days before that are looked at too. */
  since: string | null
  manualRivals: string[] | null
}

/** The days of a place whose readings are compared with those before. */
export interface PlaceDays {
  place: Place
  /** Its keywords in parts, by the first of each (readFirstTerms). */
  parts: readonly string[]
  rivals: readonly FollowedRival[]
  from: string
  to: string
}

/** What `read` gives for each part of the keywords. */
export async function readParts<Row>({ parts }: PlaceDays, read: (first: string) => Promise<Row[]>): Promise<Row[]> {
  const rows: Row[] = []
  for (const first of parts) rows.push(...(await read(first)))
  return rows
}

/** The first of these days on which the place was tracked. */
export function trackedFrom({ place: { since }, from }: PlaceDays): string {
  return since !== null && since > from ? since : from
}

/** UTC days, today included. What an import shows before them is history: read already, and delivered nowhere. */
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

export function whereOf({ platform, storefront }: Pick<AlertPlace, "platform" | "storefront">): string {
  const store = platform === "ios" ? "on iOS" : "on Android"
  return storefront === null ? store : `in ${saidStorefront(storefront)} ${store}`
}
