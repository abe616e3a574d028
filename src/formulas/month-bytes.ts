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
export function pointsOf(stored: StoredMonth, from: string, to: string): Point[] {
  const [first, last] = daysWithin(stored.month, from, to)
  const points: Point[] = []
  for (let day = first; day <= last; day++) if (stored.ranks[day - 1] !== UNMEASURED) points.push(pointOn(stored, day))
  return points
}

/** The last so many of them, oldest first, of months in any order. */
export function lastPointsOf(
  months: readonly StoredMonth[],
  { from, to }: { from: string; to: string },
  most: number,
): Point[] {
  const points: Point[] = []
  for (const stored of months.toSorted((a, b) => (a.month < b.month ? 1 : -1))) {
    const [first, last] = daysWithin(stored.month, from, to)
    for (let day = last; day >= first && points.length < most; day--)
      if (stored.ranks[day - 1] !== UNMEASURED) points.unshift(pointOn(stored, day))
  }
  return points
}

interface StoredMonth {
  month: string
  ranks: Uint8Array
  sources: Uint8Array
  depths: Uint8Array
}

/** Only the days asked for are looked at: of a month that is full, 7 days cost what they cost of one that holds no more. */
function daysWithin(month: string, from: string, to: string): [first: number, last: number] {
  const inMonth = month.slice(0, 8)
  const first = from.startsWith(inMonth) ? Number(from.slice(8)) : from < month ? 1 : 32
  const last = to.startsWith(inMonth) ? Number(to.slice(8)) : to < month ? 0 : daysInMonth(month)
  return [first, last]
}

function pointOn({ month, ranks, sources, depths }: StoredMonth, day: number): Point {
  const rank = ranks[day - 1] as number
  return {
    day: `${month.slice(0, 8)}${String(day).padStart(2, "0")}`,
    rank: rank === 0 ? null : rank,
    source: sources[day - 1] as number,
    depth: depths[day - 1] as number,
  }
}
