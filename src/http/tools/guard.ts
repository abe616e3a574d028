import { isIP } from "node:net"
import { type RpcError, refused } from "./errors.ts"

export type Guard = (request: Request) => RpcError | undefined

/**
 * Prevents DNS rebinding. A page's origin must be the public URL's, a loopback address or one of `origins`. The Host
 * must be the public URL's, localhost or an IP address, because names can be redirected but addresses cannot.
 */
export function createGuard(publicUrl: string, origins: readonly string[] = []): Guard {
  const publicAddress = new URL(publicUrl)
  return (request) => {
    const host = hostOf(request)
    if (!(host !== undefined && (host === publicAddress.hostname || host === "localhost" || isIP(unbracketed(host)))))
      return refused(403, HOST)
    const origin = request.headers.get("origin")
    if (origin !== null && (origins.includes("*") || origins.includes(origin))) return undefined
    return origin === null || isKnownOrigin(origin, publicAddress.origin) ? undefined : refused(403, ORIGIN)
  }
}

const HOST =
  "This host name is not that of PUBLIC_URL. Set PUBLIC_URL to the address that clients use, " +
  "and let a proxy in between pass the Host header on."
const ORIGIN = "This origin may not call the tool endpoint."

/** Returns the host without its port, in lower case. Undefined if it is missing or malformed. */
function hostOf({ headers, url }: Request): string | undefined {
  const host = headers.get("host") ?? /^https?:\/\/([^/?#]*)/.exec(url)?.[1] ?? ""
  return /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/.exec(host.toLowerCase())?.[1]
}

function unbracketed(host: string): string {
  return host.startsWith("[") ? host.slice(1, -1) : host
}

function isKnownOrigin(origin: string, ownOrigin: string): boolean {
  const url = URL.parse(origin)
  // opaque origins ("null", data:, file:) are refused
  if (!url || !/^https?:$/.test(url.protocol)) return false
  return url.origin === ownOrigin || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
}
