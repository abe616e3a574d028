import { bearer, listAt, textAt, tokensAt, type WireFormat, type WriterReading } from "./provider.ts"

/** The Responses API. Without `store: false`, the vendor keeps the text for a month. */
export const responses: WireFormat = {
  path: "/responses",
  headers: bearer,
  body: ({ system, data, name, schema, mostTokens }, { model }) => ({
    model,
    instructions: system,
    input: data,
    text: { format: { type: "json_schema", name, strict: true, schema } },
    max_output_tokens: mostTokens,
    store: false,
  }),
  read(answer): WriterReading {
    const usage = {
      input: tokensAt(answer, "usage", "input_tokens"),
      output: tokensAt(answer, "usage", "output_tokens"),
    }
    // Between messages there are items of other types (reasoning, searches), and messages that comment on the progress.
    const parts = listAt(answer, "output").flatMap((item) =>
      textAt(item, "type") === "message" && textAt(item, "phase") !== "commentary" ? listAt(item, "content") : [],
    )
    const status = textAt(answer, "status")
    const reason = textAt(answer, "incomplete_details", "reason")
    if (parts.some((part) => textAt(part, "type") === "refusal") || reason === "content_filter")
      return { failed: "refused", usage }
    if (status === "incomplete") return { failed: "cut", usage }
    const text = parts.flatMap((part) => (textAt(part, "type") === "output_text" ? (textAt(part, "text") ?? []) : []))
    const isWhole = status === undefined || status === "completed"
    return isWhole && text.length > 0 ? { text: text.join(""), usage } : { failed: "unreadable", usage }
  },
}
