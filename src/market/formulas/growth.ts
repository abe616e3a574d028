import { type Gain, WEEK_DAYS } from "./count-readings.ts"
import { type Basis, intervalOf, type Level } from "./estimate.ts"

/** Change of the downloads of 30 days compared with the 30 days before, in percent. */
export interface Growth {
  percent: number
  low: number
  high: number
  level: Level
  basis: Basis
  /** Number of ratings or counted installs gained in the span that gained fewer. */
  pairs: number
}

/**
 * Both gains belong to one app, so its downloads per rating cancel out and only the sampling error of the counts
 * remains: the logarithm of a count n errs by 1 / √n. Measured counts have no sampling error, but stores update them
 * with a delay: a span of n days may miss a day's gain or contain one too many, 1 / n. Null if either span has no gain
 * (growth from zero has no percentage) or is shorter than a week.
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
