import type { Sql } from "../database/types.ts"
import type { FixedWindow } from "./limits/fixed-window.ts"
import { checkLimit } from "./limits/limiter.ts"

/** A workspace's Hive calls of one UTC day. Exact over all processes; a refused call is not counted. */
export interface HiveAllowance {
  /** Throws AllowanceUnavailable when the store fails: the call must not go ahead, though it may have been counted. */
  take(workspaceId: number, perDay: number): Promise<HiveAnswer>
  used(workspaceId: number): Promise<number>
}

export interface HiveAnswer {
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

/** Counted in Postgres, table hive_day; the day is the database's. */
export function hiveInPostgres(sql: Sql): HiveAllowance {
  return {
    take: (workspaceId, perDay) => granted(perDay, () => takeInPostgres(sql, workspaceId, perDay)),
    used: async (workspaceId) => (await granted(0, () => takeInPostgres(sql, workspaceId, 0))).used,
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

async function takeInPostgres(sql: Sql, workspaceId: number, perDay: number): Promise<HiveAnswer> {
  const [row] = await sql<{ taken: number | null; before: number; resetsOn: string }[]>`
    with today as (
      select (now() at time zone 'utc')::date as day
    ), taken as (
      insert into hive_day as counted (workspace_id, day, used)
      select ${workspaceId}::int, day, 1
      from today
      where ${perDay}::int > 0
      on conflict (workspace_id, day) do update
      set used = counted.used + 1
      where counted.used < ${perDay}::int
      returning used
    )
    select
      (select used from taken) as taken,
      coalesce((
        select used
        from hive_day
        where workspace_id = ${workspaceId}::int and hive_day.day = today.day
      ), 0) as before,
      (today.day + 1)::text as "resetsOn"
    from today`
  const { taken, before, resetsOn } = row!
  return {
    allowed: taken !== null,
    // a refused call sees the table as it was before it waited for others, yet knows that perDay were counted by then
    used: taken ?? Math.max(before, perDay),
    resetsAt: `${resetsOn}T00:00:00.000Z`,
  }
}
