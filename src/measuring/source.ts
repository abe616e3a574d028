import { Buffer } from "node:buffer"
import type { AnyKind } from "../core/kind.ts"
import { possible } from "../core/observation/app-facts.ts"
import type { Outcome } from "../core/observation/attempt.ts"
import type { Observation } from "../kinds.ts"
import type { Turns } from "../lib/turns.ts"
import type { SourceName, Upstream } from "../lib/upstreams.ts"
import { AS_SENT, fetchedBody, isReadable } from "../outbound/fetched.ts"
import { CODINGS } from "../outbound/inflate.ts"
import { OutboundProblem } from "../outbound/problem.ts"

/** One upstream's page: how it is asked for, and how its body is read. Knows no database, no pace and no clock. */
export interface Source<Asked, Seen extends Observation = Observation> {
  name: SourceName
  /** What it reads, and what its failed reads are logged as. */
  kind: AnyKind
  upstream: Upstream
  /** Raised whenever `parse` reads something otherwise; stored with what was read. */
  parser: number
  /** Its bodies say which country's store they are of: whatever it reads is that of the country that was asked for. */
  namesCountry?: true
  /** Its bodies say who wrote something: they are read, and never kept. */
  namesPeople?: true
  /** The largest body that is read; MAX_BYTES when left out. */
  maxBytes?: number
  request(asked: Asked): SourceRequest
  /**
   * What the body says. Throws ReadFailure: `changed` for a shape it does not know, `blocked` for a page that asks for a
   * proof or a consent, `mismatched` for the answer to another question (another term, country, app or chart),
   * `not_found` where the store itself says so. Never gives a value that does not stand in the body.
   */
  parse(body: string, asked: Asked, about: About): Seen
}

/** Path and query below the upstream's address. */
export interface SourceRequest {
  path: string
  method?: "GET" | "POST"
  headers?: Record<string, string>
  body?: string
}

/** What an observation says of the body it was read from. */
export interface About {
  seenAt: Date
  sha256: Uint8Array
  /** Country of the address that read; undefined where it is not known. */
  egress?: string
}

/** The body of one answer, as it came. */
export interface RawBody {
  /** What sha256 is the hash of; not always valid UTF-8. */
  bytes: Uint8Array
  text: string
  sha256: Uint8Array
  url: string
  seenAt: Date
}

/** Why a read gave nothing. Its message is for logs and holds nothing of the body. */
export class ReadFailure extends Error {
  override name = "ReadFailure"
  readonly outcome: Outcome
  /** How long the upstream asks to be left alone, where it says so. */
  readonly retryAfterMs: number | undefined
  /** The country that the store answered for, where it is another than was asked for: two small letters. */
  readonly country: string | undefined
  /** The body that could not be read, where there was one. */
  body?: RawBody

  constructor(
    outcome: Outcome,
    detail: string,
    { retryAfterMs, country, cause }: { retryAfterMs?: number; country?: string; cause?: unknown } = {},
  ) {
    super(detail, { cause })
    this.outcome = outcome
    this.retryAfterMs = retryAfterMs
    this.country = country
  }
}

/** What a read needs of the world. */
export interface SourceAccess {
  /** Where an upstream is, without a trailing slash: itself, or what stands in for it. */
  address(upstream: Upstream): string
  fetch: (url: string, init: RequestInit) => Promise<Response>
  now: () => Date
  egress: string | undefined
  signal: AbortSignal
  /** The longest that one answer may take. */
  timeoutMs: number
  /** Reads bodies beside the thread that answers calls; in place when left out. */
  parse?: ParseBody
  /** What lets a large body in; every one when left out. Whoever gives it lets it go when the body is done with. */
  room?: Turns
}

/** parseBody, wherever it runs. */
type ParseBody = <Asked, Seen extends Observation>(
  source: Source<Asked, Seen>,
  asked: Asked,
  body: RawBody,
  egress: string | undefined,
) => Promise<Seen>

/** Asks once and reads the answer. Throws ReadFailure, with the body where one came. */
export async function readOnce<Asked, Seen extends Observation>(
  source: Source<Asked, Seen>,
  asked: Asked,
  reach: SourceAccess,
): Promise<{ seen: Seen; body: RawBody }> {
  const { path, method = "GET", headers, body: sent } = source.request(asked)
  const init = {
    method,
    headers: { "user-agent": NAME, "accept-encoding": CODINGS, ...headers },
    ...(sent !== undefined && { body: sent }),
    ...AS_SENT,
  }
  const { upstream, maxBytes = MAX_BYTES } = source
  const body = await fetchBody(`${reach.address(upstream)}${path}`, { ...init, maxBytes }, reach)
  const { parse = parseBody, egress } = reach
  return { seen: await parse(source, asked, body, egress), body }
}

// Without one the runtime gives its own name and version, and Deno is another than Bun.
const NAME = "appmeter"

/** Reads a body that came now, or was kept, without what no store can say of an app. Throws ReadFailure with it. */
export function parseBody<Asked, Seen extends Observation>(
  source: Source<Asked, Seen>,
  asked: Asked,
  body: RawBody,
  egress: string | undefined,
): Seen {
  const { seenAt, sha256 } = body
  try {
    return possible(source.parse(body.text, asked, { seenAt, sha256, ...(egress !== undefined && { egress }) }))
  } catch (error) {
    // a parser that trips over a shape it does not know has met a change, whatever it tripped with
    const failure =
      error instanceof ReadFailure ? error : new ReadFailure("changed", "it reads no more", { cause: error })
    failure.body = body
    throw failure
  }
}

// The largest recorded page has 1.5 MB. Reading a body takes up to ten times its size.
const MAX_BYTES = 4_000_000
const REDIRECTS = 3

interface BodyRequest extends RequestInit {
  maxBytes: number
}

async function fetchBody(url: string, { maxBytes, ...init }: BodyRequest, reach: SourceAccess): Promise<RawBody> {
  const signal = AbortSignal.any([reach.signal, AbortSignal.timeout(reach.timeoutMs)])
  try {
    const { response, at } = await follow(url, init, signal, reach)
    const bytes = await bytesOf(response, { signal, maxBytes }, reach)
    const seenAt = reach.now()
    const body = rawBody({ bytes, sha256: await sha256Of(bytes), url: at, seenAt })
    refuse(response, body, seenAt)
    return body
  } catch (error) {
    if (error instanceof ReadFailure) throw error
    throw new ReadFailure("failed", whyNoAnswer(error, reach), { cause: error })
  }
}

function whyNoAnswer(error: unknown, { signal, timeoutMs }: SourceAccess): string {
  if (signal.aborted) return "the reading was stopped"
  return (error as Error).name === "TimeoutError" ? `no answer within ${timeoutMs} ms` : "the connection failed"
}

/**
 * Follows a few redirects within the same host; one that leads elsewhere leads to a consent or a proof, and one that
 * leads from https to http to whoever listens on the way.
 */
async function follow(url: string, init: RequestInit, signal: AbortSignal, reach: SourceAccess) {
  let at = url
  for (let hops = 0; ; hops++) {
    const response = await reach.fetch(at, { ...init, redirect: "manual", signal })
    const to = response.headers.get("location")
    if (response.status < 300 || response.status > 399 || !to) return { response, at }
    await response.body?.cancel()
    const next = URL.parse(to, at)
    if (!next) throw new ReadFailure("changed", "redirected to no address")
    const { host, protocol } = new URL(at)
    if (next.host !== host) throw new ReadFailure("blocked", `sent to ${next.hostname}`)
    if (protocol === "https:" && next.protocol !== protocol) throw new ReadFailure("blocked", "sent on without TLS")
    if (hops === REDIRECTS) throw new ReadFailure("changed", "redirected in a circle")
    at = next.href
  }
}

/** Returns the inflated body. It is counted as it comes, and nothing more is taken of one that is too large. */
async function bytesOf(
  response: Response,
  { signal, maxBytes }: { signal: AbortSignal; maxBytes: number },
  { room }: SourceAccess,
): Promise<Uint8Array> {
  try {
    return await fetchedBody(response, maxBytes, async (size) => {
      if (size > LARGE_BYTES) await room?.enter(signal)
    })
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof OutboundProblem)) throw error
    if (error.code === "too_large") throw new ReadFailure("changed", `more than ${maxBytes} bytes`)
    if (!isReadable(response)) throw new ReadFailure("changed", "its coding cannot be read")
    throw new ReadFailure("failed", "its body breaks off, or is not of the coding that it names")
  }
}

// A page of search results on Google Play has 1.2 MB.
const LARGE_BYTES = 1_500_000

/** Off this thread where the runtime does that: 12 MB take 40 ms. */
async function sha256Of(bytes: Uint8Array): Promise<Uint8Array> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>))
}

/** Its text is made when it is asked for: who reads it beside this thread asks for none here. */
export function rawBody(parts: Omit<RawBody, "text">): RawBody {
  return {
    ...parts,
    get text() {
      return new TextDecoder().decode(parts.bytes)
    },
  }
}

const REFUSED: Record<number, Outcome> = {
  401: "blocked",
  403: "blocked",
  404: "not_found",
  410: "not_found",
  429: "rate_limited",
  503: "rate_limited",
}

function refuse(response: Response, body: RawBody, now: Date): void {
  const { status } = response
  if (status === 200) return
  const outcome = REFUSED[status] ?? (status >= 500 ? "failed" : "changed")
  const retryAfterMs = retryAfter(response.headers.get("retry-after"), now)
  const failure = new ReadFailure(outcome, `status ${status}`, retryAfterMs === undefined ? {} : { retryAfterMs })
  failure.body = body
  throw failure
}

/** RFC 9110: whole seconds, or a date. */
function retryAfter(header: string | null, now: Date): number | undefined {
  if (!header) return undefined
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime())
}
