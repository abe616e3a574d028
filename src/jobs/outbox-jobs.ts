import { json } from "../database/json.ts"
import { tryingLock } from "../database/locks.ts"
import type { Sql } from "../database/types.ts"
import type { Fault } from "../lib/faults.ts"
import type { NewJob } from "./enqueue.ts"
import { later } from "./timers.ts"

/** Statements about a job apply only while the job still has this lease. */
export interface Lease {
  id: string
  lease: string
}

/** The write of a job and its workspace. */
export type JobTask = Pick<NewJob, "workspaceId" | "requestId" | "action" | "appId" | "args" | "before">

export interface Job extends Lease, JobTask {
  /** Number of attempts, including this one. */
  attempts: number
}

/** How a job ended. `why` is only logged. */
export type Outcome = { why?: unknown } & (
  | { status: "done"; result: unknown }
  | { status: "failed"; fault: Fault }
  | { status: "unknown" }
)

/** Claims up to `limit` due jobs with these actions. Other jobs stay queued for a process that has their actions. */
export async function claim(
  sql: Sql,
  { actions, limit, leaseMs }: { actions: readonly string[]; limit: number; leaseMs: number },
): Promise<Job[]> {
  return await sql<Job[]>`
    with due as materialized (
      select id
      from job
      where status = 'queued' and next_at <= now() and action = any(${[...actions]}::text[])
      order by next_at, id
      limit ${limit}
      for update skip locked
    )
    update job j
    set status = 'running', attempts = attempts + 1, lease = gen_random_uuid(), lease_until = ${later(sql, leaseMs)},
      started_at = coalesce(started_at, now())
    from due
    where j.id = due.id
    returning j.id, j.lease, j.workspace_id as "workspaceId", j.request_id as "requestId", j.action,
      j.app_id as "appId", j.args, j.before, j.attempts`
}

/** The heartbeat: extends the leases and returns those that were extended. An expired lease is not renewed. */
export async function extend(sql: Sql, leases: readonly Lease[], leaseMs: number): Promise<Set<string>> {
  const rows = await sql<{ lease: string }[]>`
    update job j
    set lease_until = ${later(sql, leaseMs)}
    from unnest(${leases.map(({ id }) => id)}::text[], ${leases.map(({ lease }) => lease)}::uuid[]) h (id, lease)
    where j.id = h.id and j.lease = h.lease and j.lease_until > clock_timestamp()
    returning j.lease`
  return new Set(rows.map(({ lease }) => lease))
}

/**
 * Records that the request is about to be sent; commit it first. Returns false when the lease was lost or has expired:
 * nothing may be sent then.
 */
export async function markSent(sql: Sql, { id, lease }: Lease, leaseMs: number): Promise<boolean> {
  const rows = await sql`
    update job
    set sent_at = now(), lease_until = ${later(sql, leaseMs)}
    where id = ${id} and lease = ${lease} and lease_until > clock_timestamp()
    returning id`
  return rows.length > 0
}

/**
 * Stores the outcome. Returns false when the lease was lost; the job then stays as the next holder of the lease left
 * it.
 */
export async function finish(sql: Sql, { id, lease }: Lease, outcome: Outcome): Promise<boolean> {
  const result = outcome.status === "done" ? outcome.result : null
  const error = outcome.status === "failed" ? { error: outcome.fault.code, ...outcome.fault.extra } : null
  const rows = await sql`
    update job
    set status = ${outcome.status},
      proof_at = case when ${outcome.status} = 'unknown' then now() + interval '1 minute' end,
      result = ${result === null ? null : json(sql, result)},
      error = ${error && json(sql, error)}, lease = null, lease_until = null, finished_at = now()
    where id = ${id} and lease = ${lease}
    returning id`
  return rows.length > 0
}

/**
 * Queues the job again after `delayMs`. With null, it is due at once and the attempt is not counted. Returns false when
 * the lease was lost.
 */
export async function giveBack(sql: Sql, { id, lease }: Lease, delayMs: number | null): Promise<boolean> {
  const rows = await sql`
    update job
    set status = 'queued', next_at = ${later(sql, delayMs ?? 0)},
      attempts = attempts - ${delayMs === null ? 1 : 0}::int, sent_at = null, lease = null, lease_until = null
    where id = ${id} and lease = ${lease}
    returning id`
  return rows.length > 0
}

/**
 * Recovers jobs with an expired lease: unknown if a request may have been sent, else queued, or failed after the last
 * attempt.
 */
export async function recover(sql: Sql, maxAttempts: number): Promise<{ status: string; jobs: number }[]> {
  return await sql<{ status: string; jobs: number }[]>`
    with silent as materialized (
      select id, case
        when sent_at is not null then 'unknown'
        when attempts >= ${maxAttempts}::int then 'failed'
        else 'queued'
      end as status
      from job
      where status = 'running' and lease_until < now() and ${alone(sql)}
      order by lease_until, id
      limit 100
      for update skip locked
    ), recovered as (
      update job j
      set status = s.status, proof_at = case when s.status = 'unknown' then now() + interval '1 minute' end,
        next_at = now(), lease = null, lease_until = null,
        error = case when s.status = 'failed' then '{"error": "internal_error"}'::jsonb end,
        finished_at = case when s.status <> 'queued' then now() end
      from silent s
      where j.id = s.id
      returning j.status
    )
    select status, count(*)::int as jobs
    from recovered
    group by status
    order by status
    limit 3`
}

/** Fails queued jobs older than `maxAgeMs` with `fault`: nobody expects them any more, and each blocks its target. */
export async function failOld(sql: Sql, maxAgeMs: number, { code, extra }: Fault): Promise<number> {
  const rows = await sql`
    with old as materialized (
      select id
      from job
      where status = 'queued' and created_at < ${later(sql, -maxAgeMs)} and ${alone(sql)}
      order by created_at, id
      limit 100
      for update skip locked
    )
    update job j
    set status = 'failed', error = ${json(sql, { error: code, ...extra })}, finished_at = now()
    from old
    where j.id = old.id
    returning j.id`
  return rows.length
}

/** Allows one sweep at a time: two sweeps that fail jobs of the same workspaces could deadlock on their accounts. */
function alone(sql: Sql) {
  return tryingLock(sql, "jobs swept")
}
