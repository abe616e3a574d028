import type { Tx } from "../database/types.ts"
import { type ChartKey, chartIds } from "./chart-identities.ts"
import { type AppKey, appIds, type ListKey, listIds } from "./identities.ts"
import type { AppsObservation, ListedBeside, ListingObservation, Observation, Platform } from "./types.ts"

/** The surrogate ids of what observations speak of. */
export interface Identified {
  /** Of all lists among them, each once. */
  lists: readonly number[]
  listOf(key: ListKey): number
  /** Of all charts among them, each once. */
  charts: readonly number[]
  chartOf(key: ChartKey): number
  appOf(platform: Platform, id: string): number
}

/**
 * Looks up, or makes, the lists, apps and charts of observations. Comes before any row is locked: whoever makes some waits for
 * others who do.
 */
export async function identify(tx: Tx, observations: readonly Observation[]): Promise<Identified> {
  const listsNamed = new Map(observations.flatMap(listKeys).map((key) => [listKeyOf(key), key]))
  const appsNamed = new Map(observations.flatMap(appKeys).map((key) => [appKeyOf(key.platform, key.id), key]))
  const chartsNamed = new Map(observations.flatMap(chartKeys).map((key) => [chartKeyOf(key), key]))
  const lists = placed(listsNamed, listsNamed.size === 0 ? [] : await listIds(tx, [...listsNamed.values()]))
  const apps = placed(appsNamed, appsNamed.size === 0 ? [] : await appIds(tx, [...appsNamed.values()]))
  const charts = placed(chartsNamed, chartsNamed.size === 0 ? [] : await chartIds(tx, [...chartsNamed.values()]))
  return {
    lists: [...lists.values()],
    listOf: (key) => lists.get(listKeyOf(key)) as number,
    charts: [...charts.values()],
    chartOf: (key) => charts.get(chartKeyOf(key)) as number,
    appOf: (platform, id) => apps.get(appKeyOf(platform, id)) as number,
  }
}

function listKeys(observation: Observation): ListKey[] {
  return observation.kind === "search" || observation.kind === "popularity" ? [observation] : []
}

function chartKeys(observation: Observation): ChartKey[] {
  return observation.kind === "chart" ? [observation] : []
}

function appKeys(observation: Observation): AppKey[] {
  const { kind, platform } = observation
  if (kind === "search") return observation.results.map(({ id }) => ({ platform, id }))
  if (kind === "chart") return observation.apps.map(({ id }) => ({ platform, id }))
  if (kind === "apps") return idsOf(observation).map((id) => ({ platform, id }))
  if (kind === "developer") return observation.apps.map(({ id }) => ({ platform, id }))
  if (kind === "app_ads") return [{ platform, id: observation.id }]
  if (kind === "reviews") return [{ platform, id: observation.storeId }]
  if (kind === "listing") return listedIds(observation).map((id) => ({ platform, id }))
  return []
}

function idsOf({ asked, apps }: AppsObservation): string[] {
  return [...new Set([...asked, ...apps.flatMap(({ id, listing = {} }) => [id, ...besideIds(listing)])])]
}

function listedIds({ id, listing }: ListingObservation): string[] {
  return [id, ...besideIds(listing)]
}

function besideIds({ similar = [], moreByDeveloper = [] }: ListedBeside): string[] {
  return [...similar, ...moreByDeveloper].map(({ id }) => id)
}

function listKeyOf({ platform, storefront, term }: ListKey): string {
  return `${platform} ${storefront} ${term}`
}

function chartKeyOf({ platform, storefront, device, chart, genre }: ChartKey): string {
  return `${platform} ${storefront} ${device} ${chart} ${genre}`
}

function appKeyOf(platform: Platform, id: string): string {
  return `${platform}:${id}`
}

function placed(keys: ReadonlyMap<string, unknown>, ids: readonly number[]): Map<string, number> {
  return new Map([...keys.keys()].map((key, place) => [key, ids[place] as number]))
}
