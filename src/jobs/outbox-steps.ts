import { json } from "../database/json.ts"
import type { Sql } from "../database/types.ts"
import { Fault } from "../lib/faults.ts"
import type { Lease } from "./outbox-jobs.ts"
import type { SendPort, Step } from "./outside.ts"
import { later, TooLate } from "./timers.ts"

/** Outcome of a step's request. */
type StepOutcome = "done" | "refused" | "unsure"

/**
 * Returns the `step` function of a job. Each step is committed before its request goes out, under the job's lease, and
 * runs at most once.
 */
export function stepsOf(sql: Sql, job: Lease, leaseMs: number): SendPort["step"] {
  let n = 0
  return async (step, request) => {
    const at = ++n
    if (!(await beginStep(sql, job, { n: at, ...step }, leaseMs))) throw new TooLate("the lease expired")
    try {
      const answer = await request()
      await endStep(sql, job, at, "done")
      return answer
    } catch (error) {
      await endStep(sql, job, at, error instanceof Fault ? "refused" : "unsure")
      throw error
    }
  }
}

/** Extends the lease and inserts the step. Returns false when the lease was lost: nothing may be sent then. */
async function beginStep(
  sql: Sql,
  { id, lease }: Lease,
  { n, what, ...step }: Step & { n: number },
  leaseMs: number,
): Promise<boolean> {
  const rows = await sql`
    with held as (
      update job
      set lease_until = ${later(sql, leaseMs)}
      where id = ${id} and lease = ${lease} and lease_until > clock_timestamp() and sent_at is not null
      returning id
    )
    insert into job_step (job_id, n, what, change)
    select id, ${n}, ${what}, ${json(sql, step)}
    from held
    returning n`
  return rows.length > 0
}

/** Stores the outcome of a step. Errors are ignored: the job's own outcome includes it and is retried for longer. */
async function endStep(sql: Sql, { id }: Lease, n: number, outcome: StepOutcome): Promise<void> {
  await sql`
    update job_step
    set outcome = ${outcome}, answered_at = now()
    where job_id = ${id} and n = ${n}`.catch(() => {})
}
