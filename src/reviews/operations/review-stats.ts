import * as v from "valibot"
import { inOrder, LAST_DAY, lastDay, lookedAt, planDays, RangeDay } from "../../core/day-range.ts"
import { ofApp, operation } from "../../core/operation.ts"
import { addDays, type Days } from "../../lib/days.ts"
import { AppCountry, Platform, wholeNumber } from "../../lib/fields.ts"
import { described, extending, named } from "../../lib/schema.ts"
import { Count, Day } from "../../tracking/shapes.ts"
import { type ReviewStats, reviewStats } from "../formulas/review-stats.ts"
import { type FeedTallies, tallyFeeds } from "../read/tallies.ts"
import { Figures, LookedAt, readAppFeed, readFeeds } from "./review-shapes.ts"

const MAX_DAYS = 365
/** Maximum number of versions in the response. Further versions are only counted. */
const MAX_VERSIONS = 200

const DayFigures = named(
  "ReviewDay",
  v.strictObject({
    day: Day,
    count: described(
      v.nullable(Count),
      "Stored reviews of the day. Null if none are stored and the day is not covered; there may be some.",
    ),
    average: Figures.average,
    covered: described(
      v.boolean(),
      "True if every review of the day shown by the store in the languages of the feed is stored, so that 0 means " +
        "none. False if there may be more.",
    ),
  }),
)

const VersionFigures = named(
  "ReviewVersion",
  v.strictObject({
    version: described(v.nullable(v.string()), "Version of the app. Null if unknown."),
    count: described(Count, "Stored reviews of this version in these days."),
    ...Figures,
  }),
)

export const getReviewStats = operation({
  id: "get_review_stats",
  method: "GET",
  path: "/apps/:appId/reviews/stats",
  group: "Your apps",
  toolset: "reviews",
  summary: "Returns review counts by stars, day and version, with the average.",
  description:
    "Counts reviews, not App Store ratings without text. Each review counts once, in its current form, on the UTC " +
    "day when it was written or last edited. Days before the plan's history are excluded. search_reviews has the " +
    "texts.",
  effect: "reads",
  scope: "reviews:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({
    country: AppCountry,
    platform: Platform,
    days: v.optional(
      wholeNumber(1, MAX_DAYS, "Number of UTC days up to the last. Ignored if from is given.", "bad_days"),
      90,
    ),
    from: RangeDay("First UTC day, YYYY-MM-DD. Default: set by days."),
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
        "First day of the latest gapless period in which every review shown by the store is stored. Null if no " +
          "whole day is covered.",
      ),
      coveredTo: described(
        v.nullable(Day),
        "Last day of that period, at most the day before the latest complete reading (feed.completeAt).",
      ),
      count: described(
        v.nullable(Count),
        "Stored reviews of these days. Null if the feed was never read or the app is not in that store.",
      ),
      average: Figures.average,
      lowShare: described(
        v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
        "Share of reviews with one or two stars, 0 to 1, rounded to four decimals. Null without reviews.",
      ),
      distribution: described(v.nullable(Figures.distribution), "Reviews by number of stars. Null if count is null."),
      byDay: described(v.array(DayFigures), "Every day of the period, oldest first. Empty if count is null."),
      byVersion: described(
        v.array(VersionFigures),
        `Versions with the most reviews first; at most ${MAX_VERSIONS} (see versionsOmitted).`,
      ),
      versionsOmitted: described(Count, `Versions beyond the first ${MAX_VERSIONS}.`),
    }),
  ),
}).run(async ({ app, storefront, platform, days: count, from, to }, { sql, now, caller }) => {
  const first = from ?? addDays(lastDay({ to }, now()), 1 - count)
  const days = lookedAt("reviews", { from: first, to }, now(), caller)
  const feed = await readAppFeed(sql, app, { platform, storefront })
  const feeds = readFeeds(feed)
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
