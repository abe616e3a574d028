import { ReadFailure } from "./source.ts"

/** A text of XML that is read from its beginning to its end. */
export interface XmlReader {
  xml: string
  /** How far it has been read. */
  at: number
  /** What the text turns out to be where it cannot be read: "the answer is no property list". */
  otherwise: string
  /** How many tags, texts and references it may still have. */
  left: number
  /** Whether a reference that XML does not have stands for itself, rather than for a text that cannot be read. */
  lenient: boolean
}

// A page of 50 reviews has some 5,000. An element costs hundreds of bytes: 2 million of them took 650 MB.
const MOST_PARTS = 400_000

/** Of one element or attribute: over a hundred times what anybody may write in a review. */
export const LONGEST_TEXT = 1_000_000

/** Begins to read. `otherwise` is what the text turns out to be where it cannot be read. */
export function readerOf(xml: string, otherwise: string, lenient = false): XmlReader {
  return { xml, at: 0, otherwise, left: MOST_PARTS, lenient }
}

/** What stands next, where it is this. The pattern is sticky. Throws ReadFailure (`changed`) in a text of too many parts. */
export function take(reader: XmlReader, next: RegExp): RegExpExecArray | null {
  next.lastIndex = reader.at
  const found = next.exec(reader.xml)
  if (!found) return null
  count(reader)
  reader.at = next.lastIndex
  return found
}

function count(reader: XmlReader): void {
  if (--reader.left < 0) throw changed(reader)
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

/**
 * Text with its references undone: XML's own five entities, and characters by their number. Any other throws ReadFailure
 * (`changed`); of a lenient reader it becomes U+FFFD, or stays as written. Throws for a text longer than any
 * answer has.
 */
export function undone(reader: XmlReader, raw: string): string {
  if (raw.length > LONGEST_TEXT) throw changed(reader)
  return raw.replace(/&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#x([\da-fA-F]{1,6}));|&/g, (all, named, decimal, hex) => {
    count(reader)
    if (named) return NAMED[named] as string
    if (all === "&") {
      if (!reader.lenient) throw changed(reader)
      return all
    }
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
  if (!allowed && !reader.lenient) throw changed(reader)
  return allowed ? String.fromCodePoint(code) : "\ufffd"
}
