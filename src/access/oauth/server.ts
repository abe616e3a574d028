import type { Gate } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import type { Log } from "../../lib/log.ts"
import type { SafeFetch } from "../../outbound/safe-fetch.ts"
import type { VisitorGate } from "../keyless-writes.ts"
import type { People } from "../sign-in/person.ts"

export interface OAuthParts {
  sql: Sql
  gate: Pick<Gate, "run">
  /** For writes of clients that no owner has approved yet. */
  visitorGate: VisitorGate
  people: People
  /** The issuer. Must be identical everywhere, because clients compare it with every document and response. */
  publicUrl: string
  /** Fetches client documents through the outbound guard, because anybody can choose their addresses. */
  fetch: SafeFetch
  now: () => Date
  log: Log
}

/** Returns the resource that access tokens are issued for. */
export function resourceOf(publicUrl: string): string {
  return `${publicUrl}/mcp`
}

/** Whether a resource that a client names is the tool endpoint. Ignores the case of the host and a final slash. */
export function isResource(publicUrl: string, named: string): boolean {
  const url = URL.parse(named)
  if (url === null || named.includes("#")) return false
  return url.href.replace(/\/$/, "") === new URL(resourceOf(publicUrl)).href
}
