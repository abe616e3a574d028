import type { Platform, Provenance, ResultApp } from "./types.ts"

/** Where what an app's own page says can come from. */
export const LISTING_SOURCES = ["apple-app-page", "itunes-lookup", "play-details"] as const

/** What an app's own page says of it, in one storefront. */
export interface ListingObservation extends Provenance {
  kind: "listing"
  source: (typeof LISTING_SOURCES)[number]
  platform: Platform
  storefront: string
  /** Store id. */
  id: string
  listing: Listing
}

/**
 * What a page shows of its app. A part that the page does not show is left out; a list is empty only where the page has
 * the section and shows nothing in it. Texts stand as the page writes them, in its language.
 */
export interface Listing {
  name: string
  /** BCP 47. Texts of pages in different languages say nothing of a change. */
  language?: string
  subtitle?: string
  promotionalText?: string
  description?: string
  bundleId?: string
  developer?: string
  developerId?: string
  icon?: string
  screenshots?: Screenshots
  /** Names of languages, in the page's language and order. */
  languages?: string[]
  /** As written: "245.3 MB". */
  size?: string
  /** The lowest version of the phone's system. */
  minimumOs?: string
  /** As written: "4+". */
  ageRating?: string
  /** Its name, in the page's language. */
  category?: string
  price?: number
  /** ISO 4217. */
  currency?: string
  hasInAppPurchases?: boolean
  inAppPurchases?: InAppPurchase[]
  version?: string
  /** Newest first; the newest alone where the page shows no others. */
  versions?: ListingVersion[]
  rating?: number
  ratings?: number
  /** How many gave five stars, four, three, two and one. Apple's do not always add up to `ratings`. */
  ratingsByStar?: RatingsByStar
  /** "You might also like", in the order shown. */
  similar?: ResultApp[]
  moreByDeveloper?: ResultApp[]
  events?: InAppEvent[]
  /** Stories and collections of the store's editors that the page says the app is in. */
  editorial?: EditorialCard[]
}

/** Parts of a listing that a look-up says beside what it says of every app. */
export type ListedBeside = Pick<
  Listing,
  | "language"
  | "subtitle"
  | "description"
  | "screenshots"
  | "minimumOs"
  | "ageRating"
  | "category"
  | "versions"
  | "similar"
  | "moreByDeveloper"
>

/** How often an app was installed and what is sold within it. Facts left out were not shown. */
export interface MarketFacts {
  /** As exactly as the store says it. */
  installs?: number
  hasInAppPurchases?: boolean
  /** The cheapest and the dearest thing that is sold within the app; the same where one price is said. */
  inAppLeast?: number
  inAppMost?: number
  /** ISO 4217, of both. */
  inAppCurrency?: string
}

export type RatingsByStar = [five: number, four: number, three: number, two: number, one: number]

/** Addresses, in the order shown. */
export interface Screenshots {
  phone?: string[]
  pad?: string[]
}

export interface InAppPurchase {
  name: string
  /** As written: "$4.99". */
  price?: string
}

export interface ListingVersion {
  version: string
  releasedAt?: Date
  notes?: string
}

export interface InAppEvent {
  id: string
  title: string
  /** What kind the page calls it: "Major Update". */
  kind?: string
  text?: string
  startsAt?: Date
  endsAt?: Date
}

export interface EditorialCard {
  id: string
  kind: "story" | "collection"
  title?: string
}
