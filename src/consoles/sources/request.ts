import type { OfferKind } from "../../lib/accounts/offer-kinds.ts"
import type { Report } from "../../lib/upstreams.ts"

const TYPES: Record<Report, string> = {
  sales: "SALES",
  subscriptions: "SUBSCRIPTION",
  subscription_events: "SUBSCRIPTION_EVENT",
  offer_redemptions: "SUBSCRIPTION_OFFER_CODE_REDEMPTION",
}

/**
 * The version of each report in 2026, used until the console names another. Subscription reports without a version are
 * rejected. Null: the report is requested without a version.
 */
export const REPORT_VERSIONS: Record<Report, string | null> = {
  sales: null,
  subscriptions: "1_4",
  subscription_events: "1_4",
  offer_redemptions: "1_0",
}

/** Returns path and query of a daily report. */
export function salesReportPath(
  report: Report,
  { vendor, day, version = null }: { vendor: string; day: string; version?: string | null },
): string {
  const query = new URLSearchParams({
    "filter[frequency]": "DAILY",
    "filter[reportDate]": day,
    "filter[reportSubType]": "SUMMARY",
    "filter[reportType]": TYPES[report],
    "filter[vendorNumber]": vendor,
    ...(version && { "filter[version]": version }),
  })
  return `/v1/salesReports?${query}`
}

/** Returns the path that lists the ongoing report requests of an app. */
export function analyticsRequestsPath(app: string): string {
  const query = new URLSearchParams({ "filter[accessType]": "ONGOING", limit: "200" })
  return `/v1/apps/${app}/analyticsReportRequests?${query}`
}

export function analyticsReportsPath(request: string): string {
  return `/v1/analyticsReportRequests/${request}/reports?limit=200`
}

export function analyticsInstancesPath(report: string): string {
  const query = new URLSearchParams({ "filter[granularity]": "DAILY", limit: "200" })
  return `/v1/analyticsReports/${report}/instances?${query}`
}

export function analyticsSegmentsPath(instance: string): string {
  return `/v1/analyticsReportInstances/${instance}/segments?limit=200`
}

/** Returns the path that lists the in-app purchases of an app. */
export function purchasesPath(app: string): string {
  const fields = { "fields[inAppPurchases]": "name,productId,inAppPurchaseType,state" }
  return `/v1/apps/${app}/inAppPurchasesV2?${new URLSearchParams({ ...fields, limit: "200" })}`
}

export function subscriptionGroupsPath(app: string): string {
  const query = new URLSearchParams({ "fields[subscriptionGroups]": "referenceName", limit: "200" })
  return `/v1/apps/${app}/subscriptionGroups?${query}`
}

export function subscriptionsPath(group: string): string {
  const fields = { "fields[subscriptions]": "name,productId,state,subscriptionPeriod" }
  return `/v1/subscriptionGroups/${group}/subscriptions?${new URLSearchParams({ ...fields, limit: "200" })}`
}

type ProductKind = "app" | "purchase" | "subscription"

/**
 * Returns the path of the resource with the id of an app's or purchase's price schedule. Subscriptions have no
 * schedule.
 */
export function priceSchedulePath(soldAs: Exclude<ProductKind, "subscription">, product: string): string {
  return soldAs === "app" ? `/v1/apps/${product}/appPriceSchedule` : `/v2/inAppPurchases/${product}/iapPriceSchedule`
}

const POINT: Record<ProductKind, string> = {
  app: "appPricePoint",
  purchase: "inAppPurchasePricePoint",
  subscription: "subscriptionPricePoint",
}

/**
 * Returns the paths of the lists that together have all prices. `id` is the id of the schedule or of the subscription.
 */
export function priceListPaths(soldAs: ProductKind, id: string): string[] {
  const query = new URLSearchParams({ include: `territory,${POINT[soldAs]}`, limit: "200" })
  if (soldAs === "subscription") return [`/v1/subscriptions/${id}/prices?${query}`]
  const schedules = soldAs === "app" ? "appPriceSchedules" : "inAppPurchasePriceSchedules"
  return ["manualPrices", "automaticPrices"].map((list) => `/v1/${schedules}/${id}/${list}?${query}`)
}

/** Returns the path of the prices in other storefronts that Apple considers equivalent to this price point. */
export function equalPricesPath(soldAs: ProductKind, point: string): string {
  const query = new URLSearchParams({ include: "territory", limit: "200" })
  const points = {
    app: "/v3/appPricePoints",
    purchase: "/v1/inAppPurchasePricePoints",
    subscription: "/v1/subscriptionPricePoints",
  }
  return `${points[soldAs]}/${encodeURIComponent(point)}/equalizations?${query}`
}

/** Returns the paths of the lists of a product's offers. */
export function offerListPaths(soldAs: ProductKind, product: string): [OfferKind, string][] {
  if (soldAs === "app") return []
  if (soldAs === "purchase") return [["code", `/v2/inAppPurchases/${product}/offerCodes?limit=200`]]
  const of = (list: string) => `/v1/subscriptions/${product}/${list}`
  return [
    ["introductory", `${of("introductoryOffers")}?${new URLSearchParams({ include: "territory", limit: "200" })}`],
    ["promotional", `${of("promotionalOffers")}?limit=200`],
    ["code", `${of("offerCodes")}?limit=200`],
  ]
}
