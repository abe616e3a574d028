import { ObservationProblem } from "../core/observation/invariants.ts"
import { isConnectionProblem } from "../database/gate.ts"
import type { Db } from "../database/types.ts"
import type { Log } from "../lib/log.ts"
import { ReadFailure } from "../measuring/source.ts"
import { ConsoleProblem } from "./console.ts"
import { platformText } from "./platform-text.ts"

/** Somebody else has the account by now: nothing may be stored for it. */
export class LeaseLost extends Error {
  override name = "LeaseLost"
}

/** The outcome of a failed question. */
interface QuestionFailure {
  /** What the owner reads. */
  message: string
  /** The key's role does not include the question. */
  isDenied: boolean
  /** Not published yet: it is asked for again in an hour. */
  isLate: boolean
  /** The platform itself failed: the account is left alone for a while, after this question has ended. */
  stops: boolean
}

/** These say something of the whole account and nothing of the question. */
const OF_ACCOUNT: readonly ConsoleProblem["trouble"][] = ["unauthorized", "agreement", "limited"]

/**
 * Bounds a failure to its question. Returns null if the error is one of the whole account, of the database, or of a lost lease:
 * then the caller throws it on. An error that nobody expects is logged.
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
  log("error", "account_question_failed", { operation: what, reason: message, ...(stack !== undefined && { stack }) })
  const isRefused = error instanceof ObservationProblem
  const text = isRefused ? `it cannot be stored: ${message}` : `unexpected error: ${platformText(message, MAX_TEXT)}`
  return bounded(text)
}

function bounded(message: string, isLate = false): QuestionFailure {
  return { message, isDenied: false, isLate, stops: false }
}

const MAX_TEXT = 200

/** When a failed question is asked again: an hour later, then at growing gaps of up to five days. For a row with `tries`. */
export function growingGap(sql: Db) {
  return sql`now() + least(power(2, least(tries, 10)), 128) * interval '1 hour'`
}
