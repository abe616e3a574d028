import { at, bearer, textAt, tokensAt, type WireFormat, type WriterReading } from "./provider.ts"

/** Chat Completions, which most local servers speak. */
export const chat: WireFormat = {
  path: "/chat/completions",
  headers: bearer,
  body: ({ system, data, name, schema, mostTokens }, { model, host }) => ({
    model,
    messages: [
      { role: "system", content: system },
      { role: "user", content: data },
    ],
    response_format: { type: "json_schema", json_schema: { name, strict: true, schema } },
    // refused by OpenAI's newer models under the name that everybody else knows
    [host === "api.openai.com" ? "max_completion_tokens" : "max_tokens"]: mostTokens,
  }),
  read(answer): WriterReading {
    const usage = {
      input: tokensAt(answer, "usage", "prompt_tokens"),
      output: tokensAt(answer, "usage", "completion_tokens"),
    }
    const choice = at(answer, "choices", 0)
    const end = textAt(choice, "finish_reason")?.toLowerCase()
    if (end !== undefined && CUT.includes(end)) return { failed: "cut", usage }
    if ((end !== undefined && REFUSED.includes(end)) || textAt(choice, "message", "refusal"))
      return { failed: "refused", usage }
    if (end !== undefined && UNFINISHED.includes(end)) return { failed: "unreadable", usage }
    const message = at(choice, "message")
    // some servers take the whole answer for a thought
    const text = [
      contentOf(at(message, "content")),
      textAt(message, "reasoning"),
      textAt(message, "reasoning_content"),
    ].find((found) => found !== undefined && /\S/.test(found))
    return text === undefined ? { failed: "unreadable", usage } : { text, usage }
  },
  simpler: ({ system, schema, ...question }, asked) => ({
    ...chat.body({ ...question, schema, system: `${system}\n\nThe schema: ${JSON.stringify(schema)}` }, asked),
    response_format: { type: "json_object" },
  }),
}

/** Servers spell the end of a whole answer in many ways ("stop", "eos", "STOP", null); these are the other ends. */
const CUT = ["length", "model_length", "max_tokens", "max_output_tokens"]
const REFUSED = ["content_filter", "safety", "refusal", "recitation", "prohibited_content"]
const UNFINISHED = ["tool_calls", "tool_use", "function_call", "error", "abort", "aborted", "cancelled"]

/** A text, or a list of parts where thoughts come apart from it. */
function contentOf(content: unknown): string | undefined {
  if (!Array.isArray(content)) return typeof content === "string" ? content : undefined
  const texts = content.flatMap((part) => (textAt(part, "type") === "text" ? (textAt(part, "text") ?? []) : []))
  return texts.length > 0 ? texts.join("") : undefined
}
