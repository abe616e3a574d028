import { clientAddress, type TrustedProxies } from "../access/addresses.ts"
import { isConnectionProblem } from "../database/gate.ts"
import { Fault } from "../faults.ts"
import type { Log } from "../log.ts"
import { inEncoding } from "../vocabulary/compression.ts"
import { type PageAnswer, pageResponse } from "./answer.ts"

/** One request for a page. */
export interface PageVisit {
  request: Request
  requestId: string
  path: string
  /** Without "?". */
  query: string
  /** Null where it cannot be told. */
  address: string | null
}

/** Pages at one address, or at those that begin alike. */
export interface PageRoute {
  path: RegExp
  methods: readonly string[]
  /** May throw: while the database is away that is answered as everywhere. */
  open(visit: PageVisit): Promise<PageAnswer>
}

interface PageParts {
  trustedProxies: TrustedProxies
  now: () => Date
  log: Log
}

/** A request as the surface takes it apart. */
interface PageRequest extends Omit<PageVisit, "address"> {
  keyInUrl: boolean
  /** Address of the other end of the connection. */
  peer: string | null
}

/** Answers what stands at a page's address, or gives the fault that refuses it; undefined for any other path. */
export function createPageRoutes(
  { trustedProxies, now, log }: PageParts,
  routes: readonly PageRoute[],
): (incoming: PageRequest) => Promise<Response | Fault> | undefined {
  const answer = async (route: PageRoute, visit: PageVisit): Promise<Response | Fault> => {
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
  return ({ request, requestId, path, query, keyInUrl, peer }) => {
    const route = keyInUrl ? undefined : routes.find((one) => one.path.test(path))
    if (!route) return undefined
    const address = clientAddress(peer, request.headers.get("x-forwarded-for"), trustedProxies)
    return answer(route, { request, requestId, path, query, address })
  }
}
