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
    measured: described(v.boolean(), "False = nobody read this keyword's results on the day shown."),
    rank: described(v.nullable(Rank), "Null with measured true = the app was not among the results read."),
    measuredAt: described(
      v.nullable(Time),
      "When its results of the day shown were seen; null where measured is false.",
    ),
    source: described(v.nullable(RankSource), "Who read them; null where measured is false."),
    demand: described(
      v.nullable(v.number()),
      "0 to 100, from the rating counts of the first ten results there. Null = not measured yet, or no result. Google Play's search counts those of the app on its card alone: there it is null unless enough of the ten are tracked or rivals.",
    ),
    demandAt: described(
      v.nullable(Time),
      "When the youngest reading behind the demand was seen; null = none is young enough.",
    ),
    hintCount: described(
      v.nullable(Count),
      "How many of the store's suggestions for the keyword, fully typed, begin with it and go on. Null = not measured yet.",
    ),
    hintCountAt: described(
      v.nullable(Time),
      "When the youngest reading behind it was seen; null = none is young enough.",
    ),
    popularity: described(
      v.nullable(v.number()),
      "1 to 100, as Apple's monthly report says it. Null = not published: an estimate is a band (popularityLow, popularityHigh), or there is none.",
    ),
    popularityLow: described(
      v.nullable(v.number()),
      `Of an estimate: where it lies on Apple Ads' other scale (5 to 100, most terms at 5 to 9), with popularityHigh. Bands drawn on one half of ${CHECKED.terms} terms of the United States hold ${Math.round(100 * CHECKED.held)} of 100 of the other; other storefronts were not checked. ${AT_FLOOR} No number can be given: the order of the scores behind it goes with Apple's at ${CHECKED.correlation}. Null = no estimate.`,
    ),
    popularityHigh: described(
      v.nullable(v.number()),
      "The high end of the band, included. Null where popularityLow is.",
    ),
    popularitySource: described(
      v.nullable(PopularitySource),
      "apple-ads-report = Apple's own monthly figure; estimate = a band, calculated from ratings and suggestions. Null = neither.",
    ),
    popularityWeek: described(
      v.nullable(v.string()),
      "The period that Apple's figure stands for: its report is of a month, YYYY-MM. Null for an estimate.",
    ),
    popularityNone: described(
      v.boolean(),
      "Measured, and neither results nor suggestions give a popularity; so is every keyword of Google Play, whose searches nobody publishes.",
    ),
    popularityAt: described(
      v.nullable(Time),
      "Of an estimate: when the youngest reading behind it was seen. Of Apple's figure: when its report was. Null = neither.",
    ),
    difficulty: described(
      v.nullable(v.number()),
      "0 to 100, the higher the harder. Null = not measured yet, or none can be given (difficultyNone).",
    ),
    difficultyBand: described(v.nullable(DifficultyBand), "A fifth of the scale each; null where difficulty is null."),
    difficultyNone: described(
      v.boolean(),
      `Measured, with fewer than ${MIN_RESULTS} results: too few for a difficulty.`,
    ),
    difficultyAt: described(
      v.nullable(Time),
      "When the youngest reading behind it was seen; null = none is young enough.",
    ),
    popularityMeasuring: described(v.boolean(), "A measurement of the popularity is under way, or next."),
    popularityNotMeasuring: described(
      WhyNotMeasuring,
      "Why popularityMeasuring is false, as notMeasuring; null where it is true.",
    ),
    difficultyMeasuring: described(v.boolean(), "A measurement of the difficulty is under way, or next."),
    difficultyNotMeasuring: described(
      WhyNotMeasuring,
      "Why difficultyMeasuring is false, as notMeasuring; null where it is true.",
    ),
    measuring: described(
      v.boolean(),
      "A measurement of the rank is under way, or next: something reads this store and storefront now. False = nothing will come while notMeasuring stands.",
    ),
    notMeasuring: described(WhyNotMeasuring, "Why measuring is false; null where it is true."),
    searchDepth: described(v.nullable(Rank), "How many places were read; null where measured is false."),
  }),
)

export const listKeywordRanks = operation({
  id: "list_keyword_ranks",
  method: "GET",
  path: "/apps/:appId/keywords",
  group: "Your apps",
  toolset: "keywords",
  summary: "The latest rank of every tracked keyword.",
  description:
    "Three states: measured false = not measured that day; measured true and rank null = absent from the results read; a number = the rank. The day shown is the latest on which any of the keywords was measured; get_rank_history has the days before.",
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
    live: described(v.boolean(), "The day shown is today (UTC)."),
    measuredAt: described(v.nullable(Time), "When the latest of the day's results was seen; null = never measured."),
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
