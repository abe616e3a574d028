import type { Fragment } from "postgres"
import type { Db, Sql } from "../database/types.ts"
import { Fault } from "../faults.ts"
import type { Budget, Caller, Credits } from "./caller.ts"

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

/** All or nothing, exact over all processes. Pass a transaction to let the charge stand or fall with it. */
export async function charge(sql: Db, due: Due): Promise<ChargeResult> {
  checkCost(due)
  const [row] = await sql<ChargeRow[]>`
    select refused, month, used, from_pack as "fromPack", quota, pack, key_used as "keyUsed", budget
    from charge(${due.workspaceId}, ${due.keyId}, ${due.cost}, ${due.operation}, ${due.requestId})`
  const { refused, month, used, fromPack, quota, pack, keyUsed, budget } = row!
  const figures: Figures = [month, used, fromPack, quota, pack, keyUsed, budget]
  return chargedBy(refused, figures, { ofAccount: 0, ofKey: 0 })
}

/** Many charges in one statement, each paid or refused. Without `waits` those of locked accounts are undefined. */
export async function chargeAll(sql: Sql, dues: readonly Due[], waits: boolean): Promise<(ChargeResult | undefined)[]> {
  if (areOneOfEach(dues)) return resultsOf(dues, await chargeEach(sql, dues, waits))
  const [group] = await sql<ChargedGroup[]>`
    select paid, decided
    from charge_many(
      ${numbers(dues, ({ workspaceId }) => workspaceId)}::int[],
      ${numbers(dues, ({ keyId }) => keyId)}::int[],
      ${numbers(dues, ({ cost }) => cost)}::int[],
      ${dues.map(({ operation }) => operation)}::text[],
      ${dues.map(({ requestId }) => requestId)}::text[],
      ${waits}
    )`
  return resultsOf(dues, group)
}

async function chargeEach(sql: Sql, dues: readonly Due[], waits: boolean): Promise<ChargedGroup | undefined> {
  const [group] = await sql<ChargedGroup[]>`
    select paid, decided
    from charge_each(
      ${numbers(dues, ({ workspaceId }) => workspaceId)}::int[],
      ${numbers(dues, ({ keyId }) => keyId)}::int[],
      ${restOf(sql, dues)},
      ${waits}
    )`
  return group
}

/** Then charge_each takes less than charge_many, and gives the same. */
function areOneOfEach(dues: readonly Due[]): boolean {
  return dues.length > 1 && new Set(dues.map(({ workspaceId }) => workspaceId)).size === dues.length
}

/** What charges are of, beside whom. */
function restOf(sql: Sql, dues: readonly Due[]): Fragment {
  return sql`
      ${numbers(dues, ({ cost }) => cost)}::int[],
      ${dues.map(({ operation }) => operation)}::text[],
      ${dues.map(({ requestId }) => requestId)}::text[]`
}

/** As a list of PostgreSQL's. */
function numbers<One>(all: readonly One[], numberOf: (one: One) => number): string {
  return `{${all.map(numberOf).join(",")}}`
}

function resultsOf(dues: readonly Due[], group: ChargedGroup | undefined): (ChargeResult | undefined)[] {
  const results = paidResults(dues, group?.paid ?? [])
  for (const [place, refused, ...figures] of group?.decided ?? [])
    results[place - 1] = chargedBy(refused, figures, { ofAccount: 0, ofKey: 0 })
  return results
}

/** What charge_many gives: how keys stood whose charges were all paid, and how each other charge ended. */
interface ChargedGroup {
  paid: [workspaceId: number, keyId: number, ...figures: Figures][] | null
  decided: [place: number, refused: ChargeResult["refused"], ...figures: Figures][] | null
}

type Figures = [
  month: string,
  used: number,
  fromPack: number,
  quota: number,
  pack: number,
  keyUsed: number,
  budget: number | null,
]

/** The charges of a workspace were paid in their order. */
function paidResults(dues: readonly Due[], paid: NonNullable<ChargedGroup["paid"]>): (ChargeResult | undefined)[] {
  const keys = new Map(paid.map(([workspaceId, keyId, ...figures]) => [keyId, { workspaceId, figures, owed: 0 }]))
  const accounts = new Map<number, number>()
  return dues.map(({ workspaceId, keyId, cost }) => {
    const key = keys.get(keyId)
    if (key?.workspaceId !== workspaceId) return undefined
    const ofAccount = (accounts.get(workspaceId) ?? 0) + cost
    accounts.set(workspaceId, ofAccount)
    key.owed += cost
    return chargedBy(null, key.figures, { ofAccount, ofKey: key.owed })
  })
}

/** How an account and a key that stood so stand after what was charged. */
function chargedBy(
  refused: ChargeResult["refused"],
  [month, used, fromPack, quota, pack, keyUsed, budget]: Figures,
  { ofAccount, ofKey }: { ofAccount: number; ofKey: number },
): ChargeResult {
  const ofPack = Math.max(0, ofAccount - Math.max(0, quota - (used - fromPack)))
  const after = { used: used + ofAccount, fromPack: fromPack + ofPack }
  return {
    refused,
    credits: balanceIn(month, after, quota, pack - ofPack),
    budget: budget === null ? null : { used: keyUsed + ofKey, limit: budget },
  }
}

export function checkCost({ cost }: Due): void {
  if (!Number.isSafeInteger(cost) || cost < 1) throw new RangeError(`a charge cannot be ${cost} credits`)
}

/** Gives back what a request of the last hour was charged, once; false when there is nothing to give back. */
export async function refund(sql: Db, { workspaceId, keyId, requestId }: Due): Promise<boolean> {
  const [row] = await sql<{ refunded: boolean }[]>`
    select refund(${workspaceId}, ${keyId}, ${requestId}) as refunded`
  return row!.refunded
}

/** The 402 of a refused charge, with the figures of whichever ran out: the workspace's or the key's. */
export function refusal({ refused, credits, budget }: ChargeResult): Fault {
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

/** Throws what cannotPay says. */
export function checkPayable(caller: Caller, least: number): void {
  const short = cannotPay(caller, least)
  if (short) throw short
}

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
export function balanceOf({ month, thisMonth, quota, pack, used, fromPack }: AccountFigures): Balance {
  if (month < thisMonth) return balanceIn(thisMonth, { used: 0, fromPack: 0 }, quota, pack)
  return balanceIn(month, { used, fromPack }, quota, pack)
}

function balanceIn(
  month: string,
  { used, fromPack }: Pick<AccountFigures, "used" | "fromPack">,
  quota: number,
  pack: number,
): Balance {
  // a quota lowered below what was used leaves nothing of itself, and the packs untouched
  const remaining = Math.max(0, quota - (used - fromPack)) + pack
  return { used, limit: used + remaining, remaining, resetsAt: endOf(month), packCredits: pack }
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

/** What is said of credits where nobody is known. */
export const NOBODY = { "x-credits-used": "0", "x-credits-limit": "0", "x-credits-remaining": "0" }

let month = { from: 0, until: 0, resetsAt: "" }

/** Remembered for the month it belongs to: every sandbox read carries it. */
export function nextMonth(now: Date): string {
  const at = now.getTime()
  if (at < month.from || at >= month.until) {
    const resetsAt = monthAfter(now)
    month = { from: Date.UTC(now.getUTCFullYear(), now.getUTCMonth()), until: Date.parse(resetsAt), resetsAt }
  }
  return month.resetsAt
}

let ended = { month: "", at: "" }

/** When a month of a row ends. They are nearly all of the same one. */
function endOf(month: string): string {
  if (ended.month !== month) ended = { month, at: monthAfter(new Date(month)) }
  return ended.at
}

interface ChargeRow {
  refused: ChargeResult["refused"]
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
