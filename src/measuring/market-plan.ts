import type { FollowedLists } from "../history/market/followed.ts"
import { appsOnAppStore } from "./kinds/apps.ts"
import { genresOnAppStore } from "./kinds/charts.ts"

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
}

/** What recorded lists show; where a list shows more, its first reading says so. */
const APPS_OF_A_LIST = 100

/** Lists and look-ups each day, the names of genres every thirty. */
export function marketPlanOf(storefronts: readonly FollowedLists[]): MarketPlan {
  const lists = sum(storefronts.map((one) => one.lists))
  const apps = storefronts.map(({ lists, read, apps }) => apps + (lists - read) * APPS_OF_A_LIST)
  const lookUps = sum(apps.map((count) => Math.ceil(count / appsOnAppStore.together)))
  const trees = Math.ceil(storefronts.length / genresOnAppStore.everyDays)
  const unread = sum(storefronts.map((one) => one.lists - one.read))
  return { lists, unread, apps: sum(apps), lookUps, requests: lists + lookUps + trees }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0)
}
