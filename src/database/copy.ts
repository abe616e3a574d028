import { valueAt } from "../lib/objects.ts"
import type { Contents, ProgressListener, TableSum } from "./contents.ts"
import { DatabaseProblem } from "./problem.ts"
import { insertLines, RunningSum, setSteadyText, sumTable } from "./rows.ts"
import { describeTables, type Table } from "./tables.ts"
import type { Database, Db, Tx } from "./types.ts"

interface CopyOptions {
  /** True if existing rows are deleted first. Otherwise a database with rows is refused. */
  replace?: boolean
  finish?: (tx: Tx) => Promise<void>
  onProgress?: ProgressListener
}

/**
 * Copies the contents and verifies their checksums in one transaction. Throws DatabaseProblem when rows exist that may
 * not be replaced.
 */
export function copyInto(
  { sql, kind }: Database,
  contents: Contents,
  { replace = false, finish, onProgress = () => {} }: CopyOptions = {},
): Promise<TableSum[]> {
  return sql.begin(async (tx) => {
    await setSteadyText(tx)
    const tables = await findMatchingTables(tx, contents)
    await lock(tx, tables)
    if (!replace) await assertEmpty(tx, tables)
    const guarded = tables.filter(({ hasTriggers }) => hasTriggers)
    for (const { name } of guarded) await tx`alter table ${tx(name)} disable trigger user`
    await emptyTables(tx, tables)
    for (const month of contents.months) await tx`select open_month(${month}::date)`
    const sums = await write(tx, kind, tables, contents, onProgress)
    await setSequences(tx, contents)
    await assertSame(tx, tables, sums)
    for (const { name } of guarded) await tx`alter table ${tx(name)} enable trigger user`
    await finish?.(tx)
    return sums
  }) as Promise<TableSum[]>
}

export async function countRows(sql: Db, names: readonly string[]): Promise<{ name: string; rows: number }[]> {
  const counted: { name: string; rows: number }[] = []
  for (const { name } of await describeTables(sql, names)) {
    const [row] = await sql<[{ rows: number }]>`select count(*) as rows from ${sql(name)}`
    if (row.rows > 0) counted.push({ name, rows: row.rows })
  }
  return counted
}

export function inWords(tables: readonly { name: string; rows: number }[]): string {
  const [first, ...rest] = tables.map(({ name, rows }) => ({ name, rows }))
  if (!first) return "no rows"
  const named = [`${first.rows} ${first.rows === 1 ? "row" : "rows"} in ${first.name}`]
  for (const { name, rows } of rest.slice(0, 2)) named.push(`${rows} in ${name}`)
  const more = rest.length - 2
  return named.join(", ") + (more > 0 ? ` and ${more} more ${more === 1 ? "table" : "tables"}` : "")
}

async function findMatchingTables(tx: Tx, contents: Contents): Promise<Table[]> {
  const there = await describeTables(
    tx,
    contents.tables.map(({ name }) => name),
  )
  return contents.tables.map(({ name, columns }) => {
    const table = there.find((item) => item.name === name)
    const same =
      table?.columns
        .map((column) => column.name)
        .sort()
        .join() === columns.toSorted().join()
    if (!table || !same) throw new DatabaseProblem(`the table ${name} is not the same in both databases`)
    return table
  })
}

// The lock makes a server that starts meanwhile wait, so that its rows are not overwritten.
async function lock(tx: Tx, tables: readonly Table[]): Promise<void> {
  for (const { name } of tables) await tx`lock table ${tx(name)} in access exclusive mode`
}

async function assertEmpty(tx: Tx, tables: readonly Table[]): Promise<void> {
  const nonEmpty = await countRows(
    tx,
    tables.map(({ name }) => name),
  )
  if (nonEmpty.length > 0) throw new DatabaseProblem(`the database contains data: ${inWords(nonEmpty)}`)
}

/**
 * Runs even if the tables are empty: truncating gives the sequences new files, so that the sequences are rolled back
 * with the transaction.
 */
async function emptyTables(tx: Tx, tables: readonly Table[]): Promise<void> {
  const names = tables.map(({ name }, i) => (i === 0 ? tx`${tx(name)}` : tx`, ${tx(name)}`))
  await tx`truncate ${names} restart identity`
}

// A checkpoint is written after this many bytes. Nothing else writes one meanwhile, and a start after a kill would have
// to replay the whole log.
const CHECKPOINT_BYTES = 64 * 1024 * 1024

async function write(
  tx: Tx,
  kind: Database["kind"],
  tables: readonly Table[],
  contents: Contents,
  onProgress: ProgressListener,
): Promise<TableSum[]> {
  const byName = new Map(tables.map((table) => [table.name, table]))
  const sums = new Map(tables.map(({ name }) => [name, new RunningSum()]))
  const expected = new Map(contents.tables.map(({ name, rows }) => [name, rows]))
  let bytes = 0
  for await (const { table: name, lines } of contents.pages()) {
    const sum = valueAt(sums, name)
    for (const line of lines) {
      sum.add(line)
      bytes += line.length
    }
    await insertLines(tx, valueAt(byName, name), lines)
    onProgress(name, sum.rows, valueAt(expected, name))
    if (kind === "embedded" && bytes > CHECKPOINT_BYTES) {
      await tx`checkpoint`
      bytes = 0
    }
  }
  for (const [name, { rows }] of sums) {
    if (rows !== expected.get(name))
      throw new DatabaseProblem(
        `only ${rows} of ${expected.get(name)} rows of ${name} could be read; nothing was written`,
      )
  }
  return tables.map(({ name }) => ({ name, ...valueAt(sums, name).sum }))
}

async function setSequences(tx: Tx, { sequences }: Contents): Promise<void> {
  for (const { table, column, last } of sequences) {
    if (last === null) continue
    await tx`select setval(pg_get_serial_sequence(format('%I', ${table}::text), ${column}), ${last}::bigint)`
  }
}

async function assertSame(tx: Tx, tables: readonly Table[], sums: readonly TableSum[]): Promise<void> {
  for (const [i, table] of tables.entries()) {
    const { rows, checksum } = await sumTable(tx, table)
    if (rows !== sums[i]?.rows || checksum !== sums[i].checksum)
      throw new DatabaseProblem(`${table.name} reads back differently from what was written; nothing was kept`)
  }
}
