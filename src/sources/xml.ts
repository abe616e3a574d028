import { changed, expect, LONGEST_TEXT, readerOf, take, undone, type XmlReader } from "./xml-reader.ts"

/** An element as it stands: names with their prefixes, and its own text without that of its children. */
export interface XmlElement {
  name: string
  attributes: Record<string, string>
  children: XmlElement[]
  text: string
}

// A feed has four.
const DEEPEST = 32

/**
 * The root element of an XML document. Strict: anything but elements, attributes and text (another document type than the
 * sticky `doctype`, a comment, a
 * CDATA section, an instruction, an entity beyond XML's own five, an attribute twice) throws ReadFailure `changed`;
 * nothing is ever fetched or expanded. With `lenient`, references that XML does not have and CDATA sections are text: what
 * people wrote must not lose the rest of a page. Takes time linear to the text.
 */
export function parseXml(
  xml: string,
  what: string,
  { format = "XML", doctype, lenient = false }: { format?: string; doctype?: RegExp; lenient?: boolean } = {},
): XmlElement {
  const reader = readerOf(xml, `${what} is no ${format}`, lenient)
  take(reader, /\s*<\?xml\s[^<>]*\?>/y)
  if (doctype) take(reader, doctype)
  take(reader, /\s+/y)
  const root = element(reader, 0)
  expect(reader, /\s*$/y)
  return root
}

function element(reader: XmlReader, depth: number): XmlElement {
  if (depth > DEEPEST) throw changed(reader)
  const [, name = ""] = expect(reader, /<([A-Za-z_][\w:.-]*)/y)
  const attributes = attributesOf(reader)
  const own: XmlElement = { name, attributes, children: [], text: "" }
  if (expect(reader, /\s*(\/?)>/y)[1] === "/") return own
  const texts: string[] = []
  for (;;) {
    const [raw] = expect(reader, /[^<]*/y)
    texts.push(characters(reader, raw))
    const cdata = reader.lenient && take(reader, /<!\[CDATA\[([\s\S]*?)\]\]>/y)
    if (cdata) {
      texts.push(cdata[1] as string)
      continue
    }
    const end = take(reader, /<\/([A-Za-z_][\w:.-]*)\s*>/y)
    if (!end) own.children.push(element(reader, depth + 1))
    else if (end[1] !== name) throw changed(reader)
    else return { ...own, text: texts.join("") }
  }
}

function attributesOf(reader: XmlReader): Record<string, string> {
  const attributes: Record<string, string> = Object.create(null)
  for (;;) {
    const found = take(reader, /\s+([A-Za-z_][\w:.-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y)
    if (!found) return attributes
    const [, name = "", double, single] = found
    if (name in attributes) throw changed(reader)
    attributes[name] = characters(reader, double ?? single ?? "")
  }
}

/** The text as XML reads it: with its references undone, and every end of a line alike. */
function characters(reader: XmlReader, raw: string): string {
  if (raw.length > LONGEST_TEXT || raw.includes("\0") || raw.includes("]]>")) throw changed(reader)
  return undone(reader, raw.replace(/\r\n?/g, "\n"))
}
