import type { Caller } from "../access/caller.ts"
import { type Charged, charge, type Due, refund, refusal } from "../access/credits.ts"
import type { Identify } from "../access/identify.ts"
import { type Gate, wroteNothing } from "../database/gate.ts"
import type { Sql } from "../database/types.ts"
import { Fault } from "../faults.ts"
import type { Log } from "../log.ts"
import { Nothing, type Operation, Pending, Settled } from "../operation.ts"

interface ChargeParts {
  sql: Sql
  gate: Gate
  identify: Identify
  log: Log
}

/** A call that has come to its outcome. */
interface EndedCall {
  requestId: string
  caller: Caller
  operation: Operation
  input: Record<string, unknown>
}

/**
 * Charges a call for its outcome, once, within `leftMs`, and gives the credits it cost. Throws credits_exhausted or
 * key_budget_reached when refused, and then nothing was taken. Either way the caller's figures are those after it.
 */
export async function payFor(parts: ChargeParts, call: EndedCall, outcome: unknown, leftMs: number): Promise<number> {
  if (outcome instanceof Settled) return takeOver(parts, call.caller, outcome)
  const cost = priceOf(call.operation, call.input, outcome)
  if (cost > 0) await pay(parts, call, cost, leftMs)
  return cost
}

function takeOver({ identify }: ChargeParts, caller: Caller, { paid, cost }: Settled): number {
  if (paid) identify.charged(caller, paid)
  if (paid?.refused) throw refusal(paid)
  return cost
}

/** A Hive answer with nothing measured yet costs 1; a plain fault costs nothing; anything else its price. */
function priceOf({ id, price, hive }: Operation, input: Record<string, unknown>, outcome: unknown): number {
  const empty = outcome instanceof Nothing || outcome instanceof Pending
  if (empty && hive) return 1
  if (outcome instanceof Nothing && outcome.answer instanceof Fault) return 0
  if (typeof price === "number") return price
  if (!price.of) throw new Error(`${id} has not charged its call`)
  return price.of(input, empty ? outcome.answer : outcome)
}

async function pay(parts: ChargeParts, call: EndedCall, cost: number, leftMs: number): Promise<void> {
  const { caller, operation, requestId } = call
  const due = { workspaceId: caller.workspaceId, keyId: caller.keyId, cost, operation: operation.id, requestId }
  let charging: Promise<Charged> | undefined
  const begin = () => {
    charging = charge(parts.sql, due)
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
const NOT_DONE = Symbol("the charge was rolled back")

/**
 * The caller is told that nothing was charged, but a charge whose answer was late or lost may stand all the same, or land
 * a moment later: what the request paid is given back. Refunds go by request, so none is made twice.
 */
async function takeBack({ sql, log }: ChargeParts, due: Due, charging: Promise<Charged>): Promise<void> {
  const paid = await charging.catch((error: unknown) => (wroteNothing(error) ? NOT_DONE : null))
  if (paid === NOT_DONE || paid?.refused) return
  for (let attempt = 1; attempt <= TAKE_BACK_TRIES; attempt++) {
    try {
      if (await refund(sql, due)) return
    } catch (error) {
      log("warn", "refund_failed", { requestId: due.requestId, count: attempt, reason: (error as Error).message })
    }
    await new Promise((resolve) => setTimeout(resolve, attempt * 1_000))
  }
}
