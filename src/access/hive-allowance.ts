import { createStatementGroups } from "../database/statement-groups.ts"
import type { Sql } from "../database/types.ts"
import type { FixedWindow } from "./limits/fixed-window.ts"
import { checkLimit } from "./limits/limiter.ts"

/** A workspace's Hive calls of one UTC day. Exact over all processes; a refused call is not counted. */
export interface HiveAllowance {
  /** Throws AllowanceUnavailable when the store fails: the call must not go ahead, though it may have been counted. */
  take(workspaceId: number, perDay: number): Promise<HiveAnswer>
  used(workspaceId: number): Promise<number>
}

interface HiveAnswer {
  allowed: boolean
  used: number
  resetsAt: string
}

/** The store of the daily allowance failed, so no call is granted; answered as 503. */
export class AllowanceUnavailable extends Error {
  override name = "AllowanceUnavailable"
}

/** Counted in Redis; the day is the calling process'. */
export function hiveInStore(days: FixedWindow): HiveAllowance {
  const take = async (workspaceId: number, perDay: number) => {
    const { allowed, used, resetsAt } = await days.take(String(workspaceId), perDay)
    return { allowed, used, resetsAt: resetsAt.toISOString() }
  }
  return {
    take: (workspaceId, perDay) => granted(perDay, () => take(workspaceId, perDay)),
    // nothing is ever granted out of 0, so this only reads
    used: async (workspaceId) => (await granted(0, () => take(workspaceId, 0))).used,
  }
}

/** Counted in Postgres, table hive_day; the day is the database's. Calls that come while others are counted share a statement. */
export function hiveInPostgres(sql: Sql): HiveAllowance {
  const together = createStatementGroups<HiveCall, HiveAnswer>((calls, waits) => takeAll(sql, calls, waits))
  return {
    take: (workspaceId, perDay) => granted(perDay, () => together({ workspaceId, perDay })),
    used: async (workspaceId) => (await granted(0, () => readUsed(sql, workspaceId))).used,
  }
}

async function granted(perDay: number, take: () => Promise<HiveAnswer>): Promise<HiveAnswer> {
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

/** Calls of a workspace that go by another allowance than the first of it are undefined, as those of locked rows are. */
async function takeAll(sql: Sql, calls: readonly HiveCall[], waits: boolean): Promise<(HiveAnswer | undefined)[]> {
  const wanted = new Map<number, { perDay: number; count: number }>()
  const places = calls.map(({ workspaceId, perDay }) => {
    const own = wanted.get(workspaceId) ?? { perDay, count: 0 }
    wanted.set(workspaceId, own)
    return own.perDay === perDay ? ++own.count : 0
  })
  const rows = await sql<{ workspaceId: number; taken: number; before: number; resetsOn: string }[]>`
    select workspace_id as "workspaceId", taken, before, resets_on as "resetsOn"
    from take_hive_days(
      ${[...wanted.keys()]}::int[], ${[...wanted.values()].map(({ count }) => count)}::int[],
      ${[...wanted.values()].map(({ perDay }) => perDay)}::int[], ${waits}
    )
    order by workspace_id
    limit ${wanted.size}`
  const found = new Map(rows.map((row) => [row.workspaceId, row]))
  return calls.map(({ workspaceId, perDay }, at) => {
    const [row, place] = [found.get(workspaceId), places[at]!]
    if (!row || place === 0) return undefined
    const { taken, before, resetsOn } = row
    const allowed = place <= taken
    return { allowed, used: allowed ? before + place : Math.max(before, perDay), resetsAt: startOf(resetsOn) }
  })
}

async function readUsed(sql: Sql, workspaceId: number): Promise<HiveAnswer> {
  const [row] = await sql<{ used: number; resetsOn: string }[]>`
    select (today.day + 1)::text as "resetsOn", coalesce((
      select used
      from hive_day
      where workspace_id = ${workspaceId}::int and hive_day.day = today.day
    ), 0) as used
    from (select (now() at time zone 'utc')::date as day) today`
  return { allowed: false, used: row!.used, resetsAt: startOf(row!.resetsOn) }
}

const startOf = (day: string) => `${day}T00:00:00.000Z`
