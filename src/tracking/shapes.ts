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
  "own: read by this instance; demo: sample data. Null if the reading is no longer stored.",
)

/** Why something is not being measured. Null if it is. */
export const WhyNotMeasuring = v.nullable(named("NotMeasuring", v.picklist(keysOf(NOT_MEASURING)), `${REASONS}.`))

/** A language and country for which the App Store accepts listings. */
export const ListingLocale = named("ListingLocale", v.picklist(LISTING_LOCALES))

/** The latest ratings of an app in a storefront. */
export const latestRatingsFields = {
  ratings: described(v.nullable(Count), "Latest rating count in that storefront. Null if unknown."),
  ratingsDay: described(v.nullable(Day), "UTC day of that count. Null if ratings is null."),
  ratingsSource: described(v.nullable(Source), "Source of that count. Null if ratings is null."),
}

/** An app by its id in its store, with its latest ratings. */
export const RatedApp = named(
  "RatedApp",
  v.strictObject({
    id: described(v.string(), "Store id."),
    name: described(v.string(), "Name in the store, or the store id if unknown."),
    ...latestRatingsFields,
  }),
)

/** The source of a popularity. */
export const PopularitySource = named("PopularitySource", v.picklist(POPULARITY_SOURCES))

/** An estimate is a band and not a number: see src/keywords/formulas/popularity.ts. */
export const popularityFields = {
  popularity: described(
    v.nullable(v.number()),
    "1 to 100, Apple's monthly figure. Null if not published; popularityLow and popularityHigh may then have an " +
      "estimate.",
  ),
  popularityLow: described(
    v.nullable(v.number()),
    `Low end of an estimated band (scale of Apple Ads, 5 to 100). ${AT_FLOOR} Null if there is none.`,
  ),
  popularityHigh: described(v.nullable(v.number()), "High end of the band, inclusive."),
  popularitySource: described(
    v.nullable(PopularitySource),
    "apple-ads-report: published; estimate: a band. Null if neither.",
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
        source: described(RankSource, "Source of the points."),
        from: described(Day, "Day of the first point."),
        to: described(Day, "Day of the last point."),
      }),
    ),
  ),
  "Runs of consecutive points from one source, oldest first. Compare ranks only within a run. Empty if there are " +
    "no points.",
)

const Terms = v.array(v.string())

/** A workspace's app as every answer shows it. */
export const trackedAppFields = {
  id: described(v.string(), "The appId for other calls."),
  name: described(v.string(), "Name given by the workspace, or the name in the store, or the store id."),
  icon: described(v.nullable(v.string()), "URL of the store icon. Null if unknown."),
  iosId: described(v.nullable(v.string()), "App Store id."),
  androidPkg: described(v.nullable(v.string()), "Google Play package name."),
  bundleId: described(v.nullable(v.string()), "iOS bundle id. Null if unknown."),
  countries: described(v.array(Storefront), "Tracked storefronts. The first is the default of calls about the app."),
  keywords: described(Terms, "Tracked keywords of all storefronts without repeats, by storefront and in order."),
  keywordsByCountry: described(v.record(Storefront, Terms), "Tracked keywords of each storefront, in order."),
  manualRivals: described(
    v.nullable(v.array(v.string())),
    "Rivals added by hand: ios:<store id> or android:<package>.",
  ),
  keywordTags: described(v.nullable(v.record(v.string(), v.array(v.string()))), "Tags of tracked keywords."),
  buriedKeywords: described(v.nullable(Terms), "Keywords excluded from suggestions."),
  goal: described(v.nullable(v.picklist(["downloads", "rank", "revenue"])), "Optimisation goal of the app."),
  tasksDone: described(v.nullable(v.array(v.string())), "Completed tasks of the weekly plan."),
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
    from: described(Time, "Time of the oldest reading."),
    to: described(Time, "Time of the newest reading."),
  }),
)

const stars = (many: number) => described(Count, `Ratings with ${many === 1 ? "1 star" : `${many} stars`}.`)

/** The number of ratings for each number of stars. */
export const StarCounts = named(
  "StarCounts",
  v.strictObject({ "1": stars(1), "2": stars(2), "3": stars(3), "4": stars(4), "5": stars(5) }),
)
