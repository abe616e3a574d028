import type { Platform } from "../core/observation/provenance.ts"
import { addDays, dayOf } from "../lib/days.ts"

export interface Place {
  appId: string
  workspaceId: number
  platform: Platform
  storefront: string
  own: number
  /** Of the tracked app. Search results and charts of this publisher alone are compared: alerts come from one hand. */
  origin: string
  /** The store's own id of its main genre; null = not known. */
  genre: string | null
  categories: string[]
  /** The UTC day since when it is tracked. */
  since: string
  manualRivals: string[] | null
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
