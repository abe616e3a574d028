import { csvRecords } from "../../../lib/csv.ts"
import { isStorable } from "../../../lib/text.ts"
import { isRealDay } from "../../../lib/time.ts"
import type { PutAside } from "../../../measuring/parsing/put-aside.ts"
import { ReadFailure } from "../../../measuring/source.ts"

/** A row of a report of Google Play, with access by column title. */
export interface PlayRow {
  /** The row's label when it is put aside: "line 17". */
  name: string
  /** The trimmed cell. Empty if there is no such column. */
  text(column: string): string
  /**
   * A whole number from 0. Undefined if the cell is blank, because Google withholds small values, or if there is no
   * such column. Throws ReadFailure for anything else.
   */
  count(column: string): number | undefined
  /** A decimal number as text. Undefined if the cell is blank or NA. Throws ReadFailure for anything else. */
  decimal(column: string): string | undefined
}

/** Other work may run after this many rows, because a month of a large seller has a million. */
const ROWS_AT_ONCE = 2_000

/**
 * Yields the rows of a report. Titles are compared without case, blanks and punctuation, because the Console's files
 * differ in them. Unknown columns are ignored. A file that was put together from several repeats the titles. A row with
 * a different number of cells, or with broken quotes, is put aside. Throws ReadFailure when a needed column is missing.
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
    if (fields === null) aside.add(name, "its quotes are broken")
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

/** The keys of the columns that parsers name, which are few, because a large file has millions of cells. */
const COLUMN_KEYS = new Map<string, string>()

function columnKey(column: string): string {
  const key = COLUMN_KEYS.get(column) ?? keyOf(column)
  COLUMN_KEYS.set(column, key)
  return key
}

function playRow(name: string, { places }: Head, cells: readonly string[]): PlayRow {
  const text = (column: string) => {
    const cell = (cells[places.get(columnKey(column)) ?? -1] ?? "").replaceAll("\0", "").trim()
    if (!isStorable(cell)) throw new ReadFailure("changed", `"${column}" has characters that are not text`)
    return cell
  }
  const number = (column: string, shape: RegExp): string | undefined => {
    const cell = text(column)
    if (cell === "" || /^n\/?a$/i.test(cell)) return undefined
    const plain = GROUPED.test(cell) ? cell.replaceAll(",", "") : cell
    if (!shape.test(plain))
      throw new ReadFailure("changed", `"${column}" has no number (${JSON.stringify(cell.slice(0, 30))})`)
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

/** "1,234.50": the thousands are separated. */
const GROUPED = /^-?\d{1,3}(,\d{3})+(\.\d+)?$/
const WHOLE = /^\d{1,10}(\.0*)?$/
/** No currency has more than six decimals. */
const DECIMAL = /^-?\d{1,12}(\.\d{1,6}0*)?$/

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

/** Accepts "2019-11-01" and "Nov 1, 2019". Throws ReadFailure for anything else. */
export function dayIn(text: string): string {
  const [, name = "", date = "", year] = /^([a-z]{3})[a-z]* (\d{1,2}), (\d{4})$/i.exec(text) ?? []
  const month = `${MONTHS.indexOf(name.toLowerCase()) + 1}`.padStart(2, "0")
  const day = year === undefined ? text : `${year}-${month}-${date.padStart(2, "0")}`
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || !isRealDay(day))
    throw new ReadFailure("changed", `it has no day (${JSON.stringify(text.slice(0, 30))})`)
  return day
}

/** The file's country in small letters. Undefined if it is blank, or no country, such as "Other". */
export function countryIn(text: string): string | undefined {
  return /^[a-z]{2}$/i.test(text) ? text.toLowerCase() : undefined
}
