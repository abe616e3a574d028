/**
 * What a formula makes of what was read: a score, or null where all was read and no score can be given, with the parts it
 * was made of. A formula that lacks what it needs gives undefined instead: not measured.
 */
export interface Figure<Parts> {
  score: number | null
  parts: Parts
}

/** How many of the first results a figure of a keyword rests on. */
export const FIRST = 10

/** To two places: what parts are kept with. */
export function twoPlaces(value: number): number {
  return Math.round(value * 100) / 100
}

export function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}

/** The middle one, or the mean of the two in the middle; null of none. */
export function medianOf(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  if (sorted.length === 0) return null
  return ((sorted[Math.floor(middle)] as number) + (sorted[Math.ceil(middle)] as number)) / 2
}
