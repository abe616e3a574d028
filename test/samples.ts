import * as v from "valibot"
import { catalog } from "../src/catalog.ts"
import { nothing, type Operation, operation, pending } from "../src/core/operation.ts"
import { readTree } from "../src/database/assets.ts"
import { FAULT_CODES, Fault } from "../src/lib/faults.ts"
import { Country, Term } from "../src/lib/fields.ts"
import { coded } from "../src/lib/schema.ts"

// Operations that exist only in tests, for features that no built operation uses yet.

const Answer = v.strictObject({ rows: v.array(v.string()), eta: v.optional(v.number()) })

/** The inputs of the last runs of the samples. */
export const runs: Record<string, unknown>[] = []

const hiveSample = operation({
  id: "hive_sample",
  method: "GET",
  path: "/hive/samples/:term",
  group: "Hive",
  toolset: "hive",
  summary: "A Hive call.",
  effect: "reads",
  scope: "hive:read",
  hive: "pack",
  price: 10,
  faults: ["not_measured"],
  input: v.strictObject({ term: Term, country: v.optional(Country, "us") }),
  output: Answer,
}).run(async (input) => {
  runs.push(input)
  if (input.term === "nothing") return nothing({ rows: [] })
  if (input.term === "unmeasured") return nothing(new Fault("not_measured"))
  if (input.term === "pending") return pending({ eta: 30 }, { rows: [] })
  if (input.term === "broken") throw new Error("select secret from somewhere; password=hunter2")
  return { rows: [input.term, input.country] }
})

const explorerSample = operation({
  id: "explorer_sample",
  method: "GET",
  path: "/hive/explored",
  group: "Hive",
  toolset: "hive",
  summary: "A call that only Explorer opens.",
  effect: "reads",
  scope: "hive:spy",
  hive: "explorer",
  price: { min: 5, atMost: 50, of: (input) => (input.rows ?? 1) * 5, note: "5 a row" },
  faults: [],
  input: v.strictObject({
    rows: v.optional(coded(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10)), "bad_days")),
  }),
  output: Answer,
}).run(async ({ rows = 1 }) => ({ rows: Array.from({ length: rows }, (_, i) => `row ${i}`) }))

const writeSample = operation({
  id: "write_sample",
  method: "POST",
  path: "/samples",
  group: "Writes",
  toolset: "writes",
  summary: "A write whose scope lies in its body.",
  effect: "writes",
  scope: null,
  terms: async ({ scope }) => ({
    scope: scope === "ads" ? "ads:write" : "track:write",
    plan: scope === "ads" ? "studio" : "free",
  }),
  price: 2,
  faults: [],
  input: v.strictObject({ scope: v.picklist(["ads", "track"]), note: v.optional(v.string()) }),
  output: Answer,
}).run(async ({ note }) => ({ rows: note === undefined ? [] : [note] }))

const studioSample = operation({
  id: "studio_sample",
  method: "GET",
  path: "/samples/studio",
  group: "Your apps",
  toolset: "apps",
  summary: "A read of the studio plan.",
  effect: "reads",
  scope: "ai:read",
  plan: "studio",
  price: 1,
  faults: [],
  input: v.strictObject({}),
  output: Answer,
}).run(async () => ({ rows: [] }))

const faultSample = operation({
  id: "fault_sample",
  method: "GET",
  path: "/samples/faults/:code",
  group: "Account",
  toolset: "account",
  summary: "Raises the fault it is asked for.",
  effect: "reads",
  scope: null,
  price: 1,
  faults: FAULT_CODES,
  input: v.strictObject({ code: v.picklist(FAULT_CODES) }),
  output: Answer,
}).run(async ({ code }) => {
  throw new Fault(code)
})

export const samples: readonly Operation[] = [hiveSample, explorerSample, writeSample, studioSample, faultSample]
export const catalogWithSamples: readonly Operation[] = [...catalog, ...samples]

/** Returns the project's fixtures and one for each sample. */
export function fixturesWithSamples(): Map<string, string> {
  const fixtures = new Map(readTree("fixtures/sandbox", ".json"))
  const inputs: Record<string, object> = {
    hive_sample: { term: "tea" },
    write_sample: { scope: "track" },
    fault_sample: { code: "not_found" },
  }
  for (const { id } of samples)
    fixtures.set(`${id}.json`, JSON.stringify({ input: inputs[id] ?? {}, answer: { rows: ["sample"] } }))
  return fixtures
}
