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

/** The request and parser for one question to one upstream. Uses no database, pace or clock. */
export interface Source<Asked, Seen extends Observation = Observation> {
  name: SourceName
  /** The kind of observation it reads. Its failed reads are logged under this kind. */
  kind: AnyKind
  upstream: Upstream
  /** Parser version, stored with each reading. Increase it whenever `parse` reads something differently. */
  parser: number
  /** True if bodies name the country of their store, which is checked against the requested one. */
  namesCountry?: true
  /** True if "not found" answers the question and is no failure of the source: a look-up may find no app. */
  mayFindNothing?: true
  /** True if bodies name the people who wrote something; they are parsed but never stored. */
  namesPeople?: true
  /** Maximum size of a body. Default: MAX_BYTES. */
  maxBytes?: number
  request(input: Asked): SourceRequest
  /**
   * Returns what the body shows. Throws ReadFailure: `changed` for an unknown shape, `blocked` for a page that asks for
   * a CAPTCHA or consent, `mismatched` for the answer to another question (another term, country, app or chart),
   * `not_found` if the store itself says so. Never returns a value that is not in the body.
   */
  parse(body: string, input: Asked, about: About): Seen
}

/** Returns a line of sources.ts. The compiler refuses a name or an upstream that differs from the declaration. */
export function sourceEntry<const Declared extends Pick<Source<never>, "name" | "upstream">>(
  _name: Declared["name"],
  declared: Declared,
  _upstream: Declared["upstream"],
): Declared {
  return declared
}

/** A parser of a text that no upstream serves, such as a file on a developer's site. */
export interface TextParser<Parsed = unknown> {
  name: string
  parse(text: string): Parsed
}

/** Path and query relative to the upstream's address. */
export interface SourceRequest {
  path: string
  method?: "GET" | "POST"
  headers?: Record<string, string>
  body?: string
}

/** The provenance an observation takes from its body. */
export interface About {
  seenAt: Date
  sha256: Uint8Array
  /** Country of the egress address. Undefined if unknown. */
  egress?: string
}

/** The raw body of a response. */
export interface RawBody {
  /** The hashed bytes; not always valid UTF-8. */
  bytes: Uint8Array
  text: string
  sha256: Uint8Array
  url: string
  seenAt: Date
}

/** Thrown if a read failed. The message is for logs and quotes nothing of the body. */
export class ReadFailure extends Error {
  override name = "ReadFailure"
  readonly outcome: Outcome
  /** The upstream's Retry-After, if sent. */
  readonly retryAfterMs: number | undefined
  /** The country of the answer, if it differs from the requested one: two lower-case letters. */
  readonly country: string | undefined
  /** The body that could not be parsed, if there was one. */
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

/** How a read reaches the outside world. */
export interface SourceAccess {
  /** Returns the address of an upstream or its stand-in, without a trailing slash. */
  address(upstream: Upstream): string
  fetch: (url: string, init: RequestInit) => Promise<Response>
  now: () => Date
  egress: string | undefined
  signal: AbortSignal
  /** Timeout of a response. */
  timeoutMs: number
  /** Parses bodies in another thread. Default: in this thread. */
  parse?: ParseBody
  /**
   * Limits how many large bodies are in memory. No limit if left out. The caller releases the place when the body is no
   * longer used.
   */
  largeBodies?: Turns
}

/** Parses a text in any thread. Throws ReadFailure. */
export type ParseText = <Parsed>(parser: TextParser<Parsed>, bytes: Uint8Array) => Promise<Parsed>

/** parseBody, in any thread. */
type ParseBody = <Asked, Seen extends Observation>(
  source: Source<Asked, Seen>,
  input: Asked,
  body: RawBody,
  egress: string | undefined,
) => Promise<Seen>

/** Sends the request once and parses the response. Throws ReadFailure, with the body if one came. */
export async function readOnce<Asked, Seen extends Observation>(
  source: Source<Asked, Seen>,
  input: Asked,
  reach: SourceAccess,
): Promise<{ seen: Seen; body: RawBody }> {
  const { path, method = "GET", headers, body: sent } = source.request(input)
  const init = {
    method,
    headers: { "user-agent": NAME, "accept-encoding": CODINGS, ...headers },
    ...(sent !== undefined && { body: sent }),
    ...AS_SENT,
  }
  const { upstream, maxBytes = MAX_BYTES } = source
  const body = await fetchBody(`${reach.address(upstream)}${path}`, { ...init, maxBytes }, reach)
  const { parse = parseBody, egress } = reach
  return { seen: await parse(source, input, body, egress), body }
}

// Without this header the runtime sends its own name and version, which differ between Deno and Bun.
const NAME = "appmeter"

/** Parses a new or stored body and removes impossible facts of apps. Throws ReadFailure with the body. */
export function parseBody<Asked, Seen extends Observation>(
  source: Source<Asked, Seen>,
  input: Asked,
  body: RawBody,
  egress: string | undefined,
): Seen {
  const { seenAt, sha256 } = body
  try {
    return possible(source.parse(body.text, input, { seenAt, sha256, ...(egress !== undefined && { egress }) }))
  } catch (error) {
    // any error in a parser means that the page has changed
    const failure =
      error instanceof ReadFailure ? error : new ReadFailure("changed", "it can no longer be parsed", { cause: error })
    failure.body = body
    throw failure
  }
}

// The largest recorded page has 1.5 MB. Parsing takes up to ten times the size of the body.
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
 * Follows a few redirects within the same host. A redirect to another host leads to a consent page or CAPTCHA; one from
 * https to http could be intercepted.
 */
async function follow(url: string, init: RequestInit, signal: AbortSignal, reach: SourceAccess) {
  let at = url
  for (let hops = 0; ; hops++) {
    const response = await reach.fetch(at, { ...init, redirect: "manual", signal })
    const to = response.headers.get("location")
    if (response.status < 300 || response.status > 399 || !to) return { response, at }
    await response.body?.cancel()
    const next = URL.parse(to, at)
    if (!next) throw new ReadFailure("changed", "redirected to an invalid address")
    const { host, protocol } = new URL(at)
    if (next.host !== host) throw new ReadFailure("blocked", `redirected to ${next.hostname}`)
    if (protocol === "https:" && next.protocol !== protocol)
      throw new ReadFailure("blocked", "redirected from https to http")
    if (hops === REDIRECTS) throw new ReadFailure("changed", "redirected too often")
    at = next.href
  }
}

/** Returns the decompressed body. Counts bytes as they arrive and stops when the body is too large. */
async function bytesOf(
  response: Response,
  { signal, maxBytes }: { signal: AbortSignal; maxBytes: number },
  { largeBodies }: SourceAccess,
): Promise<Uint8Array> {
  try {
    return await fetchedBody(response, maxBytes, async (size) => {
      if (size > LARGE_BYTES) await largeBodies?.enter(signal)
    })
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof OutboundProblem)) throw error
    if (error.code === "too_large") throw new ReadFailure("changed", `more than ${maxBytes} bytes`)
    if (!isReadable(response)) throw new ReadFailure("changed", "its content coding is not supported")
    throw new ReadFailure("failed", "its body is incomplete, or not in the content coding that it names")
  }
}

// A page of Google Play search results has 1.2 MB.
const LARGE_BYTES = 1_500_000

/** Returns the SHA-256. It is computed outside this thread if the runtime supports that: 12 MB take 40 ms. */
async function sha256Of(bytes: Uint8Array): Promise<Uint8Array> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>))
}

/** Builds a raw body whose text is decoded on first use: a parser in another thread does not need it here. */
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

/** Returns Retry-After in milliseconds (RFC 9110: whole seconds or a date). */
function retryAfter(header: string | null, now: Date): number | undefined {
  if (!header) return undefined
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime())
}
