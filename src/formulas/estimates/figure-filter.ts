/** What a filter asks of a figure; left out = nothing. */
export interface FigureRange {
  min?: number | undefined
  max?: number | undefined
}

/** Whether a figure lies in a range. Unknown = it may. */
export type Fit = "fits" | "fails" | "unknown"

/**
 * A value fits by what is shown of it. A figure that is only under an amount lies from zero to below it: it fits where all of
 * that does, so a most that is no less than the amount, and fails where none of it does. Of no figure nothing is known.
 */
export function fitOf(value: number | null, under: number | null, { min, max }: FigureRange): Fit {
  if (min === undefined && max === undefined) return "fits"
  if (value !== null) return value >= (min ?? value) && value <= (max ?? value) ? "fits" : "fails"
  if (under === null) return "unknown"
  const [least, most] = [min ?? 0, max ?? Number.POSITIVE_INFINITY]
  if (least >= under || most < 0) return "fails"
  return least <= 0 && most >= under ? "fits" : "unknown"
}
