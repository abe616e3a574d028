import { calibrateIntervals, type IntervalCalibration, MIN_PAIRS } from "./conformal.ts"
import { factorOf, type Level } from "./estimate.ts"
import { median, scoreIntervals, scoreOf } from "./scores.ts"

/** A figure made without the store's count, together with that count. */
export interface Grade {
  /** The rating count at the time of the figure. */
  ratings: number
  /** Null if the figure is only an upper bound. */
  value: number | null
  low: number
  high: number
  under: number | null
  truth: number
}

/** How accurate the figures of a month were. */
export interface MonthScore {
  /** Apps with a value and a truth above zero. */
  n: number
  /** Median error in percent. */
  medianError: number
  /** Rank correlation with the truth. */
  order: number
  /** Share of values within a factor of two of the truth. */
  withinTwo: number
  /** Share of truths inside the stated interval. */
  coverage: number
  /** Number of apps with only an upper bound, and how many of them were below it. */
  under: { n: number; held: number }
}

/** Returns the score of a month. Null with fewer than 20 apps. */
export function scoreMonth(grades: readonly Grade[], level: Level): MonthScore | null {
  const pairs = valuesOf(grades)
  const score = scoreOf(pairs)
  const intervals = scoreIntervals(
    pairs.map(({ low, high, value, truth }) => ({
      estimate: { value, low, high, under: null, level, basis: "prior" as const, pairs: 0, coverage: null },
      truth,
    })),
  )
  if (!score || !intervals || score.n < MIN_PAIRS) return null
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
 * Measures how far apps deviate from their store's level, using apps whose downloads the store counts. Figures are
 * first shifted by their median error, which is the error of that store's level and would not apply to another store.
 * Null with fewer than 20 apps.
 */
export function calibrateMonth(grades: readonly Grade[], level: Level): IntervalCalibration | null {
  const pairs = valuesOf(grades)
  if (pairs.length < MIN_PAIRS) return null
  const missed = median(pairs.map(({ value, truth }) => Math.log10(truth / value)))
  return calibrateIntervals(
    pairs.map(({ ratings, value, truth }) => ({ ratings, stated: value * 10 ** missed, truth })),
    level,
  )
}

/** Widens the intervals for a store whose level is uncertain by `spread`, a standard deviation of log10. */
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
