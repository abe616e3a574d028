import { jsonOrNothing } from "../../measuring/parsing/json.ts"
import type { OutboundAnswer } from "../../outbound/safe-fetch.ts"
import { clockProblem } from "../clock.ts"
import { ConsoleProblem, type ConsoleTrouble } from "../console.ts"
import { platformText } from "../platform-text.ts"

/**
 * One error in a response. The text comes from the platform, so it must be treated as data. It is truncated and has no
 * control characters.
 */
interface Refusal {
  code: string
  message: string
  /** The field of the request. Null if the error has none. */
  field: string | null
}

interface ProblemFacts {
  /** Status of the response. Null if there was none. */
  status?: number | null
  refusals?: readonly Refusal[]
  /** True if the platform may have received the request; false if it certainly has not. */
  isSent?: boolean
  retryAfterMs?: number | null
}

/** The message never contains the key. Text from the platform is quoted, truncated and without control characters. */
export class AdsProblem extends ConsoleProblem {
  override name = "AdsProblem"
  readonly status: number | null
  readonly refusals: readonly Refusal[]
  readonly isSent: boolean

  constructor(trouble: ConsoleTrouble, message: string, facts: ProblemFacts = {}) {
    super(trouble, message, { retryAfterMs: facts.retryAfterMs ?? null })
    this.status = facts.status ?? null
    this.refusals = facts.refusals ?? []
    this.isSent = facts.isSent ?? true
  }
}

/** Returns the problem that a response reports. Null if it reports success. */
export function problemIn({ status, headers, bytes }: OutboundAnswer, now: Date): AdsProblem | null {
  const refusals = refusalsIn(bytes)
  if (status < 400 && refusals === null) return status >= 200 && status < 300 ? null : unexpected(status)
  const facts = { status, refusals: refusals ?? [] }
  if (status === 401) {
    const clock = clockProblem(headers, now)
    if (clock !== null) return new AdsProblem("unavailable", `Apple Ads refuses the access token: ${clock}`, facts)
    return new AdsProblem("unauthorized", "Apple Ads refuses the access token", facts)
  }
  if (status === 403) return new AdsProblem("forbidden", "the role of the API user does not permit this request", facts)
  if (status === 429) {
    const retryAfterMs = retryAfterOf(headers, now)
    return new AdsProblem("limited", "too many requests", { ...facts, retryAfterMs })
  }
  if (status >= 500) return new AdsProblem("unavailable", `Apple Ads answers ${status}`, facts)
  const [first] = facts.refusals
  const reason = first && [first.code, first.message].filter((text) => text !== "").join(": ")
  return new AdsProblem("refused", `Apple Ads refuses the request${reason ? ` (${reason})` : ""}`, facts)
}

function unexpected(status: number): AdsProblem {
  return new AdsProblem("unavailable", `Apple Ads answers ${status}`, { status })
}

const MAX_REFUSALS = 20
const MAX_TEXT = 300

/**
 * Reads the error from any of the three forms: `error.details[]`, `error.errors[]` and `error` itself. On an OAuth
 * endpoint `error` is a string. Null if there is no error.
 */
function refusalsIn(bytes: Uint8Array): Refusal[] | null {
  const body = jsonOrNothing(new TextDecoder().decode(bytes)) as { error?: unknown } | undefined
  const error = body?.error
  if (typeof error === "string") return [{ code: platformText(error, 100), message: "", field: null }]
  if (typeof error !== "object" || error === null) return null
  const { details, errors } = error as Record<string, unknown>
  const listed = [details, errors].find((list) => Array.isArray(list) && list.length > 0) as unknown[] | undefined
  return (listed ?? [error]).slice(0, MAX_REFUSALS).map(refusalOf)
}

function refusalOf(body: unknown): Refusal {
  const { code, messageCode, message, field, info } = (body ?? {}) as Record<string, unknown>
  const named = (info as { field?: unknown } | undefined)?.field ?? field
  return {
    code: platformText(code ?? messageCode ?? "UNKNOWN", 100),
    message: platformText(message ?? "", MAX_TEXT),
    field: typeof named === "string" && named !== "" ? platformText(named, 100) : null,
  }
}

function retryAfterOf(headers: Headers, now: Date): number | null {
  const seconds = secondsIn(headers.get("retry-after")) ?? secondsIn(headers.get("ratelimit-reset"))
  if (seconds !== null) return seconds * 1_000
  const at = Date.parse(headers.get("retry-after") ?? "")
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime())
}

/** Converts a header to a number, such as "60" to 60. Null if it is not a number. */
export function secondsIn(header: string | null): number | null {
  return header !== null && /^\d{1,9}$/.test(header.trim()) ? Number(header) : null
}
