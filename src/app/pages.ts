import { limitKeylessWrites } from "../access/keyless-writes.ts"
import { approvalRoutes } from "../approving/surface.ts"
import { readTree } from "../database/assets.ts"
import { deskOperations } from "../desk/desk.ts"
import { deskRoutes } from "../desk/surface.ts"
import type { Invoke } from "../invoke.ts"
import type { LinkParts } from "../links/link-kind.ts"
import { linkRoutes } from "../links/surface.ts"
import { oauthRoutes } from "../oauth/surface.ts"
import type { Operation } from "../operation.ts"
import { type SafeFetch, safeFetch } from "../outbound/safe-fetch.ts"
import { type OpenRoute, openPages } from "../pages/routes.ts"
import { createOwners } from "../sign-in/owner.ts"
import { signInRoutes } from "../sign-in/surface.ts"
import { messageRoute, type ReceiveMessage } from "../surfaces/messages.ts"
import { prepareSandbox, type Sandbox } from "../surfaces/sandbox.ts"
import { once } from "../vocabulary/prepared.ts"

interface PagesParts extends LinkParts {
  invoke: Invoke
  catalog: readonly Operation[]
  sandbox: Sandbox
  /** Left out where nothing can be unsealed: then /in/ is no address. */
  receive?: ReceiveMessage | undefined
  /** Asks for documents of clients; left out, on the public network alone. */
  fetch?: SafeFetch | undefined
}

const RECEIVE_MS = 5_000

/** The routes of what people open, public links and the pages where somebody signs in, and of what services send. */
export function openRoutes(parts: PagesParts): OpenRoute[] {
  const { sql, gate, publicUrl, invoke, catalog, sandbox, receive, trustedProxies, now } = parts
  const owners = createOwners({ sql, gate, publicUrl })
  const visitorGate = limitKeylessWrites(gate)
  const pages = openPages(parts, [
    ...signInRoutes({ sql, gate, visitorGate, owners, publicUrl }),
    ...deskRoutes({
      invoke,
      owners,
      operations: [...catalog, ...deskOperations],
      sampleAnswer: samplesOf(sandbox, publicUrl),
    }),
    ...oauthRoutes({ ...parts, visitorGate, owners, fetch: parts.fetch ?? safeFetch }),
    ...approvalRoutes({ sql, gate, owners }),
  ])
  const messages = receive && {
    receive: (...sent: Parameters<ReceiveMessage>) => gate.run(() => receive(...sent), RECEIVE_MS),
    publicUrl,
    trustedProxies,
    now,
  }
  return [...(messages ? [messageRoute(messages)] : []), ...linkRoutes(parts), ...pages]
}

/** Of the sandbox, and of what pages alone ask: those are read when the first of them is asked for. */
function samplesOf(sandbox: Sandbox, publicUrl: string): Sandbox["answer"] {
  const own = once(() => prepareSandbox(deskOperations, readTree("fixtures/desk", ".json"), publicUrl))
  return (operation, input) => (deskOperations.includes(operation) ? own() : sandbox).answer(operation, input)
}
