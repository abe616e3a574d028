import type { Sql } from "../../database/types.ts"
import { addDays, monthsOf } from "../../lib/days.ts"
import { pointsOf, type StoredMonth } from "../../lib/month-bytes.ts"
import { sourceOf } from "../../lib/rank-sources.ts"
import { moveBetween } from "../formulas/rank-moves.ts"
import type { SideApp } from "./day-answers.ts"
import { readSidesRankMonths } from "./rank-months.ts"
import type { TermDay } from "./side-days.ts"

/** A keyword on the last measured day of a week. `day` is null if there was none. */
type TermWeek = TermDay & { day: string | null }

/**
 * Returns the last measured day from `from` to `to`, compared with the last one of the seven days before. Reads at most
 * three months.
 */
export async function readSideWeeks(
  sql: Sql,
  sides: readonly SideApp[],
  { from, to }: { from: string; to: string },
): Promise<(SideApp & { terms: TermWeek[] })[]> {
  const earliest = addDays(from, -7)
  const sided = await readSidesRankMonths(sql, sides, monthsOf({ from: earliest, to }))
  return sides.map((side, place) => {
    const terms = sided[place] ?? []
    return { ...side, terms: terms.map(({ term, months }) => termWeek(term, months, { earliest, from, to })) }
  })
}

function termWeek(
  term: string,
  months: readonly StoredMonth[],
  { earliest, from, to }: Record<"earliest" | "from" | "to", string>,
): TermWeek {
  const points = months.flatMap((month) => pointsOf(month, earliest, to))
  const named = points.map((point) => ({ ...point, source: sourceOf(point.source) }))
  const last = named.at(-1)
  if (!last || last.day < from)
    return { term, day: null, measured: false, rank: null, source: null, against: null, move: null }
  const before = named.findLast(({ day }) => day < from)
  const { rank, source, day } = last
  const move = before ? moveBetween(before, last) : null
  return { term, day, measured: true, rank, source, against: before?.day ?? null, move }
}
