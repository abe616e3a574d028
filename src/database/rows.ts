import { hash } from "node:crypto"
import type { PendingQuery, Row } from "postgres"
import type { Table } from "./tables.ts"
import type { Tx } from "./types.ts"

/** Rows of a table, a line each: a JSON object with PostgreSQL's text of each value, or null. */
export interface Page {
  table: string
  lines: string[]
}

/** A checksum that does not depend on the order of the rows. */
export interface Sum {
  rows: number
  /** The sum over all rows of the first 8 bytes (signed, big-endian) of the SHA-256 of the row's line; in decimal. */
  checksum: string
}

/** Makes values have the same text on every server, and disables the time limits, until the end of the transaction. */
export async function setSteadyText(tx: Tx): Promise<void> {
  await tx`
    select set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO, MDY', true),
      set_config('IntervalStyle', 'postgres', true), set_config('bytea_output', 'hex', true),
      set_config('extra_float_digits', '1', true)`
  await tx`set local statement_timeout = 0`
  await tx`set local idle_in_transaction_session_timeout = 0`
}

/** Reads a table in physical order. 500 of the widest rows (250 results each) are about 800 KB. */
export async function* readLines(tx: Tx, table: Table): AsyncGenerator<Page> {
  await tx`declare appmeter_lines no scroll cursor for ${lines(tx, table)}`
  for (;;) {
    const rows = await tx<{ line: string }[]>`fetch 500 from appmeter_lines`
    if (rows.length === 0) break
    yield { table: table.name, lines: rows.map(({ line }) => line) }
  }
  await tx`close appmeter_lines`
}

export async function insertLines(tx: Tx, { name, columns }: Table, page: readonly string[]): Promise<void> {
  const names = columns.map((column) => tx`${tx(column.name)}`)
  // A JSON column would store the text as a JSON string.
  const values = columns.map(({ name, isJson }) => (isJson ? tx`(r.${tx(name)} #>> '{}')::jsonb` : tx`r.${tx(name)}`))
  await tx`
    insert into ${tx(name)} (${listed(tx, names)})
    overriding system value
    select ${listed(tx, values)}
    from json_populate_recordset(null::${tx(name)}, ${`[${page.join(",")}]`}::text::json) r`
}

export async function sumTable(tx: Tx, table: Table): Promise<Sum> {
  const [row] = await tx<[Sum]>`
    select count(*) as rows,
      coalesce(sum(
        ('x' || encode(substr(sha256(convert_to(line, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint
      ), 0)::text as checksum
    from (${lines(tx, table)}) l`
  return { rows: row.rows, checksum: row.checksum }
}

export class RunningSum {
  rows = 0
  #sum = 0n

  add(line: string): void {
    this.rows++
    this.#sum += hash("sha256", line, "buffer").readBigInt64BE(0)
  }

  get sum(): Sum {
    return { rows: this.rows, checksum: String(this.#sum) }
  }
}

type Fragment = PendingQuery<Row[]>

function lines(tx: Tx, { name, columns }: Table): Fragment {
  const texts = columns.map((column) => tx`${tx(column.name)}::text as ${tx(column.name)}`)
  return tx`
    select row_to_json(r)::text as line
    from (select ${listed(tx, texts)} from ${tx(name)}) r`
}

function listed(tx: Tx, parts: Fragment[]): Fragment[] {
  return parts.map((part, i) => (i === 0 ? part : tx`, ${part}`))
}
