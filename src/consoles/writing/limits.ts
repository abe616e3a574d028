import { AccessProblem } from "../../access/problem.ts"
import { keysOf } from "../../lib/objects.ts"

/**
 * Limits that every write of an account must keep, even if a person approves the write. Money is in the account's
 * currency.
 */
export interface WriteLimits {
  /** Maximum number of writes per UTC day. Failed writes do not count. */
  writesADay: number
  /** Maximum relative change of a bid or budget in one write: 0.5 means by half of the current value. */
  step: number
  leastBid: number
  mostBid: number
  mostBudget: number
}

const USUAL: WriteLimits = { writesADay: 20, step: 0.5, leastBid: 0.1, mostBid: 100, mostBudget: 10_000 }

export const WRITE_LIMIT_NAMES = keysOf(USUAL)

export function limitsOf(overrides: Partial<WriteLimits>): WriteLimits {
  return { ...USUAL, ...overrides }
}

/** Parses NAME=VALUE. Throws AccessProblem for an unknown name or an invalid value. */
export function limitIn(typed: string): Partial<WriteLimits> {
  const [name = "", text = "", ...more] = typed.split("=")
  const value = Number(text)
  if (!WRITE_LIMIT_NAMES.includes(name as keyof WriteLimits) || more.length > 0)
    throw new AccessProblem(
      `a limit is written NAME=VALUE, such as writesADay=5; the names are ${WRITE_LIMIT_NAMES.join(", ")}`,
    )
  if (text.trim() === "" || !(value >= 0 && value <= 1_000_000))
    throw new AccessProblem(`${name} must be a number from 0 to 1,000,000`)
  return { [name]: value }
}
