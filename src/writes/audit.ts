import { type Right, visibleWriteScopes } from "../access/scopes.ts"
import { OWN } from "../core/observation/origins.ts"
import type { Sql } from "../database/types.ts"
import { shownName } from "../tracking/tracked-app.ts"

/** A write that was applied or handed to a job. */
export interface AuditRow {
  at: Date
  workspace: string
  /** The name and hint of the key. Null if the key was deleted. */
  key: { id: number; name: string | null; hint: string | null }
  action: string
  /** The lock name of the target, such as "app app_4fD0Zs81hQbK". */
  target: string
  /** Null if the write concerned no app of the workspace. */
  appId: string | null
  /** One sentence from the preview that was approved. */
  summary: string
  credits: number
  requestId: string
  jobId: string | null
  /** The approver, outside the assistant or at the client. Null if no approval was required. */
  approvedBy: string | null
}

interface AuditQuery {
  workspaceId: number
  /** The rights of the person who reads the list. Null on the machine, which sees every write. */
  rights: readonly Right[] | null
  /** Limits the result to one app, which may be deleted by now. */
  appId?: string
  /** Maximum number of rows. */
  limit: number
}

/** Returns the writes of a workspace, newest first. */
export async function listAudit(sql: Sql, { workspaceId, rights, appId, limit }: AuditQuery): Promise<AuditRow[]> {
  const scopes = rights && visibleWriteScopes(rights)
  return await sql<AuditRow[]>`
    select a.at, w.name as workspace, json_build_object('id', a.key_id, 'name', k.name, 'hint', k.hint) as key,
      a.action, a.target, a.app_id as "appId", a.preview ->> 'summary' as summary, a.credits,
      a.request_id as "requestId", a.job_id as "jobId",
      a.approved_by as "approvedBy"
    from audit a
    join workspace w on w.id = a.workspace_id
    left join api_key k on k.id = a.key_id
    where a.workspace_id = ${workspaceId} and (${scopes}::text[] is null or a.scope = any(${scopes}))
      and (${appId ?? null}::text is null or a.app_id = ${appId ?? null})
    order by a.at desc, a.id desc
    limit ${limit}`
}

interface BroughtApp {
  at: Date
  /** The origin that created the app, such as the demo. */
  origin: string
  name: string
  countries: string[]
}

/**
 * Returns tracked apps from another origin, such as the demo, newest first. They have no audit rows, since nobody
 * confirmed them.
 */
export async function listBroughtApps(
  sql: Sql,
  { workspaceId, limit }: Pick<AuditQuery, "workspaceId" | "limit">,
): Promise<BroughtApp[]> {
  return await sql<BroughtApp[]>`
    select a.created_at as at, a.origin, ${shownName(sql)} as name, a.countries
    from tracked_app a
    left join store_app i on i.id = a.ios_app
    left join store_app g on g.id = a.android_app
    where a.workspace_id = ${workspaceId} and a.origin <> ${OWN}
    order by a.created_at desc, a.id
    limit ${limit}`
}
