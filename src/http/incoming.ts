import type { Credits } from "../access/caller.ts"
import type { RateAnswer } from "../access/limits/limiter.ts"
import type { Deprecation } from "../lib/schema.ts"

export interface IncomingRequest {
  request: Request
  /** Ours, never given twice. */
  requestId: string
  /** Under which the caller knows the call. */
  sentIds: CallerIds
  path: string
  /** Without "?"; "" when there is none. */
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
  // without a usable Host header, as HTTP/1.0 health checks send it, the URL is the path alone
  const scheme = url.indexOf("://")
  const start = url.startsWith("/") ? 0 : url.indexOf("/", scheme + 3)
  const question = url.indexOf("?", start)
  const path = question < 0 ? url.slice(start) : url.slice(start, question)
  return {
    // some clients add a slash to the address they are given
    path: path === "/mcp/" ? "/mcp" : path,
    query: question < 0 ? "" : url.slice(question + 1),
    keyInUrl: holdsKey(url.slice(start)),
  }
}

export const SANDBOX = "/v1/sandbox"
/** The documents below /v1: one, in two forms. */
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

/** Whether a request says that it has a body: nearly none of those that are answered most do. */
export function hasBody({ headers }: Request): boolean {
  const length = headers.get("content-length")
  return (length !== null && length !== "0") || headers.has("transfer-encoding")
}

export interface ResponseDetails {
  requestId: string
  credits: Credits | null
  /** How the caller stands against its calls a second, once that was counted. */
  rate?: RateAnswer | undefined
  /** Of what the call asked for that goes. */
  deprecation?: Deprecation | undefined
  now: Date
}

const KEY = /svc_(live|test|access|refresh)_/i

/** Also when the key is percent-encoded, once or twice. */
function holdsKey(url: string): boolean {
  if (KEY.test(url)) return true
  if (!url.includes("%")) return false
  const once = plain(url)
  return KEY.test(once) || KEY.test(plain(once))
}

/** Percent-decoded byte by byte: malformed encoding elsewhere in the URL must not hide a key. */
function plain(url: string): string {
  return url.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** The names under which a caller follows its own call, of the headers x-request-id and traceparent; only what is well-formed. */
interface CallerIds {
  requestId?: string
  traceparent?: string
}

/** Letters, digits and what ids are joined with; nothing that would end a header or a line of the log, and no key. */
const REQUEST_ID = /^(?!.*svc_(?:live|test|access|refresh)_)[\w.:=+@/-]{1,128}$/i

/** W3C Trace Context: version, trace, parent and flags; a later version may say more behind them. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/

const NAMELESS: CallerIds = {}

/** What a caller calls its call. What is no such name is as if it were not there. */
export function callerIdsOf(headers: Headers): CallerIds {
  const requestId = headers.get("x-request-id")
  const traceparent = headers.get("traceparent")
  if (requestId === null && traceparent === null) return NAMELESS
  return {
    ...(requestId !== null && REQUEST_ID.test(requestId) && { requestId }),
    ...(traceparent !== null && isTraceparent(traceparent) && { traceparent }),
  }
}

/** Charges, audit and jobs keep our own id, which is never given twice: nobody is paid back another call's charge. */
export function echoed({ requestId, traceparent }: CallerIds, answer: Response): Response {
  if (requestId !== undefined) answer.headers.set("x-request-id", requestId)
  if (traceparent !== undefined) answer.headers.set("traceparent", traceparent)
  return answer
}

/** For the log: the caller's name of the call, and the trace that it belongs to. */
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
