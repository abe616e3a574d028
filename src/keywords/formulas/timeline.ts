import { addDays, monthOf } from "../../lib/days.ts"
import { type Point, UNMEASURED } from "../../lib/month-bytes.ts"
import { type Direction, moveBetween } from "./rank-moves.ts"

/** How many days before a change are searched for a rank. */
export const LOOK_BACK_DAYS = 30
/** How many moves are listed per change. */
const BIGGEST = 5

/** The UTC days between which something changed. */
export interface ChangeDays {
  /** Day of the last reading without the change. */
  beforeDay: string
  /** Day of the first reading with the change. */
  day: string
}

/** The UTC days whose ranks are compared, all inclusive. */
export interface Span {
  beforeFrom: string
  beforeTo: string
  afterFrom: string
  afterTo: string
}

/**
 * Returns the days before and after a change whose ranks are compared. Before: up to the day of the last reading
 * without the change, but never the day of the first reading with it, since the change may have happened in between.
 * After: the days of the window that follow the day of the first reading with the change.
 */
export function spanOf({ beforeDay, day }: ChangeDays, window: number): Span {
  const eve = addDays(day, -1)
  const beforeTo = beforeDay < eve ? beforeDay : eve
  return {
    beforeFrom: addDays(beforeTo, 1 - LOOK_BACK_DAYS),
    beforeTo,
    afterFrom: addDays(day, 1),
    afterTo: addDays(day, window),
  }
}

/** Returns the first day of every month that these spans touch, oldest first. */
export function monthsOf(spans: readonly Span[]): string[] {
  const days = spans.flatMap(({ beforeFrom, beforeTo, afterFrom, afterTo }) => [
    ...stretchesBack(beforeFrom, beforeTo),
    ...stretchesBack(afterFrom, afterTo),
  ])
  return [...new Set(days.map(({ month }) => month))].sort()
}

/** The stored bytes of a month, one per day (month-bytes.ts). */
export interface MonthBytes {
  ranks: Uint8Array
  sources: Uint8Array
  depths: Uint8Array
}

export interface TermMonths {
  term: string
  /** Keyed by the month's first day. */
  months: ReadonlyMap<string, MonthBytes>
}

interface TermMove {
  term: string
  direction: Exclude<Direction, "same">
  /** Null if absent. */
  from: number | null
  to: number | null
  /**
   * For an entry or a drop-out, the minimum number of places: it assumes that the app ranked right below the places
   * that were read.
   */
  places: number
  fromDay: string
  toDay: string
  /** The code of the source of both days. */
  source: number
}

/** Numbers of keywords by what happened to them. The seven counts add up to all keywords. */
export interface Movements extends Record<Exclude<Direction, "same">, number> {
  unchanged: number
  /** Measured before and after, but absent from a reading that is shallower than the rank on the other day. */
  uncertain: number
  /** Not measured by the same source both before and after the change. */
  unmeasured: number
  /**
   * The biggest moves: those over the most places first, then those with the better rank, then in the order of the
   * keywords.
   */
  biggest: TermMove[]
}

/**
 * Returns how keywords moved around a change. Each keyword is compared between its last measured day before the change
 * and the last day of the window that the same source measured.
 */
export function movementsAround(terms: readonly TermMonths[], span: Span): Movements {
  const before = stretchesBack(span.beforeFrom, span.beforeTo)
  const after = stretchesBack(span.afterFrom, span.afterTo)
  const counts = { up: 0, down: 0, entered: 0, dropped: 0, unchanged: 0, uncertain: 0, unmeasured: 0 }
  const moves: TermMove[] = []
  for (const { term, months } of terms) {
    const was = lastPoint(months, before)
    const is = was && lastPoint(months, after, was.source)
    const move = was && is && moveBetween(dayRank(was), dayRank(is))
    if (!was || !is) counts.unmeasured++
    else if (!move) counts.uncertain++
    else if (move.direction === "same") counts.unchanged++
    else {
      counts[move.direction]++
      moves.push({ term, direction: move.direction, ...placesMoved(was, is) })
    }
  }
  return { ...counts, biggest: moves.sort(biggestFirst).slice(0, BIGGEST) }
}

/** Some days of one month, each numbered from 1 to 31. */
interface Stretch {
  month: string
  first: number
  last: number
}

/** Splits the days into months, the latest first. */
function stretchesBack(from: string, to: string): Stretch[] {
  const stretches: Stretch[] = []
  for (let last = to; last >= from; last = addDays(monthOf(last), -1)) {
    const first = monthOf(last) > from ? monthOf(last) : from
    stretches.push({ month: monthOf(last), first: Number(first.slice(8)), last: Number(last.slice(8)) })
  }
  return stretches
}

/**
 * Returns the latest measured day; if `source` is given, the latest day that this source measured. Null if there is
 * none.
 */
function lastPoint(
  months: ReadonlyMap<string, MonthBytes>,
  stretches: readonly Stretch[],
  source?: number,
): Point | null {
  for (const { month, first, last } of stretches) {
    const bytes = months.get(month)
    for (let day = last; bytes && day >= first; day--) {
      const [rank, by] = [bytes.ranks[day - 1] as number, bytes.sources[day - 1] as number]
      if (rank === UNMEASURED || (source !== undefined && by !== source)) continue
      const named = `${month.slice(0, 8)}${String(day).padStart(2, "0")}`
      return { day: named, rank: rank || null, source: by, depth: bytes.depths[day - 1] as number }
    }
  }
  return null
}

function dayRank({ source, ...point }: Point) {
  return { ...point, source: String(source) }
}

function placesMoved(was: Point, is: Point): Omit<TermMove, "term" | "direction"> {
  const places = Math.abs((was.rank ?? was.depth + 1) - (is.rank ?? is.depth + 1))
  return { from: was.rank, to: is.rank, places, fromDay: was.day, toDay: is.day, source: was.source }
}

function biggestFirst(one: TermMove, other: TermMove): number {
  return other.places - one.places || best(one) - best(other)
}

function best({ from, to }: TermMove): number {
  return Math.min(from ?? Number.POSITIVE_INFINITY, to ?? Number.POSITIVE_INFINITY)
}
