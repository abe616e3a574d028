import { addDays } from "../../lib/days.ts"
import { eachPoint, type StoredMonth } from "../../lib/month-bytes.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import { type DayRank, moveBetween, type RankMove } from "./rank-moves.ts"

/** Days of the line, today included. */
export const LINE_DAYS = 30
/** A move compares the latest measured day of these with the last one before them, at most as many days earlier. */
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

/** The last days of an app's keywords, in all its storefronts and both stores. */
export interface RankMonth {
  tracked: number
  /** The latest day of the line on which a keyword was measured. Null if there is none; then the counts are 0. */
  day: string | null
  measured: number
  top10: number
  best: number | null
  /** Keywords that rose or entered, and that fell or dropped out. Null if none can be compared. */
  up: number | null
  down: number | null
  riser: Mover | null
  faller: Mover | null
  /** Share of the measured keywords in the top ten, a value per day of the line. Null if nothing was measured. */
  line: (number | null)[]
}

/** Summarises the days up to `today`. A move that matters more is larger in proportion: 8 to 2 beats 90 to 60. */
export function rankMonthOf(terms: readonly RankedTerm[], today: string): RankMonth {
  const days = Array.from({ length: LINE_DAYS }, () => ({ measured: 0, top10: 0, best: null as number | null }))
  const dayAt = new Map(days.map((day, place) => [addDays(today, place - LINE_DAYS + 1), day]))
  const moves: (Mover & RankMove)[] = []
  let compared = 0
  for (const term of terms) {
    const [before, after] = comparedDays(term, today, (at, rank) => {
      const day = dayAt.get(at)
      if (!day) return
      day.measured++
      if (rank === null) return
      if (rank <= 10) day.top10++
      if (day.best === null || rank < day.best) day.best = rank
    })
    const move = before && after ? moveBetween(before, after) : null
    if (!before || !after || !move) continue
    compared++
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

/** Calls `take` for each measured day of the line, and returns the two days to compare. */
function comparedDays(
  { months }: RankedTerm,
  today: string,
  take: (day: string, rank: number | null) => void,
): [before: DayRank | null, after: DayRank | null] {
  const lineFrom = addDays(today, 1 - LINE_DAYS)
  const weekFrom = addDays(today, 1 - MOVE_DAYS)
  const beforeFrom = addDays(weekFrom, -MOVE_DAYS)
  let [before, first, after] = [null as DayRank | null, null as DayRank | null, null as DayRank | null]
  for (const stored of [...months].sort((a, b) => (a.month < b.month ? -1 : 1)))
    eachPoint(stored, lineFrom, today, (day, rank, source, depth) => {
      take(day, rank)
      if (day < beforeFrom) return
      const point = { day, rank, source: sourceOf(source), depth }
      if (day < weekFrom) before = point
      else {
        first ??= point
        after = point
      }
    })
  // a keyword that is new has no day before the week
  return [before ?? (first === after ? null : first), after]
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

/** The place of an absent app, for comparison. */
const OUTSIDE = 251
