import type { Sql } from "../../database/types.ts"
import { uncut } from "../../database/uncut.ts"
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
  /** store_app ids in the order shown. */
  apps: Int32Array
  /** The store's own numbers of them. */
  storeIds: Float64Array
  /** Since when each is seen in the storefront, in days since EPOCH; 0 = not known. */
  firstDays: Uint16Array
}

/** A storefront's lists; none was read where there are none. */
export interface MarketLists {
  country: string
  /** Since when they are all read daily; null = they are not. */
  followedSince: string | null
  /** By device, kind and genre. */
  lists: readonly MarketList[]
}

/**
 * All lists of these storefronts as they stand in the database now, in the order of the storefronts' codes. A storefront has
 * about 112 lists with 16,000 places, which take a millisecond to read and unpack: they are kept as long as their version stays.
 */
export async function readMarketLists(sql: Sql, countries: readonly string[]): Promise<MarketLists[]> {
  const rows = await sql<{ country: string; version: string | null; followedSince: string | null }[]>`
    select k.country, s.version, m.since as "followedSince"
    from unnest(${countries as string[]}::text[]) k (country)
    left join storefront_now s on s.storefront = k.country
    left join market_storefront m on m.storefront = k.country
    order by k.country collate "C"
    limit ${countries.length}`
  const read = rows.map(async ({ country, version, followedSince }) => {
    const lists = version === null ? [] : await loadLists(sql, country, version)
    return { country, followedSince, lists }
  })
  return await Promise.all(read)
}

interface KeptLists {
  version: string
  lists: Promise<MarketList[]>
}

/** By storefront, the one asked for longest ago first. */
const kept = new WeakMap<Sql, Map<string, KeptLists>>()
/** Some 25 MB. */
const MOST_KEPT = 100

async function loadLists(sql: Sql, country: string, version: string): Promise<MarketList[]> {
  const own = kept.get(sql) ?? new Map<string, KeptLists>()
  kept.set(sql, own)
  const held = own.get(country)
  // read after its version, they may be newer: then they are read once more under the next
  const entry = held?.version === version ? held : { version, lists: readLists(sql, country) }
  own.delete(country)
  own.set(country, entry)
  if (own.size > MOST_KEPT) own.delete(own.keys().next().value!)
  try {
    return await entry.lists
  } catch (error) {
    if (own.get(country) === entry) own.delete(country)
    throw error
  }
}

async function readLists(sql: Sql, country: string): Promise<MarketList[]> {
  const rows = await sql<PackedList[]>`
    select c.storefront as country, c.device, c.chart as kind, c.genre, n.day, n.seen_at as "seenAt", n.source, n.apps,
      n.store_ids as "storeIds", n.first_days as "firstDays"
    from chart c
    join chart_now n on n.chart_id = c.id
    where c.platform = 'ios' and c.storefront = ${country}
    order by c.device collate "C" desc, c.chart collate "C", c.genre collate "C"
    limit 5000`.then(uncut(5_000))
  return rows.map(({ apps, storeIds, firstDays, source, seenAt, ...row }) => {
    const length = apps.length / 4
    return {
      ...{ ...row, measuredAt: seenAt.toISOString(), measuredMs: seenAt.getTime(), source: chartSourceOf(source) },
      apps: Int32Array.from({ length }, (_, i) => apps.readInt32BE(i * 4)),
      storeIds: Float64Array.from({ length }, (_, i) => Number(storeIds.readBigInt64BE(i * 8))),
      firstDays: Uint16Array.from({ length }, (_, i) => firstDays.readUInt16BE(i * 2)),
    }
  })
}

interface PackedList
  extends Omit<MarketList, "measuredAt" | "measuredMs" | "source" | "apps" | "storeIds" | "firstDays"> {
  seenAt: Date
  source: number
  apps: Buffer
  storeIds: Buffer
  firstDays: Buffer
}

/** Those of the storefronts' lists that are meant; the overall ones first, as the place on them says most. */
export function chosenLists(
  storefronts: readonly MarketLists[],
  { genres, list }: { genres: readonly string[] | undefined; list: { device: Device; kind: Chart } | undefined },
): MarketList[] {
  const chosen = storefronts.flatMap(({ lists }) =>
    lists.filter(
      ({ device, kind, genre }) =>
        (!list || (device === list.device && kind === list.kind)) && (!genres || genres.includes(genre)),
    ),
  )
  const isOverall = ({ genre }: MarketList) => genre === ALL_APPS
  return [...chosen.filter(isOverall), ...chosen.filter((one) => !isOverall(one))]
}
