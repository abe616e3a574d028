import type { TrustedProxies } from "../access/addresses.ts"
import type { Gate } from "../database/gate.ts"
import type { Sql } from "../database/types.ts"
import type { Fault } from "../faults.ts"
import { createLinks } from "../links/surface.ts"
import type { Log } from "../log.ts"
import { createPageRoutes } from "../pages/routes.ts"
import { createOwners } from "../sign-in/owner.ts"
import { signInRoutes } from "../sign-in/surface.ts"
import type { IncomingRequest } from "../surfaces/incoming.ts"

export interface PagesParts {
  sql: Sql
  gate: Pick<Gate, "run">
  trustedProxies: TrustedProxies
  publicUrl: string
  now: () => Date
  log: Log
}

/** What people open: public links, and the pages where somebody signs in. Undefined for a path that is none of these. */
export function createPages(parts: PagesParts): (incoming: IncomingRequest) => Promise<Response | Fault> | undefined {
  const { sql, gate, publicUrl } = parts
  const links = createLinks(parts)
  const owners = createOwners({ sql, gate })
  const pages = createPageRoutes(parts, [...signInRoutes({ sql, gate, owners, publicUrl })])
  return (incoming) => links(incoming) ?? pages(incoming)
}
