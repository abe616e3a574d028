import type { Credits } from "../access/caller.ts"
import type { RateAnswer } from "../access/limits/limiter.ts"
import type { Deprecation } from "../lib/schema.ts"

export interface IncomingRequest {
  request: Request
  /** A unique id that is generated here. */
  requestId: string
  /** The caller's own ids of the call. */
  sentIds: CallerIds
  path: string
  /** Without "?". Empty if there is no query. */
  query: string
  keyInUrl: boolean
  peer: string | null
}

export function takeApart(request: Request, peer: string | null): IncomingRequest {
  const { url } = request
  const { path, query, keyInUrl } = addressOf(url)
  return { request, requestId: crypto.randomUUID(), sentIds: callerIdsOf(request.headers), path, query, keyInUrl, peer }
}

type Address = Pick<IncomingRequest, "path" | "query" | "keyInUrl">

function addressOf(url: string): Address {
  // without a usable Host header, as in HTTP/1.0 health checks, the URL is only the path
  const scheme = url.indexOf("://")
  const start = url.startsWith("/") ? 0 : url.indexOf("/", scheme + 3)
  const question = url.indexOf("?", start)
  const path = question < 0 ? url.slice(start) : url.slice(start, question)
  return {
    // some clients append a slash to the configured address
    path: path === "/mcp/" ? "/mcp" : path,
    query: question < 0 ? "" : url.slice(question + 1),
    keyInUrl: holdsKey(url.slice(start)),
  }
}

export const SANDBOX = "/v1/sandbox"
/** The OpenAPI document below /v1, in two formats. */
export const OPEN_API = { json: "/v1/openapi.json", yaml: "/v1/openapi.yaml" } as const

export function isSandbox(path: string): boolean {
  return path.startsWith(SANDBOX) && (path.length === SANDBOX.length || path[SANDBOX.length] === "/")
}

export function isRest(path: string): boolean {
  return (
    path.startsWith("/v1/") &&
    path.length > "/v1/".length &&
    path !== OPEN_API.json &&
    path !== OPEN_API.yaml &&
    !isSandbox(path)
  )
}

/** Returns whether the headers announce a body. Most requests have none. */
export function hasBody({ headers }: Request): boolean {
  const length = headers.get("content-length")
  return (length !== null && length !== "0") || headers.has("transfer-encoding")
}

export interface ResponseDetails {
  requestId: string
  credits: Credits | null
  /** The caller's rate limit state. Undefined until it was checked. */
  rate?: RateAnswer | undefined
  /** The deprecation of an operation or parameter that the call uses. */
  deprecation?: Deprecation | undefined
  now: Date
}

const KEY = /svc_(live|test|access|refresh)_/i

/** Returns whether the URL contains a key, also if it is percent-encoded once or twice. */
function holdsKey(url: string): boolean {
  if (KEY.test(url)) return true
  if (!url.includes("%")) return false
  const once = plain(url)
  return KEY.test(once) || KEY.test(plain(once))
}

/** Decodes percent-encoding byte by byte, so that malformed encoding elsewhere in the URL cannot hide a key. */
function plain(url: string): string {
  return url.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** The caller's ids from the headers x-request-id and traceparent, if well-formed. */
interface CallerIds {
  requestId?: string
  traceparent?: string
}

/** Letters, digits and separators of ids. Excludes keys and characters that end a header or a log line. */
const REQUEST_ID = /^(?!.*svc_(?:live|test|access|refresh)_)[\w.:=+@/-]{1,128}$/i

/** W3C Trace Context: version, trace, parent and flags. Later versions may append fields. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/

const NAMELESS: CallerIds = {}

/** Returns the caller's ids of the call. Malformed ids are ignored. */
export function callerIdsOf(headers: Headers): CallerIds {
  const requestId = headers.get("x-request-id")
  const traceparent = headers.get("traceparent")
  if (requestId === null && traceparent === null) return NAMELESS
  return {
    ...(requestId !== null && REQUEST_ID.test(requestId) && { requestId }),
    ...(traceparent !== null && isTraceparent(traceparent) && { traceparent }),
  }
}

/**
 * Returns the caller's ids in the response. Charges, audit and jobs use the generated id, which is unique, so that a
 * refund cannot match another call.
 */
export function echoed({ requestId, traceparent }: CallerIds, answer: Response): Response {
  if (requestId !== undefined) answer.headers.set("x-request-id", requestId)
  if (traceparent !== undefined) answer.headers.set("traceparent", traceparent)
  return answer
}

/** Returns log fields with the id and the trace that the caller gave the call. */
export function loggedIds({ requestId, traceparent }: CallerIds): { callerRequestId?: string; traceId?: string } {
  if (requestId === undefined && traceparent === undefined) return UNNAMED
  return {
    ...(requestId !== undefined && { callerRequestId: requestId }),
    ...(traceparent !== undefined && { traceId: traceparent.split("-")[1] as string }),
  }
}

const UNNAMED = {}

function isTraceparent(text: string): boolean {
  const [, version, , more] = TRACEPARENT.exec(text) ?? []
  return version !== undefined && text.length <= 512 && (version !== "00" || more === undefined)
}
