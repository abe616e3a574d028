import * as v from "valibot"
import type { Context } from "../../../core/operation.ts"
import type { MarketLists } from "../../../keywords/read/market-lists.ts"
import { readTermAnswers, type TermAnswer } from "../../../keywords/read/neighbours.ts"
import { type KeywordMetrics, UNMEASURED } from "../../../keywords/store/keyword-figures.ts"
import { readKeywordMetrics } from "../../../keywords/store/keyword-metrics.ts"
import { dayOf } from "../../../lib/days.ts"
import { described, named } from "../../../lib/schema.ts"
import { findKeywordsUnderWay, type KeywordUnderWay, NOT_SCHEDULED } from "../../../measuring/under-way.ts"
import { Count, Day, Origin, popularityFields, RankSource, Time } from "../../../tracking/shapes.ts"

/** Number of a keyword's results that are shown. */
export const TOP = 10

const State = named(
  "MetricState",
  v.picklist(["measured", "absent", "pending", "failed", "unmeasured"]),
  "measured: there is a figure or a band; absent: all required data was read and gives none; pending: being " +
    "measured; failed: a source failed at the latest attempt; unmeasured: never or not recently attempted.",
)
const score = (text: string) => described(v.nullable(v.number()), text)

/** The stored metrics of a keyword in a storefront. */
export const evidenceFields = {
  ...popularityFields,
  popularityState: State,
  popularityAt: described(v.nullable(Time), "Time of the measurement. Null unless measured or absent."),
  difficulty: score("0 to 100. Null if not measured."),
  difficultyState: State,
  difficultyAt: described(v.nullable(Time), "Time of the measurement. Null unless measured or absent."),
  appCount: described(v.nullable(Count), "Number of apps in the results. Null if not read recently."),
  appCountAtLeast: described(
    v.nullable(v.boolean()),
    "True if the results were not read to the end; there may be more. Null if appCount is null.",
  ),
  day: described(v.nullable(Day), "Day of the results. Null if not read recently."),
  source: described(v.nullable(RankSource), "Source of the results. Null if not read recently."),
  origin: Origin,
}

export interface TermEvidence {
  fields: v.InferOutput<v.StrictObjectSchema<typeof evidenceFields, undefined>>
  answer: TermAnswer | null
  /** Position of the popularity in a sort order, as in `KeywordMetrics`. */
  order: number | null
}

/** Returns the evidence of each keyword, in the order of `terms`. Sends no request to a store. */
export async function readEvidence(
  { sql, now }: Context,
  lists: MarketLists,
  terms: readonly string[],
): Promise<TermEvidence[]> {
  const { platform, storefront } = lists
  const metrics = await readKeywordMetrics(sql, { platform, storefront, terms, today: dayOf(now()) })
  const underWay = await findKeywordsUnderWay(sql, { platform, storefront, terms })
  const answers = await readTermAnswers(sql, lists, terms, 2 * TOP)
  return terms.map((term) => {
    const answer = answers.get(term) ?? null
    const figures = metrics.get(term) ?? UNMEASURED
    return {
      answer,
      order: figures.popularityOrder,
      fields: fieldsOf(figures, underWay.get(term) ?? NOT_SCHEDULED, answer),
    }
  })
}

function fieldsOf(metrics: KeywordMetrics, under: KeywordUnderWay, answer: TermAnswer | null): TermEvidence["fields"] {
  const { popularity, popularityLow, popularityHigh, popularityNone, popularitySource, popularityAt } = metrics
  const { difficulty, difficultyNone, difficultyAt } = metrics
  return {
    popularity,
    popularityLow,
    popularityHigh,
    popularityState: stateOf(popularity ?? popularityLow, popularityNone, under.popularityNotMeasuring),
    popularitySource,
    popularityAt,
    difficulty,
    difficultyState: stateOf(difficulty, difficultyNone, under.difficultyNotMeasuring),
    difficultyAt,
    appCount: answer?.results ?? null,
    appCountAtLeast: answer && answer.results >= answer.depth,
    day: answer?.day ?? null,
    source: answer?.source ?? null,
    origin: answer?.origin ?? null,
  }
}

function stateOf(
  figure: number | null,
  isNone: boolean,
  notMeasuring: KeywordUnderWay["notMeasuring"],
): v.InferOutput<typeof State> {
  if (figure !== null) return "measured"
  if (isNone) return "absent"
  if (notMeasuring === null) return "pending"
  return notMeasuring === "read_failed" || notMeasuring === "source_refuses" ? "failed" : "unmeasured"
}
