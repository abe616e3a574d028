import { type Page, readLines, type Sum, steadyText } from "./rows.ts"
import { describeTables, partitionedMonths, readSequences, type Sequence } from "./tables.ts"
import type { Sql, Tx } from "./types.ts"

/** All that a database holds, wherever it is read from. */
export interface Contents {
  /** In an order in which they can be written: a row comes after those it refers to. */
  tables: { name: string; columns: string[]; rows: number }[]
  /** First days of the months that partitions are needed for. */
  months: string[]
  sequences: Sequence[]
  /** Every row, table by table in the order of `tables`. To be called once. */
  pages(): AsyncIterable<Page>
}

export type TableSum = Sum & { name: string }

/** Called as rows pass by. */
export type OnProgress = (table: string, done: number, all: number) => void

/**
 * Gives the named tables' contents as they are at one moment, whatever is written meanwhile. A server database goes on
 * with its work; the embedded one has a single backend, and whoever else wants it waits until the last row is read.
 */
export async function atOneMoment<T>(
  sql: Sql,
  names: readonly string[],
  work: (contents: Contents) => Promise<T>,
): Promise<T> {
  const { promise: read, resolve: endReading } = Promise.withResolvers<void>()
  let working: Promise<T> | undefined
  try {
    await sql.begin("isolation level repeatable read read only", async (given) => {
      const tx = given as Tx
      await steadyText(tx)
      working = work(await readContents(tx, names, endReading))
      // not until the work has ended: what it does with the last rows may take minutes
      await Promise.race([working, read])
    })
  } catch (error) {
    await working?.catch(() => {})
    throw error
  }
  return await working!
}

async function readContents(tx: Tx, names: readonly string[], end: () => void): Promise<Contents> {
  const described = await describeTables(tx, names)
  const tables: Contents["tables"] = []
  for (const { name, columns } of described) {
    const [row] = await tx<{ rows: number }[]>`select count(*) as rows from ${tx(name)}`
    tables.push({ name, columns: columns.map((column) => column.name), rows: row!.rows })
  }
  return {
    tables,
    months: await partitionedMonths(tx, described),
    sequences: await readSequences(tx, described),
    async *pages() {
      for (const table of described) yield* readLines(tx, table)
      end()
    },
  }
}
