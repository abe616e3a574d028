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

/** One request to a link. */
export interface Visit {
  parts: LinkParts
  request: Request
  requestId: string
  path: string
  token: string
  /** The client's address. Null if unknown. */
  address: string | null
}

/**
 * The response of a link. The surface adds the headers that all links share. A text body is HTML unless `headers` names
 * another type. The body of a 304 is null.
 */
export interface LinkAnswer {
  status: number
  headers?: Record<string, string>
  body: string | ReadableStream<Uint8Array> | null
}

/** A kind of public link with its own path: /folder/token. */
export interface LinkKind {
  /** The path pattern in itty-router syntax: "/exports/:token", "/share/*". */
  path: string
  methods: readonly string[]
  /** Headers of all its responses. */
  headers: Record<string, string>
  /**
   * Returns the content of the link, or a page that explains why there is none. Throws while the database is
   * unavailable.
   */
  open(visit: Visit): Promise<LinkAnswer>
  /**
   * Returns the page for a refusal: method_not_allowed, rate_limited or unavailable. Undefined if the default response
   * applies.
   */
  refused(fault: Fault): LinkAnswer | undefined
}
