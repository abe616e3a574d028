import * as v from "valibot"
import { dayOf } from "../formulas/days.ts"
import { AppCountry, Platform } from "../inputs.ts"
import { ranksOn, type SideRanks, type TermRank } from "../observations/ranks.ts"
import { ofApp, operation } from "../operation.ts"
import { described } from "../schema.ts"
import { Count, Rank, Store, Storefront, Time } from "./shapes.ts"

const Keyword = v.strictObject({
  term: v.string(),
  measured: described(v.boolean(), "False = nobody read this keyword's results on the day shown."),
  rank: described(v.nullable(Rank), "Null with measured true = the app was not among the results read."),
  demand: described(v.nullable(v.number()), "Null = not measured yet."),
  hintCount: described(v.nullable(Count), "Null = not measured yet."),
  popularity: described(
    v.nullable(v.number()),
    "1 to 100. Null = not measured yet, or none is published (popularityNone).",
  ),
  popularitySource: described(v.nullable(v.string()), "Where the popularity was read; null where popularity is null."),
  popularityWeek: described(v.nullable(v.string()), "The week the popularity stands for."),
  popularityNone: described(v.boolean(), "Measured, and the source has no popularity for the keyword."),
  difficulty: described(
    v.nullable(v.number()),
    "0 to 100, the higher the harder. Null = not measured yet, or none can be given (difficultyNone).",
  ),
  difficultyBand: described(v.nullable(v.string()), "The difficulty in a word; null where difficulty is null."),
  difficultyNone: described(v.boolean(), "Measured, and too little was found for a difficulty."),
  popularityMeasuring: described(v.boolean(), "A measurement of the popularity is under way."),
  difficultyMeasuring: described(v.boolean(), "A measurement of the difficulty is under way."),
  measuring: described(v.boolean(), "A measurement of the rank is under way."),
  searchDepth: described(v.nullable(Rank), "How many places were read; null where measured is false."),
})

export const listKeywordRanks = operation({
  id: "list_keyword_ranks",
  method: "GET",
  path: "/apps/:appId/keywords",
  group: "Your apps",
  toolset: "keywords",
  summary: "The latest rank of every tracked keyword.",
  description:
    "Three states: measured false = not measured that day; measured true and rank null = absent from the results read; a number = the rank. The day shown is the latest on which any of the keywords was measured.",
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({ country: AppCountry, platform: Platform }),
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    live: described(v.boolean(), "The day shown is today (UTC)."),
    measuredAt: described(v.nullable(Time), "When the latest of the day's results was seen; null = never measured."),
    keywords: described(v.array(Keyword), "Every tracked keyword, in its order."),
  }),
}).run(async ({ app, storefront, platform }, { sql, now }) => {
  const [shown] = (await ranksOn(sql, app, [{ storefront, platform }])) as [SideRanks]
  return {
    country: storefront,
    platform,
    live: shown.day === dayOf(now()),
    measuredAt: shown.measuredAt?.toISOString() ?? null,
    keywords: shown.terms.map(keyword),
  }
})

function keyword({ term, measured, rank, depth }: TermRank): v.InferInput<typeof Keyword> {
  return { term, measured, rank, ...UNKNOWN, searchDepth: depth }
}

// Nothing measures these yet: unknown is null, never a zero.
const UNKNOWN = {
  demand: null,
  hintCount: null,
  popularity: null,
  popularitySource: null,
  popularityWeek: null,
  popularityNone: false,
  difficulty: null,
  difficultyBand: null,
  difficultyNone: false,
  popularityMeasuring: false,
  difficultyMeasuring: false,
  measuring: false,
}
