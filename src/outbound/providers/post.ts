import { AS_SENT, fetchedBody } from "../fetched.ts"
import { CODINGS } from "../inflate.ts"
import { OutboundProblem } from "../problem.ts"
import { at, listAt, textAt, type WriterFailure } from "./provider.ts"

export interface AskParts {
  fetch: (url: string, init: RequestInit) => Promise<Response>
  now: () => Date
  signal: AbortSignal
  /** Maximum wait before a retry. */
  patienceMs?: number
}

export interface PostFailure {
  failed: WriterFailure
  /** The HTTP status, and the provider's error code if it is a plain word. */
  status?: number
  code?: string
  retryAfterMs?: number
  /** The provider says that a retry does not help. */
  isFinal?: boolean
}

interface PostedJson {
  url: string
  headers: Record<string, string>
  body: object
}

const MAX_BYTES = 4_000_000

/** Sends a request once. `bytes` is the raw response. Rejects only when the signal aborts. */
export async function postJson(
  { url, headers, body }: PostedJson,
  { fetch, now, signal }: AskParts,
): Promise<{ body: unknown; bytes: Uint8Array } | PostFailure> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "accept-encoding": CODINGS, ...headers },
      body: JSON.stringify(body),
      // Redirects would send the key to another host.
      redirect: "manual",
      signal,
      ...AS_SENT,
    })
    const bytes = await readBytes(response)
    const read = jsonOf(bytes)
    if (response.status !== 200) return failureOf(response, read, now())
    return bytes === undefined || read === undefined ? { failed: "unreadable", status: 200 } : { body: read, bytes }
  } catch {
    signal.throwIfAborted()
    // There is no response: the server refused the connection while it was loading, or the connection broke.
    return { failed: "busy", code: "no_answer" }
  }
}

/** Returns the bytes of the body. Undefined if it is larger than any valid response. */
async function readBytes(response: Response): Promise<Uint8Array | undefined> {
  try {
    return await fetchedBody(response, MAX_BYTES)
  } catch (error) {
    if (error instanceof OutboundProblem && error.code === "too_large") return undefined
    throw error
  }
}

function jsonOf(bytes: Uint8Array | undefined): unknown {
  try {
    return bytes && JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

/** Classifies a failure by its status and by error codes that no wait can resolve. */
function failureOf({ status, headers }: Response, body: unknown, now: Date): PostFailure {
  // Gemini sometimes wraps the error in a list.
  const error = at(Array.isArray(body) ? body[0] : body, "error")
  const found = textAt(error, "code") ?? textAt(error, "type") ?? textAt(error, "status")
  const code = found !== undefined && /^[A-Za-z_]{1,60}$/.test(found) ? found : undefined
  const details = { status, ...(code !== undefined && { code }) }
  const failed = kindOf(status, code)
  if (failed !== "busy") return { failed, ...details }
  const waitMs = waitOf(headers, now) ?? waitIn(listAt(error, "details"))
  const isFinal = headers.get("x-should-retry") === "false"
  return { failed, ...details, ...(waitMs !== undefined && { retryAfterMs: waitMs }), ...(isFinal && { isFinal }) }
}

const SPENT = /quota|spend_limit|billing|credit/

function kindOf(status: number, code: string | undefined): WriterFailure {
  if ([401, 402, 403, 404].includes(status) || (status >= 300 && status < 400)) return "denied"
  if (status === 429 && code !== undefined && SPENT.test(code)) return "denied"
  return status === 408 || status === 409 || status === 429 || status >= 500 ? "busy" : "rejected"
}

/** Returns the wait in milliseconds from either header; a date is relative to `now`. Undefined if there is none. */
function waitOf(headers: Headers, now: Date): number | undefined {
  const ms = headers.get("retry-after-ms")
  if (ms !== null && /^\d{1,9}$/.test(ms)) return Number(ms)
  const retryAfter = headers.get("retry-after")
  if (retryAfter === null) return undefined
  const wait = /^\d{1,7}(\.\d+)?$/.test(retryAfter)
    ? Number(retryAfter) * 1_000
    : Date.parse(retryAfter) - now.getTime()
  return Number.isNaN(wait) ? undefined : Math.max(0, Math.ceil(wait))
}

/** Returns the wait in milliseconds that Gemini names in the body: "34.4s". */
function waitIn(details: readonly unknown[]): number | undefined {
  const [delay] = details.flatMap((detail) => textAt(detail, "retryDelay") ?? [])
  const seconds = delay !== undefined && /^(\d{1,7}(?:\.\d+)?)s$/.exec(delay)?.[1]
  return seconds ? Math.ceil(Number(seconds) * 1_000) : undefined
}
