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
    const end = textAt(choice, "finish_reason")
    if (end === "length" || end === "model_length") return { failed: "cut", usage }
    if (end === "content_filter" || textAt(choice, "message", "refusal")) return { failed: "refused", usage }
    const text = contentOf(at(choice, "message", "content"))
    return end === "stop" && text !== undefined ? { text, usage } : { failed: "unreadable", usage }
  },
}

/** A text, or a list of parts where thoughts come apart from it. */
function contentOf(content: unknown): string | undefined {
  if (!Array.isArray(content)) return typeof content === "string" ? content : undefined
  const texts = content.flatMap((part) => (textAt(part, "type") === "text" ? (textAt(part, "text") ?? []) : []))
  return texts.length > 0 ? texts.join("") : undefined
}
