import { clientAddress, type TrustedProxies } from "../access/addresses.ts"
import { isConnectionProblem } from "../database/gate.ts"
import { inEncoding } from "../lib/compression.ts"
import { Fault } from "../lib/faults.ts"
import type { Log } from "../lib/log.ts"
import { type PageAnswer, pageResponse } from "./answer.ts"

/** One request for a page. */
export interface PageVisit {
  request: Request
  requestId: string
  path: string
  /** The query without "?". */
  query: string
  /** Client address. Null if unknown. */
  address: string | null
  /** Address of the remote end of the connection. */
  peer: string | null
}

/** Pages at one address, or at all addresses below one prefix. */
export interface PageRoute {
  /** The syntax is that of itty-router: "/approve/:id", "/app/*". */
  path: string
  methods: readonly string[]
  /** May throw. An unavailable database is then reported as on other surfaces. */
  open(visit: PageVisit): Promise<PageAnswer>
}

interface PageParts {
  trustedProxies: TrustedProxies
  now: () => Date
  log: Log
}

/** A request, as the HTTP surface splits it. */
interface PageRequest extends Omit<PageVisit, "address"> {
  keyInUrl: boolean
}

/**
 * A route of the keyless router. Returns the fault that refuses the request. Undefined passes it to the next routes.
 */
export interface OpenRoute {
  path: string
  answer(incoming: PageRequest): Promise<Response | Fault> | undefined
}

/** Returns the pages as routes. A key in the address is refused as on any other path. */
export function openPages(parts: PageParts, routes: readonly PageRoute[]): OpenRoute[] {
  return routes.map((route) => ({
    path: route.path,
    answer({ request, requestId, path, query, keyInUrl, peer }) {
      if (keyInUrl) return undefined
      const address = clientAddress(peer, request.headers.get("x-forwarded-for"), parts.trustedProxies)
      return answerPage(parts, route, { request, requestId, path, query, address, peer })
    },
  }))
}

async function answerPage({ now, log }: PageParts, route: PageRoute, visit: PageVisit): Promise<Response | Fault> {
  const { request, requestId } = visit
  if (!route.methods.includes(request.method))
    return new Fault("method_not_allowed", {}, { allow: route.methods.join(", ") })
  try {
    const page = await route.open(visit)
    const response = pageResponse(request, page, { requestId, now: now() })
    return page.isCompressible ? await inEncoding(request.headers.get("accept-encoding"), response) : response
  } catch (error) {
    if (error instanceof Fault) return error
    if (!isConnectionProblem(error)) throw error
    log("warn", "unavailable", { requestId, reason: String((error as Error).message) })
    return new Fault("unavailable")
  }
}
