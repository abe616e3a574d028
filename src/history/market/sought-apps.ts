import type { Sql } from "../../database/types.ts"
import { appsWithText } from "./texts.ts"

/** Apps that are sought by a text at most: where more have it, each app of the lists is looked at instead. */
const MOST_SOUGHT = 10_000

/**
 * Those of the apps of the lists (and others) that are a publisher's, or have every word of a text in a name or in the
 * publisher's, or both; null = all of them.
 */
export async function readSoughtApps(
  sql: Sql,
  lists: readonly { apps: Int32Array }[],
  { text, publisher }: { text?: string | undefined; publisher?: string | undefined },
): Promise<Int32Array | null> {
  const own = publisher === undefined ? null : await readPublisherApps(sql, publisher)
  if (text === undefined) return own
  if (own) return await readWithText(sql, text, own)
  const sought = unpacked(
    await sql<PackedIds[]>`
      select string_agg(int4send(app_id), '') as apps
      from (
        select app_id
        from (${appsWithText(sql, text)}) t
        limit ${MOST_SOUGHT + 1}
      ) t`,
  )
  if (sought.length <= MOST_SOUGHT) return sought
  return await readWithText(sql, text, new Set(lists.flatMap(({ apps }) => [...apps])))
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
