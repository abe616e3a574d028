import * as v from "valibot"
import { nothing, operation } from "../../core/operation.ts"
import { AdsPopularity, adsPopularityInput, readAdsPopularity } from "../../keywords/operations/ads-popularity.ts"
import { readAttempts, readFigures } from "../../keywords/read/keyword-standing.ts"
import { dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { Term } from "../../lib/fields.ts"
import { described } from "../../lib/schema.ts"
import { Store, Storefront } from "../../tracking/shapes.ts"
import { AppStoreAlone, MarketCountry } from "./inputs.ts"
import { DifficultyStanding, difficultyOf, figure, PopularityStanding, popularityOf } from "./metric-shapes.ts"

export const hiveGetKeywordMetrics = operation({
  id: "hive_get_keyword_metrics",
  method: "GET",
  path: "/hive/keywords/:term/metrics",
  group: "Hive",
  toolset: "hive",
  summary: "Returns the stored popularity and difficulty of any keyword, with the evidence.",
  description:
    "Never sends a request to a store; what is not stored is unmeasured. get_keyword_difficulty reads on request.",
  effect: "reads",
  scope: "hive:read",
  hive: "explorer",
  price: 10,
  faults: [],
  input: v.strictObject({
    term: Term,
    platform: AppStoreAlone,
    country: MarketCountry,
    adsPopularity: adsPopularityInput,
  }),
  output: v.strictObject({
    term: described(v.string(), "The normalised keyword."),
    country: Storefront,
    platform: described(Store, "Always ios."),
    popularity: figure(
      1,
      "1 to 100, from Apple's monthly report. Null if absent, unmeasured or a band (see popularityStanding).",
    ),
    difficulty: figure(
      0,
      "How hard it is to enter the first ten. Null if absent or unmeasured (see difficultyStanding).",
    ),
    popularityStanding: PopularityStanding,
    difficultyStanding: DifficultyStanding,
    adsPopularity: AdsPopularity,
  }),
}).run(async ({ term, country: storefront, platform, adsPopularity }, ctx) => {
  const { sql, now } = ctx
  const list = { platform, storefront, term }
  const at = now()
  const figures = await readFigures(sql, list, dayOf(at))
  const attempts = await readAttempts(sql, list)
  if (figures.length === 0 && attempts.length === 0)
    return nothing(
      new Fault("not_measured", { detail: "It was never measured here. hive_measure_keyword measures it." }),
    )
  const facts = { figures, attempts, now: at }
  const [popularity, difficulty] = [popularityOf(facts), difficultyOf(facts)]
  const answer = {
    term,
    country: storefront,
    platform,
    popularity: popularity.score,
    difficulty: difficulty.score,
    popularityStanding: popularity.standing,
    difficultyStanding: difficulty.standing,
    adsPopularity: adsPopularity === true ? await readAdsPopularity([term], storefront, ctx) : null,
  }
  const states = [popularity, difficulty].map(({ standing }) => standing.state)
  return states.every((state) => state === "unmeasured") ? nothing(answer) : answer
})
