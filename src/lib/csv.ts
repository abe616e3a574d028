/**
 * The value of a cell. Null becomes an empty cell: not measured, absent or unknown. Other columns of the row show
 * which.
 */
export type CsvCell = string | number | boolean | null

/** Marks the text as UTF-8. Without it, Excel assumes the system's code page. */
export const BYTE_ORDER_MARK = "\uFEFF"

/**
 * Returns a CSV record (RFC 4180) with its CRLF. Texts are protected against formulas; numbers and booleans are not
 * changed.
 */
export function csvRecord(cells: readonly CsvCell[]): string {
  return `${cells.map(csvField).join(",")}\r\n`
}

function csvField(cell: CsvCell): string {
  if (cell === null) return ""
  if (typeof cell !== "string") return String(cell)
  const text = defused(cell)
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

// Includes semicolon and tab, because some spreadsheets use them as separators.
const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$/

/**
 * Protects a text from being read as a formula: puts an apostrophe before a formula's first character, also after
 * blanks. Does the same after a line end, a semicolon or a tab within the text, because a spreadsheet that separates by
 * semicolons, as in most of Europe, begins a new cell there even within quotes. Within the text, a minus counts as a
 * formula only before a digit, a letter or a bracket, so that lists are not changed.
 */
export function defused(text: string): string {
  const guarded = text.replace(INNER, "$1'")
  return START.test(guarded) ? `'${guarded}` : guarded
}

const UNSEEN = "[\\s\"'`\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]*"
const SIGN = "[=+\\-@\\uff1d\\uff0b\\uff0d\\uff20\\ufe62\\ufe63\\ufe66\\ufe6b\\u2212]"
// Limited, so that a long run of blanks takes linear time.
const BLANKS = "[ \"'`\\u00a0\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]{0,64}"
const INNER_SIGN = "[=+@\\uff1d\\uff0b\\uff20\\ufe62\\ufe66\\ufe6b]|[-\\uff0d\\ufe63\\u2212][\\w.(=+@$]"
const INNER = new RegExp(`([\\t\\r\\n;]${BLANKS})(?=${INNER_SIGN})`, "g")
const START = new RegExp(`^(?:[\\t\\r\\n]|${UNSEEN}${SIGN})`)

/** A record of a CSV text. `fields` is null if its quoting is broken; parsing continues at the next line. */
interface CsvRecord {
  /** Number of its first line, from 1. */
  line: number
  fields: string[] | null
}

/** Parses the records of a CSV text (RFC 4180). A quoted field of more than 10,000 characters counts as unclosed. */
export function* csvRecords(text: string, separator = ","): Generator<CsvRecord> {
  let line = 1
  for (let at = text.startsWith("\uFEFF") ? 1 : 0; at < text.length; ) {
    const read = readRecord(text, at, separator)
    const end = read?.end ?? lineEnd(text, at)
    if (text.slice(at, end).trim() !== "") yield { line, fields: read?.fields ?? null }
    for (
      let newline = text.indexOf("\n", at);
      newline >= 0 && newline <= end;
      newline = text.indexOf("\n", newline + 1)
    ) {
      line++
    }
    at = end + 1
  }
}

const SEPARATORS = [",", ";", "\t"]
/** Some tools write a title and filters above the headings. */
const MAX_ABOVE = 20

/** The headings of a table as `readHeadings` returned them, and the records below. */
export interface CsvTable<Headings> {
  headings: Headings
  records: Generator<CsvRecord>
}

/**
 * Finds the line of headings of a table whose cells are separated by commas, semicolons or tabs: the first line for
 * which `readHeadings` returns something. Null if there is none near the beginning.
 */
export function findCsvTable<Headings>(
  text: string,
  readHeadings: (fields: readonly string[]) => Headings | undefined,
): CsvTable<Headings> | null {
  for (const separator of SEPARATORS) {
    const records = csvRecords(text, separator)
    for (let above = 0; above <= MAX_ABOVE; above++) {
      const { value, done } = records.next()
      if (done) break
      const headings = readHeadings(value.fields ?? [])
      if (headings !== undefined) return { headings, records }
    }
  }
  return null
}

const LONGEST_QUOTED = 10_000

function readRecord(text: string, from: number, separator: string): { fields: string[]; end: number } | null {
  const fields: string[] = []
  for (let at = from; ; at++) {
    const field = text[at] === '"' ? readQuoted(text, at) : readPlain(text, at, separator)
    if (!field) return null
    fields.push(field.value)
    at = field.end
    if (text[at] === separator) continue
    const end = text[at] === "\r" ? at + 1 : at
    return end >= text.length || text[end] === "\n" ? { fields, end } : null
  }
}

function readQuoted(text: string, from: number): { value: string; end: number } | null {
  for (let at = from + 1; ; at += 2) {
    at = text.indexOf('"', at)
    if (at < 0 || at - from > LONGEST_QUOTED) return null
    if (text[at + 1] !== '"') return { value: text.slice(from + 1, at).replaceAll('""', '"'), end: at + 1 }
  }
}

function readPlain(text: string, from: number, separator: string): { value: string; end: number } {
  let end = from
  while (end < text.length && text[end] !== separator && text[end] !== "\n") end++
  if (text[end - 1] === "\r" && text[end] !== separator && end > from) end--
  return { value: text.slice(from, end), end }
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from)
  return end < 0 ? text.length : end
}
