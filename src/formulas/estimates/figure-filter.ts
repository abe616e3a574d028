/** What a filter asks of a figure; left out = nothing. */
export interface FigureRange {
  min?: number | undefined
  max?: number | undefined
}

/** Whether a figure lies in a range; of several the least decides. Numbers, as 80,000 apps are asked for one page. */
export const FAILS = 0
const UNKNOWN = 1
export const FITS = 2

/**
 * A value fits by what is shown of it. A figure that is only under an amount lies from zero to below it: it fits where all of
 * that does, so a most that is no less than the amount, and fails where none of it does. NaN = there is none: of no figure
 * nothing is known.
 */
export function fitOf(value: number, under: number, least: number, most: number): number {
  if (!Number.isNaN(value)) return value >= least && value <= most ? FITS : FAILS
  if (Number.isNaN(under)) return UNKNOWN
  if (least >= under || most < 0) return FAILS
  return least <= 0 && most >= under ? FITS : UNKNOWN
}
