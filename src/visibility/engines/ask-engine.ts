import { hash } from "node:crypto"
import type { Assistant } from "../../lib/upstreams.ts"
import { type AskParts, type PostFailure, postJson } from "../../outbound/providers/post.ts"
import type { EngineAnswer, EngineFormat, EngineQuestion } from "./engine.ts"
import { google } from "./generate-content.ts"
import { anthropic } from "./messages.ts"
import { openai, perplexity } from "./responses.ts"

export const ENGINE_FORMATS: Readonly<Record<Assistant, EngineFormat>> = { openai, anthropic, google, perplexity }

export interface EngineAccess {
  assistant: Assistant
  /** Base URL without a trailing slash. The operator configures it, so private addresses are allowed. */
  url: string
  key: string | undefined
}

export type EngineReply = (EngineAnswer & { sha256: Uint8Array; parser: number }) | PostFailure

/** Maximum number of times that a paused answer is continued. */
const MAX_PAUSES = 3

/**
 * Asks one question. The returned hash is that of the last response body, unparsed. Rejects only if the signal aborts.
 */
export async function askEngine(
  { assistant, url, key }: EngineAccess,
  question: EngineQuestion,
  parts: AskParts,
): Promise<EngineReply> {
  const format = ENGINE_FORMATS[assistant]
  let body = format.body(question)
  for (let paused = 0; paused <= MAX_PAUSES; paused++) {
    const sent = { url: `${url}${format.path(question.model)}`, headers: format.headers(key), body }
    const reply = await postJson(sent, parts)
    if ("failed" in reply) return reply
    const read = format.read(reply.body, body)
    if ("failed" in read) return { ...read, status: 200 }
    if ("text" in read) return { ...read, sha256: hash("sha256", reply.bytes, "buffer"), parser: format.parser }
    body = read.more
  }
  return { failed: "cut", status: 200, code: "paused" }
}
