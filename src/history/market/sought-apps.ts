import type { Sql } from "../../database/types.ts"
import { partOf, wordsOf } from "../../formulas/app-text.ts"
import type { KeptMarket } from "./market-news.ts"
import { appsWithText } from "./texts.ts"

/** Apps that are sought by a text at most: where more have it, each app of the lists is looked at instead. */
const MOST_SOUGHT = 10_000
/** Of all texts that are kept: 4 MB, and not too many to compare with a name that is new. */
const [MOST_KEPT, MOST_TEXTS] = [1_000_000, 1_500]

interface AppSearch {
  text?: string | undefined
  publisher?: string | undefined
}

/**
 * Those of the apps of the lists (and others) that are a publisher's, or have every word of a text in a name or in the
 * publisher's, or both; null = all of them.
 */
export async function readSoughtApps(
  sql: Sql,
  kept: KeptMarket,
  appsOnLists: () => readonly Int32Array[],
  { text, publisher }: AppSearch,
): Promise<Int32Array | null> {
  const own = publisher === undefined ? null : await readPublisherApps(sql, publisher)
  if (text === undefined) return own
  if (own) return await readWithText(sql, text, own)
  const sought = await findWithText(sql, kept, text)
  if (sought.length <= MOST_SOUGHT) return sought
  return await readWithText(sql, text, new Set(appsOnLists().flatMap((apps) => [...apps])))
}

/** All of them, or too many: a frequent word is 5,000 pages of texts, so that what is found is kept. */
async function findWithText(sql: Sql, kept: KeptMarket, text: string): Promise<Int32Array> {
  const parts = [...new Set(wordsOf(text).map(partOf))].toSorted()
  const name = parts.join("\n")
  const held = kept.texts.get(name)
  if (held && held.apps.length <= MOST_SOUGHT) {
    kept.texts.delete(name)
    kept.texts.set(name, held)
    return held.apps
  }
  const { changes } = kept
  const sought = unpacked(
    await sql<PackedIds[]>`
      select string_agg(int4send(app_id), '') as apps
      from (
        select app_id
        from (${appsWithText(sql, text)}) t
        limit ${MOST_SOUGHT + 1}
      ) t`,
  ).sort()
  if (kept.changes === changes && sought.length <= MOST_SOUGHT) keep(kept, name, { parts, apps: sought })
  return sought
}

function keep({ texts }: KeptMarket, name: string, text: { parts: readonly string[]; apps: Int32Array }): void {
  texts.delete(name)
  texts.set(name, text)
  let sum = 0
  for (const { apps } of texts.values()) sum += apps.length
  for (const [oldest, { apps }] of texts) {
    if (sum <= MOST_KEPT && texts.size <= MOST_TEXTS) return
    texts.delete(oldest)
    sum -= apps.length
  }
}
async function readPublisherApps(sql: Sql, publisher: string): Promise<Int32Array> {
  return unpacked(
    await sql<PackedIds[]>`
      select string_agg(int4send(id), '') as apps
      from store_app
      where platform = 'ios' and developer_id = ${publisher}`,
  )
}

/** Each is looked up by its key, however many others have the text. */
async function readWithText(sql: Sql, text: string, apps: Iterable<number>): Promise<Int32Array> {
  return unpacked(
    await sql<PackedIds[]>`
      select string_agg(int4send(a.id), '') as apps
      from unnest(${[...apps]}::int[]) a (id)
      where exists (
        select
        from (${appsWithText(sql, text)}) t
        where t.app_id = a.id
        offset 0
      )`,
  )
}

/** As one row: of 10,000 ids rows would take ten times as long. */
interface PackedIds {
  apps: Buffer | null
}

function unpacked([row]: readonly PackedIds[]): Int32Array {
  const packed = row?.apps
  const apps = new Int32Array(packed ? packed.length / 4 : 0)
  for (let i = 0; i < apps.length; i++) apps[i] = packed!.readInt32BE(i * 4)
  return apps
}
