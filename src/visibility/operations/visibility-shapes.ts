import * as v from "valibot"
import type { Interval } from "../../lib/proportions.ts"
import { described, named } from "../../lib/schema.ts"
import { ASSISTANTS } from "../../lib/upstreams.ts"
import { Count, Store, Time } from "../../tracking/shapes.ts"

export const AssistantName = named("Assistant", v.picklist(ASSISTANTS), "Whose assistant it is.")

export const Share = v.pipe(v.number(), v.minValue(0), v.maxValue(1))

/** The number of answers that name an app, with the interval. */
export const mentionFields = {
  named: described(Count, "Answers that name it."),
  of: described(Count, "Answers in which it is named or not; uncertain ones are in neither."),
  low: described(v.nullable(Share), "Where the share lies, at least: 95 %, by Wilson; null = of no answers."),
  high: described(v.nullable(Share), "At most; null = of no answers."),
  tooThin: described(v.boolean(), "Fewer than 10 answers: the interval says next to nothing."),
  uncertain: described(Count, "Answers that hold its name where it may be a word."),
  first: described(
    Count,
    "Answers that name it before every other app that is known here. Names under `others` may stand before it: nobody knows whether those are apps.",
  ),
}

export const StoreIds = described(
  v.array(v.strictObject({ platform: Store, id: described(v.string(), "Store id or package.") })),
  "The same name in both stores is one app; empty = none is known.",
)

export const RunState = named("AssistantState", v.picklist(["measured", "failed", "not_measured"]))

/** The app's latest check in this storefront. */
export const Check = named(
  "AiCheck",
  v.strictObject({
    id: described(v.string(), "As start_ai_check gave it."),
    state: described(
      v.picklist(["measuring", "measured", "failed"]),
      "failed = no assistant answered half of its questions: the unit was given back.",
    ),
    startedAt: described(Time, "When it began."),
    endedAt: described(v.nullable(Time), "When its last answer came; null = it goes on."),
    asked: described(Count, "Answers wanted in this storefront."),
    answered: described(Count, "Of these, so many came."),
    failed: described(Count, "So many did not: they are no absences."),
    cents: described(
      v.nullable(v.number()),
      "US cents that its own answers cost in all its storefronts; null = no price or no tokens are known.",
    ),
  }),
)

export const cost = {
  answers: described(Count, "Answers that it takes."),
  shared: described(Count, "Of these, so many were asked for within a day by anybody, and are not asked again."),
  cents: described(
    v.nullable(v.number()),
    "US cents that the others are likely to cost; null = an assistant has no price here.",
  ),
  basis: described(v.picklist(["measured", "assumed"]), "Whether that goes by what earlier answers took."),
}

/** Notes on the method, included in every response. */
export const SAID = [
  "Asked over the makers' programming interfaces, not in their consumer apps, which answer otherwise.",
  "Each question was asked by nobody in particular: no memory, no account, no earlier conversation.",
  "The questions are about keywords and name no app. What an assistant said on these dates is a sample, and no ranking.",
  "OpenAI and Anthropic were told the country; Google and Perplexity only hear the question's language.",
] as const

export function rounded(share: number | undefined): number | null {
  return share === undefined ? null : Math.round(1_000 * share) / 1_000
}

export function boundsOf(interval: Interval | null): { low: number | null; high: number | null } {
  return { low: rounded(interval?.low), high: rounded(interval?.high) }
}
