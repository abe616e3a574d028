import type { Platform, Provenance } from "./types.ts"

/** Where reviews can come from. */
export const REVIEWS_SOURCES = ["apple-reviews", "play-reviews"] as const

/** A page of what a store shows of an app's reviews, newest first. Who wrote them is never in it. */
export interface ReviewsObservation extends Provenance {
  kind: "reviews"
  source: (typeof REVIEWS_SOURCES)[number]
  platform: Platform
  /** The App Store shows the reviews of a storefront. Google Play shows those of a language, whatever country asks. */
  storefront: string
  /** BCP 47, of Google Play only. */
  language?: string
  storeId: string
  /** On the App Store, from 1. */
  page?: number
  /** On Google Play: what the page was asked with; the first is asked without. */
  token?: string
  /** On Google Play: what the page after it is asked with. */
  next?: string
  /** None says nothing by itself: the App Store leaves pages empty that it has reviews for. */
  reviews: StoreReview[]
  /** Whether there is a page after this one, as the page says; left out where it does not say. */
  more?: boolean
  /** Of the page that a reading ended with. */
  end?: ReadingEnd
}

/** How far a reading of several pages came. */
export interface ReadingEnd {
  /** Pages that held reviews; the one that says that there are none counts too. */
  pages: number
  /** Whether nothing is missing between the newest review and those that were held before, or the end of what is shown. */
  complete: boolean
  /** The store says that there are no reviews. */
  empty: boolean
}

export interface StoreReview {
  /** The store's own. */
  id: string
  /** 1 to 5. */
  stars: number
  title?: string
  /** As it was written; "" for stars without words. */
  text: string
  /** Of the app. */
  version?: string
  /** When it was written, or last edited. */
  at: Date
}
