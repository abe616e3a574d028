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
