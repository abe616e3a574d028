import { OutboundProblem } from "../../outbound/problem.ts"
import { type OutboundAnswer, type OutboundOptions, safeFetch } from "../../outbound/safe-fetch.ts"
import type { FinalResult, SendPort } from "./message.ts"

const JSON_TYPE = "application/json; charset=utf-8"
/** Only the status and a small part of the response are used. */
const MAX_BYTES = 500_000
const LONGEST_WAIT_MS = 86_400_000

/**
 * Sends a POST request. The URL may have any port above 1023, since the guard checks the host. Redirects are not
 * followed.
 */
export async function post(url: string, body: string, port: SendPort, headers: object = {}): Promise<OutboundAnswer> {
  return await port.outbound(url, {
    ...optionsOf(body, port),
    headers: { "content-type": JSON_TYPE, ...headers },
    ports: ownPort(url),
  })
}

/** Sends a POST request to an address set by the operator, which may be in a private network. */
export async function postToOwn(url: string, body: string, port: SendPort): Promise<OutboundAnswer> {
  const anywhere = { allowPrivate: { includes: () => true }, ports: [Number(URL.parse(url)?.port || 443)] }
  return await safeFetch(url, { ...optionsOf(body, port), headers: { "content-type": JSON_TYPE }, ...anywhere })
}

function optionsOf(body: string, { signal, timeoutMs }: SendPort): OutboundOptions {
  return { method: "POST", body, signal, totalMs: timeoutMs, firstByteMs: timeoutMs, mostBytes: MAX_BYTES }
}

function ownPort(url: string): number[] {
  const port = Number(URL.parse(url)?.port)
  return port > 1_023 ? [port] : []
}

/** Converts a response to a result: 2xx is delivered, 429 throttled, anything else failed. */
export function sentBy({ status, headers }: OutboundAnswer, now: Date): FinalResult {
  if (status >= 200 && status < 300) return { result: "delivered" }
  const waitMs = waitOf(headers.get("retry-after"), now)
  const failure = `status ${status}`
  return { result: status === 429 ? "throttled" : "failed", failure, ...(waitMs !== undefined && { waitMs }) }
}

/**
 * Converts a missing response to a failure. The guard's messages contain no address. Rethrows if we aborted the
 * request.
 */
export function unsentBy(error: unknown): FinalResult {
  if (!(error instanceof OutboundProblem) || error.code === "stopped") throw error
  return { result: "failed", failure: error.message }
}

/** Parses Retry-After, in seconds or as a date. At most a day. Undefined if absent or invalid. */
function waitOf(header: string | null, now: Date): number | undefined {
  if (header === null) return undefined
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now.getTime()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_WAIT_MS)
}

/** Converts a number of seconds of a JSON response. At most a day. */
export function waitOfSeconds(header: unknown): { waitMs?: number } {
  return typeof header === "number" && header >= 0 ? { waitMs: Math.min(header * 1_000, LONGEST_WAIT_MS) } : {}
}

/** Parses the JSON object of a response. Returns an empty object if it is anything else, such as a proxy's page. */
export function jsonOf<T extends object>(bytes: Uint8Array): Partial<T> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof value === "object" && value !== null ? value : {}
  } catch {
    return {}
  }
}
