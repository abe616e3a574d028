import { createStatementGroups } from "../database/statement-groups.ts"
import type { Sql } from "../database/types.ts"
import { countHiveCalls, takeUnits } from "./allowances.ts"
import type { FixedWindow } from "./limits/fixed-window.ts"
import { checkLimit } from "./limits/limiter.ts"

/** Counts a workspace's Hive calls per UTC day. Exact over all processes. A refused call is not counted. */
export interface HiveAllowance {
  /** Throws AllowanceUnavailable when the store fails. The call must not run then, though it may have been counted. */
  take(workspaceId: number, perDay: number): Promise<HiveAnswer>
  used(workspaceId: number): Promise<number>
}

interface HiveAnswer {
  allowed: boolean
  used: number
  resetsAt: string
}

/** The store of the daily allowance failed, so no call is granted. Answered as 503. */
export class AllowanceUnavailable extends Error {
  override name = "AllowanceUnavailable"
}

/** Counts in Redis. The UTC day is that of the calling process. */
export function hiveInStore(days: FixedWindow): HiveAllowance {
  const take = async (workspaceId: number, perDay: number) => {
    const { allowed, used, resetsAt } = await days.take(String(workspaceId), perDay)
    return { allowed, used, resetsAt: resetsAt.toISOString() }
  }
  return {
    take: (workspaceId, perDay) => granted(perDay, () => take(workspaceId, perDay)),
    // A limit of 0 grants nothing, so this only reads.
    used: async (workspaceId) => (await granted(0, () => take(workspaceId, 0))).used,
  }
}

/** Counts in PostgreSQL, by its UTC day. Calls that arrive while others are being counted share a statement. */
export function hiveInPostgres(sql: Sql): HiveAllowance {
  const takeInGroup = createStatementGroups<HiveCall, HiveAnswer>((calls, waits) => takeAll(sql, calls, waits))
  return {
    take: (workspaceId, perDay) => granted(perDay, () => takeInGroup({ workspaceId, perDay })),
    used: (workspaceId) => granted(0, () => countHiveCalls(sql, workspaceId)),
  }
}

async function granted<Answer>(perDay: number, take: () => Promise<Answer>): Promise<Answer> {
  checkLimit(perDay)
  try {
    return await take()
  } catch (cause) {
    throw new AllowanceUnavailable("the daily Hive allowance cannot be counted just now", { cause })
  }
}

interface HiveCall {
  workspaceId: number
  perDay: number
}

/**
 * The results are undefined for locked workspaces, and for calls whose limit differs from the limit of the workspace's
 * first call.
 */
async function takeAll(sql: Sql, calls: readonly HiveCall[], waits: boolean): Promise<(HiveAnswer | undefined)[]> {
  const byWorkspace = Map.groupBy(calls, ({ workspaceId }) => workspaceId)
  const wanted = [...byWorkspace].map(([workspaceId, [first, ...otherCalls]]) => {
    const limit = first!.perDay
    const count = 1 + otherCalls.filter(({ perDay }) => perDay === limit).length
    return { workspaceId, allowance: "hive" as const, limit, count }
  })
  const taken = await takeUnits(sql, wanted, waits)
  const results = new Map(
    wanted.map(({ workspaceId, limit }, at) => [workspaceId, { limit, taken: taken[at], answered: 0 }]),
  )
  return calls.map(({ workspaceId, perDay }) => {
    const result = results.get(workspaceId)
    if (!result?.taken || perDay !== result.limit) return undefined
    const { granted, used, resetsAt } = result.taken
    const place = ++result.answered
    const allowed = place <= granted
    return { allowed, used: allowed ? used - granted + place : used, resetsAt }
  })
}
