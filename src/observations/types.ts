import { type FactSource, RANK_SOURCES, type RankSource, type SourceName } from "../upstreams.ts"
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
import type { ListedBeside, MarketFacts, RatingsByStar } from "./line-parts.ts"
import type { Platform } from "./provenance.ts"

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
export type { ListedBeside, ListingVersion, MarketFacts, RatingsByStar, Screenshots } from "./line-parts.ts"
export { DEMO, type Platform, type Provenance } from "./provenance.ts"
export * from "./types-charts.ts"
export { type FactSource, RANK_SOURCES, type RankSource, type SourceName }

/** How a source is stored: the lower code is preferred, and the gaps leave room for sources to come. Never change one. */
export const SOURCE_CODES: Record<RankSource, number> = {
  "apple-web-search": 10,
  "apple-store-search": 20,
  "play-search": 30,
  import: 40,
  foreign: 50,
}

const BY_CODE = new Map(RANK_SOURCES.map((source) => [SOURCE_CODES[source], source]))

/** The source stored under a code. */
export function sourceOf(code: number): RankSource {
  const source = BY_CODE.get(code)
  if (!source) throw new Error(`no source has the code ${code}`)
  return source
}

/** An app as a search result shows it. Facts left out were not shown. */
export interface ResultApp {
  id: string
  name?: string
  icon?: string
  developer?: string
  bundleId?: string
  ratings?: number
  rating?: number
  /** The counts are the store's own: they need not add up to `ratings`. */
  ratingsByStar?: RatingsByStar
}

/** Those that answer for ids: one that was asked for and is not answered is not to be had in that storefront. */
export const LOOKUP_SOURCES: readonly FactSource[] = ["itunes-lookup", "play-details"]

/** More than any app has: developers choose two, and for games two kinds of these besides. */
export const MOST_APP_GENRES = 20

/** Facts left out were not shown. */
export interface StoreApp extends ResultApp {
  version?: string
  price?: number
  /** ISO 4217. */
  currency?: string
  /** The store's own id of its main genre. */
  genre?: string
  /** All genres that it names of the app, at most MOST_APP_GENRES, each once: `genre`, then the others in its order. */
  genres?: string[]
  /** The store's own id of who sells it. */
  developerId?: string
  /** Address of the site that the seller names. */
  developerSite?: string
  releasedAt?: Date
  updatedAt?: Date
  market?: MarketFacts
  /** Of a look-up: what its answer says of the app's page besides, from which changes are told. */
  listing?: ListedBeside
}

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
