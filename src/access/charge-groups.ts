import { createStatementGroups } from "../database/statement-groups.ts"
import type { Sql } from "../database/types.ts"
import { type ChargeResult, chargeAll, checkCost, type Due } from "./credits.ts"

/** Charges a call; as exact as `charge`, and settled when its charge is committed. */
export type ChargeCall = (due: Due) => Promise<ChargeResult>

/** Charges that come while others are under way share a statement and a commit. */
export function createChargeGroups(sql: Sql): ChargeCall {
  const together = createStatementGroups<Due, ChargeResult>((dues, waits) => chargeAll(sql, dues, waits))
  return async (due) => {
    checkCost(due)
    return await together(due)
  }
}
