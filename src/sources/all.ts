import type { AppsObservation, HintsObservation, SearchObservation } from "../observations/types.ts"
import { appleHints } from "./apple-hints.ts"
import { appleStoreSearch } from "./apple-store-search.ts"
import { appleWebSearch } from "./apple-web-search.ts"
import type { AppsAsked, HintsAsked, SearchAsked } from "./asked.ts"
import { itunesLookup } from "./itunes-lookup.ts"
import { itunesSearch } from "./itunes-search.ts"
import { playDetails } from "./play-details.ts"
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
}

/** Every source that is asked over the network. */
export const SOURCES: Sources = {
  search: [appleWebSearch, appleStoreSearch, playSearch],
  hints: [appleHints, playSuggest],
  lookups: [itunesLookup, playDetails],
  catalogues: [itunesSearch],
}
