import { jsonOrNothing } from "../../measuring/parsing/json.ts"
import type { OutboundAnswer } from "../../outbound/safe-fetch.ts"
import { clockProblem } from "../clock.ts"
import { ConsoleProblem } from "../console.ts"
import { platformText } from "../platform-text.ts"

const MAX_TEXT = 300

/** The parts of Google's error document that are used. The message is the platform's text: treat it as data. */
interface GoogleError {
  /** Examples: "forbidden", "permissionDenied", "SERVICE_DISABLED". */
  reasons: string[]
  message: string
}

/** Reads `error.message`, `error.status`, `error.errors[].reason` and `error.details[].reason`. */
function googleErrorIn(bytes: Uint8Array): GoogleError {
  const body = jsonOrNothing(new TextDecoder().decode(bytes)) as { error?: unknown } | null | undefined
  const error = (typeof body?.error === "object" ? body.error : null) as Record<string, unknown> | null
  const listed = [error?.errors, error?.details].flatMap((list) => (Array.isArray(list) ? list : []))
  const reasons = [error?.status, ...listed.map((one) => one?.reason)].filter((reason) => typeof reason === "string")
  return { reasons, message: platformText(error?.message ?? "", MAX_TEXT) }
}

const DISABLED = ["accessNotConfigured", "SERVICE_DISABLED"]
/** Reasons of a 403 that mean a used-up quota. */
const QUOTAS = [
  "rateLimitExceeded",
  "userRateLimitExceeded",
  "quotaExceeded",
  "dailyLimitExceeded",
  "RATE_LIMIT_EXCEEDED",
]

/** Returns the problem that a response reports. Null for the statuses 200, 204 and 404, which count as success. */
export function problemOf({ status, headers, bytes }: OutboundAnswer, now: Date): ConsoleProblem | null {
  if (status === 200 || status === 204 || status === 404) return null
  const { reasons, message } = googleErrorIn(bytes)
  const has = (names: readonly string[]) => reasons.some((reason) => names.includes(reason))
  const details = [message, ...reasons].filter((text) => text !== "")
  if (status === 429 || (status === 403 && has(QUOTAS)))
    return new ConsoleProblem("limited", "too many requests", { retryAfterMs: retryAfterOf(headers, now), details })
  if (status === 403 && has(DISABLED))
    return new ConsoleProblem("forbidden", "the API is not enabled in the Google Cloud project of the key", {
      details: ["accessNotConfigured", ...details],
    })
  // The publisher API answers 401 if the service account lacks a permission.
  if (status === 403 || (status === 401 && has(["permissionDenied"])))
    return new ConsoleProblem("forbidden", "the service account may not read this", { details })
  if (status === 401) {
    const clock = clockProblem(headers, now)
    return clock === null
      ? new ConsoleProblem("unauthorized", "Google refuses the access token", { details })
      : new ConsoleProblem("unavailable", `Google refuses the access token: ${clock}`, { details })
  }
  if (status >= 500) return new ConsoleProblem("unavailable", `Google answers ${status}`, { details })
  return new ConsoleProblem("refused", `Google answers ${status}${message && ` (${message})`}`, { details })
}

/**
 * Returns the meaning of a refused token request, with the action that a person must take. Null if the response has a
 * token.
 */
export function tokenProblemOf(answer: OutboundAnswer, now: Date): ConsoleProblem | null {
  const { status, headers, bytes } = answer
  if (status === 200) return null
  if (status === 429 || status >= 500) return problemOf(answer, now)
  const body = jsonOrNothing(new TextDecoder().decode(bytes)) as Record<string, unknown> | null | undefined
  const code = platformText(body?.error ?? "", 100)
  const text = platformText(body?.error_description ?? "", MAX_TEXT)
  const details = [code, text].filter((part) => part !== "")
  const clock = clockProblem(headers, now)
  if (clock !== null) return new ConsoleProblem("unavailable", `Google refuses the key: ${clock}`, { details })
  // Google reports a wrong time in a token with the same code as a deleted key.
  if (/reasonable timeframe|iat and exp/i.test(text))
    return new ConsoleProblem("unavailable", "Google refuses the key: this machine's clock is wrong; set it", {
      details,
    })
  return new ConsoleProblem("unauthorized", `Google refuses the key: ${reasonOf(code, text)}`, { details })
}

function reasonOf(code: string, text: string): string {
  if (/disabled/i.test(`${code} ${text}`))
    return "the service account is disabled; enable it in Google Cloud, IAM & Admin, Service Accounts"
  if (/account not found/i.test(text))
    return "the service account was deleted; create another one, invite it to Play Console, and rotate the key"
  if (/signature/i.test(text)) return "the key was deleted in Google Cloud; create a new key there and rotate it here"
  const named = [code, text].filter((part) => part !== "").join(": ")
  const answer = named && ` (${named})`
  return `the key was deleted or disabled in Google Cloud${answer}; create a new key there and rotate it here`
}

function retryAfterOf(headers: Headers, now: Date): number | null {
  const header = headers.get("retry-after")?.trim() ?? ""
  if (/^\d{1,6}$/.test(header)) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime())
}
