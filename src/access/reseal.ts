import type { Sql } from "../database/types.ts"
import type { Sealer } from "./sealed.ts"

interface SealedColumns {
  table: string
  /** The column that identifies the row in the encrypted text. */
  id: string
  columns: readonly string[]
}

/** Every column with encrypted texts. A test compares the list with the schema. */
export const SEALED: readonly SealedColumns[] = [
  { table: "channel", id: "id", columns: ["sealed", "sealed_earlier"] },
  { table: "connected_account", id: "id", columns: ["sealed", "sealed_write"] },
  { table: "second_factor", id: "person_id", columns: ["sealed"] },
]

/** The number of stored secrets per encryption key. */
export interface SealedCount {
  /** Encrypted with SECRET_KEY. */
  newest: number
  /** Encrypted with a key of SECRET_KEY_PREVIOUS. */
  earlier: number
  /** Encrypted with an unknown key, or damaged. */
  unreadable: number
}

export async function countSealed(sql: Sql, sealer: Sealer): Promise<SealedCount> {
  return await visitSealed(sql, sealer, async () => "earlier")
}

/**
 * Decrypts texts that an earlier key encrypted, and encrypts them with SECRET_KEY. Skips texts that change during the
 * run or cannot be decrypted. Returns the counts after the run.
 */
export async function reseal(sql: Sql, sealer: Sealer): Promise<SealedCount & { resealed: number }> {
  let resealed = 0
  const counts = await visitSealed(sql, sealer, async ({ table, id, column, row, sealed }, text) => {
    const renewed = await sealer.seal(text, { table, row })
    const rows = await sql`
      update ${sql(table)}
      set ${sql(column)} = ${renewed}
      where ${sql(id)}::text = ${row} and ${sql(column)} = ${sealed}
      returning 1`
    resealed += rows.length
    return "newest"
  })
  return { ...counts, resealed }
}

interface SealedText {
  table: string
  id: string
  column: string
  row: string
  sealed: string
}

type EarlierTextVisitor = (at: SealedText, text: string) => Promise<keyof SealedCount>

async function visitSealed(sql: Sql, sealer: Sealer, onEarlier: EarlierTextVisitor): Promise<SealedCount> {
  const counts: SealedCount = { newest: 0, earlier: 0, unreadable: 0 }
  for (const { table, id, columns } of SEALED) {
    for (const column of columns) {
      for await (const page of readSealed(sql, table, id, column)) {
        for (const { row, sealed } of page) {
          const text = await sealer.open(sealed, { table, row }).catch(() => null)
          if (text === null) counts.unreadable++
          else if (!sealer.isOld(sealed)) counts.newest++
          else counts[await onEarlier({ table, id, column, row, sealed }, text)]++
        }
      }
    }
  }
  return counts
}

const PAGE = 200

async function* readSealed(sql: Sql, table: string, id: string, column: string) {
  let after = ""
  for (;;) {
    const page = await sql<{ row: string; sealed: string }[]>`
      select ${sql(id)}::text as row, ${sql(column)} as sealed
      from ${sql(table)}
      where ${sql(id)}::text > ${after} and ${sql(column)} is not null
      order by ${sql(id)}::text
      limit ${PAGE}`
    yield page
    const last = page.at(-1)
    if (!last || page.length < PAGE) return
    after = last.row
  }
}
