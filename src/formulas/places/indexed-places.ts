import { type AppBits, addBits, countBits, countUnion, createBitRoom } from "./app-bits.ts"
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
  if (since === null) return { ...countUnion(all.map(({ apps }) => apps), highest, only, unsure), unknown: 0 } // biome-ignore format: one line
  const some = roomOfSome(highest, "none")
  for (const { dated, days } of all)
    for (let i = 0; i < dated.length && days[i]! >= leastDay(since); i++) some[dated[i]! >> 5]! |= 1 << dated[i]!
  const undated = roomOfUndated(highest, "none")
  for (const bits of all) addBits(undated, bits.undated)
  for (let at = 0; at < undated.length; at++) undated[at]! &= ~some[at]!
  return {
    count: countBits(some, only),
    unsure: unsure ? countBits(some, unsure) : 0,
    unknown: countBits(undated, only),
  }
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
  query: PlaceQuery,
  { left, least, most }: LeftApps,
): number {
  let count = 0
  for (const index of indexes) {
    const { from, end } = endsOf(index, query)
    if (least === 0 && most === LAST_DAY) {
      count += takeLeft(index.apps, from, end, left)
      continue
    }
    for (const place of leftPlaces(index.apps, from, end, left)) {
      const [app, day] = [index.apps[place]!, firstDayAt(index, place)]
      if (day < least || day > most || (left[app >> 5]! & (1 << app)) === 0) continue
      left[app >> 5]! ^= 1 << app
      count++
    }
  }
  return count
}

/** Of apps side by side how many are left, none of which is then. Nothing else, as it is done for each place. */
function takeLeft(apps: Int32Array, from: number, end: number, left: AppBits): number {
  let count = 0
  for (let place = from; place < end; place++) {
    const app = apps[place]!
    const some = left[app >> 5]!
    if ((some & (1 << app)) === 0) continue
    left[app >> 5] = some ^ (1 << app)
    count++
  }
  return count
}

/** The places of those that are left; likewise. */
function leftPlaces(apps: Int32Array, from: number, end: number, left: AppBits): number[] {
  const places: number[] = []
  for (let place = from; place < end; place++) {
    const app = apps[place]!
    if ((left[app >> 5]! & (1 << app)) !== 0) places.push(place)
  }
  return places
}

/** Between which places of an index the ranks asked for are. */
function endsOf({ starts }: ListsIndex<RankedList>, { rankMin, rankMax }: PlaceQuery): { from: number; end: number } {
  const deepest = starts.length - 1
  return { from: starts[Math.min(rankMin - 1, deepest)]!, end: starts[Math.min(rankMax, deepest)]! }
}

function rankAt({ starts }: ListsIndex<RankedList>, place: number): number {
  let [low, high] = [1, starts.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (starts[middle]! <= place) low = middle + 1
    else high = middle
  }
  return low
}

function firstDayAt(index: ListsIndex<RankedList>, place: number): number {
  return index.lists[index.at[place]!]!.firstDays[rankAt(index, place) - 1]!
}

/** Of few apps: all their places, put in order. */
function sparsePage<L extends RankedList>(
  indexes: readonly ListsIndex<L>[],
  query: PlaceQuery,
  { left, least }: LeftApps,
  storeIds: Float64Array,
): BestPlace<L>[] {
  const places: (BestPlace<L> & { order: number })[] = []
  for (let one = 0; one < indexes.length; one++) {
    const index = indexes[one]!
    const { lists, overall, apps, at } = index
    const { from, end } = endsOf(index, query)
    for (const place of leftPlaces(apps, from, end, left)) {
      const app = apps[place]!
      const [rank, list] = [rankAt(index, place), lists[at[place]!]!]
      const firstDay = list.firstDays[rank - 1]!
      if (firstDay < least) continue
      const order = at[place]! < overall ? one : indexes.length + one
      places.push({ app, storeId: storeIds[app]!, rank, list, firstDay, order })
    }
  }
  // of one storefront they come in order, and those of one rank and app stay in it
  places.sort((one, other) => one.rank - other.rank || one.storeId - other.storeId || one.order - other.order)
  const best: BestPlace<L>[] = []
  for (const { order: _, ...place } of places) {
    const { app } = place
    if ((left[app >> 5]! & (1 << app)) === 0) continue
    left[app >> 5]! ^= 1 << app
    best.push(place)
  }
  return best.slice(query.from, query.to)
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
    const deep = indexes.filter(({ starts }) => rank < starts.length)
    // a rank all of which lies before the page
    if (
      left.least === 0 &&
      before + deep.reduce((sum, { starts }) => sum + starts[rank]! - starts[rank - 1]!, 0) <= from
    ) {
      for (const { apps, starts } of deep) before += takeLeft(apps, starts[rank - 1]!, starts[rank]!, left.left)
      continue
    }
    const taken = before < from ? takeRank(deep, rank, left) : []
    if (before + taken.length < from) {
      before += taken.length
      continue
    }
    for (const app of taken) left.left[app >> 5]! |= 1 << app
    const places = mergeRank(deep, rank, to - before, left, storeIds)
    for (let i = Math.max(0, from - before); i < places.length; i++) page.push(places[i]!)
    before += places.length
  }
  return page
}

/** The apps at a rank that are left, none of which is then. */
function takeRank(indexes: readonly ListsIndex<RankedList>[], rank: number, { left, least }: LeftApps): number[] {
  const taken: number[] = []
  for (const { lists, apps, at, starts } of indexes) {
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
  { left, least }: LeftApps,
  storeIds: Float64Array,
): BestPlace<L>[] {
  const places: BestPlace<L>[] = []
  const heads = indexes.map(({ starts }) => starts[rank - 1]!)
  const ends = indexes.map(({ starts }) => starts[rank]!)
  while (places.length < most) {
    let [first, firstId, isOverall] = [-1, Number.POSITIVE_INFINITY, false]
    for (let one = 0; one < indexes.length; one++) {
      const { lists, overall, apps, at } = indexes[one]!
      let place = heads[one]!
      for (; place < ends[one]!; place++) {
        const app = apps[place]!
        if ((left[app >> 5]! & (1 << app)) === 0) continue
        if (least === 0 || lists[at[place]!]!.firstDays[rank - 1]! >= least) break
      }
      heads[one] = place
      if (place === ends[one]!) continue
      const id = storeIds[apps[place]!]!
      if (id > firstId || (id === firstId && (isOverall || at[place]! >= overall))) continue
      ;[first, firstId, isOverall] = [one, id, at[place]! < overall]
    }
    if (first < 0) break
    const { lists, apps, at } = indexes[first]!
    const app = apps[heads[first]!]!
    const list = lists[at[heads[first]!]!]!
    left[app >> 5]! ^= 1 << app
    places.push({ app, storeId: firstId, rank, list, firstDay: list.firstDays[rank - 1]! })
  }
  return places
}
