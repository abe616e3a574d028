import type { Gain } from "./count-readings.ts"
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
 * logarithm of a count of n errs by 1 / √n. Null where either span has none: a growth from nothing is no percentage.
 */
export function growthOf(now: Gain | null, before: Gain | null, basis: Basis, level: Level = 0.8): Growth | null {
  if (!now || !before || now.gained === 0 || before.gained === 0) return null
  const times = now.gained / now.days / (before.gained / before.days)
  const spread = Math.LOG10E * Math.sqrt(1 / now.gained + 1 / before.gained)
  const { low, high } = intervalOf(times, basis === "measured" ? 0 : spread, level)
  const pairs = Math.min(now.gained, before.gained)
  return { percent: percentOf(times), low: percentOf(low), high: percentOf(high), level, basis, pairs }
}

function percentOf(times: number): number {
  return 100 * (times - 1)
}
