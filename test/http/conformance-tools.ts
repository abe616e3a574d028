import * as v from "valibot"
import { type Operation, operation, type Question } from "../../src/core/operation.ts"
import type { Offers } from "../../src/http/tools/offers.ts"
import { Fault } from "../../src/lib/faults.ts"

// The tools, prompts and resources that the official suite calls by name, as far as this server supports them: answers
// are JSON and text, and questions to a person are yes or no.

const Text = v.strictObject({ text: v.string() })

function fixture(
  id: string,
  summary: string,
  run: () => Promise<{ text: string }>,
  more: { asks?: Question; input?: v.ObjectEntries } = {},
): Operation {
  const { asks, input = {} } = more
  return operation({
    ...(asks && { asks }),
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
    input: v.strictObject(input),
    output: Text,
  }).run(run)
}

/** Returns the question that the tool of this name asks first. */
function question(name: string, input: v.ObjectEntries = {}): Question {
  const operation = asking(name, input)
  return { name, operation, refusal: () => new Fault("write_limit_reached", { reason: "approval_needed" }) }
}

function asking(name: string, input: v.ObjectEntries): Operation {
  return operation({
    id: `ask_${name}`,
    method: "GET",
    path: `/conformance/ask-${name}`,
    group: "Account",
    toolset: "account",
    summary: "Asks.",
    effect: "reads",
    scope: null,
    price: 0,
    faults: [],
    input: v.strictObject(input),
    output: v.strictObject({ message: v.string() }),
  }).run(async () => ({ message: "May I?" }))
}

const done = async () => ({ text: "done" })
const MESSAGE = { message: v.string() }

export const conformanceTools: readonly Operation[] = [
  fixture("test_simple_text", "Answers a text.", async () => ({ text: "This is a simple text response for testing." })),
  fixture("test_error_handling", "Always fails.", async () => {
    throw new Fault("not_measured", { detail: "This tool intentionally returns an error for testing" })
  }),
  fixture("test_streaming_elicitation", "Asks nobody anything.", done),
  fixture("test_logging_tool", "Logs nothing to its caller.", done),
  fixture("test_tool_with_progress", "Takes its time.", async () => {
    await Bun.sleep(400)
    return { text: "done" }
  }),
  fixture("test_elicitation", "Asks a person.", done, { asks: question("approval", MESSAGE), input: MESSAGE }),
  fixture("test_input_required_result_elicitation", "Asks a person.", done, { asks: question("user_name") }),
]

const prompt = (name: string, names: string[], text: (args: Readonly<Record<string, string>>) => string) => ({
  name,
  title: name,
  description: `What the suite gets as ${name}.`,
  toolsets: [],
  arguments: names.map((name) => ({ name, description: "Any text.", required: true })),
  text,
})

const record = operation({
  id: "test_record",
  method: "GET",
  path: "/conformance/record/:id",
  group: "Account",
  toolset: "account",
  summary: "A record of the suite's.",
  effect: "reads",
  scope: null,
  price: 0,
  faults: [],
  input: v.strictObject({ id: v.string() }),
  output: v.strictObject({ id: v.string() }),
}).run(async ({ id }) => ({ id }))

export const conformanceOffers: Offers = {
  prompts: [
    prompt("test_simple_prompt", [], () => "This is a simple prompt for testing."),
    prompt(
      "test_prompt_with_arguments",
      ["arg1", "arg2"],
      ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
    ),
  ],
  documents: [
    {
      uri: "test://static-text",
      name: "static-text",
      title: "Static text",
      description: "A text.",
      mimeType: "text/plain",
      text: () => "This is the content of the static text resource.",
    },
  ],
  record: {
    prefix: "test://template/",
    variable: "id",
    name: "record",
    title: "Record",
    description: "A record.",
    toolset: "account",
    read: record,
    list: { operation: { ...record, input: v.strictObject({}) }, of: () => [{ id: "123", title: "123" }] },
  },
  completions: {
    arg1: { operation: { ...record, input: v.strictObject({}) }, input: () => ({}), of: () => [{ value: "test one" }] },
  },
}

/** Has one sandbox fixture for each tool. */
export const conformanceFixtures = new Map(
  conformanceTools.map(({ id, input }) => [
    `${id}.json`,
    JSON.stringify({ input: "message" in input.entries ? { message: "text" } : {}, answer: { text: "sample" } }),
  ]),
)
