import { at, listAt, textAt, tokensAt } from "../../outbound/providers/provider.ts"
import { citations, counted, type EngineFormat, MAX_TOKENS, storable } from "./engine.ts"

/**
 * A failed search arrives in a response of status 200. A paused answer is sent back, and the model then continues it.
 */
export const anthropic: EngineFormat = {
  address: "https://api.anthropic.com/v1",
  path: () => "/messages",
  headers: (key) => ({ "anthropic-version": "2026-10-21", ...(key !== undefined && { "x-api-key": key }) }),
  parser: 1,
  body: ({ question, country, model }) => ({
    model,
    max_tokens: MAX_TOKENS,
    messages: [{ role: "user", content: question }],
    tools: [
      {
        type: "web_search_20260318",
        name: "web_search",
        max_uses: 2,
        allowed_callers: ["direct"],
        user_location: { type: "approximate", country: country.toUpperCase() },
      },
    ],
  }),
  read(answer, sent) {
    const blocks = listAt(answer, "content")
    const end = textAt(answer, "stop_reason")
    if (end === "pause_turn") {
      const { messages } = sent as { messages: object[] }
      return { more: { ...sent, messages: [...messages, { role: "assistant", content: blocks }] } }
    }
    if (end === "refusal") return { failed: "refused" }
    if (end === "max_tokens" || end === "model_context_window_exceeded") return { failed: "cut" }
    // include the text from before the pauses
    const all = [...earlier(sent), ...blocks]
    const texts = all.filter((block) => textAt(block, "type") === "text")
    const text = storable(texts.flatMap((block) => textAt(block, "text") ?? []))
    if (end !== "end_turn" || text === undefined) return { failed: "unreadable" }
    const notes = texts.flatMap((block) => listAt(block, "citations"))
    const answeredBy = textAt(answer, "model")
    return {
      text,
      cited: citations(notes.map((note) => ({ url: textAt(note, "url"), title: textAt(note, "title") }))),
      searched: all.some(isFound),
      ...(answeredBy !== undefined && { answeredBy: answeredBy.slice(0, 200) }),
      ...counted({
        inputTokens: inputTokens(answer),
        outputTokens: tokensAt(answer, "usage", "output_tokens"),
        searches: tokensAt(answer, "usage", "server_tool_use", "web_search_requests"),
      }),
    }
  },
}

function earlier(sent: object): unknown[] {
  const [, ...rest] = (sent as { messages: unknown[] }).messages
  return rest.flatMap((message) => listAt(message, "content"))
}

function isFound(block: unknown): boolean {
  return textAt(block, "type") === "web_search_tool_result" && Array.isArray(at(block, "content"))
}

/** Counts cached input as well, which the response lists separately. */
function inputTokens(answer: unknown): number | null {
  const input = tokensAt(answer, "usage", "input_tokens")
  const cached = ["cache_creation_input_tokens", "cache_read_input_tokens"]
  return input === null ? null : cached.reduce((sum, name) => sum + (tokensAt(answer, "usage", name) ?? 0), input)
}
