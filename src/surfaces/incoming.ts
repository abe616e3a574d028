import type { Credits } from "../access/caller.ts"

/** A request, taken apart once. */
export interface Incoming {
  request: Request
  requestId: string
  path: string
  /** Without "?"; "" when there is none. */
  query: string
  keyInUrl: boolean
  /** Address of the other end of the connection. */
  peer: string | null
}

export function takeApart(request: Request, peer: string | null): Incoming {
  const { url } = request
  // without a usable Host header, as HTTP/1.0 health checks send it, the URL is the path alone
  const scheme = url.indexOf("://")
  const start = url.startsWith("/") ? 0 : url.indexOf("/", scheme + 3)
  const question = url.indexOf("?", start)
  return {
    request,
    requestId: crypto.randomUUID(),
    path: question < 0 ? url.slice(start) : url.slice(start, question),
    query: question < 0 ? "" : url.slice(question + 1),
    keyInUrl: holdsKey(url.slice(start)),
    peer,
  }
}

export const SANDBOX = "/v1/sandbox"
/** The one document below /v1. */
export const OPEN_API = "/v1/openapi.json"

export function isSandbox(path: string): boolean {
  return path.startsWith(SANDBOX) && (path.length === SANDBOX.length || path[SANDBOX.length] === "/")
}

/** Whether a path needs a key. */
export function isRest(path: string): boolean {
  return (path.startsWith("/v1/") || path === "/v1") && path !== OPEN_API && !isSandbox(path)
}

/** Whether a request says that it has a body: nearly none of those that are answered most do. */
export function hasBody({ headers }: Request): boolean {
  const length = headers.get("content-length")
  return (length !== null && length !== "0") || headers.has("transfer-encoding")
}

/** What a response says of the call besides its answer. */
export interface Shown {
  requestId: string
  credits: Credits | null
  now: Date
}

const KEY = /svc_(live|test)_/i

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
