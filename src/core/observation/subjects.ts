import type { Chart, Device } from "../../lib/charts.ts"
import type { Platform } from "./provenance.ts"

export interface ListKey {
  platform: Platform
  storefront: string
  term: string
}

export interface AppKey {
  platform: Platform
  id: string
}

export interface ChartKey {
  platform: Platform
  storefront: string
  device: Device
  chart: Chart
  /** The store's id; ALL_APPS for the overall chart. */
  genre: string
}

/** The surrogate ids of everything that observations name. */
export interface SurrogateIds {
  lists: readonly number[]
  listOf(key: ListKey): number
  charts: readonly number[]
  chartOf(key: ChartKey): number
  appOf(platform: Platform, id: string): number
  /** Apps with data derived by comparing consecutive readings. */
  series: readonly number[]
}

export interface Names {
  list?: ListKey
  chart?: ChartKey
  apps?: readonly string[]
  /** The apps among `apps` that have data derived by comparing consecutive readings. */
  series?: readonly string[]
}
