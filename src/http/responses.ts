import { createHash } from "node:crypto"
import { creditHeaders } from "../access/credits.ts"
import type { RateAnswer } from "../access/limits/limiter.ts"
import type { Reply } from "../core/invoke.ts"
import { isConditional, type Operation } from "../core/operation.ts"
import { encodingFor, MIN_BYTES, preparedIn, textResponse } from "../lib/compression.ts"
import type { Fault } from "../lib/faults.ts"
import type { PreparedAnswer } from "../lib/prepared.ts"
import type { Deprecation } from "../lib/schema.ts"
import type { ResponseDetails } from "./incoming.ts"
import { TABLE_TYPES, type TableType, tableText, tableTypeFor } from "./tables.ts"

const JSON_TYPE = "application/json; charset=utf-8"
/** Server-sent events. They are never compressed, so that each can be read when it arrives. */
const EVENTS_TYPE = "text/event-stream"
const PLAIN_TYPE = "text/plain; charset=utf-8"
/** Headers that a page of another origin may read. */
export const EXPOSED =
  "x-credits-used, x-credits-limit, x-credits-remaining, x-credits-reset, x-request-id, traceparent, retry-after, " +
  "ratelimit, ratelimit-policy, etag, allow, www-authenticate, deprecation, sunset, link, mcp-session-id"

/** A refusal on a surface with keys: JSON, never cached. */
export function keyedFault(fault: Fault, body: unknown, shown: ResponseDetails): Response {
  const headers = base(shown, JSON_TYPE)
  headers["cache-control"] = "private, no-store"
  addFaultHeaders(headers, fault)
  return textResponse(JSON.stringify(body), { status: fault.status, headers })
}

/**
 * Returns the response to a call, never cached. If it depends only on stored data, it has an ETag, or is 304 without a
 * body.
 */
export async function answerResponse(
  request: Request,
  { status, answer, operation }: Reply,
  shown: ResponseDetails,
): Promise<Response> {
  const { type, text } = await writeText(request, operation, answer)
  const headers = base(shown, type)
  headers["cache-control"] = "private, no-store"
  if (operation?.table) headers.vary = "accept"
  if (status !== 202 && operation && isConditional(operation)) headers.etag = weakTag(text)
  return status === 304 ? new Response(null, { status, headers }) : textResponse(text, { status, headers })
}

/** Formats an answer as JSON. Formats it as rows if the caller prefers rows and the answer has a table. */
export async function writeText(request: Request, operation: Operation | undefined, answer: unknown) {
  const type = requestedTable(request, operation)
  if (!operation || !type) return { type: JSON_TYPE, text: JSON.stringify(answer) }
  return { type: TABLE_TYPES[type], text: await tableText(operation, answer, type) }
}

/** Returns the row format that the caller prefers. Null for JSON. */
export function requestedTable({ headers }: Request, operation: Operation | undefined): TableType | null {
  const accepted = operation?.table ? headers.get("accept") : null
  return accepted !== null && ROWS.test(accepted) ? tableTypeFor(accepted) : null
}

const ROWS = /csv|jsonl|ndjson/i

/** The ETag of a response text. It is weak because it is the same for every content encoding. */
export function weakTag(text: string): string {
  return `W/"${createHash("sha256").update(text).digest("hex").slice(0, 32)}"`
}

/** A fault on a keyless surface: readable from any page, never cached. */
export function publicFault(fault: Fault, docsBase: string, shown: ResponseDetails): Response {
  const headers = { ...base(shown, JSON_TYPE), "cache-control": "no-store", ...CORS }
  addFaultHeaders(headers, fault)
  return new Response(JSON.stringify(fault.body(docsBase)), { status: fault.status, headers })
}

/** A fault on a keyless surface as HTML, for a person with a browser. */
export function publicFaultPage(
  fault: Fault,
  page: PreparedAnswer & { policy?: string },
  shown: ResponseDetails,
): Response {
  const headers: Record<string, string> = { ...base(shown, PUBLIC_TYPES.html), "cache-control": "no-store", ...PAGE }
  addFaultHeaders(headers, fault)
  if (page.policy !== undefined) headers["content-security-policy"] = page.policy
  return new Response(page.body, { status: fault.status, headers })
}

/** A small keyless answer that is never stored. */
export function publicJson(status: number, answer: object, shown: ResponseDetails): Response {
  const headers: Record<string, string> = { ...base(shown, JSON_TYPE), "cache-control": "no-store" }
  if (status === 503) headers["retry-after"] = "1"
  return new Response(JSON.stringify(answer), { status, headers })
}

export function redirect(location: string, shown: ResponseDetails): Response {
  return new Response(null, { status: 302, headers: { ...base(shown, PLAIN_TYPE), location } })
}

/** A response with headers only. */
export function noContent(headers: Record<string, string>, shown: ResponseDetails): Response {
  const { "content-type": _, ...rest } = base(shown, PLAIN_TYPE)
  return new Response(null, { status: 204, headers: { ...rest, ...headers } })
}

export type PublicType = "json" | "html" | "text" | "svg" | "yaml"
const PUBLIC_TYPES: Record<PublicType, string> = {
  json: JSON_TYPE,
  html: "text/html; charset=utf-8",
  text: PLAIN_TYPE,
  svg: "image/svg+xml",
  yaml: "application/yaml",
}

/** Public bytes that are identical for everybody. Returns 304 if the caller already has them. */
export function publicResponse(
  request: Request,
  document: PublicBytes,
  type: PublicType,
  { requestId, now }: Pick<ResponseDetails, "requestId" | "now">,
): Response {
  const isLarge = document.body.length >= MIN_BYTES
  const encoding = isLarge ? encodingFor(request.headers.get("accept-encoding")) : null
  const sent = encoding ? preparedIn(encoding, document) : document
  const headers: Record<string, string> = {
    ...creditHeaders(null, now),
    "content-type": PUBLIC_TYPES[type],
    "x-content-type-options": "nosniff",
    "x-request-id": requestId,
    "cache-control": "public, max-age=3600",
    etag: sent.etag,
    ...(type === "html" ? PAGE : CORS),
  }
  if (isLarge) headers.vary = "accept-encoding"
  if (encoding) headers["content-encoding"] = encoding
  if (document.policy !== undefined) headers["content-security-policy"] = document.policy
  const isCached = isNamed(request.headers.get("if-none-match"), sent.etag)
  return isCached ? new Response(null, { status: 304, headers }) : new Response(sent.body, { headers })
}

type PublicBytes = PreparedAnswer & { policy?: string }

/** The answer to a test key: the sandbox's bytes, but private like every answer to a key. */
export function preparedResponse(request: Request, { body, etag }: PreparedAnswer, shown: ResponseDetails): Response {
  const headers = base(shown, JSON_TYPE)
  headers["cache-control"] = "private, no-store"
  const isRead = request.method === "GET"
  if (isRead) headers.etag = `W/${etag}`
  if (isRead && isNamed(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers })
  return new Response(body, { headers })
}

/** A message of the tool endpoint. Null for an accepted notification. A fault adds headers to the response. */
export function rpcResponse(
  status: number,
  text: string | null,
  shown: ResponseDetails,
  { fault, challenge, session }: { fault?: Fault | undefined; challenge?: string | undefined; session?: string | null },
): Response {
  const headers = base(shown, JSON_TYPE)
  headers["cache-control"] = "private, no-store"
  if (text === null) delete headers["content-type"]
  if (session) headers["mcp-session-id"] = session
  if (fault) addFaultHeaders(headers, fault)
  if (challenge !== undefined) headers["www-authenticate"] = challenge
  return text === null ? new Response(null, { status, headers }) : textResponse(text, { status, headers })
}

/**
 * A stream of messages of the tool endpoint. Only the last message has the credits, because the cost is unknown before.
 */
export function rpcStream(body: ReadableStream<Uint8Array>, shown: ResponseDetails): Response {
  const headers = base(shown, EVENTS_TYPE)
  headers["cache-control"] = "private, no-store"
  // nginx would buffer the messages
  headers["x-accel-buffering"] = "no"
  return new Response(body, { headers })
}

const CORS = { "access-control-allow-origin": "*", "access-control-expose-headers": EXPOSED }

const PAGE = {
  "content-security-policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
}

function base({ requestId, credits, rate, deprecation, now }: ResponseDetails, type: string): Record<string, string> {
  const headers = creditHeaders(credits, now)
  headers["content-type"] = type
  headers["x-content-type-options"] = "nosniff"
  headers["x-request-id"] = requestId
  if (rate) addRateHeaders(headers, rate)
  if (deprecation) addDeprecationHeaders(headers, deprecation)
  return headers
}

/** RFC 9745 uses seconds, RFC 8594 a date. */
function addDeprecationHeaders(headers: Record<string, string>, { since, until }: Deprecation): void {
  headers.deprecation = `@${Date.parse(since) / 1_000}`
  headers.sunset = new Date(until).toUTCString()
  headers.link = `<${CHANGES}>; rel="deprecation"; type="text/html", <${CHANGES}>; rel="sunset"; type="text/html"`
}

/** The page with the deprecation policy. */
const CHANGES = "/docs/operate/changes"

/**
 * The fields follow draft-ietf-httpapi-ratelimit-headers-10: q calls are allowed in w seconds; r remain for t seconds.
 */
function addRateHeaders(headers: Record<string, string>, { limit, remaining, retryAfterSeconds }: RateAnswer): void {
  headers["ratelimit-policy"] = `"per-second";q=${limit};w=1`
  headers.ratelimit = `"per-second";r=${remaining};t=${retryAfterSeconds}`
}

function addFaultHeaders(headers: Record<string, string>, fault: Fault): void {
  if (fault.retryAfter !== undefined) headers["retry-after"] = String(fault.retryAfter)
  if (fault.allow !== undefined) headers.allow = fault.allow
  if (fault.status === 401) headers["www-authenticate"] = 'Bearer realm="appmeter"'
}

/** Returns whether an If-None-Match contains this ETag, weak or strong (RFC 9110, 13.1.2). */
export function isNamed(given: string | null, etag: string): boolean {
  if (given === null) return false
  const opaque = (tag: string) => tag.trim().replace(/^W\//, "")
  return given.trim() === "*" || given.split(",").some((tag) => opaque(tag) === opaque(etag))
}
