import type { Estimate } from "./estimate.ts"

/** Accuracy of figures compared with the true values. */
interface Score {
  n: number
  /** Median of |log10 truth - log10 value|. */
  medianAbsLog10: number
  /** Rank correlation. */
  order: number
  /** Median of |value - truth| / truth. */
  medianError: number
  /** Share of values within a factor of two of the truth. */
  withinTwo: number
}

/** Accuracy of the intervals of figures. */
interface IntervalScore {
  n: number
  covered: number
  /** Median factor by which an interval multiplies and divides. */
  width: number
}

export interface EstimatePair {
  value: number
  truth: number
}

/** Returns the accuracy of these figures. Values and truths must be above zero. Null for an empty list. */
export function scoreOf(graded: readonly EstimatePair[]): Score | null {
  if (graded.length === 0) return null
  const errors = graded.map(({ value, truth }) => Math.abs(Math.log10(truth / value)))
  return {
    n: graded.length,
    medianAbsLog10: median(errors),
    order: rankCorrelation(graded),
    medianError: median(graded.map(({ value, truth }) => Math.abs(value - truth) / truth)),
    withinTwo: errors.filter((error) => error <= Math.log10(2)).length / graded.length,
  }
}

export function scoreIntervals(graded: readonly { estimate: Estimate; truth: number }[]): IntervalScore | null {
  if (graded.length === 0) return null
  const covered = graded.filter(({ estimate: { low, high }, truth }) => truth >= low && truth <= high).length
  const widths = graded.map(({ estimate: { low, high } }) => Math.sqrt(high / low))
  return { n: graded.length, covered: covered / graded.length, width: median(widths) }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return ((sorted[Math.ceil(half) - 1] as number) + (sorted[Math.floor(half)] as number)) / 2
}

/** Returns Spearman's rank correlation; equal values share the mean of their ranks. */
function rankCorrelation(graded: readonly EstimatePair[]): number {
  const values = ranksOf(graded.map(({ value }) => value))
  const truths = ranksOf(graded.map(({ truth }) => truth))
  const middle = (graded.length + 1) / 2
  const product = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, rank, at) => sum + (rank - middle) * ((b[at] as number) - middle), 0)
  return product(values, truths) / Math.sqrt(product(values, values) * product(truths, truths))
}

function ranksOf(values: readonly number[]): number[] {
  const order = values.map((value, at) => ({ value, at })).sort((a, b) => a.value - b.value)
  const ranks: number[] = values.map(() => 0)
  for (let from = 0; from < order.length; ) {
    let to = from
    while (order[to + 1]?.value === order[from]?.value && to + 1 < order.length) to++
    for (let i = from; i <= to; i++) ranks[(order[i] as { at: number }).at] = (from + to) / 2 + 1
    from = to + 1
  }
  return ranks
}
