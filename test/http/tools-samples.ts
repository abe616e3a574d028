import * as v from "valibot"
import { type Operation, operation, pending } from "../../src/core/operation.ts"
import { catalogWithSamples, fixturesWithSamples } from "../samples.ts"

/** A tool that waits and documents its default. */
const waitSample = operation({
  id: "wait_sample",
  method: "POST",
  path: "/samples/wait",
  group: "Hive",
  toolset: "hive",
  summary: "A measurement that waits longer for an assistant.",
  effect: "measures",
  scope: null,
  price: 3,
  faults: [],
  input: v.strictObject({
    wait: v.optional(v.pipe(v.number(), v.integer(), v.maxValue(20)), 0),
    note: v.optional(v.string()),
  }),
  output: v.strictObject({ waited: v.number(), eta: v.optional(v.number()) }),
  toolDefaults: { wait: 15 },
}).run(async ({ wait }) => (wait === 20 ? pending({ eta: 9 }, { waited: wait }) : { waited: wait }))

/** The catalog, the samples, and the waiting tool. */
export const catalogWithTools: readonly Operation[] = [...catalogWithSamples, waitSample]

export function fixturesWithTools(): Map<string, string> {
  return fixturesWithSamples().set("wait_sample.json", '{"input":{},"answer":{"waited":0}}')
}
