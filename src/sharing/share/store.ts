import { Buffer } from "node:buffer"
import { json } from "../../database/json.ts"
import type { Db, Sql, Tx } from "../../database/types.ts"
import { isLinkToken, linkDigest, makeLinkToken } from "../token.ts"

interface NewShareLink {
  workspaceId: number
  appId: string
  days: number
  /** A hash from `hashPassword`. Null if the link has no password. */
  password: string | null
  content: object
}

/** Stores a share link and its content. Only the hash of the token is stored. */
export async function createShareLink(
  tx: Tx,
  { workspaceId, appId, days, password, content }: NewShareLink,
): Promise<{ token: string; expiresAt: Date }> {
  const token = makeLinkToken()
  const [row] = await tx<[{ expiresAt: Date }]>`
    insert into share_link (sha256, workspace_id, app_id, created_at, expires_at, password, content)
    select ${linkDigest(token)}, ${workspaceId}, ${appId}, at, at + ${days}::int * interval '24 hours', ${password},
      ${json(tx, content)}
    from date_trunc('second', now()) at
    returning expires_at as "expiresAt"`
  return { token, expiresAt: row.expiresAt }
}

/** Counts the unexpired links of a workspace, up to `most`. */
export async function countShareLinks(sql: Db, workspaceId: number, most: number): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count
    from (
      select
      from share_link
      where workspace_id = ${workspaceId} and expires_at > now()
      limit ${most}
    ) l`
  return row.count
}

export interface ShareLink {
  createdAt: Date
  expiresAt: Date
  /** The stored password hash. Null if the link has none. */
  password: string | null
  /** The content of the page. Null until the password has been checked. */
  content: unknown
}

/**
 * Returns the link of a token. Null if the token is unknown, withdrawn or expired, or the workspace is suspended or
 * deleted.
 */
export async function findShareLink(
  sql: Sql,
  token: string,
  { unlocked }: { unlocked: boolean },
): Promise<ShareLink | null> {
  if (!isLinkToken(token)) return null
  const [row] = await sql<ShareLink[]>`
    select l.created_at as "createdAt", l.expires_at as "expiresAt", l.password,
      case when l.password is null or ${unlocked} then l.content end as content
    from share_link l
    join workspace w on w.id = l.workspace_id
    where l.sha256 = ${linkDigest(token)} and l.expires_at > now()
      and w.suspended_at is null and w.deleted_at is null`
  return row ?? null
}

/** Deletes the link and its content. Returns false if there is no unexpired link. */
export async function withdrawShareLink(sql: Sql, sha256: string): Promise<boolean> {
  const { count } = await sql`
    delete from share_link
    where sha256 = ${Buffer.from(sha256, "hex")} and expires_at > now()`
  return count > 0
}
