import type { Gate } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import type { Log } from "../../lib/log.ts"
import type { SafeFetch } from "../../outbound/safe-fetch.ts"
import type { VisitorGate } from "../keyless-writes.ts"
import type { Owners } from "../sign-in/owner.ts"

export interface OAuthParts {
  sql: Sql
  gate: Pick<Gate, "run">
  /** For what clients write before any owner agreed. */
  visitorGate: VisitorGate
  owners: Owners
  /** The issuer, to the letter: clients compare it with what each document and answer says. */
  publicUrl: string
  /** For documents of clients, whose addresses strangers name. */
  fetch: SafeFetch
  now: () => Date
  log: Log
}

/** What access tokens are for. */
export function resourceOf(publicUrl: string): string {
  return `${publicUrl}/mcp`
}

/** Whether a client means the tool endpoint: its host in either case, and with or without a final slash. */
export function isResource(publicUrl: string, named: string): boolean {
  const url = URL.parse(named)
  if (url === null || named.includes("#")) return false
  return url.href.replace(/\/$/, "") === new URL(resourceOf(publicUrl)).href
}
