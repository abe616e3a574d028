import { type IncomingRequest, isRest } from "./incoming.ts"
import { EXPOSED, noContent } from "./responses.ts"

/** Lets pages of configured origins call with a key and read the response (CORS protocol of the Fetch standard). */
interface Cors {
  preflight(incoming: IncomingRequest): Response | undefined
  open(incoming: IncomingRequest, answer: Response): void
}

/** "*" allows every origin. Null if there are no origins, so that no page may call. */
export function createCors(origins: readonly string[], now: () => Date): Cors | null {
  if (origins.length === 0) return null
  const allowedFor = ({ request, path }: IncomingRequest): string | null => {
    const origin = request.headers.get("origin")
    if (origin === null || !isKeyed(path)) return null
    if (origins.includes("*")) return "*"
    return origins.includes(origin) ? origin : null
  }
  return {
    preflight(incoming) {
      const { method, headers } = incoming.request
      if (method !== "OPTIONS" || !headers.has("access-control-request-method")) return undefined
      if (allowedFor(incoming) === null) return undefined
      return noContent(PREFLIGHT, { requestId: incoming.requestId, credits: null, now: now() })
    },
    open(incoming, { headers }) {
      if (!isKeyed(incoming.path)) return
      if (!origins.includes("*")) headers.append("vary", "origin")
      const allowed = allowedFor(incoming)
      if (allowed === null) return
      headers.set("access-control-allow-origin", allowed)
      headers.set("access-control-expose-headers", EXPOSED)
    },
  }
}

// Lists each header by name because "*" does not include authorization. Cookies are never used, so credentials are not
// allowed.
const PREFLIGHT = {
  "access-control-allow-methods": "GET, POST",
  "access-control-allow-headers":
    "authorization, x-api-key, content-type, accept, if-none-match, x-request-id, traceparent, tracestate, " +
    "mcp-protocol-version, mcp-session-id, mcp-method, mcp-name",
  "access-control-max-age": "7200",
  "cache-control": "no-store",
}

function isKeyed(path: string): boolean {
  return path === "/mcp" || isRest(path)
}
