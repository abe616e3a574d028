import { csvRecords } from "../../../lib/csv.ts"
import { isStorable } from "../../../lib/text.ts"
import { isRealDay } from "../../../lib/time.ts"
import type { PutAside } from "../../../measuring/parsing/put-aside.ts"
import { ReadFailure } from "../../../measuring/source.ts"

/** A row of a report of Google Play, with access by column title. */
export interface PlayRow {
  /** The label that names the row if it is skipped: "line 17". */
  name: string
  /** Returns the trimmed cell. Empty if there is no such column. */
  text(column: string): string
  /**
   * Returns a whole number of at least 0. Undefined if the cell is blank, because Google withholds small values, or if
   * there is no such column. Throws ReadFailure for anything else.
   */
  count(column: string): number | undefined
  /** Returns a decimal number as text. Undefined if the cell is blank or NA. Throws ReadFailure for anything else. */
  decimal(column: string): string | undefined
}

/** After this many rows the reader yields to other work, because a month of a large seller has a million rows. */
const ROWS_AT_ONCE = 2_000

/**
 * Yields the rows of a report. Column titles are compared without case, blanks and punctuation, because files differ in
 * these. Unknown columns are ignored. A file that was joined from several repeats the titles. A row with a different
 * number of cells, or with broken quotes, is skipped. Throws ReadFailure when a needed column is missing.
 */
export async function* playTable(text: string, needed: readonly string[], aside: PutAside): AsyncGenerator<PlayRow> {
  let head: Head | null = null
  let rows = 0
  for (const { line, fields } of csvRecords(text)) {
    if (head === null) {
      head = headIn(fields ?? [], line, needed)
      continue
    }
    if (++rows % ROWS_AT_ONCE === 0) await new Promise((resume) => setImmediate(resume))
    const name = `line ${line}`
    if (fields === null) aside.add(name, "it has broken quotes")
    else if (fields.length !== head.titles.length)
      aside.add(name, `it has ${fields.length} cells instead of ${head.titles.length}`)
    else if (fields.every((cell, place) => keyOf(cell) === head?.titles[place])) continue
    else yield playRow(name, head, fields)
  }
  if (head === null) headIn([], 1, needed)
}

interface Head {
  titles: readonly string[]
  places: ReadonlyMap<string, number>
}

function headIn(fields: readonly string[], line: number, needed: readonly string[]): Head {
  const titles = fields.map(keyOf)
  const places = new Map(titles.map((title, place) => [title, place]))
  const missing = needed.filter((column) => !places.has(keyOf(column)))
  if (missing.length > 0)
    throw new ReadFailure("changed", `line ${line} has no column ${missing.map((name) => `"${name}"`).join(", ")}`)
  return { titles, places }
}

function keyOf(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9]/g, "")
}

/** Caches the keys of the columns that parsers name. There are few columns, but a large file has millions of cells. */
const COLUMN_KEYS = new Map<string, string>()

function columnKey(column: string): string {
  const key = COLUMN_KEYS.get(column) ?? keyOf(column)
  COLUMN_KEYS.set(column, key)
  return key
}

function playRow(name: string, { places }: Head, cells: readonly string[]): PlayRow {
  const text = (column: string) => {
    const cell = (cells[places.get(columnKey(column)) ?? -1] ?? "").replaceAll("\0", "").trim()
    if (!isStorable(cell)) throw new ReadFailure("changed", `"${column}" has unreadable characters`)
    return cell
  }
  const number = (column: string, shape: RegExp): string | undefined => {
    const cell = text(column)
    if (cell === "" || /^n\/?a$/i.test(cell)) return undefined
    const plain = GROUPED.test(cell) ? cell.replaceAll(",", "") : cell
    if (!shape.test(plain))
      throw new ReadFailure("changed", `"${column}" is not a number (${JSON.stringify(cell.slice(0, 30))})`)
    return plain
  }
  return {
    name,
    text,
    count(column) {
      const digits = number(column, WHOLE)
      return digits === undefined ? undefined : Number(digits.split(".")[0])
    },
    decimal: (column) => number(column, DECIMAL),
  }
}

/** A number whose thousands are separated: "1,234.50". */
const GROUPED = /^-?\d{1,3}(,\d{3})+(\.\d+)?$/
const WHOLE = /^\d{1,10}(\.0*)?$/
/** No currency has more than six decimals. */
const DECIMAL = /^-?\d{1,12}(\.\d{1,6}0*)?$/

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

/** Parses "2019-11-01" or "Nov 1, 2019". Throws ReadFailure for anything else. */
export function dayIn(text: string): string {
  const [, name = "", date = "", year] = /^([a-z]{3})[a-z]* (\d{1,2}), (\d{4})$/i.exec(text) ?? []
  const month = `${MONTHS.indexOf(name.toLowerCase()) + 1}`.padStart(2, "0")
  const day = year === undefined ? text : `${year}-${month}-${date.padStart(2, "0")}`
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || !isRealDay(day))
    throw new ReadFailure("changed", `it has no valid day (${JSON.stringify(text.slice(0, 30))})`)
  return day
}

/**
 * Returns the country in lower-case letters. Undefined if the cell is blank or is not a country code, such as "Other".
 */
export function countryIn(text: string): string | undefined {
  return /^[a-z]{2}$/i.test(text) ? text.toLowerCase() : undefined
}
