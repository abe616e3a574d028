import { addDays, type Days } from "../../../lib/days.ts"
import { DAY_MS } from "../../../lib/time.ts"
import { type ChangedDay, type Comparison, LEAST_WINDOWS, MOST_LEFT_OUT } from "../../impact/effect.ts"
import { BASELINE_DAYS } from "../../impact/series.ts"

/** Earlier windows that are looked at, where so many are stored: half as many again as are needed. */
const EARLIER_WINDOWS = 32

export const OUTCOMES = ["search_impressions", "conversion", "ranks", "downloads", "proceeds_per_download"] as const
export type OutcomeName = (typeof OUTCOMES)[number]

/** Figures around a changed day, in the days of their zone. */
export interface OutcomeFigures {
  outcome: OutcomeName
  better: "higher" | "lower"
  /** Storefronts, or keywords of the one in `country`. */
  treated: string[]
  country: string | null
  comparison: Comparison
  span: OutcomeSpan
  isComplete: boolean
  /** Known for too short a time to judge by, whatever it shows. */
  isYoung?: boolean
}

export interface OutcomeSpan {
  /** Null = whose days these are is not said. */
  dayZone: "UTC" | "America/Los_Angeles" | null
  /** The day that the figures begin with, how many there are, and each of them. */
  first: string
  days: number
  each: readonly string[]
  leftOut: Days
  before: Days
  after: Days
  changed: ChangedDay
}

/** How many days before a change are looked at. */
export function daysBack(window: number): number {
  return BASELINE_DAYS + MOST_LEFT_OUT + (EARLIER_WINDOWS + 1) * window
}

/** The days around a change: from that of the last reading without it to that of the first with it nothing is counted. */
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

/** The day since which figures must be known so that a change can be judged by them. */
export function judgedSince({ before, changed: { window } }: OutcomeSpan): string {
  return addDays(before.from, -LEAST_WINDOWS * window)
}

/** Figures in the order of a span's days; null where `figures` has none. */
export function inSpan(
  { each }: OutcomeSpan,
  figures: (day: string, place: number) => number | null | undefined,
): (number | null)[] {
  return each.map((day, place) => figures(day, place) ?? null)
}

function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS)
}
