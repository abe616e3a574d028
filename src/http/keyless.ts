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
  /** Path, or path and query, → what stands there for everybody. */
  documents: ReadonlyMap<string, () => PublicDocument>
  /** What a browser shows in place of a fault. */
  faultPage: (fault: Fault) => PublicDocument
  /** Public links, pages and messages; a fault says why one is refused. */
  routes: readonly OpenRoute<Response | Fault>[]
  /** Null when the service can take calls just now, else why not. */
  unready: () => Promise<UnreadyReason | null>
  /** What cannot be measured for want of turns; the service is ready all the same. */
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

/** What needs no key: pages, health, documents and the sandbox, and every path at which nothing is. */
export function createKeyless(parts: KeylessParts) {
  const { sandbox, documents, now, publicUrl } = parts
  const count = perSecondCounter()
  const samples = new Map([...sandbox.exact].map(([path, sample]) => [`${SANDBOX}${path}`, sample]))
  // documents are counted by themselves: whoever reads them may try the sandbox in the same second
  const refusedRate = ({ peer, request }: IncomingRequest, at: Date, of = "sandbox"): Fault | null => {
    const address = clientAddress(peer, request.headers.get("x-forwarded-for"), parts.trustedProxies)
    const { allowed } = count(`${of} ${address ?? "unknown"}`, parts.sandboxPerSecond, at)
    return allowed ? null : new Fault("rate_limited", { limit: parts.sandboxPerSecond })
  }
  const shownTo = ({ requestId }: IncomingRequest): ResponseDetails => ({ requestId, credits: null, now: now() })
  const refuse = (incoming: IncomingRequest, fault: Fault) =>
    wantsPage(incoming)
      ? publicFaultPage(fault, parts.faultPage(fault), shownTo(incoming))
      : publicFault(fault, publicUrl, shownTo(incoming))
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
    const found = (documents.get(`${path}?${query}`) ?? documents.get(path)!)()
    return publicResponse(request, found, found.type, shown)
  })
  const inSandbox = (incoming: IncomingRequest) => {
    const shown = shownTo(incoming)
    if (incoming.keyInUrl) return refuse(incoming, keyInUrlFault())
    const refused = refusedRate(incoming, shown.now)
    return refused ? publicFault(refused, publicUrl, shown) : sandboxCall(parts, incoming, shown)
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
    return answer instanceof Fault ? publicFault(answer, publicUrl, shownTo(incoming)) : answer
  }
  return (incoming: IncomingRequest): Response | Promise<Response> => {
    const { path, request, query } = incoming
    // the whole path of a sample, looked up once and before all else: such a path is no other, and no key stands in it
    const sample = query === "" && request.method === "GET" ? samples.get(path) : undefined
    if (!sample) return answered(incoming)
    const shown = shownTo(incoming)
    const refused = refusedRate(incoming, shown.now)
    return refused ? publicFault(refused, publicUrl, shown) : publicResponse(request, sample, "json", shown)
  }
}

/** What people and programs try first, and what they mean. */
const SHORT: Record<string, string> = { "/": "/app", "/docs/": "/docs", "/v1": "/docs", "/v1/": "/docs" }

const HEALTH = ["/livez", "/readyz"]

const READS = new Set(["GET", "HEAD"])

/** A browser that opens an address says that it takes HTML, and no JSON by name. What lies below /v1 is for programs. */
function wantsPage({ request: { method, headers }, path }: IncomingRequest): boolean {
  const accepted = headers.get("accept")
  if (accepted === null || !READS.has(method) || path.startsWith("/v1/")) return false
  return /\btext\/html\b/i.test(accepted) && !/\bapplication\/json\b/i.test(accepted)
}

/** Why a document is not given; the runtime leaves the body of an answer to HEAD out. */
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

/** Checked as a live call; the answer is the sample's, whatever valid parameters were sent. */
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

/** Only what is read by GET has a place in the sandbox: a path of another method alone is none of its paths. */
async function sampledRoute(dispatch: Dispatch, { path, request }: IncomingRequest): Promise<Route> {
  try {
    const route = await dispatch("GET", path.slice(SANDBOX.length) || "/")
    if (request.method === "GET") return route
  } catch (error) {
    throw error instanceof Fault && error.code === "method_not_allowed" ? new Fault("unknown_endpoint") : error
  }
  throw new Fault("method_not_allowed", {}, { allow: "GET" })
}
