import { ReadFailure } from "../source.ts"

/** A row of a report, by the names of its columns. */
export interface ReportRow {
  /** Trimmed: what is blank is one space in some columns, and nothing in others. Throws ReadFailure without the column. */
  text(column: string): string
  /** Undefined also where there is no such column. */
  word(column: string): string | undefined
  /** A whole number; 0 where it is blank. */
  count(column: string): number
  /** A decimal number as printed; 0 where it is blank. */
  money(column: string): string
}

/**
 * Tab-separated, the first line heads, and again where one file follows another. Columns are found by name: the set grows, and
 * their order is nobody's promise.
 */
export async function* reportTable(lines: AsyncIterable<string>, needed: readonly string[]): AsyncGenerator<ReportRow> {
  let head: string | null = null
  let places: ReadonlyMap<string, number> = new Map()
  for await (const line of lines) {
    if (head === null) places = columnsIn(line, needed)
    head ??= line
    if (line !== "" && line !== head) yield reportRow(places, line.split("\t"))
  }
  if (head === null) columnsIn("", needed)
}

function columnsIn(head: string, needed: readonly string[]): ReadonlyMap<string, number> {
  const names = head.replace(/^\uFEFF/, "").split("\t")
  const places = new Map(names.map((name, place) => [name.trim(), place]))
  const missing = needed.filter((name) => !places.has(name))
  if (missing.length > 0) throw new ReadFailure("changed", `the report has no column ${missing.join(", ")}`)
  return places
}

function reportRow(places: ReadonlyMap<string, number>, cells: readonly string[]): ReportRow {
  if (cells.length !== places.size) throw new ReadFailure("changed", "a row of the report has other cells than columns")
  const text = (column: string) => {
    const place = places.get(column)
    if (place === undefined) throw new ReadFailure("changed", `the report has no column ${column}`)
    return (cells[place] as string).trim()
  }
  const number = (column: string, shape: RegExp) => {
    const said = text(column) || "0"
    if (!shape.test(said)) throw new ReadFailure("changed", `${column} holds no number`)
    return said
  }
  return {
    text,
    word: (column) => (places.has(column) ? text(column) || undefined : undefined),
    count: (column) => Number(number(column, /^-?\d{1,10}$/)),
    money: (column) => number(column, /^-?\d{1,12}(\.\d{1,6})?$/),
  }
}

/** Rows that differ in nothing but what is added up become one; in the order of their first. */
export function createSum<Row extends object>(amounts: readonly (keyof Row)[]) {
  const byRest = new Map<string, Row>()
  return {
    add(row: Row): void {
      const rest = JSON.stringify(Object.entries(row).filter(([name]) => !amounts.includes(name as keyof Row)))
      const held = byRest.get(rest)
      if (!held) byRest.set(rest, { ...row })
      else for (const name of amounts) held[name] = ((held[name] as number) + (row[name] as number)) as never
    },
    rows: (): Row[] => [...byRest.values()],
  }
}
