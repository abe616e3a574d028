import { OutboundProblem } from "../../outbound/problem.ts"
import { type OutboundAnswer, type OutboundOptions, safeFetch } from "../../outbound/safe-fetch.ts"
import type { SendPort, SendResult } from "./message.ts"

const JSON_TYPE = "application/json; charset=utf-8"
/** What a receiver answers is hardly read. */
const MOST_BYTES = 500_000
const LONGEST_WAIT_MS = 86_400_000

/** Its port may be any above 1023 too: the guard is the host. Redirects are answers, not followed. */
export async function post(url: string, body: string, port: SendPort, headers: object = {}): Promise<OutboundAnswer> {
  return await port.outbound(url, {
    ...optionsOf(body, port),
    headers: { "content-type": JSON_TYPE, ...headers },
    ports: ownPort(url),
  })
}

/** The same to an address of the operator's own, which may be anywhere. */
export async function postToOwn(url: string, body: string, port: SendPort): Promise<OutboundAnswer> {
  const anywhere = { allowPrivate: { includes: () => true }, ports: [Number(URL.parse(url)?.port || 443)] }
  return await safeFetch(url, { ...optionsOf(body, port), headers: { "content-type": JSON_TYPE }, ...anywhere })
}

function optionsOf(body: string, { signal, timeoutMs }: SendPort): OutboundOptions {
  return { method: "POST", body, signal, totalMs: timeoutMs, firstByteMs: timeoutMs, mostBytes: MOST_BYTES }
}

function ownPort(url: string): number[] {
  const port = Number(URL.parse(url)?.port)
  return port > 1_023 ? [port] : []
}

/** What an answer says where its status alone tells: 2xx has it, 429 asks to wait, anything else is tried again. */
export function sentBy({ status, headers }: OutboundAnswer, now: Date): SendResult {
  if (status >= 200 && status < 300) return { result: "delivered" }
  const waitMs = waitOf(headers.get("retry-after"), now)
  const failure = `status ${status}`
  return { result: status === 429 ? "throttled" : "failed", failure, ...(waitMs !== undefined && { waitMs }) }
}

/** No answer: the words of the outbound guard, which name no address. Rethrown when it was ended from here. */
export function unsentBy(error: unknown): SendResult {
  if (!(error instanceof OutboundProblem) || error.code === "stopped") throw error
  return { result: "failed", failure: error.message }
}

/** Retry-After in seconds or as a date, a day at most; undefined = not said. */
function waitOf(said: string | null, now: Date): number | undefined {
  if (said === null) return undefined
  const ms = /^\d{1,9}$/.test(said) ? Number(said) * 1_000 : Date.parse(said) - now.getTime()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_WAIT_MS)
}

export function waitOfSeconds(said: unknown): { waitMs?: number } {
  return typeof said === "number" && said >= 0 ? { waitMs: Math.min(said * 1_000, LONGEST_WAIT_MS) } : {}
}
