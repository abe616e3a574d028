import { addDays, type Days } from "../../lib/days.ts"

/** Number of reviews of one UTC day, app version (null if unknown) and star rating. */
export interface ReviewTally {
  day: string
  version: string | null
  stars: number
  count: number
}

const STARS = [1, 2, 3, 4, 5] as const

type Distribution = Record<`${(typeof STARS)[number]}`, number>

interface ReviewFigures {
  count: number
  /** Average stars, to two decimals. Null if there are no reviews. */
  average: number | null
  distribution: Distribution
}

interface DayOfReviews {
  day: string
  /** Null if no review of the day is stored and the day is not covered, because there may have been some. */
  count: number | null
  average: number | null
  covered: boolean
}

export interface ReviewStats extends ReviewFigures {
  /** Share of reviews with one or two stars, 0 to 1, to four decimals. Null if there are no reviews. */
  lowShare: number | null
  /** The latest run of covered days without a gap. Null if no day is covered. */
  coveredFrom: string | null
  coveredTo: string | null
  /** One entry for every day from `from` to `to`, oldest first. */
  byDay: DayOfReviews[]
  /** Most reviews first, then by version as text; reviews without a version last. */
  byVersion: (ReviewFigures & { version: string | null })[]
}

/**
 * Aggregates tallies of reviews over these days. On `covered` days every review is stored, so zero means that no review
 * was written.
 */
export function reviewStats(
  tallies: readonly ReviewTally[],
  { from, to }: Days,
  covered: ReadonlySet<string>,
): ReviewStats {
  const all = figuresOf(tallies)
  const { 1: oneStar, 2: twoStars } = all.distribution
  const byDay = Map.groupBy(tallies, ({ day }) => day)
  const byVersion = Map.groupBy(tallies, ({ version }) => version)
  const days: DayOfReviews[] = []
  for (let day = from; day <= to; day = addDays(day, 1)) {
    const { count, average } = figuresOf(byDay.get(day) ?? [])
    const isCovered = covered.has(day)
    days.push({ day, count: count > 0 || isCovered ? count : null, average, covered: isCovered })
  }
  const lastCovered = days.findLastIndex((day) => day.covered)
  const lastGap = days.findLastIndex((day, at) => at < lastCovered && !day.covered)
  return {
    ...all,
    lowShare: all.count === 0 ? null : rounded((oneStar + twoStars) / all.count, 4),
    coveredFrom: lastCovered === -1 ? null : (days[lastGap + 1] as DayOfReviews).day,
    coveredTo: lastCovered === -1 ? null : (days[lastCovered] as DayOfReviews).day,
    byDay: days,
    byVersion: [...byVersion]
      .map(([version, versionTallies]) => ({ version, ...figuresOf(versionTallies) }))
      .sort((a, b) => b.count - a.count || byName(a.version, b.version)),
  }
}

function figuresOf(tallies: readonly ReviewTally[]): ReviewFigures {
  const distribution: Distribution = { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 }
  for (const { stars, count } of tallies) distribution[`${stars}` as keyof Distribution] += count
  const count = STARS.reduce((sum, stars) => sum + distribution[stars], 0)
  const sum = STARS.reduce((sum, stars) => sum + stars * distribution[stars], 0)
  return { count, average: count === 0 ? null : rounded(sum / count, 2), distribution }
}

function byName(a: string | null, b: string | null): number {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? 1 : -1
  return a < b ? -1 : 1
}

/** Rounds half up. */
function rounded(value: number, decimals: number): number {
  const unit = 10 ** decimals
  return Math.round(value * unit) / unit
}
