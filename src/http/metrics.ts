import { createHash, timingSafeEqual } from "node:crypto"
import { creditHeaders } from "../access/credits.ts"
import { keyInUrlFault } from "../access/key-in-url.ts"
import type { Limits } from "../access/limits/open.ts"
import type { Gate } from "../database/gate.ts"
import type { Sql } from "../database/types.ts"
import { Fault } from "../lib/faults.ts"
import type { Log } from "../lib/log.ts"
import { type Calls, countingLog, createCalls } from "../settings/metrics/calls.ts"
import { createDatabaseReader, type Kind } from "../settings/metrics/database.ts"
import { createMeasuringReader } from "../settings/metrics/measuring.ts"
import { createMetrics } from "../settings/metrics/metrics.ts"
import { TEXT_TYPE } from "../settings/metrics/text.ts"
import { type IncomingRequest, isSandbox, type ResponseDetails } from "./incoming.ts"
import type { Shortfalls } from "./readiness.ts"
import { publicFault } from "./responses.ts"

export interface InstanceFacts {
  version: string
  database: Kind
}

interface MeterParts {
  sql: Sql
  gate: Gate
  limits: Limits
  log: Log
  now: () => Date
  /** Returns a comparison of due reads with read capacity. */
  shortfalls: Shortfalls
  settings: {
    publicUrl: string
    /**
     * The bearer token that requests for metrics must send. Without this setting, metrics are served only on a separate
     * port.
     */
    metricsToken?: string | undefined
  }
}

/** Wraps the app's log and limits so that they also count, and reports the counts. */
interface Meter {
  log: Log
  limits: Limits
  /** Adds GET /metrics to the keyless surface if a token is configured. */
  open(keyless: Keyless): Keyless
  /** Serves GET /metrics, and nothing else, on a separate port. */
  page(incoming: IncomingRequest): Promise<Response>
}

type Keyless = (incoming: IncomingRequest) => Response | Promise<Response>

export function createMeter(parts: MeterParts, { version, database }: InstanceFacts): Meter {
  const { sql, gate, now, settings } = parts
  const calls = createCalls()
  const text = createMetrics({
    calls,
    gate,
    database: createDatabaseReader(sql, database, now),
    measuring: createMeasuringReader({ sql, now, shortfalls: parts.shortfalls }),
    version,
  })
  const page = pageOf(text, parts)
  return {
    log: countingLog(parts.log, calls),
    limits: countingLimits(parts.limits, calls),
    page,
    open(keyless) {
      const counted = countingKeyless(keyless, calls)
      if (settings.metricsToken === undefined) return counted
      return (incoming) => (incoming.path === "/metrics" ? page(incoming) : counted(incoming))
    },
  }
}

function pageOf(text: () => Promise<string>, { now, settings: { publicUrl, metricsToken } }: MeterParts) {
  const bears = metricsToken === undefined ? () => true : bearerOf(metricsToken)
  return async (incoming: IncomingRequest): Promise<Response> => {
    const details: ResponseDetails = { requestId: incoming.requestId, credits: null, now: now() }
    const refused = refusal(incoming, bears)
    if (refused) return publicFault(refused, publicUrl, details)
    const headers = {
      ...creditHeaders(null, details.now),
      "cache-control": "no-store",
      "content-type": TEXT_TYPE,
      "x-content-type-options": "nosniff",
      "x-request-id": details.requestId,
    }
    return new Response(await text(), { headers })
  }
}

function countingKeyless(keyless: Keyless, calls: Calls): Keyless {
  const count = ({ path }: IncomingRequest, { status }: Response, startedAt: number) => {
    calls.count({ surface: isSandbox(path) ? "sandbox" : "public", status, latencyMs: performance.now() - startedAt })
  }
  return (incoming) => {
    const startedAt = performance.now()
    const answer = keyless(incoming)
    if (!(answer instanceof Promise)) {
      count(incoming, answer, startedAt)
      return answer
    }
    return answer.then((response) => {
      count(incoming, response, startedAt)
      return response
    })
  }
}

function countingLimits(limits: Limits, calls: Calls): Limits {
  if (limits.store === "process") return limits
  const take: Limits["rate"]["take"] = async (subject, perSecond) => {
    const answer = await limits.rate.take(subject, perSecond)
    if (answer.degraded) calls.fellBack()
    return answer
  }
  return { ...limits, rate: { take } }
}

function refusal(
  { request, path, keyInUrl }: IncomingRequest,
  bears: (request: Request) => boolean,
): Fault | undefined {
  if (keyInUrl) return keyInUrlFault()
  if (path !== "/metrics") return new Fault("unknown_endpoint")
  if (!bears(request)) return new Fault("invalid_token")
  if (request.method !== "GET") return new Fault("method_not_allowed", {}, { allow: "GET" })
  return undefined
}

/** Compares digests because they have equal length, so that the duration reveals nothing about the token. */
function bearerOf(token: string): (request: Request) => boolean {
  const expected = digestOf(token)
  return ({ headers }) => {
    const given = /^bearer +(\S+)$/i.exec(headers.get("authorization")?.trim() ?? "")?.[1]
    return given !== undefined && timingSafeEqual(digestOf(given), expected)
  }
}

function digestOf(text: string): Uint8Array {
  return createHash("sha256").update(text).digest()
}
