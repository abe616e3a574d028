import type { Db, Tx } from "../database/types.ts"
import { later } from "../jobs/timers.ts"
import type { DueWork, Kind, Subject } from "./due-kind.ts"
import { PRIORITY } from "./priority.ts"
import { dayAfter, type Failure, fallenBack, type Retry, tracking } from "./rescheduling.ts"

/** A leased batch of due rows. Statements about it apply only while the rows still have this lease. */
export interface Claim<Work extends DueWork = Kind> {
  lease: string
  kind: Work
  /** All rows have the same kind, platform and storefront. */
  subjects: readonly Subject[]
  /** True if a caller waits for one of them. */
  live: boolean
  /** Time of the claim, by the database's clock. */
  claimedAt: Date
}

/**
 * The heartbeat: extends the leases and returns those that are still valid. Skips locked rows, because a transaction is
 * storing their end.
 */
export async function extend(sql: Db, claims: readonly Claim<DueWork>[], leaseMs: number): Promise<Set<string>> {
  const rows = await sql<{ lease: string; subjectCount: number }[]>`
    with valid as materialized (
      select kind, platform, storefront, subject
      from due
      where lease = any(${claims.map(({ lease }) => lease)}::uuid[]) and lease_until > clock_timestamp()
      for update skip locked
    ), extended as (
      update due d
      set lease_until = ${later(sql, leaseMs)}
      from valid v
      where d.kind = v.kind and d.platform = v.platform and d.storefront = v.storefront and d.subject = v.subject
      returning d.lease
    )
    select lease, count(*)::int as "subjectCount"
    from extended
    group by lease
    order by lease`
  const rowsByLease = new Map(rows.map((row) => [row.lease, row.subjectCount]))
  return new Set(
    claims.filter(({ lease, subjects }) => rowsByLease.get(lease) === subjects.length).map(({ lease }) => lease),
  )
}

/**
 * Thrown if the lease was lost or has expired: another process may have the rows, so nothing of the reading may be
 * stored.
 */
export class LeaseLost extends Error {
  override name = "LeaseLost"
}

/**
 * Ends a measured claim in the transaction that stores its observations. Rows that were rescheduled after the claim
 * keep their new time, because the reading may not include the data for which they were rescheduled.
 */
export async function endMeasured(tx: Tx, { lease, kind, subjects, claimedAt }: Claim<DueWork>): Promise<void> {
  const { count } = await tx`
    update due u
    set priority = t.priority, next_at = ${unlessMoved(tx, claimedAt, dayAfter(tx, claimedAt, kind.everyDays))},
      failures = 0,
      failure = null, failed_at = null, measured_at = now(), lease = null, lease_until = null, asked_by = null,
      asked_until = null
    from due d
    cross join lateral (${tracking(tx)}) t
    where d.lease = ${lease}
      and u.kind = d.kind and u.platform = d.platform and u.storefront = d.storefront and u.subject = d.subject
      and u.lease = ${lease} and u.lease_until > clock_timestamp()`
  if (count < subjects.length) throw new LeaseLost("the lease expired before the reading was stored")
}

/**
 * Sets rows that cannot be read yet to be due again in `waitMs`, unless they were rescheduled in the meantime. Returns
 * false if the lease was lost.
 */
export async function putOff(tx: Tx, { lease, claimedAt }: Claim<DueWork>, waitMs: number): Promise<boolean> {
  const { count } = await tx`
    update due u
    set priority = greatest(priority, ${PRIORITY.paying}), next_at = ${unlessMoved(tx, claimedAt, later(tx, waitMs))},
      lease = null, lease_until = null, asked_by = null, asked_until = null
    where lease = ${lease}`
  return count > 0
}

/**
 * SQL for the next time of a row. `u` is the latest version of the row, even if the statement had to wait for a
 * transaction that rescheduled it.
 */
function unlessMoved(tx: Tx, claimedAt: Date, planned: ReturnType<typeof later>) {
  // claimedAt has no microseconds: without the added millisecond, rows due in that millisecond would look rescheduled
  return tx`
    case when u.next_at > ${claimedAt}::timestamptz + interval '1 millisecond' then u.next_at else ${planned} end`
}

/** Ends a failed claim. Returns false if the lease was lost; the rows then stay unchanged. */
export async function endFailed(
  sql: Db,
  { lease }: Claim<DueWork>,
  { failure, retry, random }: { failure: Failure; retry: Retry; random: number },
): Promise<boolean> {
  const { count } = await sql`
    update due u
    set ${fallenBack(sql, failure, retry, random)}
    from due d
    cross join lateral (${tracking(sql)}) t
    where d.lease = ${lease}
      and u.kind = d.kind and u.platform = d.platform and u.storefront = d.storefront and u.subject = d.subject
      and u.lease = ${lease}`
  return count > 0
}

/**
 * Releases the rows as if they had not been claimed. If a delay is given, they are due after it. Returns false if the
 * lease was lost.
 */
export async function giveBack(sql: Db, { lease }: Claim<DueWork>, delayMs: number | null): Promise<boolean> {
  const { count } = await sql`
    update due
    set next_at = greatest(next_at, ${later(sql, delayMs)}), lease = null, lease_until = null
    where lease = ${lease}`
  return count > 0
}

/** Ends rows with an expired lease as failed. Returns their number, at most 100. */
export async function recover(sql: Db, retry: Retry, random: number): Promise<number> {
  const { count } = await sql`
    with silent as materialized (
      select kind, platform, storefront, subject
      from due
      where lease is not null and lease_until < now()
      order by lease_until, kind, platform, storefront, subject
      limit 100
      for update skip locked
    )
    update due u
    set ${fallenBack(sql, "failed", retry, random)}
    from silent s
    join due d using (kind, platform, storefront, subject)
    cross join lateral (${tracking(sql)}) t
    where u.kind = s.kind and u.platform = s.platform and u.storefront = s.storefront and u.subject = s.subject`
  return count
}
