import type { Reply, Target } from "../../core/invoke.ts"
import type { Fault } from "../../lib/faults.ts"
import type { RpcError } from "./errors.ts"
import type { Result } from "./results.ts"

/** The reply to a call whose outcome was a fault. */
export type FailedReply = Reply & { fault: Fault }

export interface OperationCall extends Target {
  /** Converts an answer to the result. */
  answered(reply: Reply): Result | Promise<Result>
  /**
   * Converts a fault to a result or error. Without it, the error contains the fault's body. Not called if the caller is
   * unknown.
   */
  failed?(reply: FailedReply): Result | RpcError | undefined
}

export function isCalling(outcome: unknown): outcome is OperationCall {
  return typeof outcome === "object" && outcome !== null && "operation" in outcome
}

/** Returns an operation's answer. For a test key, parses the sandbox's bytes. */
export function answerOf({ answer, prepared }: Reply): unknown {
  return prepared ? JSON.parse(new TextDecoder().decode(prepared.body)) : answer
}
