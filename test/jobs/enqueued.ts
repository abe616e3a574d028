import { randomBytes } from "node:crypto"
import type { Sql } from "../../src/database/types.ts"
import { enqueue, type NewJob } from "../../src/jobs/enqueue.ts"
import { someKey, someWorkspace } from "../access/registered.ts"

let count = 0

/** Creates a workspace and its key, to which the jobs belong. */
export async function owner(sql: Sql): Promise<{ workspaceId: number; keyId: number }> {
  const workspace = await someWorkspace(sql, { name: `jobs ${process.pid} ${++count}` })
  const { key } = await someKey(sql, workspace)
  return { workspaceId: workspace.id, keyId: key.id }
}

/** Returns a job that sets the bid of its own target from 1 to 2. */
export function bidJob(by: { workspaceId: number; keyId: number }, overrides: Partial<NewJob> = {}): NewJob {
  const target = overrides.target ?? `keyword-${process.pid}-${++count}`
  return {
    ...by,
    requestId: crypto.randomUUID(),
    action: "set_bid",
    scope: "ads:write",
    target,
    appId: null,
    accountId: null,
    shown: { summary: `Set the bid of ${target} to 2.`, target: { kind: "keyword", id: target, name: "tea" } },
    args: { target, bid: 2 },
    before: { bid: 1 },
    ...overrides,
  }
}

/** Enqueues a job in a transaction of its own. */
export async function enqueued(sql: Sql, job: NewJob): Promise<string> {
  return (await sql.begin((tx) => enqueue(tx, job, randomBytes))) as string
}

export interface JobRow {
  id: string
  target: string
  status: string
  attempts: number
  lease: string | null
  lease_until: Date | null
  next_at: Date
  sent_at: Date | null
  result: unknown
  error: unknown
  started_at: Date | null
  finished_at: Date | null
}

export async function jobRow(sql: Sql, id: string): Promise<JobRow> {
  const [row] = await sql<JobRow[]>`select * from job where id = ${id}`
  return row!
}

/** Returns the ids of jobs that would stay running forever. Tests expect none. */
export async function stuck(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id
    from job
    where status = 'running' and lease_until < now() - interval '1 minute'
    order by id
    limit 100`
  return rows.map(({ id }) => id)
}

/** Makes the job's worker look dead: lets its lease run out, as if it had been suspended. */
export async function letLeaseRunOut(sql: Sql, id: string): Promise<void> {
  await sql`update job set lease_until = now() - interval '1 ms' where id = ${id} and status = 'running'`
}
