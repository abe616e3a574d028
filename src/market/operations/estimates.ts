import * as v from "valibot"
import { described, named } from "../../lib/schema.ts"

const amount = (text: string) => described(v.nullable(v.pipe(v.number(), v.minValue(0))), text)

/** An app's estimated monthly downloads or revenue. An estimate is never shown without its interval. */
export const Estimate = named(
  "Estimate",
  v.strictObject({
    value: amount("Null if there is no figure, or only an upper bound."),
    low: amount("Null if value is null."),
    high: amount("Null if value is null."),
    under: amount("Upper bound of the figure. Null if there is a value or nothing is known."),
  }),
  "Worldwide figure per month: downloads, or revenue in US dollars.",
)
export type Estimate = v.InferOutput<typeof Estimate>

/** The possible bases of an estimate of downloads. */
export const BASES = ["measured", "own", "genre", "prior"] as const

/** Credits per row with an estimate. Rows without one are free. */
export const ESTIMATE_CREDITS = 50

export function isEstimated(estimate: Estimate | null | undefined): boolean {
  return estimate != null && (estimate.value !== null || estimate.under !== null)
}
