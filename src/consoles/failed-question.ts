import { ObservationProblem } from "../core/observation/invariants.ts"
import { isConnectionProblem } from "../database/gate.ts"
import type { Db } from "../database/types.ts"
import type { Log } from "../lib/log.ts"
import { ReadFailure } from "../measuring/source.ts"
import { ConsoleProblem } from "./console.ts"
import { platformText } from "./platform-text.ts"

/** Thrown when the lease was lost: another worker has the account now, so nothing may be stored for it. */
export class LeaseLost extends Error {
  override name = "LeaseLost"
}

/** The outcome of a failed request. */
interface QuestionFailure {
  /** Message for the owner. */
  message: string
  /** True if the key's role does not permit the request. */
  isDenied: boolean
  /** True if the data is not published yet: retry in an hour. */
  isLate: boolean
  /** True if the platform itself failed: end this task, then pause the account for a while. */
  stops: boolean
}

/** Problems that concern the whole account rather than a single request. */
const OF_ACCOUNT: readonly ConsoleProblem["trouble"][] = ["unauthorized", "agreement", "limited"]

/**
 * Returns the outcome of a failure that concerns only its own request. Returns null if the error concerns the whole
 * account, the database or a lost lease; the caller then rethrows it. Logs unexpected errors.
 */
export function questionFailure(
  error: unknown,
  { signal, log, what }: { signal: AbortSignal; log: Log; what: string },
): QuestionFailure | null {
  if (signal.aborted || error instanceof LeaseLost || isConnectionProblem(error)) return null
  if (error instanceof ConsoleProblem) {
    const { trouble, message } = error
    if (OF_ACCOUNT.includes(trouble)) return null
    return { message, isDenied: trouble === "forbidden", isLate: false, stops: trouble === "unavailable" }
  }
  if (error instanceof ReadFailure) return bounded(error.message, error.outcome === "not_found")
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  log("error", "account_request_failed", { operation: what, reason: message, ...(stack !== undefined && { stack }) })
  const isRefused = error instanceof ObservationProblem
  const text = isRefused
    ? `the data cannot be stored: ${message}`
    : `unexpected error: ${platformText(message, MAX_TEXT)}`
  return bounded(text)
}

function bounded(message: string, isLate = false): QuestionFailure {
  return { message, isDenied: false, isLate, stops: false }
}

const MAX_TEXT = 200

/**
 * SQL: time of the next retry: an hour later after the first failure, then at growing gaps up to five days. The row
 * must have a column `tries`.
 */
export function growingGap(sql: Db) {
  return sql`now() + least(power(2, least(tries, 10)), 128) * interval '1 hour'`
}
