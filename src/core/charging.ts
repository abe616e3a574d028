import type { Caller } from "../access/caller.ts"
import { type ChargeCall, type ChargeResult, type Due, refund, refusal } from "../access/credits.ts"
import type { Identify } from "../access/identify.ts"
import { type Gate, wroteNothing } from "../database/gate.ts"
import type { Sql } from "../database/types.ts"
import { Fault } from "../lib/faults.ts"
import type { Log } from "../lib/log.ts"
import { EmptyAnswer, type Operation, PaidAnswer, PendingAnswer } from "./operation.ts"

export interface ChargeParts {
  sql: Sql
  gate: Gate
  identify: Identify
  charge: ChargeCall
  log: Log
}

/** A call whose handler has returned. */
interface EndedCall {
  requestId: string
  caller: Caller
  operation: Operation
  input: Record<string, unknown>
}

/**
 * Charges the call once, within `leftMs`, and updates the caller's credits. Throws if the charge is refused; no credits
 * are taken then.
 */
export async function payFor(parts: ChargeParts, call: EndedCall, outcome: unknown, leftMs: number): Promise<number> {
  if (outcome instanceof PaidAnswer) return takeOver(parts, call.caller, outcome)
  const cost = priceOf(call.operation, call.input, outcome)
  if (cost > 0) await pay(parts, call, cost, leftMs)
  return cost
}

function takeOver({ identify }: ChargeParts, caller: Caller, { paid, cost }: PaidAnswer): number {
  if (paid) identify.charged(caller, paid)
  if (paid?.refused) throw refusal(paid)
  return cost
}

/** Returns 1 for a Hive answer when nothing is measured yet, 0 for any other fault, otherwise the price. */
function priceOf({ id, price, hive }: Operation, input: Record<string, unknown>, outcome: unknown): number {
  const empty = outcome instanceof EmptyAnswer || outcome instanceof PendingAnswer
  if (empty && hive) return 1
  if (outcome instanceof EmptyAnswer && outcome.answer instanceof Fault) return 0
  if (typeof price === "number") return price
  if (!price.of) throw new Error(`${id} has not charged its call`)
  return price.of(input, empty ? outcome.answer : outcome)
}

async function pay(parts: ChargeParts, call: EndedCall, cost: number, leftMs: number): Promise<void> {
  const { caller, operation, requestId } = call
  const due = { workspaceId: caller.workspaceId, keyId: caller.keyId, cost, operation: operation.id, requestId }
  let charging: Promise<ChargeResult> | undefined
  const begin = () => {
    charging = parts.charge(due)
    return charging
  }
  try {
    const paid = await parts.gate.run(begin, leftMs)
    parts.identify.charged(caller, paid)
    if (paid.refused) throw refusal(paid)
  } catch (error) {
    if (charging && !(error instanceof Fault)) void takeBack(parts, due, charging)
    throw error
  }
}

const TAKE_BACK_TRIES = 5

/** Refunds a charge if its answer was late or lost, unless it is certain that nothing was charged. */
async function takeBack({ sql, log }: ChargeParts, due: Due, charging: Promise<ChargeResult>): Promise<void> {
  const mayBePaid = await charging.then(
    ({ refused }) => refused === null,
    (error: unknown) => !wroteNothing(error),
  )
  if (!mayBePaid) return
  for (let attempt = 1; attempt <= TAKE_BACK_TRIES; attempt++) {
    try {
      if (await refund(sql, due)) return
    } catch (error) {
      log("warn", "credit_refund_failed", {
        requestId: due.requestId,
        count: attempt,
        reason: (error as Error).message,
      })
    }
    await new Promise((resolve) => setTimeout(resolve, attempt * 1_000))
  }
}
