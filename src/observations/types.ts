import { type FactSource, RANK_SOURCES, type RankSource, type SourceName } from "../vocabulary/upstreams.ts"
import type { AppAdsObservation } from "./kinds/app-ads.ts"
import type { AppsObservation } from "./kinds/apps.ts"
import type { ChartObservation } from "./kinds/chart.ts"
import type { DeveloperAppsObservation } from "./kinds/developer.ts"
import type { GenresObservation } from "./kinds/genres.ts"
import type { HintsObservation } from "./kinds/hints.ts"
import type { ListingObservation } from "./kinds/listing.ts"
import type { PopularityObservation } from "./kinds/popularity.ts"
import type { ReviewsObservation } from "./kinds/reviews.ts"
import type { SearchObservation } from "./kinds/search.ts"
import type { Platform } from "./provenance.ts"

export {
  type ListedBeside,
  type ListingVersion,
  type MarketFacts,
  MOST_APP_GENRES,
  type RatingsByStar,
  type ResultApp,
  type Screenshots,
  type StoreApp,
} from "./import/line-parts.ts"
export type { AppAdsObservation, AppAdsRecord, AppAdsState, AppAdsVariables } from "./kinds/app-ads.ts"
export type { AppsObservation } from "./kinds/apps.ts"
export type { ChartApp, ChartObservation } from "./kinds/chart.ts"
export type { DeveloperAppsObservation } from "./kinds/developer.ts"
export type { Genre, GenresObservation } from "./kinds/genres.ts"
export type { HintsObservation } from "./kinds/hints.ts"
export type { EditorialCard, InAppEvent, InAppPurchase, Listing, ListingObservation } from "./kinds/listing.ts"
export type { PopularityObservation } from "./kinds/popularity.ts"
export type { ReadingEnd, ReviewsObservation, StoreReview } from "./kinds/reviews.ts"
export type { SearchObservation } from "./kinds/search.ts"
export { DEMO, type Platform, type Provenance } from "./provenance.ts"
export * from "./rank-sources.ts"
export * from "./types-charts.ts"
export { type FactSource, RANK_SOURCES, type RankSource, type SourceName }

/** Those that answer for ids: one that was asked for and is not answered is not to be had in that storefront. */
export const LOOKUP_SOURCES: readonly FactSource[] = ["itunes-lookup", "play-details"]

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

/** `mismatched`: what came answers another question than was asked: another term, country, app or chart. */
export const OUTCOMES = ["blocked", "rate_limited", "not_found", "changed", "mismatched", "failed"] as const
export type Outcome = (typeof OUTCOMES)[number]

/** A read that failed. It is logged and changes no measurement. */
export interface Attempt {
  kind: "search" | "apps" | "hints" | "reviews" | "listing" | "chart" | "genres" | "developer" | "app_ads"
  at: Date
  /**
   * What was asked for: the term, the beginning, the store ids (with commas), the developer's id, the chart ("iphone free
   * 6013"), or of genres the one of all apps.
   */
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
