import type { Buffer } from "node:buffer"
import type { Sql } from "../database/types.ts"
import { shownName } from "../tracking/tracked-app.ts"
import { withdrawExport } from "./export/store.ts"
import { withdrawShareLink } from "./share/store.ts"

/** A link that is not over. */
interface OpenLink {
  /** Of its token, in hex. */
  sha256: string
  workspace: string
  appId: string
  /** As the workspace shows it now; null where it tracks the app no more. */
  appName: string | null
  createdAt: Date
  expiresAt: Date
}

export type PublicLink =
  | (OpenLink & { kind: "share"; hasPassword: boolean })
  | (OpenLink & { kind: "export"; dataset: string; format: string; rows: number })

/** Whose links, and with which hashes of their tokens. */
export interface LinkFilter {
  /** Null = of every workspace. */
  workspaceId: number | null
  /** The lowest and the highest hash, 32 bytes each; both the same for one link. */
  from: Buffer
  to: Buffer
}

/** Of both kinds, oldest first; of a suspended workspace too, since its links open again when it goes on. */
export async function readOpenLinks(sql: Sql, filter: LinkFilter): Promise<PublicLink[]> {
  const shares = await readKind(sql, filter, {
    kind: "share",
    table: sql`share_link`,
    expiresAt: sql`l.expires_at`,
    columns: sql`l.password is not null as "hasPassword"`,
  })
  const exports = await readKind(sql, filter, {
    kind: "export",
    table: sql`export`,
    expiresAt: sql`l.created_at + interval '7 days'`,
    columns: sql`l.dataset, l.format, l.rows`,
  })
  return [...shares, ...exports].sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
}

type Fragment = ReturnType<Sql>

async function readKind(
  sql: Sql,
  { workspaceId, from, to }: LinkFilter,
  {
    kind,
    table,
    expiresAt,
    columns,
  }: { kind: PublicLink["kind"] } & Record<"table" | "expiresAt" | "columns", Fragment>,
): Promise<PublicLink[]> {
  return await sql<PublicLink[]>`
    select ${kind} as kind, encode(l.sha256, 'hex') as sha256, w.name as workspace, l.app_id as "appId",
      ${shownName(sql)} as "appName", l.created_at as "createdAt", ${expiresAt} as "expiresAt", ${columns}
    from ${table} l
    join workspace w on w.id = l.workspace_id
    left join tracked_app a on a.id = l.app_id and a.workspace_id = l.workspace_id
    left join store_app i on i.id = a.ios_app
    left join store_app g on g.id = a.android_app
    where l.sha256 between ${from} and ${to} and ${expiresAt} > now() and w.deleted_at is null
      and (${workspaceId}::int is null or l.workspace_id = ${workspaceId})
    order by l.created_at, l.sha256`
}

/** Shuts a link and takes away what it held. False when it is not open any more. */
export async function withdrawLink(sql: Sql, { kind, sha256 }: PublicLink): Promise<boolean> {
  return await (kind === "share" ? withdrawShareLink : withdrawExport)(sql, sha256)
}
