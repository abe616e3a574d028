import * as v from "valibot"
import { isRealDay } from "../../lib/time.ts"
import { RANK_SOURCES } from "../../lib/upstreams.ts"

export const Text = v.string("must be text")
/** Optional text. A blank text counts as missing, because the stores' own pages have such texts. */
export const Fact = v.optional(
  v.pipe(
    Text,
    v.transform((text) => (/\S/.test(text) ? text : undefined)),
  ),
)
export const Country = v.pipe(Text, v.regex(/^[A-Za-z]{2}$/, "must be two letters"))
export const Figure = v.number("must be a number")
export const Whole = v.pipe(Figure, v.integer("must be a whole number"))
export const Moment = v.pipe(
  Text,
  v.isoTimestamp("must be an ISO 8601 time with its zone"),
  v.check(isRealDay, "is not an existing day"),
  v.transform((text) => new Date(text)),
)
export const PlatformName = v.picklist(["ios", "android"], "must be ios or android")

export function sourceIn(sources: readonly string[]) {
  return v.picklist(sources, `must be ${sources.length > 1 ? "one of " : ""}${sources.join(", ")}`)
}

export const RankSource = v.pipe(
  Text,
  v.check(
    (source) => source !== "itunes-search",
    "the iTunes Search API is not a source of ranks: its order differs from the order on a phone",
  ),
  v.picklist(RANK_SOURCES, `must be one of ${RANK_SOURCES.join(", ")}`),
)

export const LINE_PROVENANCE = {
  parser: v.optional(Whole, 1),
  origin: v.optional(Text, "own"),
  egress: v.optional(Country),
  sha256: v.optional(v.pipe(Text, v.regex(/^[0-9a-f]{64}$/i, "must be 64 hex digits"))),
}

export type RatingsByStar = [five: number, four: number, three: number, two: number, one: number]

export const StarCounts = v.pipe(
  v.array(Whole, "must be a list"),
  v.length(5, "must be five whole numbers"),
  v.transform((counts) => counts as RatingsByStar),
)

/** An app in a search result. A missing fact was not shown. */
export const App = {
  id: Text,
  name: Fact,
  icon: Fact,
  developer: Fact,
  bundleId: Fact,
  ratings: v.optional(Whole),
  rating: v.optional(Figure),
  /** The store's own counts; they need not add up to `ratings`. */
  ratingsByStar: v.optional(StarCounts),
}
export type ResultApp = v.InferOutput<v.StrictObjectSchema<typeof App, undefined>>

export const list = <Item extends v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>>(item: Item) =>
  v.array(item, "must be a list")

/** A number and an ISO 4217 code. */
export const Priced = { price: v.optional(Figure), currency: Fact }

/** An app in a look-up or chart. */
export const SoldApp = {
  ...App,
  ...Priced,
  /** The store's id of the seller. */
  developerId: Fact,
  /** The store's id of its main genre. */
  genre: Fact,
}

const Version = v.strictObject({ version: Text, releasedAt: v.optional(Moment), notes: Fact })
export type ListingVersion = v.InferOutput<typeof Version>

/** URLs in the order shown. */
const Screenshots = v.strictObject({ phone: v.optional(list(Text)), pad: v.optional(list(Text)) })
export type Screenshots = v.InferOutput<typeof Screenshots>

/** Parts of an app's page that a look-up also returns. */
export const ListingExtras = v.strictObject({
  /** BCP 47. Texts in different languages are never compared for changes. */
  language: Fact,
  subtitle: Fact,
  description: Fact,
  screenshots: v.optional(Screenshots),
  /** The minimum version of the phone's system. */
  minimumOs: Fact,
  ageRating: Fact,
  /** The category's name in the page's language. */
  category: Fact,
  /** Newest first. Contains only the newest if the page shows no others. */
  versions: v.optional(list(Version)),
  /** "You might also like", in the order shown. */
  similar: v.optional(list(v.strictObject(App))),
  moreByDeveloper: v.optional(list(v.strictObject(App))),
})
export type ListingExtras = v.InferOutput<typeof ListingExtras>

export const Flag = v.boolean("must be true or false")

/** Installs and in-app purchases. A missing fact was not shown. */
const Market = v.strictObject({
  /** Number of installs, as exact as the store shows it. */
  installs: v.optional(Whole),
  hasInAppPurchases: v.optional(Flag),
  /** The lowest and highest price within the app; equal if the store shows one price. */
  inAppLeast: v.optional(Figure),
  inAppMost: v.optional(Figure),
  /** ISO 4217 code of both prices. */
  inAppCurrency: Fact,
})
export type MarketFacts = v.InferOutput<typeof Market>

/** More than any app has: developers choose two genres, and games have up to two subgenres more. */
export const MAX_APP_GENRES = 20

/** An app in a look-up or on a developer's page. A missing fact was not shown. */
export const LookedUpApp = v.strictObject({
  ...SoldApp,
  /**
   * All genres shown for the app, without duplicates, at most MAX_APP_GENRES: `genre` first, then the others in their
   * order.
   */
  genres: v.optional(list(Text)),
  version: Fact,
  /** Address of the developer's website. */
  developerSite: Fact,
  releasedAt: v.optional(Moment),
  updatedAt: v.optional(Moment),
  /** Only in look-ups: languages as two-letter codes in lower case, sorted, without duplicates. */
  languages: v.optional(list(Text)),
  /** Only in look-ups: the size of the app as the store shows it. */
  sizeBytes: v.optional(Whole),
  market: v.optional(Market),
  /** Only in look-ups: further parts of the app's page, used to detect changes. */
  listing: v.optional(ListingExtras),
})
export type StoreApp = v.InferOutput<typeof LookedUpApp>
