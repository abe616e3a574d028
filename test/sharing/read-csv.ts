/**
 * Parses CSV by the grammar of RFC 4180 only, character by character: every record ends with CRLF, and a quote inside a
 * quoted field is doubled. Throws on anything else. Shares no code with the service.
 */
export function readCsv(text: string): string[][] {
  const records: string[][] = []
  let record: string[] = []
  let at = 0
  while (at < text.length) {
    let field = ""
    if (text[at] === '"') {
      for (at++; ; at++) {
        if (at >= text.length) throw new Error("a quoted field does not end")
        if (text[at] !== '"') field += text[at]
        else if (text[at + 1] === '"') {
          field += '"'
          at++
        } else break
      }
      at++
    } else {
      while (at < text.length && !',\r\n"'.includes(text[at] as string)) field += text[at++]
    }
    record.push(field)
    if (text[at] === ",") {
      at++
      continue
    }
    if (text.slice(at, at + 2) !== "\r\n") throw new Error(`neither a comma nor CRLF after a field, at ${at}`)
    at += 2
    records.push(record)
    record = []
  }
  if (record.length > 0) throw new Error("the last record does not end")
  return records
}

/** Returns the records below a header as objects. Requires a byte order mark. */
export function readTable(text: string): Record<string, string>[] {
  if (!text.startsWith("\uFEFF")) throw new Error("no byte order mark")
  const [header, ...records] = readCsv(text.slice(1)) as [string[], ...string[][]]
  return records.map((record) => {
    if (record.length !== header.length) throw new Error("a record is not as long as the header")
    return Object.fromEntries(header.map((name, place) => [name, record[place] as string]))
  })
}
