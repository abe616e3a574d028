import type { Interval } from "../../lib/proportions.ts"
/** The stated probability that the true value lies between low and high. */
export type Level = 0.8 | 0.9 | 0.95

/**
 * The basis of a figure: the store's own counts, the app's own downloads per rating, that of the workspace's apps
 * of the same genre, or the store's average.
 */
export type Basis = "measured" | "own" | "genre" | "prior"

/**
 * A figure with its interval. If only an upper bound is known, `value` is null, `under` is the bound, low is 0 and high
 * is the bound. An unknown figure is null instead of an Estimate.
 */
export interface Estimate {
  value: number | null
  under: number | null
  low: number
  high: number
  level: Level
  basis: Basis
  /** Number of known truths behind the interval. 0 if its width is that of the prior. */
  pairs: number
  /** Share of those truths that such intervals covered in a test. Null if untested. */
  coverage: number | null
}

/** The interval of a lognormal whose log10 has this standard deviation. */
export function intervalOf(value: number, spread: number, level: Level): Interval {
  return intervalWithin(value, factorOf(spread, level))
}

/** From value ÷ factor to value × factor. */
export function intervalWithin(value: number, factor: number): Interval {
  return { low: value / factor, high: value * factor }
}

/** The factor by which such an interval multiplies and divides. */
export function factorOf(spread: number, level: Level): number {
  return 10 ** (QUANTILES[level] * spread)
}

/** Combines independent errors of log10. */
export function together(...spreads: readonly number[]): number {
  return Math.hypot(...spreads)
}

/** An estimate with only an upper bound. */
export function estimateUnder(amount: number, level: Level, basis: Basis): Estimate {
  return { value: null, under: amount, low: 0, high: amount, level, basis, pairs: 0, coverage: null }
}

/** A count published by the store: low and high equal the value. */
export function measuredEstimate(value: number, level: Level): Estimate {
  return { value, under: null, low: value, high: value, level, basis: "measured", pairs: 0, coverage: null }
}

// quantiles of the standard normal distribution at (1 + level) / 2
const QUANTILES: Record<Level, number> = { 0.8: 1.28155, 0.9: 1.64485, 0.95: 1.95996 }
