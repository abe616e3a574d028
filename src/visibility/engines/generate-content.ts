import { at, listAt, textAt, tokensAt } from "../../outbound/providers/provider.ts"
import { citations, counted, type EngineFormat, storable } from "./engine.ts"

const REFUSED = new Set(["SAFETY", "PROHIBITED_CONTENT", "RECITATION", "SPII", "BLOCKLIST"])

/** Google's search takes no country, so only the language of the question hints at the place. */
export const google: EngineFormat = {
  address: "https://generativelanguage.googleapis.com/v1beta",
  path: (model) => `/models/${encodeURIComponent(model)}:generateContent`,
  headers: (key): Record<string, string> => (key === undefined ? {} : { "x-goog-api-key": key }),
  parser: 1,
  body: ({ question }) => ({
    contents: [{ role: "user", parts: [{ text: question }] }],
    tools: [{ google_search: {} }],
  }),
  read(answer) {
    const candidate = at(answer, "candidates", 0)
    const end = textAt(candidate, "finishReason") ?? ""
    if (textAt(answer, "promptFeedback", "blockReason") !== undefined || REFUSED.has(end)) return { failed: "refused" }
    if (end === "MAX_TOKENS") return { failed: "cut" }
    const parts = listAt(candidate, "content", "parts").filter((part) => at(part, "thought") !== true)
    const text = storable(parts.flatMap((part) => textAt(part, "text") ?? []))
    if (end !== "STOP" || text === undefined) return { failed: "unreadable" }
    const grounding = at(candidate, "groundingMetadata")
    const queries = listAt(grounding, "webSearchQueries")
    const chunks = listAt(grounding, "groundingChunks")
    const answeredBy = textAt(answer, "modelVersion")
    return {
      text,
      cited: citations(
        chunks.map((chunk) => ({ url: textAt(chunk, "web", "uri"), title: textAt(chunk, "web", "title") })),
      ),
      searched: queries.length > 0,
      ...(answeredBy !== undefined && { answeredBy: answeredBy.slice(0, 200) }),
      ...counted({
        inputTokens: tokensAt(answer, "usageMetadata", "promptTokenCount"),
        outputTokens: writtenTokens(answer),
        searches: queries.length,
      }),
    }
  },
}

/** Counts thinking tokens as well: the response lists them separately, but they cost the same. */
function writtenTokens(answer: unknown): number | null {
  const written = tokensAt(answer, "usageMetadata", "candidatesTokenCount")
  return written === null ? null : written + (tokensAt(answer, "usageMetadata", "thoughtsTokenCount") ?? 0)
}
