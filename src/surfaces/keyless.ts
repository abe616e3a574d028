import { clientAddress, type TrustedProxies } from "../access/addresses.ts"
import { perSecondCounter } from "../access/limits/limiter.ts"
import { checkInput } from "../check-input.ts"
import { Fault } from "../faults.ts"
import type { PreparedAnswer } from "../vocabulary/prepared.ts"
import { type Incoming, isSandbox, SANDBOX, type Shown } from "./incoming.ts"
import { queryInput } from "./query.ts"
import type { Shortfalls, Unready } from "./readiness.ts"
import { type PublicType, publicFault, publicJson, publicResponse, redirect } from "./responses.ts"
import type { Dispatch, Route } from "./router.ts"
import type { Sandbox } from "./sandbox.ts"

export interface KeylessParts {
  sandbox: Sandbox
  dispatch: Dispatch
  /** Path → what stands there for everybody. */
  documents: ReadonlyMap<string, () => PublicDocument>
  /** What stands behind a public link, or why not; undefined for a path that is none. */
  links: (incoming: Incoming) => Promise<Response | Fault> | undefined
  /** Null when the service can take calls just now, else why not. */
  unready: () => Promise<Unready | null>
  /** What cannot be measured for want of turns; the service is ready all the same. */
  shortfalls: Shortfalls
  publicUrl: string
  trustedProxies: TrustedProxies
  sandboxPerSecond: number
  now: () => Date
}

export interface PublicDocument extends PreparedAnswer {
  type: PublicType
  /** Of a page: what it may load and run; nothing when left out. */
  policy?: string
}

/** What needs no key: links, health, documents and the sandbox, and every path at which nothing is. */
export function createKeyless(parts: KeylessParts) {
  const { sandbox, documents, now, publicUrl } = parts
  const count = perSecondCounter()
  return (incoming: Incoming): Response | Promise<Response> => {
    const { path, request } = incoming
    const shown: Shown = { requestId: incoming.requestId, credits: null, now: now() }
    const inSandbox = isSandbox(path)
    const document = documents.get(path)
    const link = parts.links(incoming)
    if (link) return link.then((answer) => (answer instanceof Fault ? publicFault(answer, publicUrl, shown) : answer))
    const known = inSandbox || document !== undefined || HEALTH.has(path) || path === "/"
    const refused = refusal(incoming, { known, inSandbox })
    if (refused) return publicFault(refused, publicUrl, shown)
    if (path === "/") return redirect("/docs", shown)
    if (document) return publicResponse(request, document(), document().type, shown)
    if (!inSandbox) return health(parts, path, shown)
    const address = clientAddress(incoming.peer, request.headers.get("x-forwarded-for"), parts.trustedProxies)
    if (!count(address ?? "unknown", parts.sandboxPerSecond, shown.now).allowed)
      return publicFault(new Fault("rate_limited", { limit: parts.sandboxPerSecond }), publicUrl, shown)
    const plain = incoming.query === "" && request.method === "GET"
    const exact = plain ? sandbox.exact.get(path.slice(SANDBOX.length)) : undefined
    return exact ? publicResponse(request, exact, "json", shown) : sandboxCall(parts, incoming, shown)
  }
}

const HEALTH = new Set(["/livez", "/readyz"])

/** Which methods a path of the sandbox has is told by the routes. */
function refusal({ request, keyInUrl }: Incoming, { known, inSandbox }: { known: boolean; inSandbox: boolean }) {
  if (keyInUrl) return new Fault("key_in_url")
  if (!known) return new Fault("unknown_endpoint")
  if (!inSandbox && request.method !== "GET") return new Fault("method_not_allowed", {}, { allow: "GET" })
  return undefined
}

async function health({ unready, shortfalls }: KeylessParts, path: string, shown: Shown): Promise<Response> {
  if (path === "/livez") return publicJson(200, { status: "alive" }, shown)
  const reason = await unready()
  if (reason) return publicJson(503, { status: "not ready", reason }, shown)
  const measuring = await shortfalls()
  return publicJson(200, { status: "ready", ...(measuring.length > 0 && { measuring }) }, shown)
}

/** Route and input are checked as for a live call; the answer is the sample's, whatever valid parameters were sent. */
async function sandboxCall({ sandbox, dispatch, publicUrl }: KeylessParts, incoming: Incoming, shown: Shown) {
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
async function sampledRoute(dispatch: Dispatch, { path, request }: Incoming): Promise<Route> {
  try {
    const route = await dispatch("GET", path.slice(SANDBOX.length) || "/")
    if (request.method === "GET") return route
  } catch (error) {
    throw error instanceof Fault && error.code === "method_not_allowed" ? new Fault("unknown_endpoint") : error
  }
  throw new Fault("method_not_allowed", {}, { allow: "GET" })
}
