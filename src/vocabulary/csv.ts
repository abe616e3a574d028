/** Null is an empty cell: not measured, absent, or not said; the columns beside it tell which. */
export type CsvCell = string | number | boolean | null

/** Tells a spreadsheet that the text is UTF-8; without it Excel takes it for the system's own code page. */
export const BYTE_ORDER_MARK = "\uFEFF"

/** A record as RFC 4180 has it, CRLF included. Texts are defused first; numbers and booleans stay what they are. */
export function csvRecord(cells: readonly CsvCell[]): string {
  return `${cells.map(csvField).join(",")}\r\n`
}

function csvField(cell: CsvCell): string {
  if (cell === null) return ""
  if (typeof cell !== "string") return String(cell)
  const text = defused(cell)
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

// a semicolon and a tab too: some spreadsheets separate by those
const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$/

/** No spreadsheet takes it for a formula: what begins like one, or does behind blanks, gets an apostrophe. */
export function defused(text: string): string {
  return START.test(text) ? `'${text}` : text
}

const UNSEEN = "[\\s\"'`\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]*"
const SIGN = "[=+\\-@\\uff1d\\uff0b\\uff0d\\uff20\\ufe62\\ufe63\\ufe66\\ufe6b\\u2212]"
const START = new RegExp(`^(?:[\\t\\r\\n]|${UNSEEN}${SIGN})`)
