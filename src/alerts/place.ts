import type { Platform } from "../core/observation/provenance.ts"
import { addDays, dayOf } from "../lib/days.ts"

export interface Place {
  appId: string
  workspaceId: number
  platform: Platform
  storefront: string
  storeAppId: number
  /**
   * Origin of the tracked app. Only search results and charts of this origin are compared, so that alerts never mix
   * publishers.
   */
  origin: string
  /** The store's id of the app's main genre. Null if unknown. */
  genre: string | null
  categories: string[]
  /** The UTC day on which tracking began. */
  since: string
  manualRivals: string[] | null
}

/**
 * Number of UTC days, including today, whose alerts are news. Alerts of earlier days are history: marked as read and
 * never delivered.
 */
const NEWS_DAYS = 3

/** Returns the first UTC day whose alerts are news. */
export function firstNewsDay(now: Date): string {
  return addDays(dayOf(now), 1 - NEWS_DAYS)
}

/** The place and day of an alert, for its sentence. */
export interface AlertPlace {
  platform: Platform | null
  /** Null if the alert belongs to a language rather than a storefront. */
  storefront: string | null
  day: string
}
