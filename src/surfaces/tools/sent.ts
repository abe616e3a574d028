import type { ToolRequest } from "./asked.ts"
import { errorOf, RpcError } from "./errors.ts"
import type { ExchangeEnd } from "./exchange.ts"
import { errorText, type Result, resultText } from "./results.ts"

export interface ToolReply {
  status: number
  text: string | null
  error?: RpcError
}

/** Who calls comes before what is wrong with the message; a call's own fault is its result, save for a missing key. */
export function sentFor(asked: ToolRequest, ended: ExchangeEnd, publicUrl: string): ToolReply {
  const { id, modern } = asked
  const made = madeOf(asked, ended, publicUrl)
  if (made instanceof RpcError) return { status: made.status, text: errorText(id, made), error: made }
  return made ? { status: 200, text: resultText(id, made, modern) } : { status: 202, text: null }
}

function madeOf(
  { outcome }: ToolRequest,
  { reply, question }: ExchangeEnd,
  publicUrl: string,
): Result | RpcError | null {
  const { fault } = reply
  const calling = outcome && "calling" in outcome ? outcome.calling : null
  if (fault) return (fault.status !== 401 && calling?.failed?.(reply)) || errorOf(fault, publicUrl)
  if (outcome === null || "answerTo" in outcome) return null
  return "calling" in outcome ? (question ?? outcome.calling.answered(reply)) : outcome
}
