import { addDays } from "../../lib/days.ts"

/** A text settles in search for a week, and four say what it was worth. */
const [FROM_DAY, TO_DAY] = [7, 28]

/** The UTC days whose ranks a task is held against, by the day on which its text first stood on the page. */
export function gradeDaysOf(adoptedDay: string): { from: string; to: string } {
  return { from: addDays(adoptedDay, FROM_DAY), to: addDays(adoptedDay, TO_DAY) }
}

interface KeywordGrade {
  verdict: "reached" | "better" | "not_better" | "not_measured"
  /** In the middle of the days that were measured; null = absent on most, or none was. */
  rank: number | null
  days: number
}

/** What became of a keyword: `before` is its rank when the task was told, `ranks` those of the days since, null = absent. */
export function gradeKeyword(
  { before, expected }: { before: number | null; expected: number },
  ranks: readonly (number | null)[],
): KeywordGrade {
  if (ranks.length === 0) return { verdict: "not_measured", rank: null, days: 0 }
  const placed = ranks.map((rank) => rank ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b)
  // of two in the middle the worse: nothing is made up between a place and none
  const middle = placed[Math.floor(placed.length / 2)] as number
  const rank = Number.isFinite(middle) ? middle : null
  const isBetter = middle < (before ?? Number.POSITIVE_INFINITY)
  return { verdict: middle <= expected ? "reached" : isBetter ? "better" : "not_better", rank, days: ranks.length }
}
