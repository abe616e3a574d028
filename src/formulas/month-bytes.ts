import { daysInMonth } from "./days.ts"

/** The byte of a day on which nothing was measured. */
export const UNMEASURED = 255

/** One measured day of a term: rank null = the app was not among the results read. */
export interface Point {
  day: string
  rank: number | null
  /** The code of the day's source. */
  source: number
  /** Places read. */
  depth: number
}

/**
 * The measured days of a stored month, from `from` to `to` inclusive, oldest first. `ranks`, `sources` and `depths` hold
 * a byte for each day; a day's rank is 0 when the app was absent and 255 when nothing was measured.
 */
export function pointsOf(
  { month, ranks, sources, depths }: { month: string; ranks: Uint8Array; sources: Uint8Array; depths: Uint8Array },
  from: string,
  to: string,
): Point[] {
  const points: Point[] = []
  for (let at = 0; at < daysInMonth(month); at++) {
    const rank = ranks[at] as number
    if (rank === UNMEASURED) continue
    const day = `${month.slice(0, 8)}${String(at + 1).padStart(2, "0")}`
    if (day < from || day > to) continue
    points.push({ day, rank: rank === 0 ? null : rank, source: sources[at] as number, depth: depths[at] as number })
  }
  return points
}
