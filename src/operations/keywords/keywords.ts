import * as v from "valibot"
import { LEAST_RESULTS } from "../../formulas/difficulty.ts"
import { CHECKED } from "../../formulas/popularity.ts"
import { ownId, readRanksOn, type SideRanks } from "../../history/ranks.ts"
import { findKeywordsUnderWay, type KeywordUnderWay, NOT_SCHEDULED } from "../../history/under-way.ts"
import { type KeywordMetrics, readMetricsOfLists, UNMEASURED } from "../../observations/derived/keyword-metrics.ts"
import { ofApp, operation } from "../../operation.ts"
import { dayOf } from "../../vocabulary/days.ts"
import { AppCountry, Platform } from "../../vocabulary/fields.ts"
import { described, named } from "../../vocabulary/schema.ts"
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
} from "../shapes.ts"

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
      "1 to 100 on the scale of Apple's monthly report of search terms, which is not that of Apple Ads' search popularity. Null = not measured yet, or there is none (popularityNone).",
    ),
    popularitySource: described(
      v.nullable(PopularitySource),
      `apple-ads-report = Apple's own monthly figure; estimate = calculated from ratings and suggestions: an order rather than a level. By ratings alone, on ${CHECKED.terms} terms of the United States of ${CHECKED.least} and more that it was not fitted on, it errs by ${CHECKED.shown.error} points, a constant by ${CHECKED.constant.error}, the first app's ratings by ${CHECKED.firstApp.error}; lower ones come out too high. Of an Android keyword without a demand it rests on hintCount alone, and was not checked. Null where popularity is null.`,
    ),
    popularityWeek: described(
      v.nullable(v.string()),
      "The period that Apple's figure stands for: its report is of a month, YYYY-MM. Null for an estimate.",
    ),
    popularityNone: described(v.boolean(), "Measured, and neither results nor suggestions give a popularity."),
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
      `Measured, with fewer than ${LEAST_RESULTS} results: too few for a difficulty.`,
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
  input: ofApp({ country: AppCountry, platform: Platform }),
  narrow: { rows: ["keywords"] },
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    live: described(v.boolean(), "The day shown is today (UTC)."),
    measuredAt: described(v.nullable(Time), "When the latest of the day's results was seen; null = never measured."),
    keywords: described(v.array(Keyword), "Every tracked keyword, in its order."),
  }),
  table: { columns: Object.keys(Keyword.entries), rows: ({ keywords }) => keywords },
}).run(async ({ app, storefront, platform }, { sql, now, pause }) => {
  const side = { storefront, platform }
  const [shown] = (await readRanksOn(sql, app, [side], pause)) as [SideRanks]
  const terms = ownId(app, side) === null ? [] : shown.terms
  const metrics = new Map<number, KeywordMetrics>()
  const underWay = new Map<string, KeywordUnderWay>()
  for (let from = 0; from < terms.length; from += PIECE) {
    const piece = terms.slice(from, from + PIECE)
    const lists = piece.flatMap(({ listId }) => listId ?? [])
    for (const [list, held] of await readMetricsOfLists(sql, lists, dayOf(now()))) metrics.set(list, held)
    await pause()
    const waiting = await findKeywordsUnderWay(sql, { ...side, terms: piece.map(({ term }) => term) })
    for (const [term, held] of waiting) underWay.set(term, held)
    await pause()
  }
  return {
    country: storefront,
    platform,
    live: shown.day === dayOf(now()),
    measuredAt: shown.measuredAt?.toISOString() ?? null,
    keywords: shown.terms.map(
      ({ term, measured, rank, depth, source, seenAt, listId }): v.InferInput<typeof Keyword> => ({
        ...{ term, measured, rank, measuredAt: seenAt?.toISOString() ?? null, source },
        ...(metrics.get(listId ?? 0) ?? UNMEASURED),
        ...(underWay.get(term) ?? NOT_SCHEDULED),
        searchDepth: depth,
      }),
    ),
  }
})

/** Keywords whose figures one statement looks up: some 5 ms on the embedded database. */
const PIECE = 200
