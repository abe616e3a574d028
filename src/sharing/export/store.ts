import { Buffer } from "node:buffer"
import type { Sql, Tx } from "../../database/types.ts"
import { isLinkToken, linkDigest, makeLinkToken } from "../token.ts"
import type { RowsHead } from "./rows.ts"

interface ExportHead extends RowsHead {
  appId: string
  format: "csv" | "json"
  columns: string[]
  rows: number
}

/** Creates an export without parts, and the token of its link. Only the hash of the token is stored. */
export async function createExport(
  tx: Tx,
  workspaceId: number,
  head: ExportHead,
): Promise<{ id: number; token: string; expiresAt: Date }> {
  const { appId, dataset, format, platform, country, from, to, columns, rows } = head
  const token = makeLinkToken()
  const [made] = await tx<[{ id: number; expiresAt: Date }]>`
    insert into export (sha256, workspace_id, app_id, dataset, format, platform, country, from_day, to_day, columns,
      rows)
    values (
      ${linkDigest(token)}, ${workspaceId}, ${appId}, ${dataset}, ${format}, ${platform}, ${country}, ${from}, ${to},
      ${columns}::text[], ${rows}
    )
    returning id, created_at + interval '7 days' as "expiresAt"`
  return { token, ...made }
}

/** Adds parts starting at place `from`. Each part is lines of rows (rows.ts). */
export async function addParts(tx: Tx, id: number, from: number, parts: readonly string[]): Promise<void> {
  await tx`
    insert into export_part (export_id, place, lines)
    select ${id}, ${from}::int + place - 1, lines
    from unnest(${parts as string[]}::text[]) with ordinality p (lines, place)`
}

export interface StoredExport extends ExportHead {
  id: number
  frozenAt: Date
}

/**
 * Returns the export of a token. Returns "expired" once 7 days have passed by the database's clock. Null if the export
 * does not exist, was withdrawn or cleaned up, or its workspace is suspended or deleted.
 */
export async function findExport(sql: Sql, token: string): Promise<StoredExport | "expired" | null> {
  if (!isLinkToken(token)) return null
  const [found] = await sql<(StoredExport & { expired: boolean })[]>`
    select e.id, e.created_at as "frozenAt", e.app_id as "appId", e.dataset, e.format, e.platform, e.country,
      e.from_day as "from", e.to_day as "to", e.columns, e.rows, e.created_at + interval '7 days' <= now() as expired
    from export e
    join workspace w on w.id = e.workspace_id
    where e.sha256 = ${linkDigest(token)} and w.deleted_at is null and w.suspended_at is null`
  if (!found) return null
  const { expired, ...stored } = found
  return expired ? "expired" : stored
}

/** Returns the lines of a part. Null after the last part. */
export async function readPart(sql: Sql, id: number, place: number): Promise<string | null> {
  const [part] = await sql<{ lines: string }[]>`
    select lines
    from export_part
    where export_id = ${id} and place = ${place}`
  return part?.lines ?? null
}

/** Maximum number of parts that a statement deletes, because a part may be a thousand times larger than other rows. */
const PARTS_AT_ONCE = 10

/**
 * Withdraws an export. The first statement closes the link for good; then parts are deleted in batches, so that no lock
 * is held for long. If this is interrupted, the clean-up of old exports removes the rest. Returns false if the link is
 * not open.
 */
export async function withdrawExport(sql: Sql, sha256: string): Promise<boolean> {
  // replaces the hash by the hash of its own 32 bytes, which belongs to no token, because a token is text of 43
  // characters
  const [shut] = await sql<{ id: number }[]>`
    update export
    set sha256 = sha256(sha256), created_at = 'epoch'
    where sha256 = ${Buffer.from(sha256, "hex")} and created_at + interval '7 days' > now()
    returning id`
  if (!shut) return false
  for (let more = true; more; ) more = (await removeParts(sql, shut.id)) === PARTS_AT_ONCE
  await sql`
    delete from export e
    where id = ${shut.id} and not exists (
      select
      from export_part
      where export_id = e.id
    )`
  return true
}

/**
 * Deletes a batch of parts and returns how many it deleted. Skips rows that a clean-up has locked. Uses an array,
 * because a locking subquery may run once per row.
 */
async function removeParts(sql: Sql, id: number): Promise<number> {
  const { count } = await sql`
    delete from export_part
    where export_id = ${id} and place = any(array(
      select place
      from export_part
      where export_id = ${id}
      order by place
      limit ${PARTS_AT_ONCE}
      for update skip locked
    ))`
  return count
}
