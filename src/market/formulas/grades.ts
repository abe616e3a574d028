import { calibrateIntervals, type IntervalCalibration, LEAST_PAIRS } from "./conformal.ts"
import { factorOf, type Level } from "./estimate.ts"
import { median, scoreIntervals, scoreOf } from "./scores.ts"

/** A figure as it is made without the store's count, and that count. */
export interface Grade {
  /** The rating count of that time. */
  ratings: number
  /** Null = no more was said than that it is under an amount. */
  value: number | null
  low: number
  high: number
  under: number | null
  truth: number
}

/** What the figures of a month were worth. */
export interface MonthScore {
  /** Apps with a value and a truth above zero. */
  n: number
  /** Percent: half of the figures err by more. */
  medianError: number
  /** Rank correlation with the truth. */
  order: number
  /** The share that is met within a factor of two. */
  withinTwo: number
  /** The share of the truths within the interval that was stated. */
  coverage: number
  /** Apps of which an amount was said that they are under, and those that were. */
  under: { n: number; held: number }
}

/** Null with fewer than 20 apps: so few say nothing. */
export function scoreMonth(grades: readonly Grade[], level: Level): MonthScore | null {
  const pairs = valuesOf(grades)
  const score = scoreOf(pairs)
  const intervals = scoreIntervals(
    pairs.map(({ low, high, value, truth }) => ({
      estimate: { value, low, high, under: null, level, basis: "prior" as const, pairs: 0, coverage: null },
      truth,
    })),
  )
  if (!score || !intervals || score.n < LEAST_PAIRS) return null
  const under = grades.filter((grade) => grade.under !== null)
  return {
    n: score.n,
    medianError: Math.round(100 * score.medianError),
    order: rounded(score.order),
    withinTwo: rounded(score.withinTwo),
    coverage: rounded(intervals.covered),
    under: { n: under.length, held: under.filter(({ under, truth }) => truth < (under as number)).length },
  }
}

/**
 * How far apps of a store lie from its level, by the apps whose downloads it counts: figures are first moved by what they
 * miss in the middle, which is the error of the level, as that is another store's to know. Null with fewer than 20 apps.
 */
export function calibrateMonth(grades: readonly Grade[], level: Level): IntervalCalibration | null {
  const pairs = valuesOf(grades)
  if (pairs.length < LEAST_PAIRS) return null
  const missed = median(pairs.map(({ value, truth }) => Math.log10(truth / value)))
  return calibrateIntervals(
    pairs.map(({ ratings, value, truth }) => ({ ratings, stated: value * 10 ** missed, truth })),
    level,
  )
}

/** The same intervals for a store whose level is known only within `spread`, a standard deviation of log10. */
export function widenedBy(calibration: IntervalCalibration, spread: number): IntervalCalibration {
  const level = Math.log10(factorOf(spread, calibration.level))
  const bands = calibration.bands.map((band) => ({ ...band, factor: 10 ** Math.hypot(Math.log10(band.factor), level) }))
  return { ...calibration, bands }
}

function valuesOf(grades: readonly Grade[]) {
  return grades.flatMap(({ value, truth, ...grade }) =>
    value !== null && value > 0 && truth > 0 ? [{ ...grade, value, truth }] : [],
  )
}

function rounded(share: number): number {
  return Math.round(1_000 * share) / 1_000
}
