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
