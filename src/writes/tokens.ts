import { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import type { Caller } from "../access/caller.ts"
import type { Diff } from "../core/action.ts"
import { json } from "../database/json.ts"
import type { Db, Tx } from "../database/types.ts"
import { Fault } from "../lib/faults.ts"
import type { RandomBytes } from "../lib/text.ts"

/** Approximate limit of unconfirmed previews per key: simultaneous previews do not count each other. */
const MAX_WAITING = 1_000

/** The previewed write that a token confirms. */
export interface TokenContent {
  action: string
  args: Record<string, unknown>
  /** The hash that `seenOf` returns for the diff in the preview. */
  seen: string
}

/** Hashes the part of a diff that must not change between preview and confirm. */
export function seenOf({ target, before, after }: Diff): string {
  return hash("sha256", JSON.stringify([target.kind, target.id, before, after]), "base64url")
}

/**
 * Creates a token for a preview and stores only its hash. Throws write_limit_reached if the key has too many
 * unconfirmed previews. Also deletes up to 100 tokens older than a day; their ids are read into an array, because a
 * subquery that locks rows may run once per row.
 */
export async function issueToken(
  sql: Db,
  { workspaceId, keyId }: Caller,
  { action, args, seen }: TokenContent,
  randomBytes: RandomBytes,
): Promise<{ confirmToken: string; expiresAt: Date }> {
  const confirmToken = `confirm_${Buffer.from(randomBytes(32)).toString("base64url")}`
  const [row] = await sql<{ expiresAt: Date }[]>`
    with swept as (
      delete from confirm_token
      where sha256 = any(array(
        select sha256
        from confirm_token
        where created_at < now() - interval '1 day'
        order by created_at
        limit 100
        for update skip locked
      ))
    )
    insert into confirm_token (sha256, workspace_id, key_id, action, args, seen)
    select ${tokenDigest(confirmToken)}, ${workspaceId}, ${keyId}, ${action}, ${json(sql, args)}, ${seen}
    where (
      select count(*)
      from confirm_token
      where key_id = ${keyId} and created_at >= now() - interval '600 s' and used_at is null
    ) < ${MAX_WAITING}
    returning created_at + interval '600 s' as "expiresAt"`
  if (!row) {
    const reason = `This key has ${MAX_WAITING} previews waiting for their confirm; each expires after 10 minutes.`
    throw new Fault("write_limit_reached", { reason })
  }
  return { confirmToken, expiresAt: row.expiresAt }
}

/** Returns the previewed write of a valid token. Throws confirm_token_invalid or confirm_token_expired. */
export async function lookUpToken(sql: Db, caller: Caller, token: string): Promise<TokenContent> {
  const [row] = await sql<(TokenContent & { usedAt: Date | null; expired: boolean })[]>`
    select action, args, seen, used_at as "usedAt", created_at < now() - interval '600 s' as expired
    from confirm_token
    where sha256 = ${tokenDigest(token)} and workspace_id = ${caller.workspaceId} and key_id = ${caller.keyId}`
  if (!row) throw new Fault("confirm_token_invalid", { detail: UNKNOWN })
  if (row.usedAt) {
    const detail = `It was already confirmed at ${row.usedAt.toISOString()}. A token is valid for one confirm.`
    throw new Fault("confirm_token_invalid", { detail })
  }
  if (row.expired) throw new Fault("confirm_token_expired", { detail: EXPIRED })
  return row
}

/** The explanation of the fault if only another version has the action. */
export const UNKNOWN_ACTION = "Its action does not exist in this version. Preview again."

const UNKNOWN =
  "This key has no preview with this token. Send the complete confirmToken of preview_action with the key that " +
  "previewed."
const EXPIRED = "A token is valid for 10 minutes. Nothing was written. Preview again and confirm with the new token."

/**
 * Uses a token up, in the transaction of its write: a rollback makes it valid again. Simultaneous confirms of a token
 * run one after another. Throws confirm_token_invalid or confirm_token_expired.
 */
export async function useToken(tx: Tx, caller: Caller, token: string): Promise<void> {
  const [row] = await tx`
    update confirm_token
    set used_at = now()
    where sha256 = ${tokenDigest(token)} and workspace_id = ${caller.workspaceId} and key_id = ${caller.keyId}
      and used_at is null and created_at >= now() - interval '600 s'
    returning sha256`
  if (row) return
  await lookUpToken(tx, caller, token)
  throw new Fault("confirm_token_invalid", { detail: UNKNOWN })
}

/** Returns the form in which a token is stored: its SHA-256. */
export function tokenDigest(token: string): Buffer {
  return hash("sha256", token, "buffer")
}
