import * as v from "valibot"
import type { ObservationOf } from "../../core/kind.ts"
import { checkFacts } from "../../core/observation/app-facts.ts"
import { checkIds, checkTerm, hold } from "../../core/observation/invariants.ts"
import { App, Flag, list, Text, Whole } from "../../core/observation/line-parts.ts"
import { rule, ruleBy } from "../../core/observation/shape.ts"
import { normaliseTerm } from "../../lib/term.ts"
import type { RankSource } from "../../lib/upstreams.ts"

const Result = v.pipe(
  v.strictObject(App),
  ruleBy((app, { seenAt }) => checkFacts(app, seenAt)),
)

export const shape = v.pipe(
  v.strictObject({
    term: v.pipe(
      Text,
      v.transform(normaliseTerm),
      ruleBy((term) => checkTerm(term)),
    ),
    /** How many places were read, 1 to 250. */
    depth: v.pipe(
      Whole,
      rule("bad_depth", "the depth must be a whole number from 1 to 250", (depth) => {
        return Number.isInteger(depth) && depth >= 1 && depth <= 250
      }),
    ),
    /**
     * False if the reading ended before its depth. Such a reading is stored but does not provide the results of its
     * day.
     */
    complete: v.pipe(
      Flag,
      rule("bad_depth", "complete must be true or false", (complete) => typeof complete === "boolean"),
    ),
    /** Apps in the order shown; rank = index + 1. At most `depth`. */
    results: list(Result),
  }),
  ruleBy(({ depth, results }, { platform }) => {
    hold(results.length <= depth, "too_many_results", "there are more results than the depth")
    checkIds(platform, idsIn(results), "results")
  }),
)

export function idsIn(results: readonly { id: string }[]): string[] {
  return results.map(({ id }) => id)
}

export type SearchObservation = ObservationOf<"search", RankSource, typeof shape>

export interface SearchQuestion {
  storefront: string
  term: string
}
