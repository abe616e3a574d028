import { genresOnAppStore } from "../charts/due/charts.ts"
import { CHART_DEPTH } from "../charts/sources/apple-charts.ts"
import { appsOnAppStore } from "../stores/due/apps.ts"
import type { FollowedLists } from "./read/followed.ts"

/** The sources that the market is read by; all ask one upstream. */
export const MARKET_SOURCES = ["apple-charts", "itunes-lookup", "apple-genres"] as const
export const MARKET_UPSTREAM = appsOnAppStore.upstream

/** What following the market asks of the store a day, whatever else is tracked. */
export interface MarketPlan {
  lists: number
  /** Lists that were never read: their apps are reckoned. */
  unread: number
  apps: number
  /** Requests for them, of up to fifty apps of a storefront each. */
  lookUps: number
  requests: number
  /** The same if each list that was never read shows as many apps as can be asked for, none of which another shows. */
  mostRequests: number
}

/** What recorded lists show. */
const APPS_OF_A_LIST = 100

/** Lists and look-ups each day, the names of genres every thirty. */
export function marketPlanOf(storefronts: readonly FollowedLists[]): MarketPlan {
  const lists = sum(storefronts.map((one) => one.lists))
  const appsBy = (ofAList: number) => storefronts.map(({ lists, read, apps }) => apps + (lists - read) * ofAList)
  const apps = appsBy(APPS_OF_A_LIST)
  const lookUps = lookUpsOf(apps)
  const trees = Math.ceil(storefronts.length / genresOnAppStore.everyDays)
  const unread = sum(storefronts.map((one) => one.lists - one.read))
  const mostRequests = lists + lookUpsOf(appsBy(CHART_DEPTH)) + trees
  return { lists, unread, apps: sum(apps), lookUps, requests: lists + lookUps + trees, mostRequests }
}

/** Each is of one storefront. */
function lookUpsOf(apps: readonly number[]): number {
  return sum(apps.map((count) => Math.ceil(count / appsOnAppStore.together)))
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0)
}
