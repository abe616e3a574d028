interface RankedApps {
  /** In the order shown. */
  apps: Int32Array
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
export interface BestPlaces {
  /** How many there are. */
  count: number
  /** The first of them, as far as was asked and to the end of that rank: side by side their ids, ranks and lists. */
  apps: number[]
  ranks: number[]
  lists: number[]
  /** Apps that would be among them if it were known since when they are seen. */
  unknown: number
}

export interface PlaceQuery {
  rankMin: number
  rankMax: number
  /** These apps alone. */
  only: ReadonlySet<number> | null
  /** Only places on lists that say the app is seen since that day or later. */
  since: number | null
  /** So many are wanted; the others are counted. */
  upTo: number
}

/**
 * Lays lists over one another: each app once, at its best place, and of equally good ones on the list that comes first. Apps
 * of one rank stand in no order.
 */
export function bestPlaces(
  lists: readonly RankedApps[],
  { rankMin, rankMax, only, since, upTo }: PlaceQuery,
): BestPlaces {
  const found: BestPlaces = { count: 0, apps: [], ranks: [], lists: [], unknown: 0 }
  const [appsOf, daysOf] = [lists.map(({ apps }) => apps), lists.map(({ firstDays }) => firstDays)]
  const highest = appsOf.reduce((most, apps) => Math.max(most, highestIn(apps)), 0)
  const [held, unknown] = [new AppBits(highest), new AppBits(since === null ? 0 : highest)]
  const wanted = only && new AppBits(highest)
  for (const app of only ?? []) if (app <= highest) wanted?.add(app)
  const deepest = appsOf.reduce((most, { length }) => Math.max(most, length), 0)
  let last = rankMin
  for (let rank = rankMin; rank <= Math.min(rankMax, deepest); rank++) {
    for (let list = 0; list < appsOf.length; list++) {
      const app = appsOf[list]![rank - 1]
      if (app === undefined || held.has(app) || (wanted !== null && !wanted.has(app))) continue
      if (since !== null) {
        const day = daysOf[list]![rank - 1]!
        if (day === 0) unknown.add(app)
        if (day === 0 || day < since) continue
        unknown.delete(app)
      }
      held.add(app)
      if (found.count++ >= upTo && rank > last) continue
      last = rank
      found.apps.push(app)
      found.ranks.push(rank)
      found.lists.push(list)
    }
  }
  return { ...found, unknown: unknown.size }
}

const highests = new WeakMap<Int32Array, number>()

function highestIn(apps: Int32Array): number {
  const known = highests.get(apps)
  if (known !== undefined) return known
  const highest = apps.reduce((most, app) => Math.max(most, app), 0)
  highests.set(apps, highest)
  return highest
}

/** A bit for each app: their ids have few gaps, and with 80,000 places a Set takes five times as long. */
class AppBits {
  size = 0
  #bits: Uint8Array

  constructor(highest: number) {
    this.#bits = new Uint8Array((highest >> 3) + 1)
  }

  has(app: number): boolean {
    return (this.#bits[app >> 3]! & (1 << (app & 7))) !== 0
  }

  add(app: number): void {
    if (this.has(app)) return
    this.#bits[app >> 3]! |= 1 << (app & 7)
    this.size++
  }

  delete(app: number): void {
    if (!this.has(app)) return
    this.#bits[app >> 3]! &= ~(1 << (app & 7))
    this.size--
  }
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
