import type { Reply, Target } from "../../core/invoke.ts"
import type { Fault } from "../../lib/faults.ts"
import type { RpcError } from "./errors.ts"
import type { Result } from "./results.ts"

/** The reply to a call that ended in a fault. */
export type FailedReply = Reply & { fault: Fault }

export interface OperationCall extends Target {
  /** The result, of an answer. */
  answered(reply: Reply): Result | Promise<Result>
  /** What stands in its place, of a fault; none = an error with the fault's body. It is not asked of a caller nobody knows. */
  failed?(reply: FailedReply): Result | RpcError | undefined
}

export function isCalling(outcome: unknown): outcome is OperationCall {
  return typeof outcome === "object" && outcome !== null && "operation" in outcome
}

/** What an operation answered; of a test key what the sandbox did. */
export function answerOf({ answer, prepared }: Reply): unknown {
  return prepared ? JSON.parse(new TextDecoder().decode(prepared.body)) : answer
}
