import * as v from "valibot"
import { planCovers } from "../../access/plans.ts"
import { type Context, nothing, operation } from "../../core/operation.ts"
import { READING_DEADLINE_MS, READING_FAULTS, retainedSince, throwUnlessAnswer } from "../../core/read-on-request.ts"
import { MIN_RESULTS } from "../../keywords/formulas/difficulty.ts"
import { titleMatch } from "../../keywords/formulas/title-match.ts"
import { readLatestHints } from "../../keywords/kinds/hints.ts"
import { AdsPopularity, adsPopularityInput, readAdsPopularity } from "../../keywords/operations/ads-popularity.ts"
import { type FirstTen, type RatedResult, readFirstTen } from "../../keywords/read/first-ten.ts"
import { UNMEASURED } from "../../keywords/store/keyword-figures.ts"
import { readKeywordMetrics } from "../../keywords/store/keyword-metrics.ts"
import { dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { Term } from "../../lib/fields.ts"
import { FIRST, medianOf } from "../../lib/figure.ts"
import { described, named } from "../../lib/schema.ts"
import {
  Count,
  Day,
  DifficultyBand,
  latestRatingsFields,
  Origin,
  Rank,
  RankSource,
  Store,
  Storefront,
  Time,
} from "../../tracking/shapes.ts"
import { MarketCountry } from "./inputs.ts"
import { KEPT_DAYS, readTermNow } from "./keywords/read-term.ts"
import { marketAppFields } from "./market-apps.ts"

/** Minimum `titleMatch` of a title that contains each word of the keyword, in any order. */
const LOOSE = 0.5

const score = (text: string) => described(v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(100))), text)

const Result = named(
  "RatedResult",
  v.strictObject({
    rank: Rank,
    ...marketAppFields,
    ...latestRatingsFields,
    inTitle: described(v.nullable(v.boolean()), "True if the name contains the keyword. Null if the name is unknown."),
  }),
)

export const getKeywordDifficulty = operation({
  id: "get_keyword_difficulty",
  method: "GET",
  path: "/keyword-difficulty",
  group: "Hive",
  toolset: "hive",
  summary: "Returns the difficulty of any App Store keyword and its parts.",
  description:
    `Read on request and cached for ${KEPT_DAYS} days. On the Free plan only for keywords tracked in that ` +
    "storefront, whose figures are also in list_keyword_ranks. get_keyword_competition shows how your app " +
    "compares.",
  effect: "measures",
  scope: "hive:read",
  hive: "pack",
  price: 10,
  faults: [...READING_FAULTS, "hive_read_failed", "plan_required"],
  deadlineMs: READING_DEADLINE_MS,
  input: v.strictObject({ term: Term, cc: MarketCountry, adsPopularity: adsPopularityInput }),
  output: v.strictObject({
    term: described(v.string(), "The normalised keyword."),
    country: Storefront,
    platform: Store,
    difficulty: score(
      "Strength of the first ten results; higher is harder. As in list_keyword_ranks. Null if the data is " +
        "insufficient or there are too few results (see difficultyNone).",
    ),
    difficultyBand: described(v.nullable(DifficultyBand), "Null if difficulty is null."),
    difficultyNone: described(
      v.boolean(),
      `True if there are fewer than ${MIN_RESULTS} results, too few for a difficulty.`,
    ),
    difficultyAt: described(v.nullable(Time), "Time of the newest reading behind it."),
    parts: described(
      v.nullable(
        v.strictObject({
          titles: score("How closely the ten names match the keyword."),
          weakest: score("Rating counts of the three weakest, on a logarithmic scale."),
          freshness: score("How recently they were updated."),
        }),
      ),
      "Parts of the difficulty: 0.3 titles + 0.6 weakest + 0.1 freshness. Null if difficulty is null.",
    ),
    demand: score("Estimated search demand from rating counts. Null if too few are known."),
    demandAt: described(v.nullable(Time), "Time of the newest reading behind it."),
    related: described(
      v.nullable(v.array(v.string())),
      "The store's suggestions for the keyword, in order. Empty if there are none. Null if not read.",
    ),
    relatedAt: described(v.nullable(Time), "Time of the suggestions."),
    day: described(Day, "UTC day of the results."),
    measuredAt: described(Time, "Time of the results."),
    source: RankSource,
    origin: Origin,
    depth: described(Rank, "Number of places read."),
    results: described(Count, "Number of apps in the results."),
    thin: described(v.boolean(), `True if there are fewer than ${FIRST} results.`),
    zayifEslesme: described(
      v.nullable(v.boolean()),
      "True if none of the ten names contains every word of the keyword. Null without results, or if a name is " +
        "unknown.",
    ),
    rated: described(Count, "How many of the ten have a known rating count."),
    strongest: described(v.nullable(Count), "Highest rating count. Null if none is known."),
    median: described(v.nullable(v.number()), "Median rating count. Null if none is known."),
    top: described(v.array(Result), "The first ten results."),
    adsPopularity: AdsPopularity,
  }),
}).run(async ({ term, cc: storefront, adsPopularity }, ctx) => {
  await refuseUntracked(ctx, term, storefront)
  const list = { platform: "ios", storefront, term } as const
  const why = await readTermNow(ctx, list)
  const ten = await readFirstTen(ctx.sql, list, ctx.now())
  const metrics = (
    await readKeywordMetrics(ctx.sql, { platform: "ios", storefront, terms: [term], today: dayOf(ctx.now()) })
  ).get(term)
  if (why && (!ten || !metrics?.difficultyAt)) {
    throwUnlessAnswer(why)
    return nothing(why)
  }
  if (!ten) return nothing(new Fault("not_measured", { detail: NOT_DEEP }))
  const { difficulty, difficultyBand, difficultyNone, difficultyAt, demand, demandAt } = metrics ?? UNMEASURED
  const hints = await readLatestHints(ctx.sql, { platform: "ios", storefront, prefix: term }, sinceDay(ctx))
  return {
    term,
    country: storefront,
    platform: "ios" as const,
    difficulty,
    difficultyBand,
    difficultyNone,
    difficultyAt,
    parts: difficulty === null ? null : partsOf(ten),
    demand,
    demandAt,
    related: hints?.terms ?? null,
    relatedAt: hints?.seenAt.toISOString() ?? null,
    ...shownTen(term, ten),
    adsPopularity: adsPopularity === true ? await readAdsPopularity([term], storefront, ctx) : null,
  }
})

const NOT_DEEP = "The reading did not reach the tenth result."

/** Throws plan_required on the Free plan if the workspace does not track the keyword in that storefront. */
async function refuseUntracked({ sql, caller, visibleApps }: Context, term: string, storefront: string): Promise<void> {
  if (planCovers(caller.plan, "pro")) return
  const apps = await visibleApps()
  const rows = await sql`
    select
    from tracked_term
    where app_id = any(${apps.map(({ id }) => id)}::text[]) and country = ${storefront} and term = ${term}
    limit 1`
  if (rows.length === 0) throw new Fault("plan_required", { detail: UNTRACKED })
}

const UNTRACKED = "The Free plan covers only keywords tracked in that storefront. Others need the Pro plan or above."

function sinceDay(ctx: Context): string {
  return dayOf(retainedSince(ctx.now(), KEPT_DAYS))
}

function partsOf({ parts }: FirstTen) {
  return parts && { titles: parts.titles, weakest: parts.weakest, freshness: parts.freshness }
}

function shownTen(term: string, { day, source, origin, depth, seenAt, results, apps }: FirstTen) {
  const counts = apps.flatMap(({ ratings }) => ratings ?? []).toSorted((a, b) => a - b)
  return {
    day,
    measuredAt: seenAt.toISOString(),
    source,
    origin,
    depth,
    results,
    thin: results < FIRST,
    zayifEslesme: isLoose(term, apps),
    rated: counts.length,
    strongest: counts.at(-1) ?? null,
    median: medianOf(counts),
    top: apps.map(({ name, ...app }, i) => ({
      rank: i + 1,
      ...app,
      name: name ?? app.id,
      inTitle: name === null ? null : titleMatch(term, name) === 1,
    })),
  }
}

/**
 * Returns false if one name contains the words, and true only if all names are known and none contains them. Null
 * otherwise.
 */
function isLoose(term: string, apps: readonly RatedResult[]): boolean | null {
  if (apps.some(({ name }) => name !== null && titleMatch(term, name) >= LOOSE)) return false
  return apps.length === 0 || apps.some(({ name }) => name === null) ? null : true
}
