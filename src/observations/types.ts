import { type FactSource, RANK_SOURCES, type RankSource, type SourceName } from "../vocabulary/upstreams.ts"
import type { AdsChangesObservation, AdsPopularityObservation } from "./kinds/ads-insights.ts"
import type { AdsDaysObservation, AdsTermsObservation } from "./kinds/ads-metrics.ts"
import type { AdsCampaignsObservation, AdsKeywordsObservation } from "./kinds/ads-things.ts"
import type { DownloadsObservation, EngagementObservation } from "./kinds/analytics.ts"
import type { AppAdsObservation } from "./kinds/app-ads.ts"
import type { AssistantAnswerObservation } from "./kinds/assistant-answer.ts"
import type { BillingObservation } from "./kinds/billing.ts"
import type { BillingMetricsObservation } from "./kinds/billing-metrics.ts"
import type { DeveloperAppsObservation } from "./kinds/developer.ts"
import type { GenresObservation } from "./kinds/genres.ts"
import type { HintsObservation } from "./kinds/hints.ts"
import type { PopularityObservation } from "./kinds/popularity.ts"
import type { PricesObservation } from "./kinds/prices.ts"
import type { SalesObservation } from "./kinds/sales.ts"
import type {
  OfferRedemptionsObservation,
  SubscriptionEventsObservation,
  SubscriptionsObservation,
} from "./kinds/subscriptions.ts"
import type { Platform, Side } from "./provenance.ts"
import type { AppsObservation } from "./shapes/apps.ts"
import type { ChartObservation } from "./shapes/chart.ts"
import type { ListingObservation } from "./shapes/listing.ts"
import type { ReviewsObservation } from "./shapes/reviews.ts"
import type { SearchObservation } from "./shapes/search.ts"

export {
  type ListingExtras as ListedBeside,
  type ListingVersion,
  type MarketFacts,
  MOST_APP_GENRES,
  type RatingsByStar,
  type ResultApp,
  type Screenshots,
  type StoreApp,
} from "./import/line-parts.ts"
export type { AppAdsObservation, AppAdsRecord } from "./kinds/app-ads.ts"
export type { DeveloperAppsObservation } from "./kinds/developer.ts"
export type { Genre, GenresObservation } from "./kinds/genres.ts"
export type { HintsObservation } from "./kinds/hints.ts"
export type { PopularityObservation } from "./kinds/popularity.ts"
export { DEMO, type Platform } from "./provenance.ts"
export { SOURCE_CODES, sourceOf } from "./rank-sources.ts"
export type { AppsObservation } from "./shapes/apps.ts"
export { LOOKUP_SOURCES } from "./shapes/apps.ts"
export type { ChartApp, ChartObservation } from "./shapes/chart.ts"
export type { EditorialCard, InAppEvent, InAppPurchase, Listing, ListingObservation } from "./shapes/listing.ts"
export type { ReviewsObservation, StoreReview } from "./shapes/reviews.ts"
export type { SearchObservation } from "./shapes/search.ts"
export {
  ALL_APPS,
  CHART_SOURCE_CODES,
  CHARTS,
  type Chart,
  type ChartSource,
  chartSourceOf,
  DEVICES,
  type Device,
} from "./types-charts.ts"
export { type FactSource, RANK_SOURCES, type RankSource, type SourceName }

export type Observation =
  | SearchObservation
  | AppsObservation
  | HintsObservation
  | PopularityObservation
  | ListingObservation
  | DeveloperAppsObservation
  | ChartObservation
  | GenresObservation
  | ReviewsObservation
  | AppAdsObservation
  | SalesObservation
  | SubscriptionsObservation
  | SubscriptionEventsObservation
  | OfferRedemptionsObservation
  | EngagementObservation
  | DownloadsObservation
  | PricesObservation
  | AdsCampaignsObservation
  | AdsKeywordsObservation
  | AdsDaysObservation
  | AdsTermsObservation
  | AdsChangesObservation
  | AdsPopularityObservation
  | BillingObservation
  | BillingMetricsObservation
  | AssistantAnswerObservation

/** `mismatched`: what came answers another question than was asked: another term, country, app or chart. */
export const OUTCOMES = ["blocked", "rate_limited", "not_found", "changed", "mismatched", "failed"] as const
export type Outcome = (typeof OUTCOMES)[number]

/** A read that failed. It is logged and changes no measurement. */
export interface Attempt {
  kind: "search" | "apps" | "hints" | "reviews" | "listing" | "chart" | "genres" | "developer" | "app_ads"
  at: Date
  /** The term, the beginning, the store ids (with commas), the developer's id, or the chart ("iphone free 6013"). */
  subject: string
  storefront: string
  platform: Platform
  source: SourceName
  outcome: Outcome
  detail?: string
  /** Of the body that could not be read. */
  sha256?: Uint8Array
}

/** A workspace's app as far as its ranks need it; iosApp and androidApp are store_app ids. */
export interface RankedApp {
  id: string
  countries: string[]
  iosApp: number | null
  androidApp: number | null
}

/** The app's store_app id on a platform, where it has one and tracks the storefront; else nothing there is measured. */
export function ownId(app: RankedApp, { platform, storefront }: Side): number | null {
  if (!app.countries.includes(storefront)) return null
  return platform === "ios" ? app.iosApp : app.androidApp
}
