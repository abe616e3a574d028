import { ReadFailure } from "./source.ts"

/** A text of XML that is read from its beginning to its end. */
export interface XmlReader {
  xml: string
  /** How far it has been read. */
  at: number
  /** What the text turns out to be where it cannot be read: "the answer is no property list". */
  otherwise: string
}

/** What stands next, where it is this. The pattern is sticky. */
export function take(reader: XmlReader, next: RegExp): RegExpExecArray | null {
  next.lastIndex = reader.at
  const found = next.exec(reader.xml)
  if (found) reader.at = next.lastIndex
  return found
}

/** Throws ReadFailure (`changed`) where something else stands next. */
export function expect(reader: XmlReader, next: RegExp): RegExpExecArray {
  const found = take(reader, next)
  if (!found) throw changed(reader)
  return found
}

export function changed({ otherwise, at }: XmlReader): ReadFailure {
  return new ReadFailure("changed", `${otherwise} at character ${at}`)
}

/** Text with its references undone: XML's own five entities, and characters by their number. */
export function undone(reader: XmlReader, raw: string): string {
  return raw.replace(/&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#x([\da-fA-F]{1,6}));|&/g, (all, named, decimal, hex) => {
    if (named) return NAMED[named] as string
    if (all === "&") throw changed(reader)
    return character(reader, decimal ? Number(decimal) : Number.parseInt(hex, 16))
  })
}

const NAMED: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" }

/** A character that XML 1.0 allows. */
function character(reader: XmlReader, code: number): string {
  const allowed =
    [9, 10, 13].includes(code) ||
    (code >= 0x20 && code <= 0xd7ff) ||
    (code >= 0xe000 && code <= 0xfffd) ||
    (code >= 0x10000 && code <= 0x10ffff)
  if (!allowed) throw changed(reader)
  return String.fromCodePoint(code)
}
