import { addDays, dayNumber, daysInMonth } from "../../lib/days.ts"
import { type StoredMonth, UNMEASURED } from "../../lib/month-bytes.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import { type DayRank, moveBetween, type RankMove } from "./rank-moves.ts"

/** Number of days on the line, including today. */
export const LINE_DAYS = 30
/**
 * Number of days in each of two periods: a move compares the latest measured day of the last MOVE_DAYS days with the
 * latest measured day of the MOVE_DAYS days before them.
 */
const MOVE_DAYS = 7

/** A tracked keyword with its stored months. */
interface RankedTerm {
  term: string
  country: string
  platform: "ios" | "android"
  months: readonly StoredMonth[]
}

/** A keyword that moved, and the two measured days that show it. */
interface Mover {
  term: string
  country: string
  platform: "ios" | "android"
  /** Null if absent. */
  from: number | null
  to: number | null
  fromDay: string
  toDay: string
}

/** A summary of the last LINE_DAYS days of an app's keywords, in all its storefronts and both stores. */
export interface RankMonth {
  tracked: number
  /** The latest day of the line on which a keyword was measured. Null if there is none; then the counts are 0. */
  day: string | null
  measured: number
  top10: number
  best: number | null
  /**
   * Numbers of keywords that rose or entered (`up`), and that fell or dropped out (`down`). Null if no keyword can be
   * compared.
   */
  up: number | null
  down: number | null
  riser: Mover | null
  faller: Mover | null
  /**
   * For each day of the line, the share of the measured keywords that are in the top ten. Null if nothing was measured.
   */
  line: (number | null)[]
}

/** Summarises the days up to `today`. The size of a move is the ratio of its ranks: 8 to 2 is larger than 90 to 60. */
export function rankMonthOf(terms: readonly RankedTerm[], today: string): RankMonth {
  const days = Array.from({ length: LINE_DAYS }, () => ({ measured: 0, top10: 0, best: null as number | null }))
  const moves: (Mover & RankMove)[] = []
  let compared = 0
  for (const term of terms) {
    const points = pointsOn(term, today, (place, rank) => {
      const day = days[place] as (typeof days)[number]
      day.measured++
      if (rank === 0) return
      if (rank <= 10) day.top10++
      if (day.best === null || rank < day.best) day.best = rank
    })
    const move = points ? moveBetween(points.before, points.after) : null
    if (!points || !move) continue
    compared++
    const { before, after } = points
    if (move.direction !== "same") moves.push({ ...moverOf(term), ...move, fromDay: before.day, toDay: after.day })
  }
  const place = days.findLastIndex(({ measured }) => measured > 0)
  const rises = moves.filter(({ direction }) => direction === "up" || direction === "entered")
  const falls = moves.filter(({ direction }) => direction === "down" || direction === "dropped")
  return {
    tracked: terms.length,
    day: place < 0 ? null : addDays(today, place - LINE_DAYS + 1),
    ...(days[place] ?? { measured: 0, top10: 0, best: null }),
    up: compared > 0 ? rises.length : null,
    down: compared > 0 ? falls.length : null,
    riser: largest(rises),
    faller: largest(falls),
    line: days.map(({ measured, top10 }) => (measured > 0 ? top10 / measured : null)),
  }
}

/** Index on the line of the first of the last MOVE_DAYS days. */
const WEEK = LINE_DAYS - MOVE_DAYS
/** Index on the line of the first of the MOVE_DAYS days before the week. */
const BEFORE = WEEK - MOVE_DAYS

/**
 * Calls `take` for each measured day of the line, with 0 for an absence. Returns the two days to compare, or null.
 * Reads the bytes without creating an object per day, because a page may need 30,000 days.
 */
function pointsOn(
  { months }: RankedTerm,
  today: string,
  take: (place: number, rank: number) => void,
): { before: DayRank; after: DayRank } | null {
  let [before, first, after] = [-1, -1, -1]
  const line = lineTo(today)
  const spans = months.map(({ month }) => line.spanOf(month))
  const bytesAt = (place: number) => {
    const at = spans.findIndex(({ start, length }) => place >= start && place < start + length)
    return { stored: months[at] as StoredMonth, day: place - (spans[at] as MonthSpan).start }
  }
  for (const [at, { ranks, from }] of months.entries()) {
    const { start, length } = spans[at] as MonthSpan
    const offset = from?.ranks ?? 0
    const last = Math.min(length, LINE_DAYS - start)
    for (let day = Math.max(0, -start); day < last; day++) {
      const rank = ranks[offset + day] as number
      if (rank === UNMEASURED) continue
      const place = start + day
      take(place, rank)
      if (place >= WEEK) {
        if (first < 0 || place < first) first = place
        after = Math.max(after, place)
      } else if (place >= BEFORE) before = Math.max(before, place)
    }
  }
  // a new keyword has no measured day before the week, so its first day in the week is used
  const earlier = before >= 0 ? before : first
  if (earlier < 0 || earlier === after) return null
  const pointAt = (place: number): DayRank => {
    const { stored, day } = bytesAt(place)
    const { ranks, sources, depths } = stored.from ?? { ranks: 0, sources: 0, depths: 0 }
    return {
      day: line.days[place] as string,
      rank: (stored.ranks[ranks + day] as number) || null,
      source: sourceOf(stored.sources[sources + day] as number),
      depth: stored.depths[depths + day] as number,
    }
  }
  return after < 0 ? null : { before: pointAt(earlier), after: pointAt(after) }
}

/** A month on the line: the index of its first day, negative if that day is before the line, and its number of days. */
interface MonthSpan {
  start: number
  length: number
}

interface Line {
  days: readonly string[]
  spanOf(month: string): MonthSpan
}

let cached: { today: string; line: Line } | null = null

/**
 * Returns the days of the line. Cached for the next keyword, because date arithmetic takes longer than reading the
 * bytes of a month.
 */
function lineTo(today: string): Line {
  if (cached?.today === today) return cached.line
  const spans = new Map<string, MonthSpan>()
  const line: Line = {
    days: Array.from({ length: LINE_DAYS }, (_, place) => addDays(today, place - LINE_DAYS + 1)),
    spanOf(month) {
      const previous = spans.get(month)
      if (previous) return previous
      const span = { start: dayNumber(month) - dayNumber(today) + LINE_DAYS - 1, length: daysInMonth(month) }
      spans.set(month, span)
      return span
    },
  }
  cached = { today, line }
  return line
}

function moverOf({ term, country, platform }: RankedTerm) {
  return { term, country, platform }
}

function largest(moves: readonly (Mover & RankMove)[]): Mover | null {
  const [move] = [...moves].sort((a, b) => sizeOf(b) - sizeOf(a) || (a.term < b.term ? -1 : 1))
  if (!move) return null
  const { term, country, platform, from, to, fromDay, toDay } = move
  return { term, country, platform, from, to, fromDay, toDay }
}

function sizeOf({ from, to }: RankMove): number {
  return Math.abs(Math.log((from ?? OUTSIDE) / (to ?? OUTSIDE)))
}

/** The rank of an absent app in comparisons. */
const OUTSIDE = 251
