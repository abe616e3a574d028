import { appleScale, LINE } from "../../src/formulas/popularity.ts"
import { blendOf, type Calibrated, firstApp, interval, spearman } from "./calibration.ts"
import { type Line, mean, type Pair, plainLine, rms, truncatedSlope } from "./truncated.ts"

/** All terms were chosen among those of popularity 70 and more; the figures are whole numbers. */
export const LEAST = 69.5
const FOLDS = 6

/** How far a figure is from Apple's on terms that its line was not fitted on. */
export interface Measured {
  /** Root mean square, in points. */
  error: number
  /** Rank correlation of the signal, which no line changes, with where 95 % of resamples lie. */
  correlation: number
  between: [number, number]
}

/**
 * The line as ours is fitted. Its start is that of formula 1: terms of 70 and more hardly say where it lies (a free fit gives
 * 20.7, and fits no better than chance allows, p = 0.14), and a higher one would lift what few search by 8 points.
 */
export function fittedLine(pairs: readonly Pair[]): Line {
  return truncatedSlope(pairs, LEAST, LINE.start)
}

/** The estimate as it is shown: its line fitted as ours was, and whole numbers from 1 to 100. */
export function shownFigure(terms: readonly Calibrated[]): Measured {
  return measure(terms, blendOf, fittedLine, (line, x) => Math.round(appleScale(x, line)))
}

/** The ratings of the first app alone, by the line that fits them best. */
export function firstAppAlone(terms: readonly Calibrated[]): Measured {
  return measure(terms, firstApp, plainLine, ({ start, slope }, x) => start + slope * x)
}

/** The mean of the others, whatever the term: it ranks nothing. */
export function constantError(terms: readonly Calibrated[]): number {
  const pairs = terms.map(({ popularity: y }) => ({ x: 0, y }))
  return errorOf(
    pairs,
    (others) => ({ start: mean(others.map(({ y }) => y)), slope: 0, spread: 0 }),
    ({ start }) => start,
  )
}

function measure(
  terms: readonly Calibrated[],
  signal: (term: Calibrated) => number,
  fit: (pairs: Pair[]) => Line,
  show: (line: Line, x: number) => number,
): Measured {
  const pairs = terms.map((term) => ({ x: signal(term), y: term.popularity }))
  const correlation = (sample: Pair[]) => spearman(sample.map(({ x }) => x), sample.map(({ y }) => y)) // biome-ignore format: one line
  return { error: errorOf(pairs, fit, show), correlation: correlation(pairs), between: interval(pairs, correlation) }
}

/** Each term by what was fitted to the terms of the other folds. */
function errorOf(pairs: Pair[], fit: (pairs: Pair[]) => Line, show: (line: Line, x: number) => number): number {
  const errors = Array.from({ length: FOLDS }, (_, fold) => {
    const line = fit(pairs.filter((_, i) => i % FOLDS !== fold))
    return pairs.filter((_, i) => i % FOLDS === fold).map(({ x, y }) => show(line, x) - y)
  })
  return rms(errors.flat())
}
