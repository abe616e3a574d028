/** A measured day of a keyword: its rank, or null where the app was not among the results read. */
export type RankPoint = readonly [day: string, rank: number | null]

const BARS = "▁▂▃▄▅▆▇█"
const ABSENT = "–"
const UNMEASURED = "·"

/** Of the ranks that are told apart: from here on a bar is the lowest. */
const DEEPEST = 200

/**
 * A character for each of the days, or for each of equal parts of them where `width` is less: the last measured rank in it as
 * a bar, the higher the better, "–" where the app was absent and "·" where nothing was measured.
 */
export function sparkline(points: readonly RankPoint[], days: readonly string[], width: number): string {
  const ranks = new Map(points)
  const count = Math.min(width, days.length)
  return Array.from({ length: count }, (_, at) => {
    const part = days.slice(Math.floor((at * days.length) / count), Math.floor(((at + 1) * days.length) / count))
    const measured = part.findLast((day) => ranks.has(day))
    return measured === undefined ? UNMEASURED : bar(ranks.get(measured) as number | null)
  }).join("")
}

/** By the logarithm: from 1 to 2 is as much as from 50 to 100. */
function bar(rank: number | null): string {
  if (rank === null) return ABSENT
  const height = 1 - Math.log(Math.min(rank, DEEPEST)) / Math.log(DEEPEST)
  return BARS[Math.min(BARS.length - 1, Math.floor(height * BARS.length))] as string
}
