import { Buffer } from "node:buffer"
import { randomBytes as secureBytes } from "node:crypto"
import { takeLock } from "../database/locks.ts"
import type { Sql, Tx } from "../database/types.ts"
import type { RandomBytes } from "./keys.ts"
import { isLinkToken, linkDigest, makeLinkToken } from "./link-token.ts"
import { shownName } from "./visible-apps.ts"

export interface NewShareLink {
  workspaceId: number
  appId: string
  days: number
  /** As hashPassword gives it; null = none. */
  password: string | null
  content: object
}

/** Stores what a link shows. Only the token's hash is kept. */
export async function createShareLink(
  tx: Tx,
  { workspaceId, appId, days, password, content }: NewShareLink,
  randomBytes: RandomBytes = secureBytes,
): Promise<{ token: string; expiresAt: Date }> {
  const token = makeLinkToken(randomBytes)
  const [row] = await tx<{ expiresAt: Date }[]>`
    insert into share_link (sha256, workspace_id, app_id, created_at, expires_at, password, content)
    select ${linkDigest(token)}, ${workspaceId}, ${appId}, at, at + ${days}::int * interval '24 hours', ${password},
      ${tx.json(content as never)}
    from date_trunc('second', now()) at
    returning expires_at as "expiresAt"`
  return { token, expiresAt: row!.expiresAt }
}

/** Holds off who else would make a link of the workspace, until the transaction ends: what is counted then stays so. */
export async function holdShareLinks(tx: Tx, workspaceId: number): Promise<void> {
  await takeLock(tx, "share links", workspaceId)
}

/** Links of a workspace that are not over, up to `most`. */
export async function countShareLinks(sql: Sql | Tx, workspaceId: number, most: number): Promise<number> {
  const [row] = await (sql as Sql)<[{ count: number }]>`
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
  /** Null = none is asked for. */
  password: string | null
  /** Null while a password is still to be asked for. */
  content: unknown
  /** Passwords tried within the hour after the one before, those that were right left out. */
  tries: number
}

/** What stands behind a token; null for one that is unknown, withdrawn or over, and while its workspace is suspended or deleted. */
export async function findShareLink(
  sql: Sql,
  token: string,
  { unlocked }: { unlocked: boolean },
): Promise<ShareLink | null> {
  if (!isLinkToken(token)) return null
  const [row] = await sql<ShareLink[]>`
    select l.created_at as "createdAt", l.expires_at as "expiresAt", l.password,
      case when l.password is null or ${unlocked} then l.content end as content,
      case when l.tried_at > now() - interval '1 hour' then l.tries else 0 end as tries
    from share_link l
    join workspace w on w.id = l.workspace_id
    where l.sha256 = ${linkDigest(token)} and l.expires_at > now()
      and w.suspended_at is null and w.deleted_at is null`
  return row ?? null
}

/** Whose links, and with which hashes of their tokens. */
export interface SoughtLinks {
  /** Null = of every workspace. */
  workspaceId: number | null
  /** The lowest and the highest hash, 32 bytes each; both the same for one link. */
  from: Buffer
  to: Buffer
}

/** A link that is not over, of whatever kind. */
export interface OpenLink {
  /** Of its token, in hex. */
  sha256: string
  workspace: string
  appId: string
  /** As the workspace shows it now; null where it tracks the app no more. */
  appName: string | null
  createdAt: Date
  expiresAt: Date
}

/** Oldest first; of a suspended workspace too, since its links open again when it goes on. */
export async function openShareLinks(
  sql: Sql,
  { workspaceId, from, to }: SoughtLinks,
): Promise<(OpenLink & { hasPassword: boolean })[]> {
  return await sql<(OpenLink & { hasPassword: boolean })[]>`
    select encode(l.sha256, 'hex') as sha256, w.name as workspace, l.app_id as "appId", ${shownName(sql)} as "appName",
      l.created_at as "createdAt", l.expires_at as "expiresAt", l.password is not null as "hasPassword"
    from share_link l
    join workspace w on w.id = l.workspace_id
    left join tracked_app a on a.id = l.app_id and a.workspace_id = l.workspace_id
    left join store_app i on i.id = a.ios_app
    left join store_app g on g.id = a.android_app
    where l.sha256 between ${from} and ${to} and l.expires_at > now() and w.deleted_at is null
      and (${workspaceId}::int is null or l.workspace_id = ${workspaceId})
    order by l.created_at, l.sha256`
}

/** Takes the link away with its page. False when there is none that is not over. */
export async function withdrawShareLink(sql: Sql, sha256: string): Promise<boolean> {
  const { count } = await sql`
    delete from share_link
    where sha256 = ${Buffer.from(sha256, "hex")} and expires_at > now()`
  return count > 0
}
