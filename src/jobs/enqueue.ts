import { Buffer } from "node:buffer"
import { json } from "../database/json.ts"
import type { Db, Tx } from "../database/types.ts"
import { Fault } from "../lib/faults.ts"
import { storable } from "../lib/storable.ts"
import type { RandomBytes } from "../lib/text.ts"

export interface NewJob {
  workspaceId: number
  /** The key that confirmed. */
  keyId: number
  /** The confirm's; the log names the job by it. */
  requestId: string
  action: string
  /** What only one write at a time may change, within the workspace. */
  target: string
  /** The app that it is about; null = none. */
  appId: string | null
  /** The account that it is written with; null = none of the workspace's. */
  accountId: string | null
  /** What the person approved. */
  shown: { summary: string; target: ShownTarget }
  args: Record<string, unknown>
  /** The outside target as the preview showed it, in the form its kind reads it; null = nothing was there. */
  before: unknown
}

interface ShownTarget {
  kind: string
  id: string
  name: string
}

/** Adds a job in the caller's transaction. Throws in_progress while another has the target. Then nudge the worker. */
export async function enqueue(tx: Tx, job: NewJob, randomBytes: RandomBytes): Promise<string> {
  const { workspaceId, keyId, requestId, action, target, appId, accountId } = job
  const id = `job_${Buffer.from(randomBytes(15)).toString("base64url")}`
  const [row] = await tx`
    insert into job (id, workspace_id, key_id, request_id, action, target, app_id, account_id, shown, args, before)
    values (
      ${id}, ${workspaceId}, ${keyId}, ${requestId}, ${action}, ${target}, ${appId}, ${accountId}, ${storableJson(tx, job.shown)},
      ${storableJson(tx, job.args)}, ${storableJson(tx, job.before)}
    )
    on conflict (workspace_id, target) where status in ('queued', 'running') do nothing
    returning id`
  if (!row) throw new Fault("in_progress")
  return id
}

export async function hasUnfinished(tx: Tx, workspaceId: number, target: string): Promise<boolean> {
  const [row] = await tx`
    select 1
    from job
    where workspace_id = ${workspaceId} and target = ${target} and status in ('queued', 'running')`
  return row !== undefined
}

/** Jobs of an account that were confirmed this UTC day and did not fail. */
export async function countWritesToday(sql: Db, accountId: string): Promise<number> {
  const [row] = await sql<[{ writes: number }]>`
    select count(*)::int as writes
    from job
    where account_id = ${accountId} and status <> 'failed'
      and created_at >= date_trunc('day', now() at time zone 'utc') at time zone 'utc'`
  return row.writes
}

function storableJson(tx: Tx, value: unknown) {
  const kept = storable(value)
  return kept === null ? null : json(tx, kept)
}
