import type { Sql } from "../../database/types.ts"
import { addDays, monthsOf } from "../../lib/days.ts"
import { lastPointsOf, type StoredMonth } from "../../lib/month-bytes.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import { RANK_SOURCES, type RankSource } from "../../lib/upstreams.ts"
import { moveBetween, type RankMove } from "../formulas/rank-moves.ts"
import type { SideApp } from "./day-answers.ts"
import { readSidesRankMonths } from "./rank-months.ts"

export const LOOK_BACK_DAYS = 14

/** A keyword on a day. `measured` is false if its results were not read that day. */
export interface TermDay {
  term: string
  measured: boolean
  /** Null if not measured, or absent. */
  rank: number | null
  source: RankSource | null
  /** The previous measured day, within 14 days. Null if there is none. */
  against: string | null
  /** Null if it cannot be determined (see moveBetween). */
  move: RankMove | null
}

export interface SideDay extends SideApp {
  terms: TermDay[]
}

/**
 * Returns keywords on a day compared with the previous measured day. Reads stored months: at most two rows per keyword,
 * however long its history.
 */
export async function readSideDays(sql: Sql, sides: readonly SideApp[], day: string): Promise<SideDay[]> {
  const from = addDays(day, -LOOK_BACK_DAYS)
  const sided = await readSidesRankMonths(sql, sides, monthsOf({ from, to: day }))
  const daysOf = (side: SideApp, place: number) => {
    const terms = sided[place] ?? []
    return { ...side, terms: terms.map(({ term, months }) => termDay(term, months, { from, day })) }
  }
  return sides.map(daysOf)
}

/** Returns a keyword on a day, using the days from `from` on. */
export function termDay(
  term: string,
  months: readonly StoredMonth[],
  { from, day }: { from: string; day: string },
): TermDay {
  const points = lastPointsOf(months, { from, to: day }, 2)
  const named = points.map((point) => ({ ...point, source: sourceOf(point.source) }))
  const today = named.at(-1)?.day === day ? named.pop() : undefined
  const before = named.at(-1)
  if (!today) return { term, measured: false, rank: null, source: null, against: null, move: null }
  const { rank, source } = today
  return {
    term,
    measured: true,
    rank,
    source,
    against: before?.day ?? null,
    move: before ? moveBetween(before, today) : null,
  }
}

/** Totals of keywords on a day. */
interface DayCounts {
  tracked: number
  measured: number
  /** Includes entries. Null if no keyword can be compared. */
  up: number | null
  /** Includes drops. */
  down: number | null
  /** Null if no keyword has a rank. */
  best: number | null
  sources: RankSource[]
}

export function dayCounts(terms: readonly TermDay[]): DayCounts {
  const counts = { tracked: terms.length, measured: 0, best: null as number | null }
  let [up, down, compared] = [0, 0, 0]
  const sources = new Set<RankSource | null>()
  for (const { measured, rank, source, move } of terms) {
    if (measured) counts.measured++
    if (rank !== null && rank < (counts.best ?? Number.POSITIVE_INFINITY)) counts.best = rank
    sources.add(source)
    if (move) compared++
    if (move?.direction === "up" || move?.direction === "entered") up++
    if (move?.direction === "down" || move?.direction === "dropped") down++
  }
  const moved = compared > 0 ? { up, down } : { up: null, down: null }
  return { ...counts, ...moved, sources: RANK_SOURCES.filter((source) => sources.has(source)) }
}
