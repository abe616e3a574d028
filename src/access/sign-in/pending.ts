import type { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import type { Db, Tx } from "../../database/types.ts"

/** A sign-in whose first factor was correct. It opens no page until the second factor is given. */
export interface PendingSignIn {
  personId: number
  workspaceId: number
  via: "passphrase" | "code"
}

const MINUTES = 10

/** Stores a pending sign-in under the hash of its token. False if the person is not a member of the workspace. */
export async function createPendingSignIn(tx: Tx, token: string, pending: PendingSignIn): Promise<boolean> {
  const { personId, workspaceId, via } = pending
  const { count } = await tx`
    insert into pending_sign_in (sha256, person_id, workspace_id, via, expires_at)
    select ${digestOf(token)}, person_id, workspace_id, ${via}, now() + ${MINUTES} * interval '1 minute'
    from membership
    where person_id = ${personId} and workspace_id = ${workspaceId}`
  return count > 0
}

/** Returns a pending sign-in. Null if it is unknown, finished or expired. */
export async function readPendingSignIn(sql: Db, token: string): Promise<PendingSignIn | null> {
  const [row] = await sql<PendingSignIn[]>`
    select person_id as "personId", workspace_id as "workspaceId", via
    from pending_sign_in
    where sha256 = ${digestOf(token)} and expires_at > now()`
  return row ?? null
}

/** Uses up a pending sign-in. False if another request did so already. */
export async function takePendingSignIn(tx: Tx, token: string): Promise<boolean> {
  const { count } = await tx`
    delete from pending_sign_in
    where sha256 = ${digestOf(token)} and expires_at > now()`
  return count > 0
}

function digestOf(token: string): Buffer {
  return hash("sha256", `pending sign-in ${token}`, "buffer")
}
