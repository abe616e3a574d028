import type * as v from "valibot"
import type { CsvCell } from "./csv.ts"
import { capitalised, type Schema, unwrap } from "./schema.ts"

/** Converts an answer to rows, for callers that prefer CSV or JSON Lines to JSON. */
export interface Table<Answer> {
  /** The list that the rows come from, if they come from a list of the answer. Its item schema defines the columns. */
  list?: string
  /**
   * The columns of the rows, in order. Fields that occur once in the answer, such as a storefront or a time, are
   * appended, unless a column has that name.
   */
  columns: readonly string[]
  rows(answer: Answer): Iterable<TableRow>
}

/** Cells by column. Null (an empty cell) means unknown. A column is missing if the call left it out. */
export type TableRow = Readonly<Record<string, CsvCell | object | undefined>>

/**
 * Returns the table of one list of an answer, with a row per item. The fields of an object become columns named after
 * both: estimates.revenue becomes estimatesRevenue. A list within a row is one cell.
 */
export function listTable(output: Schema, list: string): Table<unknown> {
  const { entries } = output as v.StrictObjectSchema<v.ObjectEntries, undefined>
  const row = unwrap((unwrap(entries[list] as Schema) as Schema & { item: Schema }).item)
  return {
    list,
    columns: columnsOf(row, ""),
    rows: (answer) => (answer as Record<string, object[]>)[list]!.map((item) => cellsOf(row, item, "")),
  }
}

function columnsOf(schema: Schema, prefix: string): string[] {
  return fieldsOf(schema, prefix).flatMap(({ column, parts }) => (parts ? columnsOf(parts, column) : [column]))
}

function cellsOf(schema: Schema, item: Record<string, unknown> | object | null | undefined, prefix: string): TableRow {
  const cells: Record<string, CsvCell | object | undefined> = {}
  for (const { name, column, parts } of fieldsOf(schema, prefix)) {
    const value = item === null ? null : (item as Record<string, never> | undefined)?.[name]
    if (parts) Object.assign(cells, cellsOf(parts, value, column))
    else cells[column] = value
  }
  return cells
}

function fieldsOf(schema: Schema, prefix: string) {
  const { entries } = schema as v.StrictObjectSchema<v.ObjectEntries, undefined>
  return Object.entries(entries).map(([name, entry]) => {
    const inner = unwrap(entry as Schema)
    const column = prefix === "" ? name : prefix + capitalised(name)
    return { name, column, parts: "entries" in inner ? (inner as Schema) : null }
  })
}
