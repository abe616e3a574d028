import { at, bearer, textAt, tokensAt, type WireFormat, type WriterReading } from "./provider.ts"

/** The Chat Completions API, which most local servers support. */
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
    // OpenAI's newer models refuse the name that all other servers use.
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
    // Some servers return the whole answer as reasoning.
    const text = [
      contentOf(at(message, "content")),
      textAt(message, "reasoning"),
      textAt(message, "reasoning_content"),
    ].find((found) => found !== undefined && /\S/.test(found))
    return text === undefined ? { failed: "unreadable", usage } : { text, usage }
  },
  simpler: ({ system, schema, ...question }, target) => ({
    ...chat.body({ ...question, schema, system: `${system}\n\nThe schema: ${JSON.stringify(schema)}` }, target),
    response_format: { type: "json_object" },
  }),
}

/**
 * Servers have many names for a complete answer ("stop", "eos", "STOP", null). These are the names of other outcomes.
 */
const CUT = ["length", "model_length", "max_tokens", "max_output_tokens"]
const REFUSED = ["content_filter", "safety", "refusal", "recitation", "prohibited_content"]
const UNFINISHED = ["tool_calls", "tool_use", "function_call", "error", "abort", "aborted", "cancelled"]

/** Returns the text of the content, which is a text, or a list of parts if thoughts are separate. */
function contentOf(content: unknown): string | undefined {
  if (!Array.isArray(content)) return typeof content === "string" ? content : undefined
  const texts = content.flatMap((part) => (textAt(part, "type") === "text" ? (textAt(part, "text") ?? []) : []))
  return texts.length > 0 ? texts.join("") : undefined
}
