interface RankedApps {
  /** In the order shown. */
  apps: Int32Array
  /** Of those ids. */
  highest: number
  /** The store's own numbers of them. */
  storeIds: Float64Array
  /** Since when each is seen, as days; 0 = not known. */
  firstDays: Uint16Array
}

/** An app at its best place. */
export interface BestPlace {
  app: number
  storeId: number
  rank: number
  /** Which of the lists has it there. */
  list: number
  firstDay: number
}

/** Apps that stand on lists, by their best place. */
interface BestPlaces {
  /** How many there are. */
  count: number
  /** The first of them, as far as was asked and to the end of that rank: side by side their ids, ranks and lists. */
  apps: number[]
  ranks: number[]
  lists: number[]
  /** Apps that would be among them if it were known since when they are seen. */
  unknown: number
}

/** Some of all apps, a bit each: their ids have few gaps, and with 80,000 places a Set takes five times as long. */
export type AppBits = Uint8Array

interface PlaceQuery {
  rankMin: number
  rankMax: number
  /** These apps alone. */
  only: AppBits | null
  /** Only places on lists that say the app is seen since that day or later. */
  since: number | null
  /** So many are wanted; the others are counted. */
  upTo: number
}

/**
 * Lays lists over one another: each app once, at its best place, and of equally good ones on the list that comes first. Apps
 * of one rank stand in no order.
 */
export function bestPlaces(lists: readonly RankedApps[], query: PlaceQuery): BestPlaces {
  const { rankMin, only, upTo } = query
  const found: BestPlaces = { count: 0, apps: [], ranks: [], lists: [], unknown: 0 }
  const highest = lists.reduce((most, { highest }) => Math.max(most, highest), 0)
  const deepest = lists.reduce((most, { apps }) => Math.max(most, apps.length), 0)
  const rankMax = Math.min(query.rankMax, deepest)
  const left = bitsUpTo(highest, only)
  let rank = rankMin
  for (; rank <= rankMax && found.count < upTo; rank++) addRank(found, lists, rank, left, query.since)
  for (const list of lists) found.count += countRest(list, rank, rankMax, left, query.since)
  return query.since === null ? found : { ...found, unknown: countUnknown(lists, rankMin, rankMax, left) }
}

/** The apps at a rank that are left, each of which is then left no more. */
function addRank(
  found: BestPlaces,
  lists: readonly RankedApps[],
  rank: number,
  left: Uint8Array,
  since: number | null,
): void {
  for (let list = 0; list < lists.length; list++) {
    const { apps, firstDays } = lists[list]!
    if (rank > apps.length || isOlder(firstDays[rank - 1]!, since)) continue
    const app = apps[rank - 1]!
    if ((left[app >> 3]! & (1 << (app & 7))) === 0) continue
    left[app >> 3]! ^= 1 << (app & 7)
    found.count++
    found.apps.push(app)
    found.ranks.push(rank)
    found.lists.push(list)
  }
}

/** How many more there are from a rank on: list by list, as their order is asked by nobody. A fifth of the time. */
function countRest(
  { apps, firstDays }: RankedApps,
  rank: number,
  rankMax: number,
  left: Uint8Array,
  since: number | null,
): number {
  let count = 0
  const end = Math.min(rankMax, apps.length)
  for (let at = rank - 1; at < end; at++) {
    const app = apps[at]!
    if ((left[app >> 3]! & (1 << (app & 7))) === 0 || isOlder(firstDays[at]!, since)) continue
    left[app >> 3]! ^= 1 << (app & 7)
    count++
  }
  return count
}

/** Of those that are left to the end, the ones of which some place says no first day. */
function countUnknown(lists: readonly RankedApps[], rankMin: number, rankMax: number, left: Uint8Array): number {
  let count = 0
  for (const { apps, firstDays } of lists) {
    const end = Math.min(rankMax, apps.length)
    for (let at = rankMin - 1; at < end; at++) {
      const app = apps[at]!
      if (firstDays[at] !== 0 || (left[app >> 3]! & (1 << (app & 7))) === 0) continue
      left[app >> 3]! ^= 1 << (app & 7)
      count++
    }
  }
  return count
}

/** Also where it is not known: then it is none that is seen since that day. */
function isOlder(firstDay: number, since: number | null): boolean {
  return since !== null && (firstDay === 0 || firstDay < since)
}

/** A copy of them; null = all. */
function bitsUpTo(highest: number, only: AppBits | null): AppBits {
  const bits = new Uint8Array((highest >> 3) + 1)
  if (only === null) bits.fill(255)
  else bits.set(only.subarray(0, bits.length))
  return bits
}

export function bitsOf(...some: readonly ArrayLike<number>[]): AppBits {
  const bits = new Uint8Array((some.reduce((most, apps) => Math.max(most, highestOf(apps)), 0) >> 3) + 1)
  for (const apps of some) {
    // by index: with 80,000 apps iterators take most of the time
    for (let at = 0; at < apps.length; at++) {
      const app = apps[at]!
      bits[app >> 3]! |= 1 << (app & 7)
    }
  }
  return bits
}

function highestOf(apps: ArrayLike<number>): number {
  let highest = 0
  for (let at = 0; at < apps.length; at++) if (apps[at]! > highest) highest = apps[at]!
  return highest
}

/** The places from `from` up to `to`, as far as was asked, in their order: the best first, then the lowest number of the store. */
export function orderedPlaces(
  { apps, ranks, lists: at }: BestPlaces,
  lists: readonly RankedApps[],
  from: number,
  to: number,
): BestPlace[] {
  // ranks come in order, so that only those are sorted that the page has part of
  let [start, end] = [Math.min(from, apps.length), Math.min(to, apps.length)]
  while (start > 0 && ranks[start - 1] === ranks[from]) start--
  while (end > from && end < apps.length && ranks[end] === ranks[end - 1]) end++
  const whole = Array.from({ length: end - start }, (_, i): BestPlace => {
    const [rank, list] = [ranks[start + i]!, at[start + i]!]
    const { storeIds, firstDays } = lists[list]!
    return { app: apps[start + i]!, storeId: storeIds[rank - 1]!, rank, list, firstDay: firstDays[rank - 1]! }
  })
  whole.sort((one, other) => one.rank - other.rank || one.storeId - other.storeId)
  return whole.slice(from - start, to - start)
}
