import { AllowanceUnavailable } from "../access/hive-allowance.ts"
import { type DiskWatch, isDamaged, isDiskFull } from "../database/disk.ts"
import { DatabaseUnavailable, isConnectionProblem } from "../database/gate.ts"
import { Fault } from "../lib/faults.ts"
import type { Log } from "../lib/log.ts"
import type { Operation } from "./operation.ts"

interface FailureParts {
  log: Log
  disk?: DiskWatch | undefined
}

/** The details of the call that were available when it failed. */
interface FailedCall {
  operation?: Operation | undefined
  input?: Record<string, unknown> | undefined
}

/**
 * Returns the fault for any error. A Fault stays as it is; anything else becomes unavailable, hive_read_failed or
 * internal_error, and is logged.
 */
export function faultOf(
  { log, disk }: FailureParts,
  requestId: string,
  { operation, input }: FailedCall,
  error: unknown,
): Fault {
  if (error instanceof Fault) {
    if (error.cause instanceof Error)
      log("warn", "call_failed", { requestId, code: error.code, reason: error.cause.message })
    return error
  }
  if (error instanceof DatabaseUnavailable || error instanceof AllowanceUnavailable || isConnectionProblem(error)) {
    if (isDiskFull(error)) disk?.noteFull()
    // a full disk is logged once, with its remedy, and not for every call
    if (!disk?.isFull()) log("warn", "unavailable", { requestId, reason: String((error as Error).message) })
    return unavailable(error, operation)
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  if (operation?.faults.includes("hive_read_failed") && isDamaged(error)) {
    const reason = `${message}; asked for ${JSON.stringify(input)}`
    log("error", "hive_read_failed", { requestId, operation: operation.id, reason })
    return new Fault("hive_read_failed")
  }
  log("error", "internal_error", { requestId, reason: message, stack })
  return new Fault("internal_error")
}

function unavailable(error: unknown, operation: Operation | undefined): Fault {
  const why = error instanceof DatabaseUnavailable ? error.why : undefined
  const mayBeWritten = operation?.effect === "writes" && why !== "crowded"
  return new Fault("unavailable", { detail: mayBeWritten ? MAYBE_WRITTEN : NOT_CHARGED }, { retryAfter: 1 })
}

const NOT_CHARGED = "Nothing was charged."
const MAYBE_WRITTEN =
  "The write may have been applied. Confirm again with the same token: if it was applied, the answer says that " +
  "the token was used."
