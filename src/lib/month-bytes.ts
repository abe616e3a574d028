import { Cache } from "./cache.ts"
import { daysInMonth } from "./days.ts"

/** The byte of an unmeasured day. */
export const UNMEASURED = 255

/** A measured day of a term. Rank null: the app was not among the results. */
export interface Point {
  day: string
  rank: number | null
  /** The stored code of the day's source. */
  source: number
  /** Number of results that were read. */
  depth: number
}

/**
 * Returns the measured days of a stored month from `from` to `to` inclusive, oldest first. `ranks`, `sources` and
 * `depths` have a byte per day; the rank is 0 when the app was absent and 255 when nothing was measured.
 */
export function pointsOf(stored: StoredMonth, from: string, to: string): Point[] {
  const points: Point[] = []
  eachPoint(stored, from, to, (day, rank, source, depth) => points.push({ day, rank, source, depth }))
  return points
}

/** Calls `take` for each measured day of a stored month from `from` to `to` inclusive, without allocating objects. */
export function eachPoint(
  stored: StoredMonth,
  from: string,
  to: string,
  take: (...point: [day: string, rank: number | null, source: number, depth: number]) => void,
): void {
  const { month, ranks, sources, depths, from: begun = BEGUN } = stored
  const [first, last] = daysWithin(month, from, to)
  const days = daysOf(month)
  for (let at = first - 1; at < last; at++) {
    const rank = ranks[begun.ranks + at] as number
    if (rank === UNMEASURED) continue
    const [source, depth] = [sources[begun.sources + at] as number, depths[begun.depths + at] as number]
    take(days[at] as string, rank || null, source, depth)
  }
}

/** Returns the last `most` measured days, oldest first. The months may be in any order. */
export function lastPointsOf(
  months: readonly StoredMonth[],
  { from, to }: { from: string; to: string },
  most: number,
): Point[] {
  const points: Point[] = []
  for (const stored of months.toSorted((a, b) => (a.month < b.month ? 1 : -1))) {
    const [first, last] = daysWithin(stored.month, from, to)
    for (let day = last; day >= first && points.length < most; day--)
      if (stored.ranks[(stored.from ?? BEGUN).ranks + day - 1] !== UNMEASURED) points.unshift(pointOn(stored, day))
  }
  return points
}

export interface StoredMonth {
  month: string
  ranks: Uint8Array
  sources: Uint8Array
  depths: Uint8Array
  /** Offset of the month's first byte in each array. Default: 0. */
  from?: typeof BEGUN
}

const BEGUN = { ranks: 0, sources: 0, depths: 0 }

/** Visits only the requested days, so that 7 days of a full month cost no more than a month with 7 days. */
function daysWithin(month: string, from: string, to: string): [first: number, last: number] {
  const inMonth = month.slice(0, 8)
  const first = from.startsWith(inMonth) ? Number(from.slice(8)) : from < month ? 1 : 32
  const last = to.startsWith(inMonth) ? Number(to.slice(8)) : to < month ? 0 : daysInMonth(month)
  return [first, last]
}

function pointOn({ month, ranks, sources, depths, from = BEGUN }: StoredMonth, day: number): Point {
  const at = day - 1
  return {
    day: daysOf(month)[at] as string,
    rank: (ranks[from.ranks + at] as number) || null,
    source: sources[from.sources + at] as number,
    depth: depths[from.depths + at] as number,
  }
}

/** An entry is never stale. Without this cache, each point of a history takes twice as long. */
const days = new Cache<string, readonly string[]>(1_000)

function daysOf(month: string): readonly string[] {
  const start = month.slice(0, 8)
  return days.getOrMake(month, () => Array.from({ length: 31 }, (_, at) => start + String(at + 1).padStart(2, "0")))
}
