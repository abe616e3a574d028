import { inStore } from "../lib/storefront-names.ts"
import type { AlertPlace } from "./place.ts"

/** Where an alert is, and the earlier measured day that it is compared with, null where that is the day before. */
export interface Wording extends AlertPlace {
  earlier: string | null
}

/** "in the US App Store", with the earlier day for what happened in between. */
export function sinceIn(place: Wording): string {
  return `${inStore(place)}${place.earlier === null ? "" : ` since ${place.earlier}`}`
}

export function quoted(text: string): string {
  return `"${text}"`
}

/** A place in a list that was read so deep. */
export function placeIn(rank: number | null, depth: number): string {
  return rank === null ? `not in the first ${depth}` : String(rank)
}
