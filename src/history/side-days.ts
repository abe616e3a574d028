import type { Sql } from "../database/types.ts"
import { pointsOf } from "../formulas/month-bytes.ts"
import { moveBetween, type RankMove } from "../formulas/rank-moves.ts"
import type { TermMonths } from "../formulas/timeline.ts"
import { type RankSource, sourceOf } from "../observations/types.ts"
import { addDays, monthOf } from "../vocabulary/days.ts"
import type { SideApp } from "./day-answers.ts"
import { rankMonthsOf } from "./rank-months.ts"

/** How far back the measured day before is looked for. */
export const LOOK_BACK_DAYS = 14

/** A keyword on a day; `measured` false = nobody read its results that day. */
export interface TermDay {
  term: string
  measured: boolean
  /** Null = not measured, or absent. */
  rank: number | null
  source: RankSource | null
  /** The measured day before, within 14 days; null = none. */
  against: string | null
  /** Null where nothing can be said of it: see moveBetween. */
  move: RankMove | null
}

export interface SideDay extends SideApp {
  /** Every tracked keyword, in its order. */
  terms: TermDay[]
}

/**
 * How the keywords of apps stood on a UTC day, side by side, against the measured day before it. Reads the months' bytes of
 * tracked pairs: at most two rows a keyword, however long its history is.
 */
export async function sideDays(sql: Sql, sides: readonly SideApp[], day: string): Promise<SideDay[]> {
  const from = addDays(day, -LOOK_BACK_DAYS)
  const sided = await rankMonthsOf(sql, sides, [...new Set([monthOf(from), monthOf(day)])])
  return sides.map((side, place) => {
    const terms = sided[place] as TermMonths[]
    return { ...side, terms: terms.map((term) => termDay(term, { from, day })) }
  })
}

function termDay({ term, months }: TermMonths, { from, day }: { from: string; day: string }): TermDay {
  const points = [...months].flatMap(([month, bytes]) => pointsOf({ month, ...bytes }, from, day))
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
