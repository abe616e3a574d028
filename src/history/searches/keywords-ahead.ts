import type { Sql } from "../../database/types.ts"
import { forget, isKept, type KeptLists, keepLess, take } from "./kept-lists.ts"
import type { PlacedLists } from "./market-lists.ts"
import { isLost, isOther, readNews } from "./place-news.ts"

/** Lists whose keywords are read at once: some milliseconds of a database that calls are waiting for. */
const AT_ONCE = 500

/**
 * Reads what is shown of all lists while nobody waits for it, so that of an app of which nobody asked before no more than its
 * places is left to read. Never throws: what goes wrong here the next call meets too, and tells.
 */
export async function readAhead(sql: Sql, lists: PlacedLists, kept: KeptLists): Promise<void> {
  kept.ahead = "under way"
  try {
    const ids = await readIds(sql, lists)
    let [at, tookMs] = [0, 0]
    while (at < ids.length && isKept(sql, lists, kept)) {
      const unknown = ids.subarray(at, at + AT_ONCE).filter((id) => !kept.keywords.has(id))
      if (unknown.length > 0) {
        // half of the time is for others
        if (tookMs > 0) await new Promise((resolve) => setTimeout(resolve, tookMs))
        const begun = performance.now()
        const isTaken = await readPiece(sql, lists, kept, unknown)
        tookMs = performance.now() - begun
        if (!isTaken) continue
      }
      at += AT_ONCE
    }
    kept.ahead = "read"
    keepLess(sql)
  } catch {
    kept.ahead = "no"
  }
}

/** False = nothing was taken: another call has heard of something meanwhile, or too much is new. */
async function readPiece(sql: Sql, lists: PlacedLists, kept: KeptLists, unknown: Int32Array): Promise<boolean> {
  const { snapshot } = kept
  const news = await readNews(sql, lists, { since: snapshot, missing: [], ranked: true, unknown, held: [] })
  if (isLost(news)) forget(sql, lists, kept)
  if (isLost(news) || kept.snapshot !== snapshot) return false
  take(kept, news)
  if (isOther(news)) [kept.snapshot, kept.searched] = [news.snapshot, null]
  return true
}

/** Their ids; the demo's and lists without an answer of now, of which nothing is found, may be among them. */
async function readIds(sql: Sql, { platform, storefront, since }: PlacedLists): Promise<Int32Array> {
  const [row] = await sql<[{ ids: string }]>`
    select coalesce(json_agg(id order by id), '[]')::text as ids
    from list
    where platform = ${platform} and storefront = ${storefront} and last_day >= ${since}::date`
  return Int32Array.from(JSON.parse(row.ids))
}
