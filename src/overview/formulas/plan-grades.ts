import { addDays } from "../../lib/days.ts"

/** Search needs about a week to reflect a changed text; four weeks are long enough to show the effect. */
const [FROM_DAY, TO_DAY] = [7, 28]

/** Returns the UTC days whose ranks grade a task, by the first day on which the page showed its text. */
export function gradeDaysOf(adoptedDay: string): { from: string; to: string } {
  return { from: addDays(adoptedDay, FROM_DAY), to: addDays(adoptedDay, TO_DAY) }
}

interface KeywordGrade {
  verdict: "reached" | "better" | "not_better" | "not_measured"
  /** The median rank on the measured days. Null if the app was absent on most days, or if no day was measured. */
  rank: number | null
  days: number
}

/**
 * Grades a keyword of a task. `before` is the keyword's rank when the task was proposed, and `ranks` are its ranks on
 * the days since. Null means absent.
 */
export function gradeKeyword(
  { before, expected }: { before: number | null; expected: number },
  ranks: readonly (number | null)[],
): KeywordGrade {
  if (ranks.length === 0) return { verdict: "not_measured", rank: null, days: 0 }
  const placed = ranks.map((rank) => rank ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b)
  // the worse one of two middle values, because a rank and an absence have no mean
  const middle = placed[Math.floor(placed.length / 2)] as number
  const rank = Number.isFinite(middle) ? middle : null
  const isBetter = middle < (before ?? Number.POSITIVE_INFINITY)
  return { verdict: middle <= expected ? "reached" : isBetter ? "better" : "not_better", rank, days: ranks.length }
}
