import { hash } from "node:crypto"
import type { AssistantAnswerObservation } from "../../src/visibility/kinds/assistant-answer.ts"

/** Returns an assistant's answer about a US keyword, with a hash of its content. */
export function answered(
  rest: Partial<Omit<AssistantAnswerObservation, "seenAt">> & { seenAt?: string } = {},
): AssistantAnswerObservation {
  const { seenAt = "2025-11-19T10:00:00Z", ...fields } = rest
  const content = {
    kind: "assistant_answer" as const,
    source: "openai" as const,
    storefront: "us",
    term: "tea",
    language: "en",
    model: "m-1",
    phrasing: "1a",
    run: 0,
    text: "1. **Tea Timer**: steeps it right.",
    searched: true,
    cited: [],
    parser: 1,
    origin: "own",
    ...fields,
  }
  return {
    ...content,
    seenAt: new Date(seenAt),
    sha256: hash("sha256", JSON.stringify({ ...content, seenAt }), "buffer"),
  }
}
