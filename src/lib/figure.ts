/**
 * The result of a formula: a score with the values it was calculated from. The score is null if everything was measured
 * but no score can be given. A formula whose input was not measured returns undefined instead.
 */
export interface Figure<Parts> {
  score: number | null
  parts: Parts
}

/** Number of first results that a keyword's figures are based on. */
export const FIRST = 10

/** Rounds to two decimal places, the precision of stored parts. */
export function twoPlaces(value: number): number {
  return Math.round(value * 100) / 100
}

export function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}

/** Returns the median. Null for an empty list. */
export function medianOf(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  if (sorted.length === 0) return null
  return ((sorted[Math.floor(middle)] as number) + (sorted[Math.ceil(middle)] as number)) / 2
}
