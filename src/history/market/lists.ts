import type { Sql } from "../../database/types.ts"
import { uncut } from "../../database/uncut.ts"
import { indexLists, type ListsIndex } from "../../formulas/places/lists-index.ts"
import { type ChartSource, chartSourceOf } from "../../observations/types.ts"
import { ALL_APPS, type Chart, type Device } from "../../observations/types-charts.ts"

/** First days of apps are counted from here. */
export const EPOCH = "2000-01-01"

/** A list of the App Store as it was read last. */
export interface MarketList {
  country: string
  device: Device
  kind: Chart
  genre: string
  day: string
  /** ISO; the same in milliseconds. */
  measuredAt: string
  measuredMs: number
  source: ChartSource
  /** Who brought it; null = the reading is kept no more. */
  origin: string | null
  /** store_app ids in the order shown. */
  apps: Int32Array
  /** Of those ids. */
  highest: number
  /** The store's own numbers of them. */
  storeIds: Float64Array
  /** Since when each is seen in the storefront, in days since EPOCH; 0 = not known. */
  firstDays: Uint16Array
}

/** A storefront's lists; none was read where there are none. */
interface MarketLists {
  country: string
  /** Another whenever one of them is; null = none was read. */
  version: string | null
  /** By device, kind and genre. */
  lists: readonly MarketList[]
  places: number
  /** Those of a kind, or all, once they were asked for. */
  chosen: Map<string, ChosenLists>
}

/** What the database says of a storefront's lists. */
export interface MarketStand extends Pick<MarketLists, "country" | "version"> {
  /** Since when they are all read daily; null = they are not. */
  followedSince: string | null
  /** Those that are; null likewise. */
  followedGenres: string[] | null
}

/** What a process keeps of a database: by storefront, the one asked for longest ago first. */
interface ListStore {
  kept: Map<string, MarketLists>
  places: number
  loading: Map<string, Promise<MarketLists>>
}

const stores = new WeakMap<Sql, ListStore>()
/** Some 30 MB. Those of one storefront are kept however many they are. */
const MOST_PLACES = 2_000_000

function storeOf(sql: Sql): ListStore {
  const own = stores.get(sql) ?? { kept: new Map(), places: 0, loading: new Map() }
  stores.set(sql, own)
  return own
}

/** All lists of these storefronts as they stand. A storefront has about 112 lists with 16,000 places, which take a millisecond to read and unpack. */
export async function loadMarketLists(sql: Sql, stand: readonly MarketStand[]): Promise<MarketLists[]> {
  const store = storeOf(sql)
  return await Promise.all(
    stand.map(async ({ country, version }) => {
      const held = store.kept.get(country)
      const latest = held?.version === version ? held : await loadLists(sql, store, { country, version })
      keep(store, latest)
      return latest
    }),
  )
}

/** Read after its version, they may be newer: then they are read once more under the next. */
async function loadLists(
  sql: Sql,
  { loading }: ListStore,
  { country, version }: Pick<MarketLists, "country" | "version">,
): Promise<MarketLists> {
  if (version === null) return { country, version, lists: [], places: 0, chosen: new Map() }
  const name = `${country} ${version}`
  const load = loading.get(name) ?? readLists(sql, country).then((lists) => newLists(country, version, lists))
  loading.set(name, load)
  try {
    return await load
  } finally {
    loading.delete(name)
  }
}

function newLists(country: string, version: string, lists: readonly MarketList[]): MarketLists {
  const places = lists.reduce((sum, { apps }) => sum + apps.length, 0)
  return { country, version, lists, places, chosen: new Map() }
}

function keep(store: ListStore, latest: MarketLists): void {
  store.places += latest.places - (store.kept.get(latest.country)?.places ?? 0)
  store.kept.delete(latest.country)
  store.kept.set(latest.country, latest)
  for (const [country, { places }] of store.kept) {
    if (store.places <= MOST_PLACES || country === latest.country) return
    store.kept.delete(country)
    store.places -= places
  }
}

async function readLists(sql: Sql, country: string): Promise<MarketList[]> {
  const rows = await sql<PackedList[]>`
    select c.storefront as country, c.device, c.chart as kind, c.genre, n.day, n.seen_at as "seenAt", n.source, r.origin, n.apps,
      n.store_ids as "storeIds", n.first_days as "firstDays"
    from chart c
    join chart_now n on n.chart_id = c.id
    left join chart_results r
      on (r.chart_id, r.day, r.source, r.seen_at) = (n.chart_id, n.day, n.source, n.seen_at)
    where c.platform = 'ios' and c.storefront = ${country}
    order by c.device collate "C" desc, c.chart collate "C", c.genre collate "C"
    limit 5000`.then(uncut(5_000))
  return rows.map(({ apps, storeIds, firstDays, source, seenAt, ...row }) => {
    const length = apps.length / 4
    const ids = Int32Array.from({ length }, (_, i) => apps.readInt32BE(i * 4))
    return {
      ...{ ...row, measuredAt: seenAt.toISOString(), measuredMs: seenAt.getTime(), source: chartSourceOf(source) },
      ...{ apps: ids, highest: ids.reduce((most, app) => Math.max(most, app), 0) },
      storeIds: Float64Array.from({ length }, (_, i) => Number(storeIds.readBigInt64BE(i * 8))),
      firstDays: Uint16Array.from({ length }, (_, i) => firstDays.readUInt16BE(i * 2)),
    }
  })
}

interface PackedList extends Pick<MarketList, "country" | "device" | "kind" | "genre" | "day" | "origin"> {
  seenAt: Date
  source: number
  apps: Buffer
  storeIds: Buffer
  firstDays: Buffer
}

/** Lists of a storefront that a question is about, and what is said of them. */
export interface ChosenLists {
  country: string
  /** Of all apps: their places say most. */
  overall: readonly MarketList[]
  others: readonly MarketList[]
  /** By which apps of whole lists are counted; null where that is no use. */
  index: ListsIndex | null
  /** Genre and time of each, side by side. */
  stamps: Record<"overall" | "others", Float64Array>
  oldestDay: string | null
  newestDay: string | null
  /** How many. */
  genres: number
}

/** Those of a storefront's lists that are meant. */
export function chosenLists(
  { country, lists, chosen }: MarketLists,
  { genres, list }: { genres: readonly string[] | undefined; list: { device: Device; kind: Chart } | undefined },
): ChosenLists {
  const name = list ? `${list.device} ${list.kind}` : ""
  const held = genres ? undefined : chosen.get(name)
  if (held) return held
  const some = lists.filter(
    ({ device, kind, genre }) =>
      (!list || (device === list.device && kind === list.kind)) && (!genres || genres.includes(genre)),
  )
  const [overall, others] = [true, false].map((is) => some.filter(({ genre }) => (genre === ALL_APPS) === is))
  const days = some.map(({ day }) => day).toSorted()
  const made = {
    ...{ country, overall: overall!, others: others!, index: genres ? null : indexLists(some) },
    stamps: { overall: stampsOf(overall!), others: stampsOf(others!) },
    ...{ oldestDay: days[0] ?? null, newestDay: days.at(-1) ?? null },
    genres: new Set(some.map(({ genre }) => genre)).size,
  }
  if (!genres) chosen.set(name, made)
  return made
}

function stampsOf(lists: readonly MarketList[]): Float64Array {
  return Float64Array.from(lists.flatMap(({ genre, measuredMs }) => [Number(genre), measuredMs]))
}
