import type {
  AppsObservation,
  ChartObservation,
  DeveloperAppsObservation,
  GenresObservation,
  HintsObservation,
  ListingObservation,
  ReviewsObservation,
  SearchObservation,
} from "../observations/types.ts"
import { appleAppPage } from "./apple-app-page.ts"
import { appleCharts } from "./apple-charts.ts"
import { appleGenres } from "./apple-genres.ts"
import { appleHints } from "./apple-hints.ts"
import { appleReviews } from "./apple-reviews.ts"
import { appleStoreSearch } from "./apple-store-search.ts"
import { appleWebSearch } from "./apple-web-search.ts"
import type {
  AppsAsked,
  ChartAsked,
  DeveloperAsked,
  GenresAsked,
  HintsAsked,
  ListingAsked,
  PlayReviewsAsked,
  ReviewsAsked,
  SearchAsked,
} from "./asked.ts"
import { itunesDeveloper } from "./itunes-developer.ts"
import { itunesLookup } from "./itunes-lookup.ts"
import { itunesSearch } from "./itunes-search.ts"
import { playDetails } from "./play-details.ts"
import { playReviews } from "./play-reviews.ts"
import { playSearch } from "./play-search.ts"
import { playSuggest } from "./play-suggest.ts"
import type { Source } from "./source.ts"

/** Sources by what they are asked and what they see. */
export interface Sources {
  search: readonly Source<SearchAsked, SearchObservation>[]
  hints: readonly Source<HintsAsked, HintsObservation>[]
  /** Asked for apps by id. */
  lookups: readonly Source<AppsAsked, AppsObservation>[]
  /** Asked for a term, for what is said of the apps that are found. */
  catalogues: readonly Source<SearchAsked, AppsObservation>[]
  listings: readonly Source<ListingAsked, ListingObservation>[]
  charts: readonly Source<ChartAsked, ChartObservation>[]
  genres: readonly Source<GenresAsked, GenresObservation>[]
  developers: readonly Source<DeveloperAsked, DeveloperAppsObservation>[]
  reviews: readonly [Source<ReviewsAsked, ReviewsObservation>, Source<PlayReviewsAsked, ReviewsObservation>]
}

/** Every source that is asked over the network, but for the sites of developers. */
export const SOURCES: Sources = {
  search: [appleWebSearch, appleStoreSearch, playSearch],
  hints: [appleHints, playSuggest],
  lookups: [itunesLookup, playDetails],
  catalogues: [itunesSearch],
  listings: [appleAppPage],
  charts: [appleCharts],
  genres: [appleGenres],
  developers: [itunesDeveloper],
  reviews: [appleReviews, playReviews],
}
