import { clientAddress, type TrustedProxies } from "../access/addresses.ts"
import type { Call, Reply } from "../core/invoke.ts"
import type { Log } from "../lib/log.ts"
import { type IncomingRequest, loggedIds } from "./incoming.ts"

/** Returns the caller of a request, as invoke needs it from every surface with keys. */
export function callerOf(
  { request, requestId, keyInUrl, peer }: IncomingRequest,
  trustedProxies: TrustedProxies,
): Pick<Call, "requestId" | "credentials" | "keyInUrl" | "address"> {
  const { headers } = request
  return {
    requestId,
    credentials: { authorization: headers.get("authorization"), apiKey: headers.get("x-api-key") },
    keyInUrl,
    address: clientAddress(peer, headers.get("x-forwarded-for"), trustedProxies),
  }
}

/** The status that servers log for a caller who disconnected. It is never sent. */
const GONE = 499

export function hungUp(log: Log, { requestId, sentIds, path }: IncomingRequest): Response {
  log("info", "call", { requestId, ...loggedIds(sentIds), ...(path === "/mcp" && { path }), status: GONE })
  return new Response(null, { status: GONE })
}

/** Log fields that a surface adds. `status` and `code` only if they differ from the reply's. */
interface Line {
  /** One of a fixed set of values. Text that a caller chooses is not logged. */
  method: string | undefined
  /** The template of the path. It is logged because the real path could contain a term or an id. */
  path: string | undefined
  status?: number
  code?: string
}

export function logCall(
  log: Log,
  { requestId, sentIds }: IncomingRequest,
  reply: Reply,
  line: Line,
  latencyMs: number,
): void {
  log("info", "call", {
    requestId,
    ...loggedIds(sentIds),
    operation: reply.operation?.id,
    status: reply.status,
    code: reply.fault?.code,
    workspace: reply.caller?.workspaceId,
    keyId: reply.caller?.keyId,
    cost: reply.cost,
    ...line,
    latencyMs: Math.round(latencyMs * 10) / 10,
  })
}
