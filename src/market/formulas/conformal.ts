import type { Level } from "./estimate.ts"

/** A figure as it was made, and what turned out to be true; both above zero. */
export interface TruthPair {
  /** The rating count of that time: intervals are wider for small apps. */
  ratings: number
  stated: number
  truth: number
}

interface IntervalBand {
  /** The band holds apps with so many ratings and more, up to the next. */
  least: number
  /** An interval reaches from value ÷ factor to value × factor. */
  factor: number
  /** How many pairs the factor rests on: those of the band, or all where it has too few. */
  pairs: number
}

/** What intervals must be, for a share `level` of these pairs to lie inside. */
export interface IntervalCalibration {
  level: Level
  pairs: number
  bands: IntervalBand[]
  /** The share of the pairs that an interval reached which was made of the others. */
  coverage: number
}

/** With fewer the quantiles are too coarse: then the prior's stand. */
export const LEAST_PAIRS = 20
/** Least rating counts of the bands. */
const BANDS = [0, 100, 1_000, 10_000]
const FOLDS = 10

/**
 * Split conformal prediction on |log10 truth - log10 stated|, within bands of ratings: of n errors the ceil((n + 1) · level)th
 * is the width. Null with fewer than 20 pairs. It holds for apps like those of the pairs and for their month: an interval
 * of eleven months before reached 71.5 instead of 80 %, hence it is made anew each month.
 *
 * Source: Vovk, Gammerman, Shafer, Algorithmic Learning in a Random World, 2005; split: Lei et al., JASA 113 (2018).
 */
export function calibrateIntervals(pairs: readonly TruthPair[], level: Level): IntervalCalibration | null {
  const known = pairs.filter(({ stated, truth }) => stated > 0 && truth > 0)
  if (known.length < LEAST_PAIRS) return null
  return { level, pairs: known.length, bands: bandsOf(known, level), coverage: crossCoverage(known, level) }
}

/** The band of an app with so many ratings. */
export function bandFor(bands: readonly IntervalBand[], ratings: number): IntervalBand {
  return bands.findLast(({ least }) => ratings >= least) ?? (bands[0] as IntervalBand)
}

/** The share of pairs inside the intervals of a calibration, as a later month shows it. */
export function coverageOf(bands: readonly IntervalBand[], pairs: readonly TruthPair[]): number {
  const inside = pairs.filter((pair) => errorOf(pair) <= Math.log10(bandFor(bands, pair.ratings).factor))
  return inside.length / pairs.length
}

function bandsOf(pairs: readonly TruthPair[], level: Level): IntervalBand[] {
  return BANDS.map((least, at) => {
    const next = BANDS[at + 1] ?? Number.POSITIVE_INFINITY
    const inside = pairs.filter(({ ratings }) => ratings >= least && ratings < next)
    const used = inside.length >= LEAST_PAIRS ? inside : pairs
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

/** In ten parts, each by the other nine; which pair is in which part does not depend on their order. */
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
