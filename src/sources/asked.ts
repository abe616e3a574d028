import type { Chart, Device } from "../observations/types.ts"

/** What a source of search results is asked: a term, as the observation names it, in one storefront. */
export interface SearchAsked {
  /** Lower-case two-letter code. */
  storefront: string
  term: string
}

/** What a source of suggestions is asked. */
export interface HintsAsked {
  storefront: string
  /** What was typed, normalised as a term is. */
  prefix: string
}

/** What a source of metadata is asked. */
export interface AppsAsked {
  storefront: string
  /** Store ids. */
  ids: readonly string[]
}

/** What a source of an app's own page is asked. */
export interface ListingAsked {
  storefront: string
  /** Store id. */
  id: string
}

/** What a source of top charts is asked. */
export interface ChartAsked {
  storefront: string
  device: Device
  chart: Chart
  /** The store's own id; ALL_APPS for the overall chart. */
  genre: string
}

/** What a source of the store's genres is asked. */
export interface GenresAsked {
  storefront: string
}

/** What a source of a developer's apps is asked. */
export interface DeveloperAsked {
  storefront: string
  /** Store id. */
  developerId: string
}

/** What the App Store's feed of reviews is asked. */
export interface ReviewsAsked {
  storefront: string
  storeId: string
  /** From 1. */
  page: number
}

/** What Google Play is asked for reviews. */
export interface PlayReviewsAsked {
  storefront: string
  /** Whose reviews: BCP 47. */
  language: string
  storeId: string
  /** What the page before it gave; none for the newest. */
  token?: string
}
