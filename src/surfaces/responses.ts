import { creditHeaders } from "../access/credits.ts"
import type { Fault } from "../faults.ts"
import type { PreparedAnswer } from "../vocabulary/prepared.ts"
import type { Shown } from "./incoming.ts"

const JSON_TYPE = "application/json; charset=utf-8"
const PLAIN_TYPE = "text/plain; charset=utf-8"
const CREDIT_NAMES = "x-credits-used, x-credits-limit, x-credits-remaining, x-credits-reset, x-request-id, retry-after"

/** A keyed answer: JSON, never stored by a cache. */
export function keyedResponse(status: number, answer: unknown, shown: Shown, fault?: Fault): Response {
  const headers = base(shown, JSON_TYPE)
  headers["cache-control"] = "private, no-store"
  if (fault) addFaultHeaders(headers, fault)
  return new Response(JSON.stringify(answer), { status, headers })
}

/** A fault where no key is asked for: readable from any page, and not stored. */
export function publicFault(fault: Fault, docsBase: string, shown: Shown): Response {
  const headers = { ...base(shown, JSON_TYPE), "cache-control": "no-store", ...CORS }
  addFaultHeaders(headers, fault)
  return new Response(JSON.stringify(fault.body(docsBase)), { status: fault.status, headers })
}

/** A small keyless answer that is never stored. */
export function publicJson(status: number, answer: object, shown: Shown): Response {
  const headers: Record<string, string> = { ...base(shown, JSON_TYPE), "cache-control": "no-store" }
  if (status === 503) headers["retry-after"] = "1"
  return new Response(JSON.stringify(answer), { status, headers })
}

export function redirect(location: string, shown: Shown): Response {
  return new Response(null, { status: 302, headers: { ...base(shown, PLAIN_TYPE), location } })
}

export type PublicType = "json" | "html" | "text"
const PUBLIC_TYPES: Record<PublicType, string> = {
  json: JSON_TYPE,
  html: "text/html; charset=utf-8",
  text: PLAIN_TYPE,
}

/** Bytes that are the same for everybody, answered 304 to whoever holds them. */
export function publicResponse(
  request: Request,
  { body, etag, policy }: PreparedAnswer & { policy?: string },
  type: PublicType,
  shown: Shown,
): Response {
  const headers = base(shown, PUBLIC_TYPES[type])
  headers["cache-control"] = "public, max-age=3600"
  headers.etag = etag
  Object.assign(headers, type === "html" ? PAGE : CORS)
  if (policy !== undefined) headers["content-security-policy"] = policy
  if (matches(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers })
  return new Response(body, { headers })
}

/** A test key's answer: the sandbox's bytes, but private like every keyed answer. */
export function preparedResponse({ body }: PreparedAnswer, shown: Shown): Response {
  const headers = base(shown, JSON_TYPE)
  headers["cache-control"] = "private, no-store"
  return new Response(body, { headers })
}

/** A message of the tool endpoint, or null for a notification that was taken; a fault adds its headers. */
export function rpcResponse(status: number, text: string | null, shown: Shown, fault?: Fault): Response {
  const headers = base(shown, JSON_TYPE)
  headers["cache-control"] = "private, no-store"
  if (text === null) delete headers["content-type"]
  if (fault) addFaultHeaders(headers, fault)
  return new Response(text, { status, headers })
}

const CORS = { "access-control-allow-origin": "*", "access-control-expose-headers": CREDIT_NAMES }

const PAGE = {
  "content-security-policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
}

function base({ requestId, credits, now }: Shown, type: string): Record<string, string> {
  const headers = creditHeaders(credits, now)
  headers["content-type"] = type
  headers["x-content-type-options"] = "nosniff"
  headers["x-request-id"] = requestId
  return headers
}

function addFaultHeaders(headers: Record<string, string>, fault: Fault): void {
  if (fault.retryAfter !== undefined) headers["retry-after"] = String(fault.retryAfter)
  if (fault.allow !== undefined) headers.allow = fault.allow
  if (fault.status === 401) headers["www-authenticate"] = 'Bearer realm="appmeter"'
}

function matches(given: string | null, etag: string): boolean {
  return given !== null && (given === "*" || given.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag))
}
