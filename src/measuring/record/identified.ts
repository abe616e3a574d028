import type { Platform } from "../../core/observation/provenance.ts"
import type { ChartKey, ListKey, Names, SurrogateIds } from "../../core/observation/subjects.ts"
import type { Tx } from "../../database/types.ts"
import { ensureChartIds } from "./chart-identities.ts"
import { ensureAppIds, listIds } from "./identities.ts"

/**
 * Finds or creates the ids. Must run before any row is locked, because it waits for other processes that create ids.
 */
export async function identify(tx: Tx, named: readonly (Names & { platform: Platform })[]): Promise<SurrogateIds> {
  const listsNamed = new Map(named.flatMap(({ list }) => (list ? [[listKeyOf(list), list]] : [])))
  const chartsNamed = new Map(named.flatMap(({ chart }) => (chart ? [[chartKeyOf(chart), chart]] : [])))
  const appsNamed = new Map(
    named.flatMap(({ platform, apps = [] }) => apps.map((id) => [appKeyOf(platform, id), { platform, id }])),
  )
  const lists = placed(listsNamed, listsNamed.size === 0 ? [] : await listIds(tx, [...listsNamed.values()]))
  const apps = placed(appsNamed, appsNamed.size === 0 ? [] : await ensureAppIds(tx, [...appsNamed.values()]))
  const charts = placed(chartsNamed, chartsNamed.size === 0 ? [] : await ensureChartIds(tx, [...chartsNamed.values()]))
  const appOf = (platform: Platform, id: string) => apps.get(appKeyOf(platform, id)) as number
  return {
    lists: [...lists.values()],
    listOf: (key) => lists.get(listKeyOf(key)) as number,
    charts: [...charts.values()],
    chartOf: (key) => charts.get(chartKeyOf(key)) as number,
    appOf,
    series: named.flatMap(({ platform, series = [] }) => series.map((id) => appOf(platform, id))),
  }
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
