import * as v from "valibot"
import { Fault } from "../../src/faults.ts"
import { type Operation, operation } from "../../src/operation.ts"

// The tools that the official suite calls by name, as far as a server of ours can have them: they answer JSON, not
// pictures or streams, and ask nobody back.

const Text = v.strictObject({ text: v.string() })

function fixture(id: string, summary: string, run: () => Promise<{ text: string }>): Operation {
  return operation({
    id,
    method: "GET",
    path: `/conformance/${id.replaceAll("_", "-")}`,
    group: "Account",
    toolset: "account",
    summary,
    effect: "reads",
    scope: null,
    price: 0,
    faults: [],
    input: v.strictObject({}),
    output: Text,
  }).run(run)
}

export const conformanceTools: readonly Operation[] = [
  fixture("test_simple_text", "Answers a text.", async () => ({ text: "This is a simple text response for testing." })),
  fixture("test_error_handling", "Always fails.", async () => {
    throw new Fault("not_measured", { detail: "This tool intentionally returns an error for testing" })
  }),
  fixture("test_streaming_elicitation", "Asks nobody anything.", async () => ({ text: "done" })),
  fixture("test_logging_tool", "Logs nothing to its caller.", async () => ({ text: "done" })),
]

/** A fixture of the sandbox for each. */
export const conformanceFixtures = new Map(
  conformanceTools.map(({ id }) => [`${id}.json`, JSON.stringify({ input: {}, answer: { text: "sample" } })]),
)
