import { randomBytes } from "node:crypto"
import { type ChargeResult, charge, type Due } from "../../src/access/credits.ts"
import { createIdentify, type Identify, type IdentifyOptions } from "../../src/access/identify.ts"
import { createKey, type NewKey } from "../../src/access/key-register.ts"
import { createWorkspace, type NewWorkspace } from "../../src/access/workspaces.ts"
import type { Db, Sql } from "../../src/database/types.ts"
import { Fault, type FaultCode } from "../../src/lib/faults.ts"
import { silentLog } from "../../src/lib/log.ts"

let workspaceCount = 0

/** Creates a Studio workspace with a unique name. */
export function someWorkspace(sql: Sql, overrides: Partial<NewWorkspace> = {}) {
  return createWorkspace(sql, { name: `workspace ${++workspaceCount}`, plan: "studio", ...overrides })
}

/** Creates a live key of that workspace. */
export function someKey(sql: Sql, workspace: { name: string }, overrides: Partial<NewKey> = {}) {
  return createKey(sql, { workspace: workspace.name, kind: "live", name: "key", ...overrides }, randomBytes)
}

/** Creates an Identify with an empty cache. A test may pass the clock of its cache. */
export function freshIdentify(sql: Sql, options: Partial<IdentifyOptions> = {}): Identify {
  return createIdentify({ sql, now: () => new Date(), log: silentLog, ...options })
}

export const bearing = (secret: string) => ({ authorization: `Bearer ${secret}`, apiKey: null })

/** Returns the fault that a promise rejects with. Fails if the promise resolves or rejects with something else. */
export async function faultOf(call: Promise<unknown>): Promise<Fault> {
  const outcome = await call.catch((error: unknown) => error)
  if (outcome instanceof Fault) return outcome
  throw new Error(`no fault but ${outcome instanceof Error ? outcome.stack : JSON.stringify(outcome)}`)
}

/** Returns "ok", or the code of the fault. */
export async function outcomeOf(call: Promise<unknown>): Promise<FaultCode | "ok"> {
  return await call.then(
    () => "ok" as const,
    (error: unknown) => {
      if (error instanceof Fault) return error.code
      throw error
    },
  )
}

/** Wraps the client so that `count` returns the number of key look-ups. */
export function countingLookUps(sql: Sql): { sql: Sql; count: () => number } {
  let count = 0
  const counted = new Proxy(sql, {
    apply(target, self, args) {
      if (String(args[0]?.raw?.join("")).includes(`as "boughtPack"`)) count++
      return Reflect.apply(target, self, args)
    },
  })
  return { sql: counted, count: () => count }
}

/** Charges a single due. */
export async function chargeAlone(sql: Db, due: Due): Promise<ChargeResult> {
  const [result] = await charge(sql, [due], true)
  return result!
}

/** Creates a workspace with credits and a key. */
export async function somePayer(sql: Sql, { credits = 100_000, pack = 0, monthlyBudget }: Partial<Means> = {}) {
  const workspace = await someWorkspace(sql, { overrides: { credits }, pack })
  const { key } = await someKey(sql, workspace, monthlyBudget === undefined ? {} : { monthlyBudget })
  const due = (cost = 1): Due => {
    const requestId = `group ${++requests}`
    return { workspaceId: workspace.id, keyId: key.id, cost, operation: "test", requestId }
  }
  return { workspace, due }
}

export interface Means {
  credits: number
  pack: number
  monthlyBudget: number | undefined
}

let requests = 0
