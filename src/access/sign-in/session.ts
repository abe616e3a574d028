import type { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import type { Sql, Tx } from "../../database/types.ts"
import { createGrant } from "../key-register.ts"
import { SCOPES } from "../scopes.ts"

/** The session of a signed-in owner of a workspace. */
export interface OwnerSession {
  workspaceId: number
  workspace: string
  /** The grant that pages use to call operations for the owner. */
  keyId: number
  expiresAt: Date
}

export const SESSION_HOURS = 12

/** Whether the text has the form of a session token: 32 random bytes in base64url. */
export function isSessionToken(text: string): boolean {
  return /^[\w-]{43}$/.test(text)
}

/** Creates a session of 12 hours for the workspace's owner. */
export async function createSession(tx: Tx, workspaceId: number, token: string): Promise<void> {
  const keyId = await ensurePagesGrant(tx, workspaceId)
  await tx`
    insert into owner_session (sha256, workspace_id, key_id, expires_at)
    values (${digestOf(token)}, ${workspaceId}, ${keyId}, now() + ${SESSION_HOURS} * interval '1 hour')`
}

/** Null if the session has expired, its grant is revoked, or its workspace is deleted or suspended. */
export async function readSession(sql: Sql, token: string): Promise<OwnerSession | null> {
  const [row] = await sql<OwnerSession[]>`
    select s.workspace_id as "workspaceId", w.name as workspace, s.key_id as "keyId", s.expires_at as "expiresAt"
    from owner_session s
    join workspace w on w.id = s.workspace_id
    join api_key k on k.id = s.key_id
    where s.sha256 = ${digestOf(token)} and s.expires_at > now()
      and k.revoked_at is null and w.deleted_at is null and w.suspended_at is null`
  return row ?? null
}

export async function endSession(sql: Sql, token: string): Promise<void> {
  await sql`
    delete from owner_session
    where sha256 = ${digestOf(token)}`
}

export async function endSessions(tx: Tx, workspaceId: number): Promise<void> {
  await tx`
    delete from owner_session
    where workspace_id = ${workspaceId}`
}

const NAME = "pages of the owner"
const HINT = "pages"

/** Returns the one grant for all sessions of a workspace. `key list` shows it; revoking it ends the sessions. */
async function ensurePagesGrant(tx: Tx, workspaceId: number): Promise<number> {
  // Locks the workspace, so that two concurrent first sessions do not create two grants.
  await tx`
    select id
    from workspace
    where id = ${workspaceId}
    for update`
  const [held] = await tx<{ id: number }[]>`
    select id
    from api_key
    where workspace_id = ${workspaceId} and kind = 'grant' and hint = ${HINT} and revoked_at is null
    order by id
    limit 1`
  return held?.id ?? (await createGrant(tx, { workspaceId, name: NAME, hint: HINT, scopes: SCOPES }))
}

function digestOf(token: string): Buffer {
  return hash("sha256", token, "buffer")
}
