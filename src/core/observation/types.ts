import type { ChartObservation } from "../../charts/kinds/chart-shape.ts"
import type { AdsChangesObservation, AdsPopularityObservation } from "../../consoles/kinds/ads-insights.ts"
import type { AdsDaysObservation, AdsTermsObservation } from "../../consoles/kinds/ads-metrics.ts"
import type { AdsCampaignsObservation, AdsKeywordsObservation } from "../../consoles/kinds/ads-things.ts"
import type { DownloadsObservation, EngagementObservation } from "../../consoles/kinds/analytics.ts"
import type { BillingObservation } from "../../consoles/kinds/billing.ts"
import type { BillingMetricsObservation } from "../../consoles/kinds/billing-metrics.ts"
import type { PricesObservation } from "../../consoles/kinds/prices.ts"
import type { SalesObservation } from "../../consoles/kinds/sales.ts"
import type {
  OfferRedemptionsObservation,
  SubscriptionEventsObservation,
  SubscriptionsObservation,
} from "../../consoles/kinds/subscriptions.ts"
import type { HintsObservation } from "../../keywords/kinds/hints.ts"
import type { PopularityObservation } from "../../keywords/kinds/popularity.ts"
import type { SearchObservation } from "../../keywords/kinds/search-shape.ts"
import { type FactSource, RANK_SOURCES, type RankSource, type SourceName } from "../../lib/upstreams.ts"
import type { AppAdsObservation } from "../../listings/kinds/app-ads.ts"
import type { ReviewsObservation } from "../../reviews/kinds/review-shape.ts"
import type { AppsObservation } from "../../stores/kinds/apps-shape.ts"
import type { DeveloperAppsObservation } from "../../stores/kinds/developer.ts"
import type { GenresObservation } from "../../stores/kinds/genres.ts"
import type { ListingObservation } from "../../stores/kinds/listing-shape.ts"
import type { AssistantAnswerObservation } from "../../visibility/kinds/assistant-answer.ts"
import type { Platform, Side } from "./provenance.ts"

export type { ChartApp, ChartObservation } from "../../charts/kinds/chart-shape.ts"
export type { HintsObservation } from "../../keywords/kinds/hints.ts"
export type { PopularityObservation } from "../../keywords/kinds/popularity.ts"
export type { SearchObservation } from "../../keywords/kinds/search-shape.ts"
export { SOURCE_CODES, sourceOf } from "../../keywords/store/rank-sources.ts"
export {
  ALL_APPS,
  CHART_SOURCE_CODES,
  CHARTS,
  type Chart,
  type ChartSource,
  chartSourceOf,
  DEVICES,
  type Device,
} from "../../lib/charts.ts"
export type { AppAdsObservation, AppAdsRecord } from "../../listings/kinds/app-ads.ts"
export type { ReviewsObservation, StoreReview } from "../../reviews/kinds/review-shape.ts"
export type { AppsObservation } from "../../stores/kinds/apps-shape.ts"
export { LOOKUP_SOURCES } from "../../stores/kinds/apps-shape.ts"
export type { DeveloperAppsObservation } from "../../stores/kinds/developer.ts"
export type { Genre, GenresObservation } from "../../stores/kinds/genres.ts"
export type {
  EditorialCard,
  InAppEvent,
  InAppPurchase,
  Listing,
  ListingObservation,
} from "../../stores/kinds/listing-shape.ts"
export {
  type ListingExtras as ListedBeside,
  type ListingVersion,
  type MarketFacts,
  MOST_APP_GENRES,
  type RatingsByStar,
  type ResultApp,
  type Screenshots,
  type StoreApp,
} from "./line-parts.ts"
export { DEMO, type Platform } from "./provenance.ts"
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
