import { describe, expect, test } from "bun:test"
import * as v from "valibot"
import { askWriter } from "../../src/outbound/providers/ask.ts"
import { chat } from "../../src/outbound/providers/chat.ts"
import { responses } from "../../src/outbound/providers/responses.ts"
import { readStoredAnswer } from "../../src/texts/prompt.ts"

const ANSWER = '{"receipt":{"first":"abcdef","last":"ghijkl","records":1},"a":1}'
const task = { kind: "x", orders: "", records: [], answer: v.strictObject({ a: v.number() }), mostTokens: 10 } as never

describe("the object in an answer", () => {
  const forms: [string, string][] = [
    ["by itself", ANSWER],
    ["after reasoning", `<think>{"b":2}</think>\n${ANSWER}`],
    ["after reasoning without its opening tag", `The reviews speak of a start.\n</think>\n\n${ANSWER}`],
    ["after reasoning in brackets", `[THINK]Well, {"b": 2}[/THINK]${ANSWER}`],
    [
      "after reasoning in tags of any name",
      `<thought>{"a":3}</thought><seed:think>{"a":{</seed:think>◁think▷{ ◁/think▷\n${ANSWER}`,
    ],
    [
      "in a code fence after a draft in another code fence",
      `<think>\`\`\`json\n{"a":2}\n\`\`\`</think>\`\`\`json\n${ANSWER}\n\`\`\``,
    ],
    ["in a code fence before other braces", `\`\`\`json\n${ANSWER}\n\`\`\`\nReplace {name}.`],
    ["in a code fence", `\`\`\`json\n${ANSWER}\n\`\`\``],
    ["in a code fence with capital letters", `\`\`\`JSON\n${ANSWER}\n\`\`\``],
    ["in a code fence on one line", `\`\`\`${ANSWER}\`\`\``],
    ["in a code fence between sentences", `Here is the JSON:\n\`\`\`json\n${ANSWER}\n\`\`\`\nI hope it helps.`],
    ["between sentences", `Here it is: ${ANSWER} Done.`],
    [
      "in the final channel after an analysis channel",
      `<|channel|>analysis<|message|>Think {"b":2}.<|end|><|start|>assistant<|channel|>final<|message|>${ANSWER}<|` +
        "return|>",
    ],
  ]
  for (const [form, text] of forms)
    test(`the object in an answer is found ${form}`, () => {
      expect(readStoredAnswer(task, text)).toEqual({ answer: { a: 1 } })
    })

  test("no object is found in an answer without an object", () => {
    for (const text of ["", "no JSON", "<think>only thoughts</think>", "{ broken", "[1]"])
      expect(readStoredAnswer(task, text)).toBeNull()
  })
})

describe("a chat answer", () => {
  const read = (finish_reason: unknown, message: object = { content: ANSWER }) =>
    chat.read({ choices: [{ index: 0, finish_reason, message }], usage: {} })

  test("a chat answer is complete with any of the finish reasons that servers send for a complete answer", () => {
    for (const end of ["stop", "STOP", "eos", "eos_token", "stop_sequence", "end_turn", null, undefined])
      expect([end, read(end)]).toEqual([end, expect.objectContaining({ text: ANSWER })])
  })

  test("a chat answer that was cut off, refused or interrupted is not accepted", () => {
    for (const end of ["length", "MAX_TOKENS", "max_tokens"]) expect(read(end)).toMatchObject({ failed: "cut" })
    for (const end of ["content_filter", "SAFETY"]) expect(read(end)).toMatchObject({ failed: "refused" })
    for (const end of ["tool_calls", "error"]) expect(read(end)).toMatchObject({ failed: "unreadable" })
    expect(read("stop", { content: "" })).toMatchObject({ failed: "unreadable" })
  })

  test("a chat answer is read from the reasoning field if the server put it there", () => {
    for (const name of ["reasoning", "reasoning_content"])
      expect(read("stop", { content: "", [name]: ANSWER })).toMatchObject({ text: ANSWER })
  })
})

test("an answer of the Responses API is complete if it has no status", () => {
  const output = [{ type: "message", content: [{ type: "output_text", text: ANSWER }] }]
  expect(responses.read({ output })).toMatchObject({ text: ANSWER })
  expect(responses.read({ output, status: "in_progress" })).toMatchObject({ failed: "unreadable" })
})

test("a server that refuses json_schema gets another request with json_object and the schema as text", async () => {
  const bodies: { response_format: { type: string }; messages: { content: string }[] }[] = []
  const fetch = async (_: string, init: RequestInit) => {
    const body = JSON.parse(String(init.body))
    bodies.push(body)
    const isRefused = body.response_format.type === "json_schema"
    if (isRefused) return Response.json({ error: { message: "response_format json_schema" } }, { status: 400 })
    return Response.json({ choices: [{ finish_reason: "stop", message: { content: ANSWER } }] })
  }
  const settings = { url: "http://model.example/v1", api: "chat", model: "m", key: undefined } as never
  const question = { system: "Sum up.", data: "…", name: "x", schema: { type: "object" }, mostTokens: 10 } as never
  const reply = await askWriter(settings, question, {
    fetch,
    now: () => new Date(),
    signal: new AbortController().signal,
  })
  expect(reply).toMatchObject({ text: ANSWER })
  expect(bodies.map(({ response_format }) => response_format.type)).toEqual(["json_schema", "json_object"])
  expect(bodies[1]!.messages[0]!.content).toContain('{"type":"object"}')
})
