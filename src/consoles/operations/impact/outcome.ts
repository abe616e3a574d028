import { addDays, type Days } from "../../../lib/days.ts"
import { DAY_MS } from "../../../lib/time.ts"
import { type ChangedDay, type Comparison, MAX_LEFT_OUT, MIN_WINDOWS } from "../../impact/effect.ts"
import { BASELINE_DAYS } from "../../impact/series.ts"

/** Number of earlier windows to use if they are stored: about half as many again as MIN_WINDOWS requires. */
const EARLIER_WINDOWS = 32

export const OUTCOMES = [
  "search_impressions",
  "conversion",
  "ranks",
  "store_visitors",
  "acquisitions",
  "downloads",
  "proceeds_per_download",
] as const
export type OutcomeName = (typeof OUTCOMES)[number]

/** Figures around the day of a change, by days in their time zone. */
export interface OutcomeFigures {
  outcome: OutcomeName
  better: "higher" | "lower"
  /** The storefronts that changed, or keywords of the storefront in `country`. */
  treated: string[]
  country: string | null
  comparison: Comparison
  span: OutcomeSpan
  isComplete: boolean
  /** True if the outcome was measured for too short a time before the change to judge it. */
  isYoung?: boolean
}

export interface OutcomeSpan {
  /** Null if the time zone is not documented. */
  dayZone: "UTC" | "America/Los_Angeles" | null
  /** The first day of the figures, the number of days, and the list of all days. */
  first: string
  days: number
  each: readonly string[]
  leftOut: Days
  before: Days
  after: Days
  changed: ChangedDay
}

/** The number of days before a change to read. */
export function daysBack(window: number): number {
  return BASELINE_DAYS + MAX_LEFT_OUT + (EARLIER_WINDOWS + 1) * window
}

/**
 * Returns the days around a change. Excludes the days from the last reading without the change to the first reading
 * with it.
 */
export function spanAround(
  dayZone: OutcomeSpan["dayZone"],
  leftOut: Days,
  { window, ownDays }: { window: number; ownDays: readonly string[] },
): OutcomeSpan {
  const back = daysBack(window)
  const first = addDays(leftOut.to, -back)
  const before = { from: addDays(leftOut.from, -BASELINE_DAYS), to: addDays(leftOut.from, -1) }
  const after = { from: addDays(leftOut.to, 1), to: addDays(leftOut.to, window) }
  const ownChanges = ownDays.map((day) => daysBetween(first, day))
  const changed = { at: back, leftOut: daysBetween(leftOut.from, leftOut.to) + 1, window, ownChanges }
  const days = back + window + 1
  const each = Array.from({ length: days }, (_, place) => addDays(first, place))
  return { dayZone, first, days, each, leftOut, before, after, changed }
}

/** Returns the first day for which figures must exist so that the change can be judged by them. */
export function judgedSince({ before, changed: { window } }: OutcomeSpan): string {
  return addDays(before.from, -MIN_WINDOWS * window)
}

/** Returns the value of `figures` for each day of a span. Null for days without a value. */
export function inSpan(
  { each }: OutcomeSpan,
  figures: (day: string, place: number) => number | null | undefined,
): (number | null)[] {
  return each.map((day, place) => figures(day, place) ?? null)
}

function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS)
}
