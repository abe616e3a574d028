import { clientAddress, type TrustedProxies } from "../access/addresses.ts"
import { keyInUrlFault } from "../access/key-in-url.ts"
import { perSecondCounter } from "../access/limits/limiter.ts"
import { checkInput } from "../core/check-input.ts"
import { Fault } from "../lib/faults.ts"
import type { PreparedAnswer } from "../lib/prepared.ts"
import { type IncomingRequest, type ResponseDetails, SANDBOX } from "./incoming.ts"
import { queryInput } from "./query.ts"
import type { Shortfalls, UnreadyReason } from "./readiness.ts"
import { type PublicType, publicFault, publicFaultPage, publicJson, publicResponse, redirect } from "./responses.ts"
import { createOpenRouter, type Dispatch, type OpenRoute, type Route } from "./router.ts"
import type { Sandbox } from "./sandbox.ts"

interface KeylessParts {
  sandbox: Sandbox
  dispatch: Dispatch
  /** The public document of each path, or of path and query. */
  documents: ReadonlyMap<string, (query: string) => PublicDocument>
  /** The HTML that a browser gets instead of a JSON fault. */
  faultPage: (fault: Fault) => PublicDocument
  /** Routes of public links, pages and messages. A fault explains a refusal. */
  routes: readonly OpenRoute<Response | Fault>[]
  /** Returns null if the service can take calls, otherwise the reason. */
  unready: () => Promise<UnreadyReason | null>
  /** Upstreams that have too little capacity for the due reads. They do not affect readiness. */
  shortfalls: Shortfalls
  publicUrl: string
  trustedProxies: TrustedProxies
  sandboxPerSecond: number
  now: () => Date
}

export interface PublicDocument extends PreparedAnswer {
  type: PublicType
  policy?: string
}

/** Serves everything that needs no key: pages, health, documents, the sandbox, and unknown paths. */
export function createKeyless(parts: KeylessParts) {
  const { sandbox, documents, now, publicUrl } = parts
  const count = perSecondCounter()
  const samples = new Map([...sandbox.exact].map(([path, sample]) => [`${SANDBOX}${path}`, sample]))
  // documents have a separate counter, so that a reader can try the sandbox within the same second
  const refusedRate = ({ peer, request }: IncomingRequest, at: Date, of = "sandbox"): Fault | null => {
    const address = clientAddress(peer, request.headers.get("x-forwarded-for"), parts.trustedProxies)
    const { allowed } = count(`${of} ${address ?? "unknown"}`, parts.sandboxPerSecond, at)
    return allowed ? null : new Fault("rate_limited", { limit: parts.sandboxPerSecond })
  }
  const shownTo = ({ requestId }: IncomingRequest): ResponseDetails => ({ requestId, credits: null, now: now() })
  const pageOrJson = (incoming: IncomingRequest, fault: Fault) =>
    wantsPage(incoming)
      ? publicFaultPage(fault, parts.faultPage(fault), shownTo(incoming))
      : publicFault(fault, publicUrl, shownTo(incoming))
  const refuse = (incoming: IncomingRequest, fault: Fault) =>
    READS.has(incoming.request.method) ? pageOrJson(incoming, fault) : publicFault(fault, publicUrl, shownTo(incoming))
  const read = (answer: (incoming: IncomingRequest, shown: ResponseDetails) => Response | Promise<Response>) => {
    return (incoming: IncomingRequest) => {
      const refused = refusal(incoming)
      return refused ? refuse(incoming, refused) : answer(incoming, shownTo(incoming))
    }
  }
  const document = read((incoming, shown) => {
    const refused = refusedRate(incoming, shown.now, "documents")
    if (refused) return publicFault(refused, publicUrl, shown)
    const { path, query, request } = incoming
    const found = (documents.get(`${path}?${query}`) ?? documents.get(path)!)(query)
    return publicResponse(request, found, found.type, shown)
  })
  const inSandbox = (incoming: IncomingRequest) => {
    const details = shownTo(incoming)
    if (incoming.keyInUrl) return refuse(incoming, keyInUrlFault())
    const refused = refusedRate(incoming, details.now)
    return refused ? publicFault(refused, publicUrl, details) : sandboxCall(parts, incoming, details)
  }
  const routes = [
    ...parts.routes,
    ...[...documents.keys()].filter((key) => !key.includes("?")).map((path) => ({ path, answer: document })),
    ...Object.entries(SHORT).map(([path, to]) => ({ path, answer: read((_, shown) => redirect(to, shown)) })),
    ...HEALTH.map((path) => ({ path, answer: read((_, shown) => health(parts, path, shown)) })),
    { path: `${SANDBOX}/*`, answer: inSandbox },
  ]
  const route = createOpenRouter<Response | Fault>(routes)
  const answered = async (incoming: IncomingRequest): Promise<Response> => {
    const answer = await route(incoming)
    if (answer === undefined)
      return refuse(incoming, incoming.keyInUrl ? keyInUrlFault() : new Fault("unknown_endpoint"))
    // a form that is posted while the database does not answer gets an HTML page as well
    return answer instanceof Fault ? pageOrJson(incoming, answer) : answer
  }
  return (incoming: IncomingRequest): Response | Promise<Response> => {
    const { path, request, query } = incoming
    // The exact path of a sample is looked up first. No other route matches it, and it contains no key.
    const sample = query === "" && request.method === "GET" ? samples.get(path) : undefined
    if (!sample) return answered(incoming)
    const details = shownTo(incoming)
    const refused = refusedRate(incoming, details.now)
    return refused ? publicFault(refused, publicUrl, details) : publicResponse(request, sample, "json", details)
  }
}

/** Redirects from addresses that people and programs try first. */
const SHORT: Record<string, string> = { "/": "/app", "/docs/": "/docs", "/v1": "/docs", "/v1/": "/docs" }

const HEALTH = ["/livez", "/readyz"]

const READS = new Set(["GET", "HEAD"])

/**
 * Returns whether to send HTML: the Accept header names HTML but not JSON, as in a browser. Paths below /v1 are for
 * programs.
 */
function wantsPage({ request: { headers }, path }: IncomingRequest): boolean {
  const accepted = headers.get("accept")
  if (accepted === null || path.startsWith("/v1/")) return false
  return /\btext\/html\b/i.test(accepted) && !/\bapplication\/json\b/i.test(accepted)
}

/**
 * Returns the fault that refuses the request for a document. HEAD is allowed, because the runtime drops the body of its
 * response.
 */
function refusal({ request, keyInUrl }: IncomingRequest): Fault | undefined {
  if (keyInUrl) return keyInUrlFault()
  return READS.has(request.method) ? undefined : new Fault("method_not_allowed", {}, { allow: "GET, HEAD" })
}

async function health({ unready, shortfalls }: KeylessParts, path: string, shown: ResponseDetails): Promise<Response> {
  if (path === "/livez") return publicJson(200, { status: "alive" }, shown)
  const reason = await unready()
  if (reason) return publicJson(503, { status: "not ready", reason }, shown)
  const measuring = await shortfalls()
  return publicJson(200, { status: "ready", ...(measuring.length > 0 && { measuring }) }, shown)
}

/** Checks the call like a live call. Any valid parameters return the sample's answer. */
async function sandboxCall(
  { sandbox, dispatch, publicUrl }: KeylessParts,
  incoming: IncomingRequest,
  shown: ResponseDetails,
) {
  try {
    const { operation, params } = await sampledRoute(dispatch, incoming)
    const input = checkInput(operation, { ...queryInput(operation, incoming.query, params), ...params })
    return publicResponse(incoming.request, sandbox.answer(operation, input), "json", shown)
  } catch (error) {
    if (error instanceof Fault) return publicFault(error, publicUrl, shown)
    throw error
  }
}

/** The sandbox has GET operations only. A path that exists only for another method is unknown in the sandbox. */
async function sampledRoute(dispatch: Dispatch, { path, request }: IncomingRequest): Promise<Route> {
  try {
    const route = await dispatch("GET", path.slice(SANDBOX.length) || "/")
    if (request.method === "GET") return route
  } catch (error) {
    throw error instanceof Fault && error.code === "method_not_allowed" ? new Fault("unknown_endpoint") : error
  }
  throw new Fault("method_not_allowed", {}, { allow: "GET" })
}
