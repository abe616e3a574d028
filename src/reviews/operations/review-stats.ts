import * as v from "valibot"
import { inOrder, LAST_DAY, lastDay, lookedAt, planDays, RangeDay } from "../../core/day-range.ts"
import { ofApp, operation } from "../../core/operation.ts"
import { addDays, type Days } from "../../lib/days.ts"
import { AppCountry, Platform, wholeNumber } from "../../lib/fields.ts"
import { described, extending, named } from "../../lib/schema.ts"
import { Count, Day } from "../../tracking/shapes.ts"
import { type ReviewStats, reviewStats } from "../formulas/review-stats.ts"
import { type FeedTallies, tallyFeeds } from "../read/tallies.ts"
import { Figures, knownFeeds, LookedAt, readAppFeed } from "./review-shapes.ts"

const MAX_DAYS = 365
/** Versions in the response; the rest are only counted. */
const MAX_VERSIONS = 200

const DayFigures = named(
  "ReviewDay",
  v.strictObject({
    day: Day,
    count: described(
      v.nullable(Count),
      "Reviews held of the day. Null = none are held, and the day is not covered: there may have been some.",
    ),
    average: Figures.average,
    covered: described(
      v.boolean(),
      "Every review of the day that the store showed in the languages of the feed is held, so that 0 is 0. False = there may be more.",
    ),
  }),
)

const VersionFigures = named(
  "ReviewVersion",
  v.strictObject({
    version: described(v.nullable(v.string()), "Of the app; null = the store does not say."),
    count: described(Count, "Reviews held of this version, of the days looked at."),
    ...Figures,
  }),
)

export const getReviewStats = operation({
  id: "get_review_stats",
  method: "GET",
  path: "/apps/:appId/reviews/stats",
  group: "Your apps",
  toolset: "reviews",
  summary: "Stars of reviews: distribution, average, by day and by version.",
  description: `Of reviews, not of ratings without words on the App Store. Each review counts once, as it stands, on the UTC day on which it was written or last edited. Days before those that the plan reads are not looked at. search_reviews has the texts.`,
  effect: "reads",
  scope: "reviews:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({
    country: AppCountry,
    platform: Platform,
    days: v.optional(wholeNumber(1, MAX_DAYS, "So many UTC days up to the last; from overrides it.", "bad_days"), 90),
    from: RangeDay("First UTC day, YYYY-MM-DD; days counts when left out."),
    to: RangeDay(LAST_DAY),
  }),
  refine: inOrder,
  narrow: "parts",
  output: extending(
    LookedAt,
    v.strictObject({
      ...LookedAt.entries,
      coveredFrom: described(
        v.nullable(Day),
        "From this day to coveredTo every review that the store showed is held: the latest such days, none left out between. Null = no whole day is covered.",
      ),
      coveredTo: described(
        v.nullable(Day),
        "The last covered day, at the latest the one before the latest complete reading (feed.completeAt).",
      ),
      count: described(
        v.nullable(Count),
        "Reviews held of the days looked at. Null = nothing to look at: never read, or not in that store.",
      ),
      average: Figures.average,
      lowShare: described(
        v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
        "Share of reviews with one or two stars, 0 to 1, to four decimals; null = no reviews.",
      ),
      distribution: described(v.nullable(Figures.distribution), "Reviews by their stars; null with count."),
      byDay: described(v.array(DayFigures), "Every day looked at, oldest first; empty where count is null."),
      byVersion: described(
        v.array(VersionFigures),
        `The most reviews first; at most ${MAX_VERSIONS} (see versionsOmitted).`,
      ),
      versionsOmitted: described(Count, `Versions beyond the first ${MAX_VERSIONS}.`),
    }),
  ),
}).run(async ({ app, storefront, platform, days: count, from, to }, { sql, now, caller }) => {
  const first = from ?? addDays(lastDay({ to }, now()), 1 - count)
  const days = lookedAt("reviews", { from: first, to }, now(), caller)
  const feed = await readAppFeed(sql, app, { platform, storefront })
  const feeds = knownFeeds(feed)
  const tallied = feeds && (await tallyFeeds(sql, feeds, days))
  return {
    country: storefront,
    platform,
    feed: feed.shown,
    ...days,
    reviewsFrom: planDays("reviews", now(), caller).from,
    ...(tallied ? figuresOf(tallied, days) : NOTHING),
  }
})

function figuresOf({ tallies, covered }: FeedTallies, days: Days) {
  const { byVersion, ...stats } = reviewStats(tallies, days, covered)
  const firstVersions = byVersion.slice(0, MAX_VERSIONS)
  return { ...stats, byVersion: firstVersions, versionsOmitted: byVersion.length - firstVersions.length }
}

const NOTHING: Omit<ReviewStats, "count" | "distribution"> & {
  count: null
  distribution: null
  versionsOmitted: number
} = {
  count: null,
  average: null,
  distribution: null,
  lowShare: null,
  coveredFrom: null,
  coveredTo: null,
  byDay: [],
  byVersion: [],
  versionsOmitted: 0,
}
