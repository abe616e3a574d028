import type { Caller } from "../../../src/access/caller.ts"
import type { Context } from "../../../src/core/operation.ts"
import type { Sql } from "../../../src/database/types.ts"
import type { Observation } from "../../../src/kinds.ts"
import { Fault } from "../../../src/lib/faults.ts"
import { getPortfolioOverview } from "../../../src/overview/operations/portfolio.ts"
import { getToday } from "../../../src/overview/operations/today.ts"
import { freshDatabase } from "../../database.ts"
import { ask, contextOf, newWorkspace } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"

const NOW = new Date("2025-11-20T12:00:00Z")
export const COMPLETE = { end: { pages: 1, complete: true, empty: false } }
/** Older than the tested days, so that the feed is known to cover them. */
export const BEFORE = { id: "0", at: new Date("2025-11-15T08:00:00Z") }

let sql: Sql
let workspaceId: number

export async function begin() {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
}

export const track = (rest: object = {}) =>
  trackOwn(sql, { workspaceId, iosId: "10001", keywords: ["tea", "mate"], ...rest })
export const store = (...readings: Observation[]) => record(sql, readings, () => NOW)
export const context = (caller: Partial<Caller> = {}, now = NOW): Context => {
  const ctx = contextOf(sql, workspaceId, now)
  return { ...ctx, caller: { ...ctx.caller, scopes: ["apps:read", "revenue:read"], ...caller } }
}
export const today = (appId: string, input: object = {}, ctx = context()) => ask(getToday, ctx, { appId, ...input })
export const portfolio = (input: object = {}, ctx = context()) => ask(getPortfolioOverview, ctx, input as never)

export interface Row {
  key: string
  platform: string | null
  country: string | null
}
// biome-ignore lint/suspicious/noExplicitAny: rows of an answer
export const figure = (answer: any, key: string, country = "us", platform = "ios") =>
  answer.figures.find((row: Row) => row.key === key && row.country === country && row.platform === platform)

export async function refusal(run: () => Promise<unknown>): Promise<[string, unknown]> {
  try {
    await run()
  } catch (error) {
    if (error instanceof Fault) return [error.code, error.extra]
    throw error
  }
  throw new Error("nothing was refused")
}
