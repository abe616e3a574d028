import { setTimeout as sleep } from "node:timers/promises"
import type { WireName } from "../../lib/writing/written-text.ts"
import { chat } from "./chat.ts"
import { messages } from "./messages.ts"
import { type AskParts, postJson } from "./post.ts"
import type { WireFormat, WriterQuestion, WriterReading } from "./provider.ts"
import { responses } from "./responses.ts"

const WIRE_FORMATS: Readonly<Record<WireName, WireFormat>> = { chat, responses, messages }

export interface WriterSettings {
  /** Ends in /v1, without a trailing slash. Configured by the operator, so private networks are allowed. */
  url: string
  api: WireName
  model: string
  key: string | undefined
  contextTokens: number
  tokensADay: number
  atOnce: number
}

export type WriterReply = WriterReading & {
  /** The raw response. Undefined for a failure without one. */
  bytes?: Uint8Array
  /** For a failure: the HTTP status, and the provider's error code if it is a plain word. */
  status?: number
  code?: string
  retryAfterMs?: number
  /** The provider says that a retry does not help. */
  isFinal?: boolean
}

const RETRIES = 2
const FIRST_WAIT_MS = 500
const PATIENCE_MS = 8_000

/**
 * Asks a model and retries when the provider asks for a wait within the patience. Never repeats a request whose answer
 * was read. Rejects only when the signal aborts.
 */
export async function askWriter(
  settings: WriterSettings,
  question: WriterQuestion,
  parts: AskParts,
): Promise<WriterReply> {
  for (let tried = 0; ; tried++) {
    const reply = await askOnce(settings, question, parts)
    if (!("failed" in reply) || reply.failed !== "busy" || reply.isFinal || tried === RETRIES) return reply
    const waitMs = reply.retryAfterMs ?? FIRST_WAIT_MS * 2 ** tried
    if (waitMs > (parts.patienceMs ?? PATIENCE_MS)) return { ...reply, retryAfterMs: waitMs }
    await sleep(waitMs, undefined, { signal: parts.signal })
  }
}

async function askOnce(settings: WriterSettings, question: WriterQuestion, parts: AskParts): Promise<WriterReply> {
  const format: WireFormat = WIRE_FORMATS[settings.api]
  const target = { model: settings.model, host: new URL(settings.url).hostname }
  const post = (body: object) =>
    postJson({ url: `${settings.url}${format.path}`, headers: format.headers(settings.key), body }, parts)
  const first = await post(format.body(question, target))
  const isRejected = "failed" in first && first.failed === "rejected"
  const reply = isRejected && format.simpler ? await post(format.simpler(question, target)) : first
  return "failed" in reply ? reply : { ...format.read(reply.body), bytes: reply.bytes }
}

/** Parses a stored answer like a new one. */
export function readAgain(api: WireName, bytes: Uint8Array): WriterReading {
  return WIRE_FORMATS[api].read(JSON.parse(new TextDecoder().decode(bytes)))
}
