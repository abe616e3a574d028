/** The rank of an app on a measured day. `rank` is null if the app is absent from the first `depth` places. */
export interface DayRank {
  day: string
  source: string
  depth: number
  rank: number | null
}

export const DIRECTIONS = ["up", "down", "entered", "dropped", "same"] as const
export type Direction = (typeof DIRECTIONS)[number]

export interface RankMove {
  direction: Direction
  /** Null if absent. */
  from: number | null
  to: number | null
  /** Number of places. Null unless both are ranks. */
  places: number | null
}

/**
 * Returns the change from one measured day to a later one. Null if it cannot be determined: the days have different
 * sources, which may rank differently, or the app is absent from a reading that is shallower than its rank on the other
 * day.
 */
export function moveBetween(before: DayRank, after: DayRank): RankMove | null {
  if (before.source !== after.source) return null
  const [from, to] = [before.rank, after.rank]
  if (from === null && to === null) return { direction: "same", from, to, places: null }
  if (from === null) return before.depth >= (to as number) ? { direction: "entered", from, to, places: null } : null
  if (to === null) return after.depth >= from ? { direction: "dropped", from, to, places: null } : null
  const places = Math.abs(from - to)
  return { direction: to < from ? "up" : to > from ? "down" : "same", from, to, places }
}
