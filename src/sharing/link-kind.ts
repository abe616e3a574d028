import type { TrustedProxies } from "../access/addresses.ts"
import type { Gate } from "../database/gate.ts"
import type { Sql } from "../database/types.ts"
import type { Fault } from "../lib/faults.ts"
import type { Log } from "../lib/log.ts"

export interface LinkParts {
  sql: Sql
  gate: Pick<Gate, "run">
  trustedProxies: TrustedProxies
  publicUrl: string
  now: () => Date
  log: Log
}

/** One reader at one link. */
export interface Visit {
  parts: LinkParts
  request: Request
  requestId: string
  path: string
  token: string
  /** Null where it cannot be told. */
  address: string | null
}

/** The surface adds the headers that every link has; a text is HTML unless the headers say otherwise. */
export interface LinkAnswer {
  status: number
  headers?: Record<string, string>
  body: string | ReadableStream<Uint8Array>
}

/** What stands below one folder of the address: /folder/token. */
export interface LinkKind {
  /** In the spelling of itty-router: "/exports/:token", "/share/*". */
  path: string
  methods: readonly string[]
  /** Of all its answers. */
  headers: Record<string, string>
  /** What is behind the token, or a page that says why there is nothing. Throws while the database is away. */
  open(visit: Visit): Promise<LinkAnswer>
  /** A refusal as a page: method_not_allowed, rate_limited or unavailable. Undefined: it is answered as everywhere. */
  refused(fault: Fault): LinkAnswer | undefined
}
