/** A record of a CSV text; `fields` is null where its quoting is broken, and reading goes on at the next line. */
export interface CsvRecord {
  /** Its first line, from 1. */
  line: number
  fields: string[] | null
}

/** Records of a CSV text (RFC 4180). A quoted field of over 10,000 characters counts as a quote never closed. */
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
