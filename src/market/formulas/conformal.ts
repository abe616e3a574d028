import type { Level } from "./estimate.ts"

/** An estimate and the true value, both above zero. */
export interface TruthPair {
  /** Rating count at the time of the estimate. Apps with few ratings get wider intervals. */
  ratings: number
  stated: number
  truth: number
}

interface IntervalBand {
  /** Minimum rating count of the band. It ends where the next band begins. */
  least: number
  /** An interval reaches from value ÷ factor to value × factor. */
  factor: number
  /** Number of pairs that the factor was computed from: those of the band, or all pairs if the band has too few. */
  pairs: number
}

/** Widths of intervals that contain the true value for a share `level` of the pairs. */
export interface IntervalCalibration {
  level: Level
  pairs: number
  bands: IntervalBand[]
  /** Share of pairs inside the intervals, cross-validated. */
  coverage: number
}

/** With fewer pairs the quantiles are too coarse, and the prior's interval is used. */
export const MIN_PAIRS = 20
/** Minimum rating counts of the bands. */
const BANDS = [0, 100, 1_000, 10_000]
const FOLDS = 10

/**
 * Split conformal prediction on |log10 truth - log10 stated|, within bands of ratings: the width is the ceil((n + 1) ·
 * level)th of n sorted errors. Null with fewer than 20 pairs. The result is valid only for apps like those of the pairs
 * and for their month, so it is renewed each month: an interval eleven months old covered 71.5 instead of 80 %.
 *
 * Source: Vovk, Gammerman, Shafer, Algorithmic Learning in a Random World, 2005; split: Lei et al., JASA 113 (2018).
 */
export function calibrateIntervals(pairs: readonly TruthPair[], level: Level): IntervalCalibration | null {
  const valid = pairs.filter(({ stated, truth }) => stated > 0 && truth > 0)
  if (valid.length < MIN_PAIRS) return null
  return { level, pairs: valid.length, bands: bandsOf(valid, level), coverage: crossCoverage(valid, level) }
}

/** Returns the band of a rating count. */
export function bandFor(bands: readonly IntervalBand[], ratings: number): IntervalBand {
  return bands.findLast(({ least }) => ratings >= least) ?? (bands[0] as IntervalBand)
}

/** Returns the share of pairs that lie inside the intervals of a calibration. */
export function coverageOf(bands: readonly IntervalBand[], pairs: readonly TruthPair[]): number {
  const inside = pairs.filter((pair) => errorOf(pair) <= Math.log10(bandFor(bands, pair.ratings).factor))
  return inside.length / pairs.length
}

function bandsOf(pairs: readonly TruthPair[], level: Level): IntervalBand[] {
  return BANDS.map((least, at) => {
    const next = BANDS[at + 1] ?? Number.POSITIVE_INFINITY
    const inside = pairs.filter(({ ratings }) => ratings >= least && ratings < next)
    const used = inside.length >= MIN_PAIRS ? inside : pairs
    return { least, factor: 10 ** widthOf(used, level), pairs: used.length }
  })
}

function widthOf(pairs: readonly TruthPair[], level: Level): number {
  const errors = pairs.map(errorOf).sort((a, b) => a - b)
  const at = Math.ceil((errors.length + 1) * level)
  return errors[Math.min(at, errors.length) - 1] as number
}

function errorOf({ stated, truth }: TruthPair): number {
  return Math.abs(Math.log10(truth / stated))
}

/**
 * Returns the share by ten-fold cross-validation. The assignment to folds does not depend on the order of the pairs.
 */
function crossCoverage(pairs: readonly TruthPair[], level: Level): number {
  const sorted = pairs.toSorted((a, b) => a.ratings - b.ratings || a.truth - b.truth || a.stated - b.stated)
  const inside = Array.from({ length: FOLDS }, (_, fold) => {
    const left = sorted.filter((_, at) => at % FOLDS === fold)
    const bands = bandsOf(
      sorted.filter((_, at) => at % FOLDS !== fold),
      level,
    )
    return left.length === 0 ? 0 : coverageOf(bands, left) * left.length
  })
  return inside.reduce((sum, count) => sum + count, 0) / pairs.length
}
