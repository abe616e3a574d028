import type { DeveloperQuestion } from "../observations/kinds/developer.ts"
import type { GenresQuestion } from "../observations/kinds/genres.ts"
import type { HintsQuestion } from "../observations/kinds/hints.ts"
import type { AppsQuestion } from "../observations/shapes/apps.ts"
import type { ChartQuestion } from "../observations/shapes/chart.ts"
import type { ListingQuestion } from "../observations/shapes/listing.ts"
import type { PlayReviewsQuestion, ReviewsQuestion } from "../observations/shapes/reviews.ts"
import type { SearchQuestion } from "../observations/shapes/search.ts"
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
import { appleAppPage } from "./apple/app-page.ts"
import { appleCharts } from "./apple/charts.ts"
import { appleGenres } from "./apple/genres.ts"
import { appleHints } from "./apple/hints.ts"
import { itunesDeveloper } from "./apple/itunes-developer.ts"
import { itunesLookup } from "./apple/itunes-lookup.ts"
import { itunesSearch } from "./apple/itunes-search.ts"
import { appleReviews } from "./apple/reviews.ts"
import { appleStoreSearch } from "./apple/store-search.ts"
import { appleWebSearch } from "./apple/web-search.ts"
import { playDetails } from "./play/details.ts"
import { playReviews } from "./play/reviews.ts"
import { playSearch } from "./play/search.ts"
import { playSuggest } from "./play/suggest.ts"
import type { Source } from "./source.ts"

/** Sources by what they are asked and what they see. */
export interface Sources {
  search: readonly Source<SearchQuestion, SearchObservation>[]
  hints: readonly Source<HintsQuestion, HintsObservation>[]
  /** Asked for apps by id. */
  lookups: readonly Source<AppsQuestion, AppsObservation>[]
  /** Asked for a term, for what is said of the apps that are found. */
  catalogues: readonly Source<SearchQuestion, AppsObservation>[]
  listings: readonly Source<ListingQuestion, ListingObservation>[]
  charts: readonly Source<ChartQuestion, ChartObservation>[]
  genres: readonly Source<GenresQuestion, GenresObservation>[]
  developers: readonly Source<DeveloperQuestion, DeveloperAppsObservation>[]
  reviews: readonly [Source<ReviewsQuestion, ReviewsObservation>, Source<PlayReviewsQuestion, ReviewsObservation>]
}

export function sourcesIn(sources: Sources): readonly Source<unknown>[] {
  return Object.values(sources).flat()
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
