import * as v from "valibot"
import { AT_FLOOR, DIFFICULTY_BANDS } from "../lib/figure-bands.ts"
import { LISTING_LOCALES } from "../lib/locales.ts"
import { keysOf } from "../lib/objects.ts"
import { described, named } from "../lib/schema.ts"
import { Count, Day, Source, Storefront, Time } from "../lib/shapes.ts"
import { POPULARITY_SOURCES, RANK_SOURCES } from "../lib/upstreams.ts"
import { NOT_MEASURING, REASONS } from "../measuring/readers.ts"
import type { TrackedAppWithTerms } from "./tracked-app.ts"

export { Count, Day, Rank, Source, Store, Storefront, Time } from "../lib/shapes.ts"

/** The source of search results. */
export const RankSource = named("RankSource", v.picklist(RANK_SOURCES))

/** The publisher of a reading. */
export const Origin = named(
  "Origin",
  v.nullable(v.string()),
  "Who brought it: own = this instance, demo = its demo. Null = that reading is kept no more.",
)

/** Why something is not being measured. Null if it is. */
export const WhyNotMeasuring = v.nullable(named("NotMeasuring", v.picklist(keysOf(NOT_MEASURING)), `${REASONS}.`))

/** A language and country for which the App Store accepts listings. */
export const ListingLocale = named("ListingLocale", v.picklist(LISTING_LOCALES))

/** The latest ratings of an app in a storefront. */
export const latestRatingsFields = {
  ratings: described(v.nullable(Count), "The latest rating count known of that storefront; null = none yet."),
  ratingsDay: described(v.nullable(Day), "The UTC day they were read; null where ratings is."),
  ratingsSource: described(v.nullable(Source), "Who read them; null where ratings is."),
}

/** An app by its id in its store, with its latest ratings. */
export const RatedApp = named(
  "RatedApp",
  v.strictObject({
    id: described(v.string(), "Store id."),
    name: described(v.string(), "The store's name of it, or the id until one was seen."),
    ...latestRatingsFields,
  }),
)

/** The source of a popularity. */
export const PopularitySource = named("PopularitySource", v.picklist(POPULARITY_SOURCES))

/** An estimate is a band and not a number: see src/keywords/formulas/popularity.ts. */
export const popularityFields = {
  popularity: described(
    v.nullable(v.number()),
    "1 to 100, Apple's monthly figure. Null = not published: see the band.",
  ),
  popularityLow: described(
    v.nullable(v.number()),
    `Low end of an estimate (Apple Ads' scale, 5 to 100; 4 of 5 cases). ${AT_FLOOR} Null if none.`,
  ),
  popularityHigh: described(v.nullable(v.number()), "The other end, included."),
  popularitySource: described(
    v.nullable(PopularitySource),
    "apple-ads-report = published; estimate = a band. Null = neither.",
  ),
}

/** How hard a keyword is, in words. */
export const DifficultyBand = named("DifficultyBand", v.picklist(DIFFICULTY_BANDS))

/** The source of each point in a series of ranks. */
export const RankRuns = described(
  v.array(
    named(
      "RankRun",
      v.strictObject({
        source: described(RankSource, "Who read the points."),
        from: described(Day, "The day of the first of them."),
        to: described(Day, "The day of the last."),
      }),
    ),
  ),
  "Points next to each other that one source gave, oldest first: compare ranks within one of these only. Empty where there are no points.",
)

const Terms = v.array(v.string())

/** A workspace's app as every answer shows it. */
export const trackedAppFields = {
  id: described(v.string(), "The appId used in paths."),
  name: described(v.string(), "Its own name, or what the store calls it; its store id until one was seen."),
  icon: described(v.nullable(v.string()), "Address of the store icon; null where none was seen yet."),
  iosId: described(v.nullable(v.string()), "App Store id."),
  androidPkg: described(v.nullable(v.string()), "Google Play package name."),
  bundleId: described(v.nullable(v.string()), "iOS bundle id; null where none was seen yet."),
  countries: described(v.array(Storefront), "Tracked storefronts; the first is the default of calls about the app."),
  keywords: described(
    Terms,
    "Tracked keywords over all storefronts, each once: storefront by storefront, in their order.",
  ),
  keywordsByCountry: described(v.record(Storefront, Terms), "Tracked keywords of each storefront, in order."),
  manualRivals: described(
    v.nullable(v.array(v.string())),
    "Rivals named by hand: ios:<store id> or android:<package>.",
  ),
  keywordTags: described(v.nullable(v.record(v.string(), v.array(v.string()))), "Tags of tracked keywords."),
  buriedKeywords: described(v.nullable(Terms), "Keywords that are not suggested again."),
  goal: described(v.nullable(v.picklist(["downloads", "rank", "revenue"])), "What the app is optimised for."),
  tasksDone: described(v.nullable(v.array(v.string())), "Tasks of the weekly plan that were ticked off."),
}

export const AppShape = named("App", v.strictObject(trackedAppFields))
export type AppShape = v.InferOutput<typeof AppShape>

/** Returns an app with its tracked keywords. */
export function appShape({
  terms,
  iosApp: _,
  androidApp: __,
  hiddenRivals: ___,
  ...shown
}: TrackedAppWithTerms): AppShape {
  const lists = shown.countries.map((country) => terms?.[country] ?? [])
  return {
    ...shown,
    keywords: lists.length === 1 ? (lists[0] as string[]) : [...new Set(lists.flat())],
    keywordsByCountry: Object.fromEntries(shown.countries.map((country, at) => [country, lists[at] as string[]])),
  }
}

/** The time span and the sources of several readings. */
export const ReadingSpan = named(
  "ReadingSpan",
  v.strictObject({
    sources: v.array(Source),
    from: described(Time, "When the oldest was read."),
    to: described(Time, "When the youngest was read."),
  }),
)

const stars = (many: number) => described(Count, `Of ${many === 1 ? "one star" : `${many} stars`}.`)

/** How many of each number of stars. */
export const StarCounts = named(
  "StarCounts",
  v.strictObject({ "1": stars(1), "2": stars(2), "3": stars(3), "4": stars(4), "5": stars(5) }),
)
