import type { Sql } from "../database/types.ts"
import { FAULTS, Fault, type FaultCode, type FaultExtra } from "../lib/faults.ts"

/** The latest job that writes to a target on another platform. */
export interface TargetJob {
  target: string
  status: "queued" | "running" | "done" | "failed" | "unknown"
  args: Record<string, unknown>
  result: Record<string, unknown> | null
  createdAt: Date
  finishedAt: Date | null
  /** Why nothing was written. Null unless it failed. */
  why: string | null
  /** The result of the last check of the target since the outcome became unknown. Null if there was none. */
  finding: string | null
}

interface JobRow extends Omit<TargetJob, "why"> {
  error: ({ error: FaultCode } & FaultExtra) | null
}

/** Returns the latest job of each target that has one. */
export async function readTargetJobs(sql: Sql, workspaceId: number, targets: readonly string[]): Promise<TargetJob[]> {
  const rows = await sql<JobRow[]>`
    select distinct on (target) target, status, args, result, error, created_at as "createdAt",
      finished_at as "finishedAt", proofs -> -1 ->> 'text' as finding
    from job
    where workspace_id = ${workspaceId} and target = any(${[...targets]}::text[])
    order by target, created_at desc, id desc`
  return rows.map(({ error, ...job }) => ({ ...job, why: error && reasonOf(error) }))
}

function reasonOf({ error, ...extra }: NonNullable<JobRow["error"]>): string {
  const { message } = new Fault(Object.hasOwn(FAULTS, error) ? error : "internal_error")
  return extra.detail ?? extra.reason ?? message
}
