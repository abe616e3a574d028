import { setTimeout as sleep } from "node:timers/promises"
import type { WireName } from "../../vocabulary/writing/written-text.ts"
import { chat } from "./chat.ts"
import { messages } from "./messages.ts"
import { textAt, type WireFormat, type WriterFailure, type WriterQuestion, type WriterReading } from "./provider.ts"
import { responses } from "./responses.ts"

const WIRE_FORMATS: Readonly<Record<WireName, WireFormat>> = { chat, responses, messages }

export interface WriterSettings {
  /** Ends in /v1, without a slash. The operator's own: it may be anywhere. */
  url: string
  api: WireName
  model: string
  key: string | undefined
  contextTokens: number
  tokensADay: number
  atOnce: number
}

export type WriterReply = WriterReading & {
  /** Of a failure: the status that was answered, and the provider's own code where it is a plain word. */
  status?: number
  code?: string
  retryAfterMs?: number
}

export interface AskParts {
  fetch: (url: string, init: RequestInit) => Promise<Response>
  now: () => Date
  signal: AbortSignal
  /** The longest that one wait before another try may be. */
  patienceMs?: number
}

const RETRIES = 2
const FIRST_WAIT_MS = 500
const PATIENCE_MS = 8_000
const MOST_BYTES = 4_000_000

/**
 * Asks a model once, and again where the provider asks to wait no longer than patience allows. An answer that was read is
 * never asked for again here. Rejects only when the signal aborts.
 */
export async function askWriter(
  settings: WriterSettings,
  question: WriterQuestion,
  parts: AskParts,
): Promise<WriterReply> {
  for (let tried = 0; ; tried++) {
    const reply = await askOnce(settings, question, parts)
    if (!("failed" in reply) || reply.failed !== "busy" || tried === RETRIES) return reply
    const waitMs = reply.retryAfterMs ?? FIRST_WAIT_MS * 2 ** tried
    if (waitMs > (parts.patienceMs ?? PATIENCE_MS)) return { ...reply, retryAfterMs: waitMs }
    await sleep(waitMs, undefined, { signal: parts.signal })
  }
}

async function askOnce(settings: WriterSettings, question: WriterQuestion, parts: AskParts): Promise<WriterReply> {
  const format: WireFormat = WIRE_FORMATS[settings.api]
  try {
    const response = await parts.fetch(`${settings.url}${format.path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...format.headers(settings.key) },
      body: JSON.stringify(format.body(question, settings.model)),
      // the key goes nowhere else
      redirect: "manual",
      signal: parts.signal,
    })
    const body = await readJson(response)
    if (response.status !== 200) return failureOf(response, body, parts.now())
    return body === undefined ? { failed: "unreadable", status: 200 } : format.read(body)
  } catch (error) {
    parts.signal.throwIfAborted()
    // no answer came: refused while it loads, or broken off
    return { failed: "busy", code: (error as Error).name === "TooLarge" ? "too_large" : "no_answer" }
  }
}

/** Undefined where it is none, or larger than any answer. */
async function readJson(response: Response): Promise<unknown> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.length
    // leaving the loop ends the connection
    if (bytes > MOST_BYTES) return undefined
    parts.push(part)
  }
  try {
    return JSON.parse(new TextDecoder().decode(await new Blob(parts as BlobPart[]).arrayBuffer()))
  } catch {
    return undefined
  }
}

/** By the status, and by codes that say that no waiting helps. */
function failureOf({ status, headers }: Response, body: unknown, now: Date): WriterReply {
  const found = textAt(body, "error", "code") ?? textAt(body, "error", "type")
  const code = found !== undefined && /^[a-z_]{1,60}$/.test(found) ? found : undefined
  const said = { status, ...(code !== undefined && { code }) }
  const waitMs = waitOf(headers, now)
  const failed = kindOf(status, code)
  return { failed, ...said, ...(failed === "busy" && waitMs !== undefined && { retryAfterMs: waitMs }) }
}

const SPENT = /quota|spend_limit|billing|credit/

function kindOf(status: number, code: string | undefined): WriterFailure {
  if ([401, 402, 403, 404].includes(status) || (status >= 300 && status < 400)) return "denied"
  if (status === 429 && code !== undefined && SPENT.test(code)) return "denied"
  return status === 408 || status === 409 || status === 429 || status >= 500 ? "busy" : "rejected"
}

/** In milliseconds, of either header; a date counts from now. Undefined = not said. */
function waitOf(headers: Headers, now: Date): number | undefined {
  const ms = headers.get("retry-after-ms")
  if (ms !== null && /^\d{1,9}$/.test(ms)) return Number(ms)
  const said = headers.get("retry-after")
  if (said === null) return undefined
  const wait = /^\d{1,7}(\.\d+)?$/.test(said) ? Number(said) * 1_000 : Date.parse(said) - now.getTime()
  return Number.isNaN(wait) ? undefined : Math.max(0, Math.ceil(wait))
}
