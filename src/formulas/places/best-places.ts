import { type AppBits, createBitRoom } from "./app-bits.ts"
import {
  type AppCounts,
  type AppQuery,
  countIndexed,
  type ListsIndex,
  leastDay,
  type RankedApps,
} from "./lists-index.ts"

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
interface BestPlaces extends AppCounts {
  /** The first of them, as far as was asked and to the end of some rank: side by side their ids, ranks and lists. */
  apps: number[]
  ranks: number[]
  lists: number[]
}

interface PlaceQuery extends AppQuery {
  rankMin: number
  rankMax: number
  /** So many are wanted; the others are counted. */
  upTo: number
}

const [roomOfLeft, roomOfUnsure] = [createBitRoom(), createBitRoom()]

/**
 * Lays lists over one another: each app once, at its best place, and of equally good ones on the list that comes first. Apps
 * of one rank stand in no order. Where the lists are those of indexes, whole, apps are counted by these.
 */
export function bestPlaces(
  lists: readonly RankedApps[],
  query: PlaceQuery,
  indexes: readonly ListsIndex[] | null = null,
): BestPlaces {
  const { rankMin, only, unsure, since, upTo } = query
  const highest = lists.reduce((most, { highest }) => Math.max(most, highest), 0)
  const deepest = lists.reduce((most, { apps }) => Math.max(most, apps.length), 0)
  const rankMax = Math.min(query.rankMax, deepest)
  const isWhole = rankMin === 1 && rankMax === deepest
  const counts = indexes && isWhole ? countIndexed(indexes, highest, query) : null
  const found: BestPlaces = { count: 0, unknown: 0, unsure: 0, apps: [], ranks: [], lists: [] }
  const left = roomOfLeft(highest, only ?? "all")
  const least = leastDay(since)
  let [from, ranks] = [rankMin, 0]
  while (from <= rankMax && found.apps.length < upTo) {
    const wanted = upTo - found.apps.length
    // as many as have them if apps lie evenly; not knowing how many there are, a few and more each time
    ranks = counts
      ? Math.ceil(Math.min(1, (1.2 * upTo) / counts.count) * deepest)
      : Math.max(2 * ranks, Math.ceil(wanted / lists.length))
    const to = Math.min(from + ranks - 1, rankMax)
    addRanks(found, lists, [from, to], { left, least })
    from = to + 1
  }
  if (counts) return Object.assign(found, counts)
  found.count = found.apps.length + countLeft(lists, [from, rankMax], { left, least })
  if (since !== null) found.unknown = countLeft(lists, [rankMin, rankMax], { left, least: 0, most: 0 })
  if (unsure) found.unsure = countLeft(lists, [rankMin, rankMax], { left: roomOfUnsure(highest, unsure), least })
  return found
}

interface LeftApps {
  left: AppBits
  /** Between which first days a place has to say; no most = any. */
  least: number
  most?: number
}

type Ranks = readonly [from: number, to: number]

/** A place as one number: no list has more apps. */
const OF_LIST = 65_536

/** The apps at these ranks that are left, each of which is then left no more: list by list, and put into the order of ranks. */
function addRanks(found: BestPlaces, lists: readonly RankedApps[], [from, to]: Ranks, { left, least }: LeftApps): void {
  const places: number[] = []
  const ends = new Int32Array(to - from + 2)
  for (let list = 0; list < lists.length; list++) {
    const { apps, firstDays } = lists[list]!
    const end = Math.min(to, apps.length)
    for (let at = from - 1; at < end; at++) {
      const app = apps[at]!
      if ((left[app >> 5]! & (1 << app)) === 0 || firstDays[at]! < least) continue
      places.push(list * OF_LIST + at)
      ends[at + 2 - from]!++
    }
  }
  for (let at = 1; at < ends.length; at++) ends[at]! += ends[at - 1]!
  const order = new Int32Array(places.length)
  for (let i = 0; i < places.length; i++) order[ends[(places[i]! % OF_LIST) + 1 - from]!++] = places[i]!
  for (let i = 0; i < order.length; i++) {
    const at = order[i]! % OF_LIST
    const list = (order[i]! - at) / OF_LIST
    const app = lists[list]!.apps[at]!
    if ((left[app >> 5]! & (1 << app)) === 0) continue
    left[app >> 5]! ^= 1 << app
    found.apps.push(app)
    found.ranks.push(at + 1)
    found.lists.push(list)
  }
}

/** How many are left at these ranks, none of which is then: list by list, as their order is asked by nobody. */
function countLeft(lists: readonly RankedApps[], [from, to]: Ranks, { left, least, most = OF_LIST }: LeftApps): number {
  let count = 0
  for (let list = 0; list < lists.length; list++) {
    const { apps, firstDays } = lists[list]!
    const end = Math.min(to, apps.length)
    for (let at = from - 1; at < end; at++) {
      const app = apps[at]!
      const some = left[app >> 5]!
      if ((some & (1 << app)) === 0 || firstDays[at]! < least || firstDays[at]! > most) continue
      left[app >> 5] = some ^ (1 << app)
      count++
    }
  }
  return count
}

/** The places from `from` up to `to`, as far as was asked, in their order: the best first, then the lowest number of the store. */
export function orderedPlaces(found: BestPlaces, lists: readonly RankedApps[], from: number, to: number): BestPlace[] {
  const { ranks } = found
  const page: BestPlace[] = []
  // ranks come in order, so that only those are looked at that the page has part of
  let start = Math.min(from, ranks.length)
  while (start > 0 && ranks[start - 1] === ranks[from]) start--
  for (let end = start; start < Math.min(to, ranks.length); start = end) {
    while (end < ranks.length && ranks[end] === ranks[start]) end++
    page.push(...placesOfRank(found, lists, [start, end], [Math.max(from, start) - start, to - start]))
  }
  return page
}

/** More of one rank than a page has are looked through for those of the page. */
const MANY = 100

/** Of the places of a rank, in their order, those from `from` up to `to`. */
function placesOfRank(
  { apps, ranks, lists: at }: BestPlaces,
  lists: readonly RankedApps[],
  [start, end]: readonly [number, number],
  [from, to]: readonly [number, number],
): BestPlace[] {
  const rank = ranks[start]!
  const ids = new Float64Array(end - start)
  for (let i = 0; i < ids.length; i++) ids[i] = lists[at[start + i]!]!.storeIds[rank - 1]!
  const sorted = ids.length > MANY ? ids.toSorted() : null
  const [least, most] = sorted ? [sorted[from]!, sorted[Math.min(to, ids.length) - 1]!] : [0, Number.POSITIVE_INFINITY]
  const places: BestPlace[] = []
  for (let i = 0; i < ids.length; i++) {
    const storeId = ids[i]!
    if (storeId < least || storeId > most) continue
    const list = at[start + i]!
    places.push({ app: apps[start + i]!, storeId, rank, list, firstDay: lists[list]!.firstDays[rank - 1]! })
  }
  places.sort((one, other) => one.storeId - other.storeId)
  return sorted ? places : places.slice(from, to)
}
