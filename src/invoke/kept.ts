import type { Caller } from "../access/caller.ts"
import { checkPayable } from "../access/credits.ts"
import { checkLatest, type Surface } from "../access/identify.ts"
import { checkRights } from "../access/rights.ts"
import { type Operation, priceRange } from "../operation.ts"
import type { WrittenAnswer } from "../vocabulary/prepared.ts"
import { type ChargeParts, payForKept } from "./charging.ts"

interface CheckedCall {
  call: { requestId: string; surface: Surface; takesText?: boolean; holds?: unknown }
  caller: Caller
  operation: Operation
  input: Record<string, unknown>
}

/**
 * The answer that the caller was given last, charged in the statement that finds its basis as it was; null where the handler is
 * to be asked. It takes no turn at the database, so while many wait already, it is not given.
 */
export async function giveKept(
  parts: ChargeParts,
  { call, caller, operation, input }: CheckedCall,
  leftMs: () => number,
): Promise<{ answer: WrittenAnswer; cost: number } | null> {
  const { scope, plan = "free" } = operation
  const cost = priceRange(operation.price).min
  // what is asked for is the text as it stands, whatever the caller holds
  if (!operation.kept || cost === 0 || !call.takesText || call.holds || input.fields) return null
  const kept = parts.gate.isHalfFull ? null : operation.kept(parts.sql, caller)
  if (!kept) return null
  await checkLatest(parts.identify, caller, () => {
    checkRights(caller, call.surface, { scope, plan })
    checkPayable(caller, cost)
  })
  const due = { requestId: call.requestId, caller, operation, input }
  return (await payForKept(parts, due, cost, kept.basis, leftMs())) ? { answer: kept.answer, cost } : null
}
