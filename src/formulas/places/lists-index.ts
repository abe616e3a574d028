import { type AppBits, emptyBits } from "./app-bits.ts"

/** A list that is laid over others. */
export interface RankedList {
  /** In the order shown. */
  apps: Int32Array
  /** Of those ids. */
  highest: number
  /** Since when each is seen, as days; 0 = not known. */
  firstDays: Uint16Array
}

/** The places of a storefront's lists, 6 bytes each: rank by rank, of one rank by the store's numbers, of one app by the order of lists. */
export interface ListsIndex<L extends RankedList> {
  /** Those of all apps first, of which there are so many. */
  lists: readonly L[]
  overall: number
  /** Of each place the app, and which of the lists. */
  apps: Int32Array
  at: Uint16Array
  /** Where the places of each rank begin, by rank less one; last their number. */
  starts: Int32Array
  /** Of the apps' ids. */
  highest: number
}

/** `storeIds` has the store's own numbers by app. */
export function indexLists<L extends RankedList>(
  overall: readonly L[],
  others: readonly L[],
  storeIds: Float64Array,
): ListsIndex<L> {
  const lists = [...overall, ...others]
  const index = emptyIndex(lists, overall.length)
  const { apps, at, starts, highest } = index
  const ids = new Float64Array(lists.length)
  for (let rank = 1, place = 0; rank < starts.length; rank++) {
    const deep: number[] = []
    for (let list = 0; list < lists.length; list++) {
      const app = lists[list]!.apps[rank - 1]
      if (app === undefined) continue
      ids[list] = storeIds[app]!
      deep.push(list)
    }
    for (const list of deep.sort((one, other) => ids[one]! - ids[other]! || one - other)) {
      apps[place] = lists[list]!.apps[rank - 1]!
      at[place++] = list
    }
    starts[rank] = place
  }
  return { ...index, highest }
}

/** Of some of the lists, in the same order. */
export function partOfIndex<L extends RankedList>(index: ListsIndex<L>, isWanted: (list: L) => boolean): ListsIndex<L> {
  const wanted = index.lists.map(isWanted)
  const part = emptyIndex(
    index.lists.filter((_, list) => wanted[list]),
    wanted.slice(0, index.overall).filter(Boolean).length,
  )
  let before = 0
  const lists = Uint16Array.from(wanted, (is) => (is ? before++ : 0))
  for (let rank = 1, place = 0; rank < part.starts.length; rank++) {
    for (let from = index.starts[rank - 1]!; from < index.starts[rank]!; from++) {
      if (!wanted[index.at[from]!]) continue
      part.apps[place] = index.apps[from]!
      part.at[place++] = lists[index.at[from]!]!
    }
    part.starts[rank] = place
  }
  return part
}

function emptyIndex<L extends RankedList>(lists: readonly L[], overall: number): ListsIndex<L> {
  const places = lists.reduce((sum, { apps }) => sum + apps.length, 0)
  const deepest = lists.reduce((most, { apps }) => Math.max(most, apps.length), 0)
  const highest = lists.reduce((most, { highest }) => Math.max(most, highest), 0)
  const [apps, at, starts] = [new Int32Array(places), new Uint16Array(places), new Int32Array(deepest + 1)]
  return { lists, overall, apps, at, starts, highest }
}

/** The apps of some lists, by which those of several such are counted 32 at once. */
export interface ListsBits {
  apps: AppBits
  /** Those of which some place says no first day. */
  undated: AppBits
  /** Those of which some place does, and the last such day of each: the last days first. */
  dated: Int32Array
  days: Uint16Array
}

/** At most 22 bytes a place; null where ids have so many gaps that to count places one by one takes no longer. */
export function bitsOfLists(lists: readonly RankedList[], highest: number): ListsBits | null {
  const places = lists.reduce((sum, { apps }) => sum + apps.length, 0)
  const [seen, undated] = [emptyBits(highest), emptyBits(highest)]
  if (seen.length > 2 * places + 1) return null
  const last = new Uint16Array(highest + 1)
  for (const { apps, firstDays } of lists) {
    for (let at = 0; at < apps.length; at++) {
      const app = apps[at]!
      const day = firstDays[at]!
      seen[app >> 5]! |= 1 << app
      if (day === 0) undated[app >> 5]! |= 1 << app
      else if (day > last[app]!) last[app] = day
    }
  }
  const keys: number[] = []
  for (let app = 0; app < last.length; app++) if (last[app] !== 0) keys.push(last[app]! * AN_APP + app)
  const dated = Int32Array.from(Float64Array.from(keys).sort().reverse(), (key) => key % AN_APP)
  return { apps: seen, undated, dated, days: Uint16Array.from(dated, (app) => last[app]!) }
}

/** In one number with its day, as numbers are put in order much faster than by a comparison. */
const AN_APP = 2 ** 32
