import { type Page, readLines, type Sum, setSteadyText } from "./rows.ts"
import { describeTables, readPartitionedMonths, readSequences, type Sequence } from "./tables.ts"
import type { Sql, Tx } from "./types.ts"

export interface Contents {
  /** Tables in the order for writing: a table comes after the tables it references. */
  tables: { name: string; columns: string[]; rows: number }[]
  /** First days of the months for which partitions are needed. */
  months: string[]
  sequences: Sequence[]
  /** Returns every row, table by table in the order of `tables`. Call it only once. */
  pages(): AsyncIterable<Page>
}

export type TableSum = Sum & { name: string }

export type ProgressListener = (table: string, done: number, all: number) => void

/**
 * Reads the tables in one snapshot. The embedded database has one backend, so other queries wait until the last row is
 * read.
 */
export async function readAtOneMoment<T>(
  sql: Sql,
  names: readonly string[],
  work: (contents: Contents) => Promise<T>,
): Promise<T> {
  const { promise: read, resolve: endReading } = Promise.withResolvers<void>()
  let working: Promise<T> | undefined
  try {
    await sql.begin("isolation level repeatable read read only", async (tx) => {
      // The work may have written rows that it read, so it cannot be restarted.
      if (working) return void (await working)
      await setSteadyText(tx)
      working = work(await readContents(tx, names, endReading))
      // Does not wait until the work has finished, which may be minutes after the last row was read.
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
    const [row] = await tx<[{ rows: number }]>`select count(*) as rows from ${tx(name)}`
    tables.push({ name, columns: columns.map((column) => column.name), rows: row.rows })
  }
  return {
    tables,
    months: await readPartitionedMonths(tx, described),
    sequences: await readSequences(tx, described),
    async *pages() {
      for (const table of described) yield* readLines(tx, table)
      end()
    },
  }
}
