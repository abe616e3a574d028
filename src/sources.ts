import type { ChartObservation, ChartQuestion } from "./charts/kinds/chart-shape.ts"
import { appleCharts } from "./charts/sources/apple-charts.ts"
import type { HintsObservation, HintsQuestion } from "./keywords/kinds/hints.ts"
import type { SearchObservation, SearchQuestion } from "./keywords/kinds/search-shape.ts"
import { appleHints } from "./keywords/sources/apple-hints.ts"
import { appleStoreSearch } from "./keywords/sources/apple-store-search.ts"
import { appleWebSearch } from "./keywords/sources/apple-web-search.ts"
import { playSearch } from "./keywords/sources/play-search.ts"
import { playSuggest } from "./keywords/sources/play-suggest.ts"
import { appAdsText } from "./listings/sources/app-ads.ts"
import { appleAppPage } from "./listings/sources/apple-app-page.ts"
import { type Source, sourceEntry, type TextParser } from "./measuring/source.ts"
import type { PlayReviewsQuestion, ReviewsObservation, ReviewsQuestion } from "./reviews/kinds/review-shape.ts"
import { appleReviews } from "./reviews/sources/apple-reviews.ts"
import { playReviews } from "./reviews/sources/play-reviews.ts"
import { appleGenres } from "./stores/apple/genres.ts"
import { itunesDeveloper } from "./stores/apple/itunes-developer.ts"
import { itunesLookup } from "./stores/apple/itunes-lookup.ts"
import { itunesSearch } from "./stores/apple/itunes-search.ts"
import type { AppsObservation, AppsQuestion, CatalogueQuestion } from "./stores/kinds/apps-shape.ts"
import type { DeveloperAppsObservation, DeveloperQuestion } from "./stores/kinds/developer.ts"
import type { GenresObservation, GenresQuestion } from "./stores/kinds/genres.ts"
import type { ListingObservation, ListingQuestion } from "./stores/kinds/listing-shape.ts"
import { playDetails } from "./stores/play/details.ts"

/** Sources by the question that they can answer. */
export interface Sources {
  search: readonly Source<SearchQuestion, SearchObservation>[]
  hints: readonly Source<HintsQuestion, HintsObservation>[]
  /** Read apps by id. */
  lookups: readonly Source<AppsQuestion, AppsObservation>[]
  /** Read the facts of the apps that a term finds. */
  catalogues: readonly Source<CatalogueQuestion, AppsObservation>[]
  listings: readonly Source<ListingQuestion, ListingObservation>[]
  charts: readonly Source<ChartQuestion, ChartObservation>[]
  genres: readonly Source<GenresQuestion, GenresObservation>[]
  developers: readonly Source<DeveloperQuestion, DeveloperAppsObservation>[]
  reviews: readonly [Source<ReviewsQuestion, ReviewsObservation>, Source<PlayReviewsQuestion, ReviewsObservation>]
}

export function sourcesIn(sources: Sources): readonly Source<unknown>[] {
  return Object.values(sources).flat()
}

/**
 * Name, declaration and upstream of every source that is read over the network, except developers' websites. The
 * compiler checks each line.
 */
export const SOURCES: Sources = {
  search: [
    sourceEntry("apple-web-search", appleWebSearch, "apps.apple.com"),
    sourceEntry("apple-store-search", appleStoreSearch, "search.itunes.apple.com"),
    sourceEntry("play-search", playSearch, "play.google.com"),
  ],
  hints: [
    sourceEntry("apple-hints", appleHints, "search.itunes.apple.com"),
    sourceEntry("play-suggest", playSuggest, "play.google.com"),
  ],
  lookups: [
    sourceEntry("itunes-lookup", itunesLookup, "itunes.apple.com"),
    sourceEntry("play-details", playDetails, "play.google.com"),
  ],
  catalogues: [sourceEntry("itunes-search", itunesSearch, "itunes.apple.com")],
  listings: [sourceEntry("apple-app-page", appleAppPage, "apps.apple.com")],
  charts: [sourceEntry("apple-charts", appleCharts, "itunes.apple.com")],
  genres: [sourceEntry("apple-genres", appleGenres, "itunes.apple.com")],
  developers: [sourceEntry("itunes-developer", itunesDeveloper, "itunes.apple.com")],
  reviews: [
    sourceEntry("apple-reviews", appleReviews, "itunes.apple.com"),
    sourceEntry("play-reviews", playReviews, "play.google.com"),
  ],
}

/** Parsers of files on developers' sites. */
export const TEXT_PARSERS: readonly TextParser[] = [appAdsText]
