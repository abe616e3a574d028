import { listAt, textAt, tokensAt, type WireFormat, type WriterReading } from "./provider.ts"

/** The Messages API. Input tokens read from a cache are reported separately and are added. */
export const messages: WireFormat = {
  path: "/messages",
  headers: (key) => ({ "anthropic-version": "2026-10-21", ...(key !== undefined && { "x-api-key": key }) }),
  body: ({ system, data, schema, mostTokens }, { model }) => ({
    model,
    system,
    messages: [{ role: "user", content: data }],
    max_tokens: mostTokens,
    output_config: { format: { type: "json_schema", schema } },
  }),
  read(answer): WriterReading {
    const input = tokensAt(answer, "usage", "input_tokens")
    const cached = ["cache_creation_input_tokens", "cache_read_input_tokens"].map((name) =>
      tokensAt(answer, "usage", name),
    )
    const usage = {
      input: input === null ? null : cached.reduce<number>((sum, tokens) => sum + (tokens ?? 0), input),
      output: tokensAt(answer, "usage", "output_tokens"),
    }
    const end = textAt(answer, "stop_reason")
    if (end === "refusal") return { failed: "refused", usage }
    if (end === "max_tokens" || end === "model_context_window_exceeded") return { failed: "cut", usage }
    const text = listAt(answer, "content").flatMap((block) =>
      textAt(block, "type") === "text" ? (textAt(block, "text") ?? []) : [],
    )
    return end === "end_turn" && text.length > 0 ? { text: text.join(""), usage } : { failed: "unreadable", usage }
  },
}
