import type { Db, Sql } from "../database/types.ts"
import { Fault } from "../faults.ts"
import type { Budget, Caller, Credits } from "./caller.ts"

/** What a call owes. */
export interface Due {
  workspaceId: number
  keyId: number
  /** Credits, a whole number of 1 or more. */
  cost: number
  operation: string
  requestId: string
}

/** The workspace's credits with what is left of its packs. */
export interface Balance extends Credits {
  packCredits: number
}

/** A charge as the database decided it, with account and key as they stand after it. */
export interface Charged {
  refused: "credits_exhausted" | "key_budget_reached" | null
  credits: Balance
  budget: Budget | null
}

/** A row of account; `month` and `thisMonth` are first days, YYYY-MM-DD. */
export interface AccountFigures {
  month: string
  thisMonth: string
  used: number
  fromPack: number
  quota: number
  pack: number
}

/**
 * Takes credits from the workspace and the key, all or nothing, exact over any number of processes. Nothing is taken
 * when refused. Pass a transaction to let the charge stand or fall with it. Throws RangeError for a cost that is no
 * whole number of 1 or more.
 */
export async function charge(sql: Db, due: Due): Promise<Charged> {
  if (!Number.isSafeInteger(due.cost) || due.cost < 1) throw new RangeError(`a charge cannot be ${due.cost} credits`)
  const [row] = await sql<ChargeRow[]>`
    select refused, month, used, from_pack as "fromPack", quota, pack, key_used as "keyUsed", budget
    from charge(${due.workspaceId}, ${due.keyId}, ${due.cost}, ${due.operation}, ${due.requestId})`
  const { refused, month, keyUsed, budget, ...account } = row!
  return {
    refused,
    credits: balanceOf({ ...account, month, thisMonth: month }),
    budget: budget === null ? null : { used: keyUsed, limit: budget },
  }
}

/** Gives back what a request of the last hour was charged, once; false when there is nothing to give back. */
export async function refund(sql: Db, { workspaceId, keyId, requestId }: Due): Promise<boolean> {
  const [row] = await sql<{ refunded: boolean }[]>`
    select refund(${workspaceId}, ${keyId}, ${requestId}) as refunded`
  return row!.refunded
}

/** The 402 of a refused charge, with the figures of whichever ran out: the workspace's or the key's. */
export function refusal({ refused, credits, budget }: Charged): Fault {
  const code = refused ?? "credits_exhausted"
  const { used, limit } = code === "key_budget_reached" && budget ? budget : credits
  return new Fault(code, { limit, used, resetsAt: credits.resetsAt })
}

/** The 402 of a caller that cannot pay `least` credits by the figures last known, else null. A call that costs 0 can always be paid. */
export function cannotPay({ credits, budget }: Caller, least: number): Fault | null {
  if (least === 0) return null
  const { used, limit, resetsAt } = credits
  if (budget && budget.used + least > budget.limit) return new Fault("key_budget_reached", { ...budget, resetsAt })
  if (least > credits.remaining) return new Fault("credits_exhausted", { limit, used, resetsAt })
  return null
}

/** The workspace's credits as the database holds them now. */
export async function readCredits(sql: Sql, { workspaceId }: Pick<Caller, "workspaceId">): Promise<Balance> {
  const [row] = await sql<AccountFigures[]>`
    select month, date_trunc('month', now() at time zone 'utc')::date as "thisMonth",
      used, from_pack as "fromPack", quota, pack
    from account
    where workspace_id = ${workspaceId}`
  return balanceOf(row!)
}

/** The same, and the caller's own figures with it, so that the answer and its headers agree. */
export async function refreshCredits(sql: Sql, caller: Caller): Promise<Balance> {
  const balance = await readCredits(sql, caller)
  const { packCredits, ...credits } = balance
  caller.credits = credits
  caller.hasPack = packCredits > 0
  return balance
}

/** An account's figures in its current month: a row of an earlier month has nothing used. */
export function balanceOf({ month, thisMonth, quota, pack, ...counted }: AccountFigures): Balance {
  const { used, fromPack } = month < thisMonth ? { used: 0, fromPack: 0 } : counted
  // a quota lowered below what was used leaves nothing of itself, and the packs untouched
  const remaining = Math.max(0, quota - (used - fromPack)) + pack
  const resetsAt = monthAfter(new Date(month < thisMonth ? thisMonth : month))
  return { used, limit: used + remaining, remaining, resetsAt, packCredits: pack }
}

/** The x-credits-* headers, a fresh object; without a known workspace 0 0 0 and the next month's start. */
export function creditHeaders(credits: Credits | null, now: Date): Record<string, string> {
  if (!credits) return { ...NOBODY, "x-credits-reset": nextMonth(now) }
  return {
    "x-credits-used": String(credits.used),
    "x-credits-limit": String(credits.limit),
    "x-credits-remaining": String(credits.remaining),
    "x-credits-reset": credits.resetsAt,
  }
}

const NOBODY = { "x-credits-used": "0", "x-credits-limit": "0", "x-credits-remaining": "0" }

let month = { from: 0, until: 0, resetsAt: "" }

/** Remembered for the month it belongs to: every sandbox read carries it. */
function nextMonth(now: Date): string {
  const at = now.getTime()
  if (at < month.from || at >= month.until) {
    const resetsAt = monthAfter(now)
    month = { from: Date.UTC(now.getUTCFullYear(), now.getUTCMonth()), until: Date.parse(resetsAt), resetsAt }
  }
  return month.resetsAt
}

interface ChargeRow {
  refused: Charged["refused"]
  month: string
  used: number
  fromPack: number
  quota: number
  pack: number
  keyUsed: number
  budget: number | null
}

function monthAfter(at: Date): string {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)).toISOString()
}
