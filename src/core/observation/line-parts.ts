import * as v from "valibot"
import { isRealDay } from "../../lib/time.ts"
import { RANK_SOURCES } from "../../lib/upstreams.ts"

export const Text = v.string("must be text")
/** One that says nothing is not said, as the stores' own pages are read. */
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
  v.check(isRealDay, "is no day of the calendar"),
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
    "the iTunes Search API is no rank source: its order is not the order a phone shows",
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

/** An app as a search result shows it. Facts left out were not shown. */
export const App = {
  id: Text,
  name: Fact,
  icon: Fact,
  developer: Fact,
  bundleId: Fact,
  ratings: v.optional(Whole),
  rating: v.optional(Figure),
  /** The counts are the store's own: they need not add up to `ratings`. */
  ratingsByStar: v.optional(StarCounts),
}
export type ResultApp = v.InferOutput<v.StrictObjectSchema<typeof App, undefined>>

export const list = <Item extends v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>>(item: Item) =>
  v.array(item, "must be a list")

/** A number, and an ISO 4217 code. */
export const Priced = { price: v.optional(Figure), currency: Fact }

/** What a look-up or a chart says of an app. */
export const SoldApp = {
  ...App,
  ...Priced,
  /** The store's own id of who sells it. */
  developerId: Fact,
  /** The store's own id of its main genre. */
  genre: Fact,
}

const Version = v.strictObject({ version: Text, releasedAt: v.optional(Moment), notes: Fact })
export type ListingVersion = v.InferOutput<typeof Version>

/** Addresses, in the order shown. */
const Screenshots = v.strictObject({ phone: v.optional(list(Text)), pad: v.optional(list(Text)) })
export type Screenshots = v.InferOutput<typeof Screenshots>

/** Parts of an app's page that a look-up says too, beside what it says of every app. */
export const ListingExtras = v.strictObject({
  /** BCP 47. Texts of pages in different languages say nothing of a change. */
  language: Fact,
  subtitle: Fact,
  description: Fact,
  screenshots: v.optional(Screenshots),
  /** The lowest version of the phone's system. */
  minimumOs: Fact,
  ageRating: Fact,
  /** Its name, in the page's language. */
  category: Fact,
  /** Newest first; the newest alone where the page shows no others. */
  versions: v.optional(list(Version)),
  /** "You might also like", in the order shown. */
  similar: v.optional(list(v.strictObject(App))),
  moreByDeveloper: v.optional(list(v.strictObject(App))),
})
export type ListingExtras = v.InferOutput<typeof ListingExtras>

export const Flag = v.boolean("must be true or false")

/** How often an app was installed and what is sold within it. Facts left out were not shown. */
const Market = v.strictObject({
  /** As exactly as the store says it. */
  installs: v.optional(Whole),
  hasInAppPurchases: v.optional(Flag),
  /** The cheapest and the dearest thing that is sold within the app; the same where one price is said. */
  inAppLeast: v.optional(Figure),
  inAppMost: v.optional(Figure),
  /** ISO 4217, of both. */
  inAppCurrency: Fact,
})
export type MarketFacts = v.InferOutput<typeof Market>

/** More than any app has: developers choose two, and for games two kinds of these besides. */
export const MOST_APP_GENRES = 20

/** An app as a look-up or a developer's shelf says it. Facts left out were not shown. */
export const LookedUpApp = v.strictObject({
  ...SoldApp,
  /** All genres that it names of the app, at most MOST_APP_GENRES, each once: `genre`, then the others in its order. */
  genres: v.optional(list(Text)),
  version: Fact,
  /** Address of the site that the seller names. */
  developerSite: Fact,
  releasedAt: v.optional(Moment),
  updatedAt: v.optional(Moment),
  /** Of a look-up: the languages it names, as two-letter codes in lower case, sorted, each once. */
  languages: v.optional(list(Text)),
  /** Of a look-up: how large the app is, as the store says it. */
  sizeBytes: v.optional(Whole),
  market: v.optional(Market),
  /** Of a look-up: what its answer says of the app's page besides, from which changes are told. */
  listing: v.optional(ListingExtras),
})
export type StoreApp = v.InferOutput<typeof LookedUpApp>
