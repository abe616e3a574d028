import { daysInMonth } from "../vocabulary/days.ts"

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
  const inMonth = month.slice(0, 8)
  // only the days asked for are looked at: of a month that is full, 7 days cost what they cost of one that holds no more
  const first = from.startsWith(inMonth) ? Number(from.slice(8)) : from < month ? 1 : 32
  const last = to.startsWith(inMonth) ? Number(to.slice(8)) : to < month ? 0 : daysInMonth(month)
  const points: Point[] = []
  for (let day = first; day <= last; day++) {
    const rank = ranks[day - 1] as number
    if (rank === UNMEASURED) continue
    points.push({
      day: `${inMonth}${String(day).padStart(2, "0")}`,
      rank: rank === 0 ? null : rank,
      source: sources[day - 1] as number,
      depth: depths[day - 1] as number,
    })
  }
  return points
}
