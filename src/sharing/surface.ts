import { clientAddress } from "../access/addresses.ts"
import { creditHeaders } from "../access/credits.ts"
import { perSecondCounter } from "../access/limits/limiter.ts"
import { isConnectionProblem } from "../database/gate.ts"
import { inEncoding } from "../lib/compression.ts"
import { Fault } from "../lib/faults.ts"
import type { OpenRoute } from "../ui/routes.ts"
import { createExportFiles } from "./export/download.ts"
import { createFeeds } from "./feed/feeds.ts"
import type { LinkAnswer, LinkKind, LinkParts, Visit } from "./link-kind.ts"
import { sharedPages } from "./share/visit.ts"

/** Maximum requests per second, per address and kind of link. Tokens cannot be guessed, but each try costs a query. */
const PER_SECOND = 20

/** Returns the routes of public links, for the router of paths that need no key. */
export function linkRoutes(parts: LinkParts): OpenRoute[] {
  const kinds: readonly LinkKind[] = [createExportFiles(), sharedPages, createFeeds()]
  const count = perSecondCounter()
  const refusalOf = ({ path, methods }: LinkKind, { request, address }: Visit): Fault | null => {
    if (!methods.includes(request.method)) return new Fault("method_not_allowed", {}, { allow: methods.join(", ") })
    const { allowed } = count(`${path} ${address}`, PER_SECOND, parts.now())
    return allowed ? null : new Fault("rate_limited", { limit: PER_SECOND })
  }
  const answer = async (kind: LinkKind, visit: Visit): Promise<Response | Fault> => {
    const found = refusalOf(kind, visit) ?? (await opened(kind, visit))
    const response = found instanceof Fault ? refusalPage(kind, found) : found
    return response ? await responseOf(visit, kind, response) : (found as Fault)
  }
  return kinds.map((kind) => ({
    path: kind.path,
    answer({ request, requestId, path, keyInUrl, peer }) {
      const tokenAt = path.indexOf("/", 1) + 1
      if (keyInUrl || tokenAt === 0) return undefined
      const address = clientAddress(peer, request.headers.get("x-forwarded-for"), parts.trustedProxies)
      return answer(kind, { parts, request, requestId, path, token: path.slice(tokenAt), address })
    },
  }))
}

async function opened(kind: LinkKind, visit: Visit): Promise<LinkAnswer | Fault> {
  try {
    return await kind.open(visit)
  } catch (error) {
    if (!isConnectionProblem(error) && !(error instanceof Fault && error.status === 503)) throw error
    visit.parts.log("warn", "unavailable", { requestId: visit.requestId, reason: String((error as Error).message) })
    return new Fault("unavailable")
  }
}

function refusalPage(kind: LinkKind, fault: Fault): LinkAnswer | undefined {
  const page = kind.refused(fault)
  const { allow, retryAfter } = fault
  const headers = { ...(allow && { allow }), ...(retryAfter && { "retry-after": String(retryAfter) }) }
  return page && { ...page, headers: { ...headers, ...page.headers } }
}

/**
 * Adds headers that forbid caching, indexing and referrers. The response to HEAD has the same headers without a body,
 * and a 304 has the same headers without a length.
 */
async function responseOf({ parts, request, requestId }: Visit, kind: LinkKind, answer: LinkAnswer): Promise<Response> {
  const body = typeof answer.body === "string" ? new TextEncoder().encode(answer.body) : answer.body
  const headers = {
    ...creditHeaders(null, parts.now()),
    ...(body instanceof Uint8Array && { "content-length": String(body.length) }),
    "cache-control": "private, no-store",
    "content-type": "text/html; charset=utf-8",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-request-id": requestId,
    "x-robots-tag": "noindex, nofollow",
    ...kind.headers,
    ...answer.headers,
  }
  const response = new Response(body, { status: answer.status, headers })
  if (body === null) response.headers.delete("content-type")
  // an export is streamed, so it is not compressed
  const isWhole = body instanceof Uint8Array
  const sent = isWhole ? await inEncoding(request.headers.get("accept-encoding"), response) : response
  return request.method === "HEAD" ? new Response(null, { status: sent.status, headers: sent.headers }) : sent
}
