import { hash } from "node:crypto"
import type { PendingQuery, Row } from "postgres"
import type { Table } from "./tables.ts"
import type { Tx } from "./types.ts"

/** A row is one line: a JSON object that holds PostgreSQL's own text of each value, or null. */
export interface Page {
  table: string
  lines: string[]
}

/** The sum of the rows' checksums is the same in any order. */
export interface Sum {
  rows: number
  /** Over all rows, the first 8 bytes (signed, big-endian) of the SHA-256 of the row's line; in decimal. */
  checksum: string
}

/** Makes a value's text the same on every server, and lifts the limits of time, until the transaction ends. */
export async function setSteadyText(tx: Tx): Promise<void> {
  await tx`
    select set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO, MDY', true),
      set_config('IntervalStyle', 'postgres', true), set_config('bytea_output', 'hex', true),
      set_config('extra_float_digits', '1', true)`
  await tx`set local statement_timeout = 0`
  await tx`set local idle_in_transaction_session_timeout = 0`
}

/** In the order on the disk. 500 rows of the widest (250 results each) are some 800 KB. */
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
  // a JSON column would take the text for a JSON string
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
