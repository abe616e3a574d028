import { json } from "../database/json.ts"
import { createStatementGroups } from "../database/statement-groups.ts"
import type { Db, Sql } from "../database/types.ts"
import { Fault } from "../lib/faults.ts"
import type { Budget, Caller, Credits } from "./caller.ts"

// The SQL functions balance, spend and charge define how credits are counted and spent. This file calculates nothing.

export interface Due {
  workspaceId: number
  keyId: number
  /** Credits, a whole number of 1 or more. */
  cost: number
  operation: string
  requestId: string
}

export interface Balance extends Credits {
  packCredits: number
}

export interface ChargeResult {
  refused: "credits_exhausted" | "key_budget_reached" | null
  /** The balance after the charge. */
  credits: Balance
  /** The key's budget after the charge. Null if it has none. */
  budget: Budget | null
}

/** A row with the columns of balanceColumns. */
export interface BalanceRow {
  used: number
  total: number
  remaining: number
  packCredits: number
  resetsAt: Date
  /** Null for a balance without a key. */
  keyUsed: number | null
  budget: number | null
}

/** Returns the columns of the SQL function balance or charge. Its alias must be `b`. */
export function balanceColumns(sql: Db) {
  return sql`
    b.used, b.total, b.remaining, b.pack as "packCredits", b.resets_at as "resetsAt", b.key_used as "keyUsed", b.budget`
}

export function toBalance({ used, total, remaining, packCredits, resetsAt }: BalanceRow): Balance {
  return { used, limit: total, remaining, resetsAt: resetsAt.toISOString(), packCredits }
}

export function toBudget({ keyUsed, budget }: BalanceRow): Budget | null {
  return budget === null ? null : { used: keyUsed ?? 0, limit: budget }
}

/**
 * Charges or refuses each due in one statement, exact over all processes. Pass a transaction to commit or roll back the
 * charges with it. Without `waits`, the results of locked accounts are undefined; with it, an unknown account or key is
 * an error.
 */
export async function charge(sql: Db, dues: readonly Due[], waits: boolean): Promise<(ChargeResult | undefined)[]> {
  for (const due of dues) checkCost(due)
  const rows = await sql<(BalanceRow & { place: number; refused: ChargeResult["refused"] })[]>`
    select b.place, b.refused, ${balanceColumns(sql)}
    from charge(${json(sql, dues.map(toRecord))}, ${waits}) b
    order by b.place
    limit ${dues.length}`
  const results: (ChargeResult | undefined)[] = Array(dues.length).fill(undefined)
  for (const row of rows)
    results[row.place - 1] = { refused: row.refused, credits: toBalance(row), budget: toBudget(row) }
  return results
}

function toRecord({ workspaceId, keyId, cost, operation, requestId }: Due) {
  return { workspace_id: workspaceId, key_id: keyId, cost, operation, request_id: requestId }
}

function checkCost({ cost }: Due): void {
  if (!Number.isSafeInteger(cost) || cost < 1) throw new RangeError(`a charge cannot be ${cost} credits`)
}

/** Charges a call and returns once the charge is committed. */
export type ChargeCall = (due: Due) => Promise<ChargeResult>

/** Charges that arrive while others are running share a statement and a commit. */
export function createChargeCall(sql: Sql): ChargeCall {
  const chargeInGroup = createStatementGroups<Due, ChargeResult>((dues, waits) => charge(sql, dues, waits))
  return async (due) => {
    checkCost(due)
    return await chargeInGroup(due)
  }
}

/** Refunds the charge of a request of the last hour, once. False if there is nothing to refund. */
export async function refund(sql: Db, { workspaceId, keyId, requestId }: Due): Promise<boolean> {
  const [row] = await sql<[{ refunded: boolean }]>`
    select refund(${workspaceId}, ${keyId}, ${requestId}) as refunded`
  return row.refunded
}

/**
 * Returns the 402 of a refused charge, with the figures of the exhausted limit: that of the workspace or that of the
 * key.
 */
export function refusal({ refused, credits, budget }: ChargeResult): Fault {
  return toFault(refused ?? "credits_exhausted", credits, budget)
}

function toFault(code: NonNullable<ChargeResult["refused"]>, credits: Credits, budget: Budget | null): Fault {
  const { used, limit } = code === "key_budget_reached" && budget ? budget : credits
  return new Fault(code, { limit, used, resetsAt: credits.resetsAt })
}

/**
 * Returns the 402 fault if the caller's last known figures cannot pay `least` credits, otherwise null. A call that
 * costs 0 is always allowed. This check only saves work that `charge` would refuse.
 */
export function cannotPay({ credits, budget }: Caller, least: number): Fault | null {
  if (least === 0) return null
  if (budget && budget.used + least > budget.limit) return toFault("key_budget_reached", credits, budget)
  if (least > credits.remaining) return toFault("credits_exhausted", credits, budget)
  return null
}

/** Throws the fault of cannotPay. */
export function checkPayable(caller: Caller, least: number): void {
  const fault = cannotPay(caller, least)
  if (fault) throw fault
}

export async function readCredits(sql: Sql, { workspaceId }: Pick<Caller, "workspaceId">): Promise<Balance> {
  const [row] = await sql<[BalanceRow]>`
    select ${balanceColumns(sql)}
    from account a
    cross join lateral balance(a, null) b
    where a.workspace_id = ${workspaceId}`
  return toBalance(row)
}

/** Reads the credits and updates the caller's copy, so that the answer and its headers agree. */
export async function refreshCredits(sql: Sql, caller: Caller): Promise<Balance> {
  const balance = await readCredits(sql, caller)
  const { packCredits, ...credits } = balance
  caller.credits = credits
  caller.hasPack = packCredits > 0
  return balance
}

/**
 * Returns the x-credits-* headers as a new object. If the workspace is unknown, they are 0, 0, 0 and the start of the
 * next month.
 */
export function creditHeaders(credits: Credits | null, now: Date): Record<string, string> {
  if (!credits) return { ...NOBODY, "x-credits-reset": nextMonth(now) }
  return {
    "x-credits-used": String(credits.used),
    "x-credits-limit": String(credits.limit),
    "x-credits-remaining": String(credits.remaining),
    "x-credits-reset": credits.resetsAt,
  }
}

/** The figures in a response to an unknown caller. */
const NOBODY = { "x-credits-used": "0", "x-credits-limit": "0", "x-credits-remaining": "0" }

let month = { from: 0, until: 0, resetsAt: "" }

/** Returns the start of the next month. Cached for the month, because every sandbox response has it in its headers. */
function nextMonth(now: Date): string {
  const at = now.getTime()
  if (at < month.from || at >= month.until) {
    const until = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)
    const from = Date.UTC(now.getUTCFullYear(), now.getUTCMonth())
    month = { from, until, resetsAt: new Date(until).toISOString() }
  }
  return month.resetsAt
}
