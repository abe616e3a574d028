/** A measured day of a keyword: its rank, or null if the app was not in the results. */
export type RankPoint = readonly [day: string, rank: number | null]

const BARS = "▁▂▃▄▅▆▇█"
const ABSENT = "–"
const UNMEASURED = "·"

/** From this rank on, the bar is the lowest. */
const DEEPEST = 200

/**
 * Returns one character per day, or per equal part of the days if `width` is smaller. The character shows the last
 * measured rank of its days as a bar, higher for a better rank, "–" if the app was absent, and "·" if nothing was
 * measured.
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

/** The scale is logarithmic: from 1 to 2 is as much as from 50 to 100. */
function bar(rank: number | null): string {
  if (rank === null) return ABSENT
  const height = 1 - Math.log(Math.min(rank, DEEPEST)) / Math.log(DEEPEST)
  return BARS[Math.min(BARS.length - 1, Math.floor(height * BARS.length))] as string
}
