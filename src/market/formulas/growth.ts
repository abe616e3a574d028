import { type Gain, WEEK_DAYS } from "./count-readings.ts"
import { type Basis, intervalOf, type Level } from "./estimate.ts"

/** By how many percent downloads of 30 days changed against those of the 30 days before. */
export interface Growth {
  percent: number
  low: number
  high: number
  level: Level
  basis: Basis
  /** Ratings, or installs where they are counted, of the lesser of both spans. */
  pairs: number
}

/**
 * Both gains are of one app, so that its downloads per rating cancel and what is left is the chance of small counts: the
 * logarithm of a count of n errs by 1 / √n. Measured counts have no such chance, but stand still for a day and are then
 * made up: a span of n days may miss the gain of one or have one too many, 1 / n. Null where either span has no gain (a
 * growth from nothing is no percentage) or is shorter than a week.
 */
export function growthOf(now: Gain | null, before: Gain | null, basis: Basis, level: Level = 0.8): Growth | null {
  if (!now || !before || now.gained === 0 || before.gained === 0) return null
  if (now.days < WEEK_DAYS || before.days < WEEK_DAYS) return null
  const times = now.gained / now.days / (before.gained / before.days)
  const variance = basis === "measured" ? 1 / now.days ** 2 + 1 / before.days ** 2 : 1 / now.gained + 1 / before.gained
  const { low, high } = intervalOf(times, Math.LOG10E * Math.sqrt(variance), level)
  const pairs = Math.min(now.gained, before.gained)
  return { percent: percentOf(times), low: percentOf(low), high: percentOf(high), level, basis, pairs }
}

function percentOf(times: number): number {
  return 100 * (times - 1)
}
