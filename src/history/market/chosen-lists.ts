import {
  bitsOfLists,
  indexLists,
  type ListsBits,
  type ListsIndex,
  partOfIndex,
} from "../../formulas/places/lists-index.ts"
import { ALL_APPS, type Chart, type Device } from "../../observations/types-charts.ts"
import type { MarketList, MarketLists } from "./lists.ts"

/** Lists of a storefront that a question is about, and what is said of them. */
export interface ChosenLists {
  country: string
  /** Of all apps: their places say most. */
  overall: readonly MarketList[]
  others: readonly MarketList[]
  /** Genre and time of each, side by side. */
  stamps: Record<"overall" | "others", Float64Array>
  oldestDay: string | null
  newestDay: string | null
  /** How many. */
  genres: number
}

interface ListChoice {
  /** Left out = all. */
  genres: readonly string[] | undefined
  list: { device: Device; kind: Chart } | undefined
}

const byKind = new WeakMap<MarketLists, Map<string, ChosenLists>>()

/** Those of a storefront's lists that are meant; of all genres they are put together once. */
export function chosenLists(storefront: MarketLists, choice: ListChoice): ChosenLists {
  if (choice.genres) return chooseLists(storefront, choice)
  const kinds = byKind.get(storefront) ?? new Map<string, ChosenLists>()
  byKind.set(storefront, kinds)
  const name = choice.list ? `${choice.list.device} ${choice.list.kind}` : ""
  const chosen = kinds.get(name) ?? chooseLists(storefront, choice)
  kinds.set(name, chosen)
  return chosen
}

function chooseLists({ country, lists }: MarketLists, { genres, list }: ListChoice): ChosenLists {
  const some = lists.filter(
    ({ device, kind, genre }) =>
      (!list || (device === list.device && kind === list.kind)) && (!genres || genres.includes(genre)),
  )
  const [overall, others] = parted(some)
  const days = some.map(({ day }) => day).toSorted()
  return {
    ...{ country, overall, others, stamps: { overall: stampsOf(overall), others: stampsOf(others) } },
    ...{ oldestDay: days[0] ?? null, newestDay: days.at(-1) ?? null },
    genres: new Set(some.map(({ genre }) => genre)).size,
  }
}

function parted(lists: readonly MarketList[]): [overall: MarketList[], others: MarketList[]] {
  return [lists.filter(({ genre }) => genre === ALL_APPS), lists.filter(({ genre }) => genre !== ALL_APPS)]
}

function stampsOf(lists: readonly MarketList[]): Float64Array {
  return Float64Array.from(lists.flatMap(({ genre, measuredMs }) => [Number(genre), measuredMs]))
}

/** Places of storefronts' lists, and what they are counted by where that is all lists. */
interface ListIndexes {
  indexes: ListsIndex<MarketList>[]
  bits: ListsBits[] | null
}

interface KeptIndex {
  index: ListsIndex<MarketList>
  bits: ListsBits | null
}

const whole = new WeakMap<MarketLists, KeptIndex>()
const parts = new WeakMap<ChosenLists, ListsIndex<MarketList>>()

/**
 * Of the lists chosen of these storefronts. While lists stand they are put together once; that holds the process for some
 * milliseconds, so that others go between two of them.
 */
export async function indexChosen(
  storefronts: readonly MarketLists[],
  chosen: readonly ChosenLists[],
  storeIds: Float64Array,
): Promise<ListIndexes> {
  const indexes: ListsIndex<MarketList>[] = []
  const bits: ListsBits[] = []
  for (const [at, storefront] of storefronts.entries()) {
    if (!whole.has(storefront)) await new Promise((resolve) => setImmediate(resolve))
    const all = whole.get(storefront) ?? indexStorefront(storefront, storeIds)
    whole.set(storefront, all)
    const index = indexOf(chosen[at]!, all.index)
    indexes.push(index)
    if (index === all.index && all.bits) bits.push(all.bits)
  }
  return { indexes, bits: bits.length === indexes.length ? bits : null }
}

function indexStorefront({ lists, highest }: MarketLists, storeIds: Float64Array): KeptIndex {
  return { index: indexLists(...parted(lists), storeIds), bits: bitsOfLists(lists, highest) }
}

function indexOf(chosen: ChosenLists, all: ListsIndex<MarketList>): ListsIndex<MarketList> {
  if (chosen.overall.length + chosen.others.length === all.lists.length) return all
  const held = parts.get(chosen)
  if (held) return held
  const some = new Set([...chosen.overall, ...chosen.others])
  const part = partOfIndex(all, (list) => some.has(list))
  parts.set(chosen, part)
  return part
}
