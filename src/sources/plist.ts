import { changed, expect, readerOf, take, undone, type XmlReader } from "./xml-reader.ts"

// No list that is read has more than four.
const DEEPEST = 32

/**
 * The value of an XML property list: a dict becomes an object without a prototype, an array an array, a string, date or
 * data a text, an integer or real a number, true and false themselves. Strict: what is no list of this subset (another
 * element, a key twice, text between elements, a comment, a CDATA section, an entity beyond XML's own five) throws
 * ReadFailure `changed`; nothing is ever fetched or expanded. Takes time linear to the text.
 */
export function parsePlist(xml: string, what: string): unknown {
  const reader = readerOf(xml, `${what} is no property list`)
  take(reader, /\s*<\?xml\s[^<>]*\?>/y)
  take(reader, /\s*<!DOCTYPE\s+plist(?:\s+PUBLIC\s+"[^"<>]*"\s+"[^"<>]*")?\s*>/y)
  expect(reader, /\s*<plist(?:\s+version="[\d.]+")?\s*>/y)
  const value = element(reader, 0)
  expect(reader, /\s*<\/plist\s*>\s*$/y)
  return value
}

function element(reader: XmlReader, depth: number): unknown {
  if (depth > DEEPEST) throw changed(reader)
  const [, name = "", empty] = expect(reader, /\s*<(dict|array|string|date|data|integer|real|true|false)\s*(\/?)>/y)
  const isEmpty = empty === "/"
  if (name === "dict") return isEmpty ? Object.create(null) : dict(reader, depth)
  if (name === "array") return isEmpty ? [] : array(reader, depth)
  const content = isEmpty ? "" : characters(reader, name)
  if (name === "true" || name === "false") {
    if (content !== "") throw changed(reader)
    return name === "true"
  }
  return name === "integer" || name === "real" ? number(reader, content, name) : content
}

function dict(reader: XmlReader, depth: number): Record<string, unknown> {
  const entries: Record<string, unknown> = Object.create(null)
  while (!take(reader, /\s*<\/dict\s*>/y)) {
    expect(reader, /\s*<key\s*>/y)
    const key = characters(reader, "key")
    if (Object.hasOwn(entries, key)) throw changed(reader)
    entries[key] = element(reader, depth + 1)
  }
  return entries
}

function array(reader: XmlReader, depth: number): unknown[] {
  const items: unknown[] = []
  while (!take(reader, /\s*<\/array\s*>/y)) items.push(element(reader, depth + 1))
  return items
}

/** The text up to the end of the element. Apple escapes ">" too: a bare one is the end of a tag that lost its beginning. */
function characters(reader: XmlReader, name: string): string {
  const [raw] = expect(reader, /[^<>]*/y)
  if (expect(reader, /<\/(\w+)\s*>/y)[1] !== name) throw changed(reader)
  return undone(reader, raw)
}

function number(reader: XmlReader, content: string, name: "integer" | "real"): number {
  const pattern = name === "integer" ? /^\s*[+-]?\d{1,15}\s*$/ : /^\s*[+-]?\d{1,15}(?:\.\d+)?(?:[eE][+-]?\d{1,2})?\s*$/
  if (!pattern.test(content)) throw changed(reader)
  return Number(content)
}
