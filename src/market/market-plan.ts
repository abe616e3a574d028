import { genresOnAppStore } from "../charts/due/charts.ts"
import { CHART_DEPTH } from "../charts/sources/apple-charts.ts"
import { appsOnAppStore } from "../stores/due/apps.ts"
import type { FollowedLists } from "./read/followed.ts"

/** The sources that read the market, all from one upstream. */
export const MARKET_SOURCES = ["apple-charts", "itunes-lookup", "apple-genres"] as const
export const MARKET_UPSTREAM = appsOnAppStore.upstream

/** Daily requests for following the market, regardless of what else is tracked. */
export interface MarketPlan {
  lists: number
  /** Number of charts that were never read. The number of apps on them is estimated. */
  unread: number
  apps: number
  /** Number of look-up requests. Each contains up to fifty apps of one storefront. */
  lookUps: number
  requests: number
  /**
   * Upper bound of the requests: assumes that each chart that was never read has the maximum number of apps, and that
   * these apps are on no other chart.
   */
  mostRequests: number
}

/** Typical number of apps on a chart. */
const APPS_OF_A_LIST = 100

/** Charts and look-ups are read daily, the names of genres every thirty days. */
export function marketPlanOf(storefronts: readonly FollowedLists[]): MarketPlan {
  const lists = sum(storefronts.map((storefront) => storefront.lists))
  const appsBy = (ofAList: number) => storefronts.map(({ lists, read, apps }) => apps + (lists - read) * ofAList)
  const apps = appsBy(APPS_OF_A_LIST)
  const lookUps = lookUpsOf(apps)
  const trees = Math.ceil(storefronts.length / genresOnAppStore.everyDays)
  const unread = sum(storefronts.map((storefront) => storefront.lists - storefront.read))
  const mostRequests = lists + lookUpsOf(appsBy(CHART_DEPTH)) + trees
  return { lists, unread, apps: sum(apps), lookUps, requests: lists + lookUps + trees, mostRequests }
}

/** A look-up request contains apps of one storefront only. */
function lookUpsOf(apps: readonly number[]): number {
  return sum(apps.map((count) => Math.ceil(count / appsOnAppStore.together)))
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0)
}
