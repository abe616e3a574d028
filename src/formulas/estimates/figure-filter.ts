/** What a filter asks of a figure; left out = nothing. */
export interface FigureRange {
  min?: number | undefined
  max?: number | undefined
}

/** Whether a figure lies in a range. Unknown = it may. */
export type Fit = "fits" | "fails" | "unknown"

/**
 * A value fits by what is shown of it. A figure that is only under an amount fits a most that is no less than the amount, and
 * fails a least that is no less; anything else of it is not known, and of no figure everything.
 */
export function fitOf(value: number | null, under: number | null, { min, max }: FigureRange): Fit {
  if (min === undefined && max === undefined) return "fits"
  if (value !== null) return value >= (min ?? value) && value <= (max ?? value) ? "fits" : "fails"
  if (under === null) return "unknown"
  if (min !== undefined) return under <= min ? "fails" : "unknown"
  return under <= max! ? "fits" : "unknown"
}

/** Of all that is asked: one that fails decides, whatever is unknown beside it. */
export function fitOfAll(fits: readonly Fit[]): Fit {
  if (fits.includes("fails")) return "fails"
  return fits.includes("unknown") ? "unknown" : "fits"
}
