import { PutAside } from "../../measuring/parsing/put-aside.ts"
import { ReadFailure } from "../../measuring/source.ts"

/** A row of a report, with access by column name. */
export interface ReportRow {
  /** The label that names the row if it is skipped: "row 17". */
  name: string
  /**
   * Returns the trimmed cell, because blank cells are one space in some columns and empty in others. Throws ReadFailure
   * when the column is missing.
   */
  text(column: string): string
  /** Returns the trimmed cell. Undefined if it is blank or there is no such column. */
  word(column: string): string | undefined
  /**
   * Returns a whole number, which may be printed as a decimal ("3.00"). A blank cell is 0. Throws ReadFailure for
   * anything else.
   */
  count(column: string): number
  /** Returns a decimal number as text. A blank cell is 0. Throws ReadFailure for anything else. */
  money(column: string): string
}

/**
 * Yields the rows of a tab-separated report. The first line is the header, which concatenated files repeat. Columns are
 * found by name, because new ones are added and their order is not documented. A row with a different number of cells
 * is skipped.
 */
export async function* reportTable(
  lines: AsyncIterable<string>,
  needed: readonly string[],
  aside = new PutAside(),
): AsyncGenerator<ReportRow> {
  let head: string | null = null
  let columns: Columns = { places: new Map(), width: 0 }
  let place = 0
  for await (const line of lines) {
    if (head === null) columns = columnsIn(line, needed)
    head ??= line
    if (line === "" || line === head) continue
    const name = `row ${++place}`
    const cells = cellsIn(line, columns.width)
    if (cells.length === columns.width) yield reportRow(name, columns, cells)
    else aside.add(name, `it has ${cells.length} cells instead of ${columns.width}`)
  }
  if (head === null) columnsIn("", needed)
}

interface Columns {
  places: ReadonlyMap<string, number>
  width: number
}

function columnsIn(head: string, needed: readonly string[]): Columns {
  const names = head.replace(/^\uFEFF/, "").split("\t")
  const places = new Map(names.map((name, place) => [name.trim(), place]))
  const missing = needed.filter((name) => !places.has(name))
  if (missing.length > 0) throw new ReadFailure("changed", `the report has no column ${missing.join(", ")}`)
  return { places, width: names.length }
}

/** Removes blank cells after the last column. */
function cellsIn(line: string, width: number): string[] {
  const cells = line.split("\t")
  while (cells.length > width && cells.at(-1)!.trim() === "") cells.pop()
  return cells
}

function reportRow(name: string, { places }: Columns, cells: readonly string[]): ReportRow {
  const text = (column: string) => {
    const place = places.get(column)
    if (place === undefined) throw new ReadFailure("changed", `the report has no column ${column}`)
    return (cells[place] as string).replaceAll("\0", "").trim()
  }
  const number = (column: string, shape: RegExp) => {
    const found = shape.exec(text(column) || "0")
    if (!found)
      throw new ReadFailure("changed", `${column} is not a number (${JSON.stringify(text(column).slice(0, 30))})`)
    return found.groups as { sign: string; whole: string; part?: string }
  }
  return {
    name,
    text,
    word: (column) => (places.has(column) ? text(column) || undefined : undefined),
    count(column) {
      const { sign, whole } = number(column, WHOLE)
      return Number(`${sign === "-" ? "-" : ""}${whole}`)
    },
    money(column) {
      const { sign, whole, part = "" } = number(column, DECIMAL)
      return `${sign === "-" ? "-" : ""}${whole || "0"}${part && `.${part}`}`
    },
  }
}

const WHOLE = /^(?<sign>[+-]?)(?<whole>\d{1,10})(\.0*)?$/
/** Drops digits after the sixth decimal, because no currency has more. */
const DECIMAL = /^(?<sign>[+-]?)(?=\.?\d)(?<whole>\d{0,12})(\.(?<part>\d{0,6})\d*)?$/

/** Merges rows that differ only in the summed columns. Rows stay in the order of their first occurrence. */
export function createSum<Row extends object>(amounts: readonly (keyof Row)[]) {
  const byRest = new Map<string, Row>()
  return {
    add(row: Row): void {
      const rest = JSON.stringify(Object.entries(row).filter(([name]) => !amounts.includes(name as keyof Row)))
      const sum = byRest.get(rest)
      if (!sum) byRest.set(rest, { ...row })
      else for (const name of amounts) Object.assign(sum, { [name]: Number(sum[name]) + Number(row[name]) })
    },
    rows: (): Row[] => [...byRest.values()],
  }
}
