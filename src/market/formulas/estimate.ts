import type { Interval } from "../../lib/proportions.ts"
/** How likely the truth lies between low and high, as it is stated. */
export type Level = 0.8 | 0.9 | 0.95

/**
 * What a figure rests on: counts of the store itself, the app's own downloads per rating, that of own apps of its genre, or
 * what is known of the store at large.
 */
export type Basis = "measured" | "own" | "genre" | "prior"

/**
 * A figure that says how wrong it may be. `value` is null where no more can be said than that it lies below `under`; then
 * low is 0 and high is that amount. An unknown figure is no Estimate: it is null.
 */
export interface Estimate {
  value: number | null
  under: number | null
  low: number
  high: number
  level: Level
  basis: Basis
  /** How many known truths the interval rests on; 0 = none, its width is that of the prior. */
  pairs: number
  /** The share of those truths that such an interval reached when it was tried; null = not tried. */
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

/** By what such an interval multiplies and divides. */
export function factorOf(spread: number, level: Level): number {
  return 10 ** (QUANTILES[level] * spread)
}

/** Independent errors of log10 together. */
export function together(...spreads: readonly number[]): number {
  return Math.hypot(...spreads)
}

/** A figure below an amount. */
export function estimateUnder(amount: number, level: Level, basis: Basis): Estimate {
  return { value: null, under: amount, low: 0, high: amount, level, basis, pairs: 0, coverage: null }
}

/** A figure that the store itself counts: nothing lies between its low and high. */
export function measuredEstimate(value: number, level: Level): Estimate {
  return { value, under: null, low: value, high: value, level, basis: "measured", pairs: 0, coverage: null }
}

// of the standard normal distribution: (1 + level) / 2
const QUANTILES: Record<Level, number> = { 0.8: 1.28155, 0.9: 1.64485, 0.95: 1.95996 }
