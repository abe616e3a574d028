import * as v from "valibot"
import { ofApp, operation } from "../../core/operation.ts"
import { dayOf } from "../../lib/days.ts"
import { AppCountry, Platform } from "../../lib/fields.ts"
import { AT_FLOOR } from "../../lib/figure-bands.ts"
import { described, named } from "../../lib/schema.ts"
import { readReaders } from "../../measuring/readers.ts"
import { underWayBy } from "../../measuring/under-way.ts"
import {
  Count,
  DifficultyBand,
  PopularitySource,
  Rank,
  RankSource,
  Store,
  Storefront,
  Time,
  WhyNotMeasuring,
} from "../../tracking/shapes.ts"
import { MIN_RESULTS } from "../formulas/difficulty.ts"
import { CHECKED } from "../formulas/popularity.ts"
import { readKeywordsNow } from "../read/ranks.ts"
import { metricsOf, shownFigures, UNMEASURED } from "../store/keyword-figures.ts"
import { AdsPopularity, adsPopularityInput, readAdsPopularity } from "./ads-popularity.ts"

const Keyword = named(
  "Keyword",
  v.strictObject({
    term: described(v.string(), "The keyword."),
    measured: described(v.boolean(), "False if the results of this keyword were not read on the day shown."),
    rank: described(
      v.nullable(Rank),
      "Rank of the app. Null if absent from the results read (measured is true) or unknown (measured is false).",
    ),
    measuredAt: described(v.nullable(Time), "Time of the reading on the day shown. Null if measured is false."),
    source: described(v.nullable(RankSource), "Source of the results. Null if measured is false."),
    demand: described(
      v.nullable(v.number()),
      "0 to 100, from the rating counts of the first ten results. Null if not measured or without results. Google " +
        "Play's search results show a rating count at most for the first app. Demand is therefore null there unless " +
        "enough of the ten apps are tracked or rivals.",
    ),
    demandAt: described(v.nullable(Time), "Time of the newest reading behind the demand. Null if all are too old."),
    hintCount: described(
      v.nullable(Count),
      "Number of store suggestions for the typed keyword that begin with it and are longer. Null if not measured.",
    ),
    hintCountAt: described(v.nullable(Time), "Time of the newest reading behind it. Null if all are too old."),
    popularity: described(
      v.nullable(v.number()),
      "1 to 100, from Apple's monthly report. Null if not published; an estimate is a band (popularityLow, " +
        "popularityHigh).",
    ),
    popularityLow: described(
      v.nullable(v.number()),
      "Low end of an estimated band on the scale of Apple Ads (5 to 100; most terms have 5 to 9). Bands fitted to " +
        `half of ${CHECKED.terms} terms in the United States contain ${Math.round(100 * CHECKED.held)} of 100 of ` +
        `the other half; other storefronts were not checked. ${AT_FLOOR} There is no single figure, because the ` +
        `score behind the band correlates with Apple's at ${CHECKED.correlation}. Null if there is no estimate.`,
    ),
    popularityHigh: described(
      v.nullable(v.number()),
      "High end of the band, inclusive. Null if popularityLow is null.",
    ),
    popularitySource: described(
      v.nullable(PopularitySource),
      "apple-ads-report: Apple's monthly figure; estimate: a band calculated from ratings and suggestions. Null " +
        "if neither.",
    ),
    popularityWeek: described(v.nullable(v.string()), "Month of Apple's report, YYYY-MM. Null for an estimate."),
    popularityNone: described(
      v.boolean(),
      "True if results and suggestions were read but give no popularity, and for all keywords of Google Play, " +
        "which publishes none.",
    ),
    popularityAt: described(
      v.nullable(Time),
      "Time of the newest reading behind an estimate, or of Apple's report. Null if neither.",
    ),
    difficulty: described(
      v.nullable(v.number()),
      "0 to 100; higher is harder. Null if not measured or not available (see difficultyNone).",
    ),
    difficultyBand: described(v.nullable(DifficultyBand), "A fifth of the scale. Null if difficulty is null."),
    difficultyNone: described(
      v.boolean(),
      `True if there are fewer than ${MIN_RESULTS} results, too few for a difficulty.`,
    ),
    difficultyAt: described(v.nullable(Time), "Time of the newest reading behind it. Null if all are too old."),
    popularityMeasuring: described(v.boolean(), "True if a measurement of the popularity is running or scheduled."),
    popularityNotMeasuring: described(
      WhyNotMeasuring,
      "Why popularityMeasuring is false, with the values of notMeasuring. Null if it is true.",
    ),
    difficultyMeasuring: described(v.boolean(), "True if a measurement of the difficulty is running or scheduled."),
    difficultyNotMeasuring: described(
      WhyNotMeasuring,
      "Why difficultyMeasuring is false; the same values as notMeasuring. Null if difficultyMeasuring is true.",
    ),
    measuring: described(
      v.boolean(),
      "True if a measurement of the rank is running or scheduled. False: not scheduled; see `notMeasuring` for " +
        "the reason.",
    ),
    notMeasuring: described(WhyNotMeasuring, "Why measuring is false. Null if it is true."),
    searchDepth: described(v.nullable(Rank), "Number of results read. Null if measured is false."),
  }),
)

export const listKeywordRanks = operation({
  id: "list_keyword_ranks",
  method: "GET",
  path: "/apps/:appId/keywords",
  group: "Your apps",
  toolset: "keywords",
  summary: "Returns the latest rank of every tracked keyword.",
  description:
    "A keyword has one of three states: measured false means not measured that day; measured true with a null " +
    "rank means absent from the results read; a number is the rank. The day shown is the latest on which any " +
    "keyword was measured. get_rank_history has earlier days.",
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({
    country: AppCountry,
    platform: Platform,
    adsPopularity: adsPopularityInput,
  }),
  narrow: { rows: ["keywords"] },
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    live: described(v.boolean(), "True if the day shown is today (UTC)."),
    measuredAt: described(v.nullable(Time), "Time of that day's latest reading. Null if never measured."),
    keywords: described(v.array(Keyword), "Every tracked keyword, in its order."),
    adsPopularity: AdsPopularity,
  }),
  table: { columns: Object.keys(Keyword.entries), rows: ({ keywords }) => keywords },
}).run(async ({ app, storefront, platform, adsPopularity }, ctx) => {
  const side = { storefront, platform }
  const today = dayOf(ctx.now())
  const [{ day, measuredAt, keywords }, reading] = await Promise.all([
    readKeywordsNow(ctx.sql, app, side),
    readReaders(ctx.sql),
  ])
  const underWay = underWayBy(side, reading)
  const withAds = adsPopularity === true && platform === "ios"
  const terms = keywords.map(({ term }) => term)
  return {
    country: storefront,
    platform,
    live: day === today,
    measuredAt: measuredAt?.toISOString() ?? null,
    keywords: keywords.map(({ term, measured, rank, seenAt, source, figures, dueCode, depth }) => ({
      term,
      measured,
      rank,
      measuredAt: seenAt?.toISOString() ?? null,
      source,
      ...shownFigures(figures ? metricsOf(figures, platform, today) : UNMEASURED),
      ...underWay(dueCode),
      searchDepth: depth,
    })),
    adsPopularity: withAds ? await readAdsPopularity(terms, storefront, ctx) : null,
  }
})
