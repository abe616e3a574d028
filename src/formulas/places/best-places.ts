import { type AppBits, createBitRoom } from "./app-bits.ts"
import type { RankedList } from "./lists-index.ts"
import { type BestPlace, type FoundPlaces, LAST_DAY, leastDay, type PlaceQuery } from "./place-query.ts"

const [roomOfLeft, roomOfUnsure] = [createBitRoom(), createBitRoom()]

/** Lays lists over one another, in the order in which of equally good places the first counts: each app once, at its best. */
export function bestPlaces<L extends RankedList>(
  lists: readonly L[],
  query: PlaceQuery,
  storeIds: Float64Array,
): FoundPlaces<L> {
  const { rankMin, only, unsure, since, from, to } = query
  const highest = lists.reduce((most, { highest }) => Math.max(most, highest), 0)
  const deepest = lists.reduce((most, { apps }) => Math.max(most, apps.length), 0)
  const rankMax = Math.min(query.rankMax, deepest)
  const left = roomOfLeft(highest, only ?? "all")
  const least = leastDay(since)
  const page: BestPlace<L>[] = []
  let count = 0
  let rank = rankMin
  for (; rank <= rankMax && count < to; rank++) {
    const places = takeRank(lists, rank, { left, least })
    if (count + places.length > from) {
      const own = places.map(({ app, list }) => {
        return { app, storeId: storeIds[app]!, rank, list, firstDay: list.firstDays[rank - 1]! }
      })
      own.sort((one, other) => one.storeId - other.storeId)
      page.push(...own.slice(Math.max(0, from - count), to - count))
    }
    count += places.length
  }
  count += countLeft(lists, [rank, rankMax], { left, least })
  const unknown = since === null ? 0 : countLeft(lists, [rankMin, rankMax], { left, least: 0, most: 0 })
  const maybe = unsure && { left: roomOfUnsure(highest, unsure), least }
  return { page, count, unknown, unsure: maybe ? countLeft(lists, [rankMin, rankMax], maybe) : 0 }
}

interface LeftApps {
  left: AppBits
  /** Between which first days a place has to say. */
  least: number
  most?: number
}

/** The apps at a rank that are left, each of which is then left no more. */
function takeRank<L extends RankedList>(lists: readonly L[], rank: number, { left, least }: LeftApps) {
  const places: { app: number; list: L }[] = []
  for (const list of lists) {
    if (rank > list.apps.length || list.firstDays[rank - 1]! < least) continue
    const app = list.apps[rank - 1]!
    if ((left[app >> 5]! & (1 << app)) === 0) continue
    left[app >> 5]! ^= 1 << app
    places.push({ app, list })
  }
  return places
}

/** How many are left at these ranks, none of which is then: list by list, as their order is asked by nobody. */
function countLeft(
  lists: readonly RankedList[],
  [from, to]: readonly [number, number],
  { left, least, most = LAST_DAY }: LeftApps,
): number {
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
