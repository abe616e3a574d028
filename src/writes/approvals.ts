import { Buffer } from "node:buffer"
import { ALL_ACTIONS } from "../access/approval-rules.ts"
import type { Caller } from "../access/caller.ts"
import type { Right, Scope } from "../access/scopes.ts"
import type { Diff } from "../core/action.ts"
import { json } from "../database/json.ts"
import type { Db, Sql } from "../database/types.ts"
import { Fault } from "../lib/faults.ts"
import type { RandomBytes } from "../lib/text.ts"
import { tokenDigest } from "./tokens.ts"

/** A write that waits for approval outside the assistant, as shown to the approver. */
export interface Approval {
  id: string
  action: string
  /** The preview that the assistant received. */
  shown: Diff & { credits: number; destructive: boolean }
  key: { id: number; name: string | null; hint: string | null }
  createdAt: Date
  /** Time after which it can no longer be decided or confirmed. */
  expiresAt: Date
  verdict: "approved" | "declined" | null
  decidedBy: string | null
  /** The scope of the action. A person who decides on a page needs the same scope. */
  scope: Scope
}

/**
 * How to approve a write, as part of its preview. `askingCounts` is true if a yes to the client's question is enough.
 */
export interface ApprovalTerms {
  id: string
  /** URL of the page that shows the preview to the signed-in owner. */
  address: string
  command: string
  askingCounts: boolean
}

/** The name in the audit for an approval that came through the client. */
const AT_THE_CLIENT = "the person at the client, as it says"

interface StandingApproval {
  isNeeded: boolean
  askingCounts: boolean
  id: string | null
  verdict: Approval["verdict"]
  decidedBy: string | null
}

/** Reads whether the current rules require approval for a write, and the decision on its token. */
async function readStanding(sql: Db, caller: Caller, action: string, token: string): Promise<StandingApproval> {
  const [standing] = await sql<[StandingApproval]>`
    select (w.approve_outside || k.approve_outside) && ${[action, ALL_ACTIONS]}::text[] as "isNeeded",
      w.asking_approves as "askingCounts", a.id, a.verdict, a.decided_by as "decidedBy"
    from api_key k
    join workspace w on w.id = k.workspace_id
    left join approval a on a.token_sha256 = ${tokenDigest(token)}
    where k.id = ${caller.keyId}`
  return standing
}

interface NewApproval {
  action: string
  scope: Scope
  token: string
  shown: Approval["shown"]
  publicUrl: string
}

/** Stores a preview for approval. Returns how to approve it, or null if no approval is required. */
export async function openApproval(
  sql: Sql,
  caller: Caller,
  { action, scope, token, shown, publicUrl }: NewApproval,
  randomBytes: RandomBytes,
): Promise<ApprovalTerms | null> {
  const { isNeeded, askingCounts } = await readStanding(sql, caller, action, token)
  if (!isNeeded) return null
  const id = `ap_${Buffer.from(randomBytes(9)).toString("hex")}`
  await sql`
    insert into approval (id, token_sha256, workspace_id, shown, scope)
    values (${id}, ${tokenDigest(token)}, ${caller.workspaceId}, ${json(sql, shown)}, ${scope})`
  return { id, address: addressOf(publicUrl, id), command: commandOf(id), askingCounts }
}

/**
 * Returns who approved a write. Null if no approval was required. Throws write_limit_reached with reason
 * approval_needed or approval_declined.
 */
export async function assertApproved(
  sql: Db,
  caller: Caller,
  { action, token, agreed, publicUrl }: { action: string; token: string; agreed: boolean; publicUrl: string },
): Promise<string | null> {
  const { isNeeded, askingCounts, id, verdict, decidedBy } = await readStanding(sql, caller, action, token)
  if (verdict === "declined") throw new Fault("write_limit_reached", { reason: "approval_declined", detail: DECLINED })
  if (verdict === "approved") return decidedBy
  if (agreed && (askingCounts || !isNeeded)) return AT_THE_CLIENT
  if (isNeeded) throw new Fault("write_limit_reached", { reason: "approval_needed", detail: wayTo(publicUrl, id) })
  return null
}

/** Throws like `assertApproved` if a yes at the client would not be enough, so that no person is asked in vain. */
export async function assertMayAsk(
  sql: Sql,
  caller: Caller,
  request: { action: string; token: string; publicUrl: string },
): Promise<void> {
  await assertApproved(sql, caller, { ...request, agreed: true })
}

const DECLINED = "A person declined it outside the assistant. Nothing was written."

function wayTo(publicUrl: string, id: string | null): string {
  if (id === null) return "Writes now need approval. Preview again; the new preview says where to approve."
  return (
    `A person must approve it outside the assistant first, at ${addressOf(publicUrl, id)} or with: ${commandOf(id)}. ` +
    "Nothing was written, and the token is not used up."
  )
}

function addressOf(publicUrl: string, id: string): string {
  return `${publicUrl}/approve/${id}`
}

function commandOf(id: string): string {
  return `appmeter approve ${id}`
}

interface ApprovalQuery {
  /** Null selects every workspace. */
  workspaceId: number | null
  /** Limits the result to one approval, in any state. */
  id?: string | null
  /** The rights of the person who reads the list. Null on the machine, which has every right. */
  rights: readonly Right[] | null
}

/** Returns the pending approvals of a workspace that a person may decide, oldest first, at most 100. */
export async function listApprovals(sql: Sql, { workspaceId, id = null, rights }: ApprovalQuery): Promise<Approval[]> {
  return await sql<Approval[]>`
    select a.id, t.action, a.shown, json_build_object('id', k.id, 'name', k.name, 'hint', k.hint) as key,
      a.created_at as "createdAt", t.created_at + interval '600 s' as "expiresAt", a.verdict,
      a.decided_by as "decidedBy", a.scope
    from approval a
    join confirm_token t on t.sha256 = a.token_sha256
    join api_key k on k.id = t.key_id
    where (${workspaceId}::int is null or a.workspace_id = ${workspaceId})
      and (${rights && [...rights]}::text[] is null or a.scope = any(${rights && [...rights]}))
      and case
        when ${id}::text is null then
          a.verdict is null and t.used_at is null and t.created_at >= now() - interval '600 s'
        else a.id = ${id}
      end
    order by a.created_at, a.id
    limit 100`
}

/**
 * Decides a pending approval for good. Returns false if it is not pending: expired, decided, confirmed, or in another
 * workspace; or if the person lacks the right to the write. `scopes` is null on the machine, which has every right.
 */
export async function settleApproval(
  sql: Sql,
  { workspaceId, id }: { workspaceId: number | null; id: string },
  { verdict, by, scopes }: { verdict: "approved" | "declined"; by: string; scopes: readonly Right[] | null },
): Promise<boolean> {
  const rows = await sql`
    update approval a
    set verdict = ${verdict}, decided_by = ${by}, decided_at = now()
    from confirm_token t
    where a.id = ${id} and (${workspaceId}::int is null or a.workspace_id = ${workspaceId}) and a.verdict is null
      and (${scopes && [...scopes]}::text[] is null or a.scope = any(${scopes && [...scopes]}))
      and t.sha256 = a.token_sha256 and t.used_at is null and t.created_at >= now() - interval '600 s'
    returning a.id`
  return rows.length > 0
}
