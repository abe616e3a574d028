import { createStatementGroups } from "../database/statement-groups.ts"
import type { Sql } from "../database/types.ts"
import { type ChargeResult, chargeAll, checkCost, type Due } from "./credits.ts"
import { chargeWhereKept, type KeptDue } from "./kept-charges.ts"

/** Charges a call; as exact as `charge`, and settled when its charge is committed. Null where an answer's basis has changed. */
export type ChargeCall = <D extends Due>(due: D) => Promise<ChargeResult | (D extends KeptDue ? null : never)>

/** Charges that come while others are under way share a statement and a commit. */
export function createChargeGroups(sql: Sql): ChargeCall {
  const together = createStatementGroups<Due | KeptDue, ChargeResult | null>((dues, waits) =>
    dues.some((due) => "basis" in due) ? chargeWhereKept(sql, dues, waits) : chargeAll(sql, dues, waits),
  )
  return (async (due: Due | KeptDue) => {
    checkCost(due)
    return await together(due)
  }) as ChargeCall
}
