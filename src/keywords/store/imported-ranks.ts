import type { Platform } from "../../core/observation/provenance.ts"
import { json } from "../../database/json.ts"
import type { Db, Sql, Tx } from "../../database/types.ts"
import type { Days } from "../../lib/days.ts"
import type { FileRank } from "../import/rank-history-file.ts"

interface RankImport {
  id: number
  /** The tool that measured the ranks, as the person named it. */
  tool: string
  file: string
  platform: Platform
  importedAt: Date
  ranks: number
  from: string
  to: string
}

/** Ranks per statement. */
const AT_ONCE = 5_000

/**
 * Stores ranks that another tool measured. They replace those that an earlier import of the app has for the same tool
 * and day. Returns how many ranks are new or changed.
 */
export async function storeImportedRanks(
  sql: Sql,
  source: { appId: string; platform: Platform; tool: string; file: string; now: Date },
  ranks: readonly FileRank[],
  onProgress: (done: number) => void = () => {},
): Promise<{ importId: number; stored: number }> {
  return await sql.begin(async (tx) => {
    const [created] = await tx<[{ id: number }]>`
      insert into rank_import (app_id, platform, tool, file, imported_at)
      values (${source.appId}, ${source.platform}, ${source.tool}, ${source.file}, ${source.now})
      returning id`
    let stored = 0
    for (let at = 0; at < ranks.length; at += AT_ONCE) {
      stored += await insertPart(tx, { ...source, importId: created.id }, ranks.slice(at, at + AT_ONCE))
      onProgress(Math.min(ranks.length, at + AT_ONCE))
    }
    await deleteEmptyImports(tx, source.appId)
    return { importId: created.id, stored }
  })
}

async function insertPart(
  tx: Tx,
  { appId, platform, tool, importId }: { appId: string; platform: Platform; tool: string; importId: number },
  ranks: readonly FileRank[],
): Promise<number> {
  const rows = await tx`
    insert into imported_rank as stored (app_id, platform, tool, storefront, term, day, rank, import_id)
    select ${appId}, ${platform}, ${tool}, storefront, term, day, rank, ${importId}
    from jsonb_to_recordset(${json(tx, ranks)}) r (storefront text, term text, day date, rank int)
    order by storefront, term, day
    on conflict (app_id, platform, storefront, term, tool, day) do update
    set rank = excluded.rank, import_id = excluded.import_id
    where stored.rank <> excluded.rank
    returning 1`
  return rows.length
}

/** Deletes imports of the app without a rank: all their days were replaced, or they added nothing. */
async function deleteEmptyImports(tx: Tx, appId: string): Promise<void> {
  await tx`
    delete from rank_import i
    where i.app_id = ${appId} and not exists (select from imported_rank where import_id = i.id)`
}

/** Returns an app's imports, the latest first. */
export async function listRankImports(sql: Db, appId: string): Promise<RankImport[]> {
  return await sql<RankImport[]>`
    select i.id, i.tool, i.file, i.platform, i.imported_at as "importedAt", count(*)::int as ranks,
      min(r.day)::text as "from", max(r.day)::text as "to"
    from rank_import i
    join imported_rank r on r.import_id = i.id
    where i.app_id = ${appId}
    group by i.id
    order by i.id desc`
}

/** Deletes an import with its ranks. Returns false if the app has no such import. */
export async function removeRankImport(sql: Sql, appId: string, importId: number): Promise<boolean> {
  const rows = await sql`
    delete from rank_import
    where id = ${importId} and app_id = ${appId}
    returning 1`
  return rows.length > 0
}

interface ImportedLine {
  term: string
  tool: string
  series: [day: string, rank: number][]
}

/** Returns the imported ranks of some keywords: a line for each keyword and tool. */
export async function readImportedLines(
  sql: Db,
  appId: string,
  { platform, storefront, from, to, terms }: Days & { platform: Platform; storefront: string; terms: string[] },
): Promise<ImportedLine[]> {
  return await sql<ImportedLine[]>`
    select term, tool, json_agg(json_build_array(day, rank) order by day) as series
    from imported_rank
    where (app_id, platform, storefront) = (${appId}, ${platform}, ${storefront})
      and term = any(${terms}::text[]) and day between ${from} and ${to}
    group by term, tool
    order by array_position(${terms}::text[], term), tool`
}
