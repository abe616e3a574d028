import type { Buffer } from "node:buffer"
import type { Sql } from "../database/types.ts"
import { shownName } from "../tracking/tracked-app.ts"
import { withdrawExport } from "./export/store.ts"
import type { FeedDataset, FeedFormat } from "./feed/datasets.ts"
import { isOpenFeed, withdrawFeed } from "./feed/store.ts"
import { withdrawShareLink } from "./share/store.ts"

/** A link that has not expired. */
interface OpenLink {
  /** Hash of its token, in hex. */
  sha256: string
  workspace: string
  appId: string
  /** The app's current name in the workspace. Null if the app is no longer tracked. */
  appName: string | null
  createdAt: Date
  /** Null for a feed, which works until it is withdrawn. */
  expiresAt: Date | null
}

interface OpenFeed extends OpenLink {
  kind: "feed"
  dataset: FeedDataset
  format: FeedFormat
  platform: string | null
  country: string | null
  columns: string[] | null
}

export const LINK_KINDS = ["share", "export", "feed"] as const

export type PublicLink =
  | OpenFeed
  | (OpenLink & { kind: "share"; hasPassword: boolean })
  | (OpenLink & { kind: "export"; dataset: string; format: string; rows: number })

/** Selects links by workspace and by range of token hashes. */
export interface LinkFilter {
  /** Null for all workspaces. */
  workspaceId: number | null
  /** The lowest and highest hash, 32 bytes each. Equal for a single link. */
  from: Buffer
  to: Buffer
}

/**
 * Returns the open links of all kinds, oldest first. Includes links of a suspended workspace, because they work again
 * once the workspace is resumed.
 */
export async function readOpenLinks(sql: Sql, filter: LinkFilter): Promise<PublicLink[]> {
  const shares = await readKind(sql, filter, {
    kind: "share",
    table: sql`share_link`,
    expiresAt: sql`l.expires_at`,
    isOpen: sql`l.expires_at > now()`,
    columns: sql`l.password is not null as "hasPassword"`,
  })
  const exports = await readKind(sql, filter, {
    kind: "export",
    table: sql`export`,
    expiresAt: sql`l.created_at + interval '7 days'`,
    isOpen: sql`l.created_at + interval '7 days' > now()`,
    columns: sql`l.dataset, l.format, l.rows`,
  })
  const feeds = await readKind(sql, filter, {
    kind: "feed",
    table: sql`feed_link`,
    expiresAt: sql`null::timestamptz`,
    isOpen: isOpenFeed(sql),
    columns: sql`l.dataset, l.format, l.platform, l.storefront as country, l.columns`,
  })
  return [...shares, ...exports, ...feeds].sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
}

type Fragment = ReturnType<Sql>

async function readKind(
  sql: Sql,
  { workspaceId, from, to }: LinkFilter,
  {
    kind,
    table,
    expiresAt,
    isOpen,
    columns,
  }: { kind: PublicLink["kind"] } & Record<"table" | "expiresAt" | "isOpen" | "columns", Fragment>,
): Promise<PublicLink[]> {
  return await sql<PublicLink[]>`
    select ${kind} as kind, encode(l.sha256, 'hex') as sha256, w.name as workspace, l.app_id as "appId",
      ${shownName(sql)} as "appName", l.created_at as "createdAt", ${expiresAt} as "expiresAt", ${columns}
    from ${table} l
    join workspace w on w.id = l.workspace_id
    left join tracked_app a on a.id = l.app_id and a.workspace_id = l.workspace_id
    left join store_app i on i.id = a.ios_app
    left join store_app g on g.id = a.android_app
    where l.sha256 between ${from} and ${to} and ${isOpen} and w.deleted_at is null
      and (${workspaceId}::int is null or l.workspace_id = ${workspaceId})
    order by l.created_at, l.sha256`
}

/** Closes a link and deletes its content. Returns false if it is no longer open. */
export async function withdrawLink(sql: Sql, { kind, sha256 }: PublicLink): Promise<boolean> {
  return await WITHDRAW[kind](sql, sha256)
}

const WITHDRAW = { share: withdrawShareLink, export: withdrawExport, feed: withdrawFeed }
