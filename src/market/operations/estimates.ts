import * as v from "valibot"
import { described, named } from "../../lib/schema.ts"

const amount = (text: string) => described(v.nullable(v.pipe(v.number(), v.minValue(0))), text)

/** What an app is thought to bring in a month. No figure is ever shown without its interval. */
export const Estimate = named(
  "Estimate",
  v.strictObject({
    value: amount("Null = no figure can be given, or only that it is under an amount."),
    low: amount("Null with value."),
    high: amount("Null with value."),
    under: amount("It is less than this; null = a value stands, or nothing is known."),
  }),
  "Of a month, worldwide: downloads, or US dollars of revenue.",
)
export type Estimate = v.InferOutput<typeof Estimate>

/** What downloads may rest on. */
export const BASES = ["measured", "own", "genre", "prior"] as const

/** Credits of a row with an estimate: one that has none is not paid for. */
export const ESTIMATE_CREDITS = 50

export function isEstimated(estimate: Estimate | null | undefined): boolean {
  return estimate != null && (estimate.value !== null || estimate.under !== null)
}
