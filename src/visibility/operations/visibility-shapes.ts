import * as v from "valibot"
import type { Interval } from "../../lib/proportions.ts"
import { described, named } from "../../lib/schema.ts"
import { ASSISTANTS } from "../../lib/upstreams.ts"
import { Count, Store, Time } from "../../tracking/shapes.ts"

export const AssistantName = named("Assistant", v.picklist(ASSISTANTS), "Provider of the assistant.")

export const Share = v.pipe(v.number(), v.minValue(0), v.maxValue(1))

/** The number of answers that name an app, with the interval. */
export const mentionFields = {
  named: described(Count, "Answers that name it."),
  of: described(Count, "Answers in which it is certain whether they name the app."),
  low: described(v.nullable(Share), "Lower end of the 95 % interval of the share (Wilson). Null without answers."),
  high: described(v.nullable(Share), "Upper end of the interval. Null without answers."),
  tooThin: described(
    v.boolean(),
    "True if there are fewer than 10 answers; the interval is then too wide to be useful.",
  ),
  uncertain: described(Count, "Answers with its name where it may be an ordinary word."),
  first: described(
    Count,
    "Answers that name it before every other known app. Names in `others` may come earlier; it is unknown whether " +
      "those are apps.",
  ),
}

export const StoreIds = described(
  v.array(v.strictObject({ platform: Store, id: described(v.string(), "Store id or package name.") })),
  "Apps with the same name in both stores count as one app. Empty if unknown.",
)

export const RunState = named("AssistantState", v.picklist(["measured", "failed", "not_measured"]))

/** The app's latest check in this storefront. */
export const Check = named(
  "AiCheck",
  v.strictObject({
    id: described(v.string(), "Id from start_ai_check."),
    state: described(
      v.picklist(["measuring", "measured", "failed"]),
      "failed: every assistant answered less than half of its questions, and the unit was returned.",
    ),
    startedAt: described(Time, "Start of the check."),
    endedAt: described(v.nullable(Time), "Time of the last answer. Null while the check runs."),
    asked: described(Count, "Answers requested in this storefront."),
    answered: described(Count, "Answers received."),
    failed: described(Count, "Answers that failed. They do not count as answers without the app."),
    cents: described(
      v.nullable(v.number()),
      "Cost in US cents of the check's own answers in all storefronts. Null if prices or token counts are unknown.",
    ),
  }),
)

export const cost = {
  answers: described(Count, "Answers needed."),
  shared: described(
    Count,
    "Answers already requested within a day, also by other workspaces, and not requested again.",
  ),
  cents: described(
    v.nullable(v.number()),
    "Expected cost in US cents of the answers that are not shared. Null if an assistant has no price here.",
  ),
  basis: described(v.picklist(["measured", "assumed"]), "Whether the expected cost is based on earlier answers."),
}

/** Notes on the method, included in every response. */
export const SAID = [
  "The questions go to the providers' APIs, not to their consumer apps, which answer differently.",
  "Each question is asked without memory, account or earlier conversation.",
  "The questions are about keywords and name no app. The answers of these dates are a sample, not a ranking.",
  "OpenAI and Anthropic receive the country; Google and Perplexity receive only the question's language.",
] as const

export function rounded(share: number | undefined): number | null {
  return share === undefined ? null : Math.round(1_000 * share) / 1_000
}

export function boundsOf(interval: Interval | null): { low: number | null; high: number | null } {
  return { low: rounded(interval?.low), high: rounded(interval?.high) }
}
