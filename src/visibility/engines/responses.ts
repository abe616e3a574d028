import { bearer, listAt, textAt, tokensAt } from "../../outbound/providers/provider.ts"
import { citations, counted, type EngineFormat, type EngineReading, MAX_TOKENS, storable } from "./engine.ts"

/**
 * Sends the country, because the default is the United States, and disables storage, because the default is to store
 * for one month.
 */
export const openai: EngineFormat = {
  address: "https://api.openai.com/v1",
  path: () => "/responses",
  headers: bearer,
  parser: 1,
  body: ({ question, country, model }) => ({
    model,
    input: question,
    tools: [
      {
        type: "web_search",
        search_context_size: "low",
        user_location: { type: "approximate", country: country.toUpperCase() },
      },
    ],
    max_output_tokens: MAX_TOKENS,
    store: false,
  }),
  read: readResponse,
}

const PRESETS = /^(fast|low|medium|high|xhigh)(?:\/(.+))?$/

/** The model is a preset, a preset followed by a slash and the model to which it is pinned, or a model alone. */
export const perplexity: EngineFormat = {
  address: "https://api.perplexity.ai/v1",
  path: () => "/responses",
  headers: bearer,
  parser: 1,
  body({ question, model }) {
    const [, preset, pinned] = PRESETS.exec(model) ?? [null, undefined, model]
    return {
      ...(preset !== undefined && { preset }),
      ...(pinned !== undefined && { model: pinned }),
      input: question,
      tools: [{ type: "web_search" }],
      max_output_tokens: MAX_TOKENS,
    }
  },
  read: readResponse,
}

function readResponse(answer: unknown): EngineReading {
  const items = listAt(answer, "output")
  const parts = items.flatMap((item) => (textAt(item, "type") === "message" ? listAt(item, "content") : []))
  const reason = textAt(answer, "incomplete_details", "reason")
  if (parts.some((part) => textAt(part, "type") === "refusal") || reason === "content_filter")
    return { failed: "refused" }
  const status = textAt(answer, "status")
  if (status === "incomplete") return { failed: "cut" }
  const texts = parts.flatMap((part) => (textAt(part, "type") === "output_text" ? (textAt(part, "text") ?? []) : []))
  const text = storable(texts)
  if (status !== "completed" || text === undefined) return { failed: "unreadable" }
  const searches = items.filter((item) => isSearch(item))
  const answeredBy = textAt(answer, "model")
  return {
    text,
    cited: citations([...annotated(parts), ...numbered(items, text)]),
    searched: searches.length > 0,
    ...(answeredBy !== undefined && { answeredBy: answeredBy.slice(0, 200) }),
    ...counted({
      inputTokens: tokensAt(answer, "usage", "input_tokens"),
      outputTokens: tokensAt(answer, "usage", "output_tokens"),
      searches: searches.length,
    }),
  }
}

function isSearch(item: unknown): boolean {
  const type = textAt(item, "type")
  if (type === "search_results") return listAt(item, "results").length > 0
  return type === "web_search_call" && textAt(item, "status") !== "failed"
}

function annotated(parts: readonly unknown[]) {
  const notes = parts.flatMap((part) => listAt(part, "annotations"))
  return notes.map((note) => ({ url: textAt(note, "url"), title: textAt(note, "title") }))
}

/** Returns the search results that the text cites by number, such as "[7]". */
function numbered(items: readonly unknown[], text: string) {
  const results = items.flatMap((item) => (textAt(item, "type") === "search_results" ? listAt(item, "results") : []))
  return results.flatMap((result) => {
    const id = tokensAt(result, "id")
    const isNamed = id !== null && text.includes(`[${id}]`)
    return isNamed ? [{ url: textAt(result, "url"), title: textAt(result, "title") }] : []
  })
}
