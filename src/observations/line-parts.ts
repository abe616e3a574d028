import * as v from "valibot"
import { isRealDay } from "../vocabulary/time.ts"
import { RANK_SOURCES, type RatingsByStar } from "./types.ts"

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

/** One of a kind's sources. */
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

const StarCounts = v.pipe(
  v.array(Whole, "must be a list"),
  v.length(5, "must be five whole numbers"),
  v.transform((counts) => counts as RatingsByStar),
)

export const App = {
  id: Text,
  name: Fact,
  icon: Fact,
  developer: Fact,
  bundleId: Fact,
  ratings: v.optional(Whole),
  rating: v.optional(Figure),
  ratingsByStar: v.optional(StarCounts),
}

export const list = <Item extends v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>>(item: Item) =>
  v.array(item, "must be a list")

/** A number, and an ISO 4217 code. */
const Priced = { price: v.optional(Figure), currency: Fact }

/** What a look-up or a chart says of an app. */
export const SoldApp = { ...App, ...Priced, developerId: Fact, genre: Fact }

const Beside = {
  language: Fact,
  subtitle: Fact,
  description: Fact,
  screenshots: v.optional(v.strictObject({ phone: v.optional(list(Text)), pad: v.optional(list(Text)) })),
  minimumOs: Fact,
  ageRating: Fact,
  category: Fact,
  versions: v.optional(list(v.strictObject({ version: Text, releasedAt: v.optional(Moment), notes: Fact }))),
  similar: v.optional(list(v.strictObject(App))),
  moreByDeveloper: v.optional(list(v.strictObject(App))),
}

const Flag = v.boolean("must be true or false")

const Market = v.strictObject({
  installs: v.optional(Whole),
  hasInAppPurchases: v.optional(Flag),
  inAppLeast: v.optional(Figure),
  inAppMost: v.optional(Figure),
  inAppCurrency: Fact,
})

/** An app as a look-up or a developer's shelf says it. */
export const LookedUpApp = v.strictObject({
  ...SoldApp,
  genres: v.optional(list(Text)),
  version: Fact,
  developerSite: Fact,
  releasedAt: v.optional(Moment),
  updatedAt: v.optional(Moment),
  market: v.optional(Market),
  listing: v.optional(v.strictObject(Beside)),
})

const Event = v.strictObject({
  id: Text,
  title: Text,
  kind: Fact,
  text: Fact,
  startsAt: v.optional(Moment),
  endsAt: v.optional(Moment),
})
const Card = v.strictObject({
  id: Text,
  kind: v.picklist(["story", "collection"], "must be story or collection"),
  title: Fact,
})

/** What an app's own page says. */
export const ListingShape = v.strictObject({
  ...Beside,
  ...Priced,
  name: Text,
  promotionalText: Fact,
  bundleId: Fact,
  developer: Fact,
  developerId: Fact,
  icon: Fact,
  languages: v.optional(list(Text)),
  size: Fact,
  hasInAppPurchases: v.optional(Flag),
  inAppPurchases: v.optional(list(v.strictObject({ name: Text, price: Fact }))),
  version: Fact,
  rating: v.optional(Figure),
  ratings: v.optional(Whole),
  ratingsByStar: v.optional(StarCounts),
  events: v.optional(list(Event)),
  editorial: v.optional(list(Card)),
})
