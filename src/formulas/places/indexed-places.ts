import { type AppBits, addBits, countBits, createBitRoom } from "./app-bits.ts"
import type { ListsBits, ListsIndex, RankedList } from "./lists-index.ts"
import { type AppCounts, type BestPlace, type FoundPlaces, LAST_DAY, leastDay, type PlaceQuery } from "./place-query.ts"

const [roomOfSome, roomOfLeft, roomOfUndated] = [createBitRoom(), createBitRoom(), createBitRoom()]

/** As bestPlaces, of storefronts' lists by their indexes; where there are bits of all that these have, apps are counted by them. */
export function indexedPlaces<L extends RankedList>(
  indexes: readonly ListsIndex<L>[],
  bits: readonly ListsBits[] | null,
  query: PlaceQuery,
  storeIds: Float64Array,
): FoundPlaces<L> {
  const highest = indexes.reduce((most, { highest }) => Math.max(most, highest), 0)
  const deepest = indexes.reduce((most, { starts }) => Math.max(most, starts.length - 1), 0)
  const isWhole = query.rankMin === 1 && query.rankMax >= deepest
  const counts = bits && isWhole ? countByBits(bits, highest, query) : countPlaces(indexes, highest, query)
  const left = { left: roomOfLeft(highest, query.only ?? "all"), least: leastDay(query.since), most: LAST_DAY }
  // most ranks have none of few apps
  const findPage = counts.count <= 2 * query.to ? sparsePage : densePage
  return { page: findPage(indexes, { ...query, rankMax: Math.min(query.rankMax, deepest) }, left, storeIds), ...counts }
}

function countByBits(all: readonly ListsBits[], highest: number, { only, unsure, since }: PlaceQuery): AppCounts {
  const some = roomOfSome(highest, "none")
  for (const { apps, dated, days } of all) {
    if (since === null) addBits(some, apps)
    else for (let i = 0; i < dated.length && days[i]! >= leastDay(since); i++) some[dated[i]! >> 5]! |= 1 << dated[i]!
  }
  const counts = { count: countBits(some, only), unsure: unsure ? countBits(some, unsure) : 0 }
  if (since === null) return { ...counts, unknown: 0 }
  const undated = roomOfUndated(highest, "none")
  for (const bits of all) addBits(undated, bits.undated)
  for (let at = 0; at < undated.length; at++) undated[at]! &= ~some[at]!
  return { ...counts, unknown: countBits(undated, only) }
}

/** Apps that are left at places that say a first day between these. */
interface LeftApps {
  left: AppBits
  least: number
  most: number
}

function countPlaces(indexes: readonly ListsIndex<RankedList>[], highest: number, query: PlaceQuery): AppCounts {
  const { only, unsure, since } = query
  const own = { left: roomOfLeft(highest, only ?? "all"), least: leastDay(since), most: LAST_DAY }
  const count = countLeft(indexes, query, own)
  const unknown = since === null ? 0 : countLeft(indexes, query, { ...own, least: 0, most: 0 })
  const maybe = unsure ? { ...own, left: roomOfSome(highest, unsure) } : null
  return { count, unknown, unsure: maybe ? countLeft(indexes, query, maybe) : 0 }
}

/** How many are left, none of which is then. */
function countLeft(
  indexes: readonly ListsIndex<RankedList>[],
  { rankMin, rankMax }: PlaceQuery,
  { left, least, most }: LeftApps,
): number {
  let count = 0
  for (const { lists, apps, at, starts } of indexes) {
    for (let rank = rankMin; rank <= rankMax && rank < starts.length; rank++) {
      for (let place = starts[rank - 1]!; place < starts[rank]!; place++) {
        const app = apps[place]!
        const some = left[app >> 5]!
        if ((some & (1 << app)) === 0) continue
        if (least > 0 || most < LAST_DAY) {
          const day = lists[at[place]!]!.firstDays[rank - 1]!
          if (day < least || day > most) continue
        }
        left[app >> 5] = some ^ (1 << app)
        count++
      }
    }
  }
  return count
}

/** Of few apps: all their places, put in order. */
function sparsePage<L extends RankedList>(
  indexes: readonly ListsIndex<L>[],
  { rankMin, rankMax, from, to }: PlaceQuery,
  { left, least }: LeftApps,
  storeIds: Float64Array,
): BestPlace<L>[] {
  const places: (BestPlace<L> & { order: number })[] = []
  for (let one = 0; one < indexes.length; one++) {
    const { lists, overall, apps, at, starts } = indexes[one]!
    for (let rank = rankMin; rank <= rankMax && rank < starts.length; rank++) {
      for (let place = starts[rank - 1]!; place < starts[rank]!; place++) {
        const app = apps[place]!
        if ((left[app >> 5]! & (1 << app)) === 0) continue
        const list = lists[at[place]!]!
        const firstDay = list.firstDays[rank - 1]!
        if (firstDay < least) continue
        const order = at[place]! < overall ? one : indexes.length + one
        places.push({ app, storeId: storeIds[app]!, rank, list, firstDay, order })
      }
    }
  }
  // of one storefront they come in order, and those of one rank and app stay in it
  places.sort((one, other) => one.rank - other.rank || one.storeId - other.storeId || one.order - other.order)
  const best = places.filter(({ app }) => {
    const isFirst = (left[app >> 5]! & (1 << app)) !== 0
    left[app >> 5]! &= ~(1 << app)
    return isFirst
  })
  return best.slice(from, to).map(({ order: _, ...place }) => place)
}

/** Rank by rank until the page is full; ranks before the page are not put in order. */
function densePage<L extends RankedList>(
  indexes: readonly ListsIndex<L>[],
  { rankMin, rankMax, from, to }: PlaceQuery,
  left: LeftApps,
  storeIds: Float64Array,
): BestPlace<L>[] {
  const page: BestPlace<L>[] = []
  for (let [rank, before] = [rankMin, 0]; rank <= rankMax && before < to; rank++) {
    const taken = takeRank(indexes, rank, left)
    if (before + taken.length > from) {
      for (const app of taken) left.left[app >> 5]! |= 1 << app
      const places = mergeRank(indexes, rank, to - before, left, storeIds)
      for (let i = Math.max(0, from - before); i < places.length; i++) page.push(places[i]!)
    }
    before += taken.length
  }
  return page
}

/** The apps at a rank that are left, none of which is then. */
function takeRank(indexes: readonly ListsIndex<RankedList>[], rank: number, { left, least }: LeftApps): number[] {
  const taken: number[] = []
  for (const { lists, apps, at, starts } of indexes) {
    if (rank >= starts.length) continue
    for (let place = starts[rank - 1]!; place < starts[rank]!; place++) {
      const app = apps[place]!
      const some = left[app >> 5]!
      if ((some & (1 << app)) === 0) continue
      if (least > 0 && lists[at[place]!]!.firstDays[rank - 1]! < least) continue
      left[app >> 5] = some ^ (1 << app)
      taken.push(app)
    }
  }
  return taken
}

/** The first places of a rank, in their order: each storefront's are in it already. */
function mergeRank<L extends RankedList>(
  indexes: readonly ListsIndex<L>[],
  rank: number,
  most: number,
  left: LeftApps,
  storeIds: Float64Array,
): BestPlace<L>[] {
  const heads = indexes.filter(({ starts }) => rank < starts.length).map((index) => headOf(index, rank, storeIds))
  for (const head of heads) stepOn(head, left)
  const places: BestPlace<L>[] = []
  while (places.length < most) {
    let first: RankHead<L> | null = null
    for (const head of heads) {
      if (head.place === head.end) continue
      if (
        !first ||
        head.storeId < first.storeId ||
        (head.storeId === first.storeId && head.isOverall && !first.isOverall)
      )
        first = head
    }
    if (!first) return places
    const { index, place, storeId } = first
    const [app, list] = [index.apps[place]!, index.lists[index.at[place]!]!]
    left.left[app >> 5]! &= ~(1 << app)
    places.push({ app, storeId, rank, list, firstDay: list.firstDays[rank - 1]! })
    for (const head of heads) if (head.storeId === storeId) stepOn(head, left)
  }
  return places
}

/** Where one is among a storefront's places of a rank. */
interface RankHead<L extends RankedList> {
  index: ListsIndex<L>
  rank: number
  place: number
  end: number
  storeId: number
  isOverall: boolean
  storeIds: Float64Array
}

function headOf<L extends RankedList>(index: ListsIndex<L>, rank: number, storeIds: Float64Array): RankHead<L> {
  const [place, end] = [index.starts[rank - 1]!, index.starts[rank]!]
  return { index, rank, place, end, storeId: 0, isOverall: false, storeIds }
}

/** To the next place of an app that is left, from where it is on. */
function stepOn(head: RankHead<RankedList>, { left, least }: LeftApps): void {
  const { index, rank, end, storeIds } = head
  for (; head.place < end; head.place++) {
    const app = index.apps[head.place]!
    if ((left[app >> 5]! & (1 << app)) === 0) continue
    const at = index.at[head.place]!
    if (least > 0 && index.lists[at]!.firstDays[rank - 1]! < least) continue
    head.storeId = storeIds[app]!
    head.isOverall = at < index.overall
    return
  }
}
