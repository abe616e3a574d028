import { Buffer } from "node:buffer"
import { json } from "../database/json.ts"
import type { Db, Tx } from "../database/types.ts"
import { Fault } from "../lib/faults.ts"
import { storable } from "../lib/storable.ts"
import type { RandomBytes } from "../lib/text.ts"

export interface NewJob {
  workspaceId: number
  /** The key that confirmed the write. */
  keyId: number
  /** Request id of the confirm; log lines of the job carry it. */
  requestId: string
  action: string
  /** The scope of the action. */
  scope: string
  /** Names what the write changes. A workspace can have one unfinished job per target. */
  target: string
  /** Null if the write is not about an app. */
  appId: string | null
  /** The connected account used for the write. Null if it uses none. */
  accountId: string | null
  /** The summary and target that the person approved. */
  shown: { summary: string; target: ShownTarget }
  args: Record<string, unknown>
  /** The target on the platform at preview, as `OutsideWrite.read` returned it. Null if nothing was there. */
  before: unknown
}

interface ShownTarget {
  kind: string
  id: string
  name: string
}

/**
 * Adds a job in the caller's transaction; nudge the worker after the commit. Throws in_progress while another job has
 * the same target.
 */
export async function enqueue(tx: Tx, job: NewJob, randomBytes: RandomBytes): Promise<string> {
  const { workspaceId, keyId, requestId, action, scope, target, appId, accountId } = job
  const id = `job_${Buffer.from(randomBytes(15)).toString("base64url")}`
  const [row] = await tx`
    insert into job
      (id, workspace_id, key_id, request_id, action, scope, target, app_id, account_id, shown, args, before)
    values (
      ${id}, ${workspaceId}, ${keyId}, ${requestId}, ${action}, ${scope}, ${target}, ${appId}, ${accountId},
      ${storableJson(tx, job.shown)}, ${storableJson(tx, job.args)}, ${storableJson(tx, job.before)}
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

/** Returns how many jobs of an account were confirmed this UTC day and did not fail. */
export async function countWritesToday(sql: Db, accountId: string): Promise<number> {
  const [row] = await sql<[{ writes: number }]>`
    select count(*)::int as writes
    from job
    where account_id = ${accountId} and status <> 'failed'
      and created_at >= date_trunc('day', now() at time zone 'utc') at time zone 'utc'`
  return row.writes
}

function storableJson(tx: Tx, value: unknown) {
  const storableValue = storable(value)
  return storableValue === null ? null : json(tx, storableValue)
}
