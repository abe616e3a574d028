import { expect, test } from "bun:test"
import { chat } from "../../src/outbound/providers/chat.ts"
import { messages } from "../../src/outbound/providers/messages.ts"
import { postJson } from "../../src/outbound/providers/post.ts"
import type { WireFormat } from "../../src/outbound/providers/provider.ts"
import { responses } from "../../src/outbound/providers/responses.ts"
import anthropicJson from "./recorded/anthropic-json.json"
import anthropicRefused from "./recorded/anthropic-refused.json"
import anthropicRefusedBare from "./recorded/anthropic-refused-without-details.json"
import googleWait from "./recorded/google-wait.json"
import mistralReasoning from "./recorded/mistral-reasoning.json"
import mistralText from "./recorded/mistral-text.json"
import openaiChat from "./recorded/openai-chat-text.json"
import openaiMaxTokens from "./recorded/openai-max-tokens-refused.json"
import openaiNoQuota from "./recorded/openai-no-quota.json"
import openaiReasoning from "./recorded/openai-responses-reasoning.json"
import openaiText from "./recorded/openai-responses-text.json"

// Recorded responses of providers: vercel/ai at ed857f50f112e23930b0c2dd8d532cc8bebbc911,
// packages/*/src/**/__fixtures__ (Apache-2.0, Copyright 2023 Vercel, Inc.), unchanged.

test.each<[string, WireFormat, object, string, number, number]>([
  ["OpenAI Chat Completions", chat, openaiChat, "**Holiday Name:** Galaxy Day", 16, 363],
  ["Mistral", chat, mistralText, '**Holiday Name: "World Kindness', 13, 434],
  ["Mistral with reasoning in a separate part", chat, mistralReasoning, "2 + 2 = 4", 10, 46],
  ["OpenAI Responses with reasoning before the answer", responses, openaiReasoning, "", 865, 163],
  ["OpenAI Responses with a commentary in a separate message", responses, openaiText, "", 7_243, 423],
  ["Anthropic with a schema", messages, anthropicJson, '{"recipe":{"name":"Classic Lasagna"', 371, 629],
])("the text and the token usage of a recorded answer are read: %s", (_, format, body, begins, input, output) => {
  const reading = format.read(body) as { text: string; usage: object }
  expect(reading.text).toStartWith(begins)
  expect(reading.text.length).toBeGreaterThan(5)
  expect(reading.usage).toEqual({ input, output })
})

test("an assistant's reasoning is not part of its answer", () => {
  const { text } = responses.read(openaiText) as { text: string }
  const [commentary, answer] = openaiText.output.map(({ content }) => content[0]!.text)
  expect([text, text.includes(commentary!)]).toEqual([answer!, false])
})

test.each([anthropicRefused, anthropicRefusedBare])("a recorded refusal is recognised", (body) => {
  expect(messages.read(body)).toEqual({ failed: "refused", usage: { input: 18, output: 5 } })
})

async function posted(status: number, body: unknown, headers: Record<string, string> = {}) {
  const signal = new AbortController().signal
  const fetch = async () => Response.json(body, { status, headers })
  return await postJson({ url: "http://127.0.0.1/v1", headers: {}, body: {} }, { fetch, now: () => new Date(), signal })
}

test("recorded errors are read with their retry delay, exhausted quota or ban on retries", async () => {
  const wait = { failed: "busy", status: 429, code: "RESOURCE_EXHAUSTED", retryAfterMs: 34_400 }
  expect([await posted(429, googleWait), await posted(429, [googleWait])]).toEqual([wait, wait] as never)
  expect(await posted(429, openaiNoQuota)).toEqual({ failed: "denied", status: 429, code: "insufficient_quota" })
  expect(await posted(400, openaiMaxTokens)).toMatchObject({ failed: "rejected", code: "unsupported_parameter" })
  expect(await posted(529, {}, { "x-should-retry": "false" })).toMatchObject({ failed: "busy", isFinal: true })
})

test("the token limit has its newer field name only in requests to OpenAI's host", () => {
  const question = { system: "s", data: "d", name: "n", schema: {}, mostTokens: 7 }
  const sent = (host: string) => chat.body(question, { model: "m", host }) as Record<string, unknown>
  expect([sent("api.openai.com").max_completion_tokens, sent("api.openai.com").max_tokens]).toEqual([7, undefined])
  expect([sent("127.0.0.1").max_completion_tokens, sent("127.0.0.1").max_tokens]).toEqual([undefined, 7])
})
