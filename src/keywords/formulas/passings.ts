/** A day's results, as app ids in order. */
interface ResultsDay {
  day: string
  source: string
  appIds: readonly number[]
}

interface Passing {
  day: string
  /** The previous measured day. */
  before: string
  /** Rank of the app on the previous measured day and on this day. Null if absent from the results that were read. */
  was: number | null
  rank: number | null
  /** Apps that were below the app and are above it now, ordered by rank. */
  passedBy: Passer[]
  /** Apps that were above the app and are below it now, ordered by their earlier rank. */
  passed: Passer[]
}

interface Passer {
  app: number
  /** Null if absent from the results that were read. */
  was: number | null
  rank: number | null
}

/**
 * Returns the days on which other apps passed an app or were passed by it, newest first. Compares each measured day
 * with the one before, never across a change of source. `days` are oldest first.
 */
export function passingsOf(days: readonly ResultsDay[], appId: number): Passing[] {
  const passings: Passing[] = []
  for (const [at, after] of days.entries()) {
    const before = days[at - 1]
    if (!before || before.source !== after.source) continue
    const [places, placesNow] = [placesOf(before), placesOf(after)]
    const [was, rank] = [places.get(appId) ?? null, placesNow.get(appId) ?? null]
    const otherApps = new Set([...before.appIds, ...after.appIds])
    otherApps.delete(appId)
    const moves = [...otherApps].map((app) => ({ app, was: places.get(app) ?? null, rank: placesNow.get(app) ?? null }))
    // an absent app counts as below all places that were read
    const isAhead = (one: number | null, other: number | null) => one !== null && (other === null || one < other)
    const passedBy = moves.filter((move) => isAhead(was, move.was) && isAhead(move.rank, rank))
    const passed = moves.filter((move) => isAhead(move.was, was) && isAhead(rank, move.rank))
    if (passedBy.length + passed.length === 0) continue
    passings.unshift({
      day: after.day,
      before: before.day,
      was,
      rank,
      passedBy: passedBy.sort((a, b) => a.rank! - b.rank!),
      passed: passed.sort((a, b) => a.was! - b.was!),
    })
  }
  return passings
}

const placesOf = ({ appIds }: ResultsDay) => new Map(appIds.map((app, at) => [app, at + 1]))
