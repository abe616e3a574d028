import { rootOf } from "../../database/scheduled-sql.ts"
import type { Sql } from "../../database/types.ts"
import { uncut } from "../../database/uncut.ts"
import { type ChartSource, chartSourceOf } from "../../observations/types.ts"
import type { Chart, Device } from "../../observations/types-charts.ts"

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
  /** Since when each is seen in the storefront, in days since EPOCH; 0 = not known. */
  firstDays: Uint16Array
}

/** A storefront's lists; none was read where there are none. */
export interface MarketLists {
  country: string
  /** Another whenever one of them is; null = none was read. */
  version: string | null
  /** By device, kind and genre. */
  lists: readonly MarketList[]
  places: number
  /** Of the apps' ids. */
  highest: number
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
  /** The App Store's own numbers, by store_app id. */
  storeIds: Float64Array
  loading: Map<string, Promise<MarketLists>>
}

const stores = new WeakMap<Sql, ListStore>()
/** Of 6 bytes each, and up to 34 more where they are indexed (chosen-lists.ts). Those of one storefront are kept however many they are. */
const MOST_PLACES = 2_000_000

function storeOf(sql: Sql): ListStore {
  const database = rootOf(sql)
  const own = stores.get(database) ?? { kept: new Map(), places: 0, storeIds: new Float64Array(0), loading: new Map() }
  stores.set(database, own)
  return own
}

/** All lists of these storefronts as they stand. A storefront has about 112 lists with 16,000 places, which take a millisecond to read and unpack. */
export async function loadMarketLists(sql: Sql, stand: readonly MarketStand[]) {
  const store = storeOf(sql)
  const storefronts = await Promise.all(
    stand.map(async ({ country, version }) => {
      const held = store.kept.get(country)
      const latest = held?.version === version ? held : await loadLists(rootOf(sql), store, { country, version })
      keep(store, latest)
      return latest
    }),
  )
  return { storefronts, storeIds: store.storeIds }
}

/** Read after its version, they may be newer: then they are read once more under the next. */
async function loadLists(
  sql: Sql,
  store: ListStore,
  { country, version }: Pick<MarketLists, "country" | "version">,
): Promise<MarketLists> {
  const { loading } = store
  if (version === null) return { country, version, lists: [], places: 0, highest: 0 }
  const name = `${country} ${version}`
  const load = loading.get(name) ?? readLists(sql, store, country).then((lists) => ({ country, version, ...lists }))
  loading.set(name, load)
  try {
    return await load
  } finally {
    loading.delete(name)
  }
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

async function readLists(
  sql: Sql,
  store: ListStore,
  country: string,
): Promise<Pick<MarketLists, "lists" | "places" | "highest">> {
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
  const lists = rows.map(({ apps, storeIds, firstDays, source, seenAt, ...row }) => {
    const length = apps.length / 4
    const ids = Int32Array.from({ length }, (_, i) => apps.readInt32BE(i * 4))
    const highest = ids.reduce((most, app) => Math.max(most, app), 0)
    keepStoreIds(store, ids, highest, storeIds)
    return {
      ...{ ...row, measuredAt: seenAt.toISOString(), measuredMs: seenAt.getTime(), source: chartSourceOf(source) },
      ...{ apps: ids, highest, firstDays: Uint16Array.from({ length }, (_, i) => firstDays.readUInt16BE(i * 2)) },
    }
  })
  const places = lists.reduce((sum, { apps }) => sum + apps.length, 0)
  return { lists, places, highest: lists.reduce((most, { highest }) => Math.max(most, highest), 0) }
}

/** An app has one for good. */
function keepStoreIds(store: ListStore, apps: Int32Array, highest: number, storeIds: Buffer): void {
  if (highest >= store.storeIds.length) {
    const larger = new Float64Array(Math.ceil((highest + 1) * 1.33))
    larger.set(store.storeIds)
    store.storeIds = larger
  }
  for (let i = 0; i < apps.length; i++) store.storeIds[apps[i]!] = Number(storeIds.readBigInt64BE(i * 8))
}

interface PackedList extends Pick<MarketList, "country" | "device" | "kind" | "genre" | "day" | "origin"> {
  seenAt: Date
  source: number
  apps: Buffer
  storeIds: Buffer
  firstDays: Buffer
}
