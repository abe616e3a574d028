import { inStore } from "../lib/storefront-names.ts"
import type { AlertPlace } from "./place.ts"

/** The place of an alert, and the earlier day of its comparison. Null if that is the day before. */
export interface Wording extends AlertPlace {
  earlier: string | null
}

/** Returns "in the US App Store", with "since" and the earlier day if there is one. */
export function sinceIn(place: Wording): string {
  return `${inStore(place)}${place.earlier === null ? "" : ` since ${place.earlier}`}`
}

export function quoted(text: string): string {
  return `"${text}"`
}

/** Returns a rank as text, or that it is not in the first `depth`. */
export function placeIn(rank: number | null, depth: number): string {
  return rank === null ? `not in the first ${depth}` : String(rank)
}
