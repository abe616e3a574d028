import { SaxesParser, type SaxesTagPlain } from "saxes"
import { ReadFailure } from "../source.ts"

/** Names include their prefixes; `text` is the element's own text without that of its children. */
export interface XmlElement {
  name: string
  attributes: Record<string, string>
  children: XmlElement[]
  text: string
}

interface XmlOptions {
  /** Names the format in the failure. */
  format?: string
  /** The document type that is accepted. If left out, a document with a document type is refused. */
  doctype?: RegExp
  /** Accepts CDATA sections, characters and references that XML does not allow: they come from people's reviews. */
  lenient?: boolean
}

/**
 * Maximum size of an XML body: parsing takes up to a hundred times its size. A page with the 50 longest reviews has 0.3
 * MB.
 */
export const MAX_XML_BYTES = 500_000

// feeds have four levels
const MAX_DEPTH = 32

// A page of 50 reviews has about 5,000 elements, attributes and texts. An element takes hundreds of bytes of memory.
const MAX_PARTS = 400_000

/** More than a hundred times the longest review a store accepts. */
const MAX_TEXT_LENGTH = 1_000_000

/**
 * Returns the root element of an XML document. Accepts only elements, attributes, text and XML's five entities, so that
 * nothing is fetched or expanded. Throws ReadFailure (`changed`) for everything else.
 */
export function parseXml(
  xml: string,
  what: string,
  { format = "XML", doctype, lenient = false }: XmlOptions = {},
): XmlElement {
  const parser = new SaxesParser()
  const open: XmlElement[] = []
  let root: XmlElement | undefined
  let parts = 0
  const refuse = (reason: string): never => {
    throw new ReadFailure("changed", `${what} is not valid ${format} at character ${parser.position}: ${reason}`)
  }
  const count = (text: string) => {
    if (++parts > MAX_PARTS) refuse("it has too many parts")
    if (text.length > MAX_TEXT_LENGTH) refuse("a text is too long")
  }
  const addText = (text: string) => {
    count(text)
    const element = open.at(-1)
    if (element) element.text += text
  }

  parser.on("error", ({ message }) => refuse(message))
  parser.on("comment", () => refuse("it has a comment"))
  parser.on("processinginstruction", () => refuse("it has a processing instruction"))
  parser.on("doctype", (content) => {
    if (!doctype?.test(content)) refuse("its document type is unknown")
  })
  parser.on("cdata", (text) => (lenient ? addText(text) : refuse("it has a CDATA section")))
  parser.on("text", addText)
  parser.on("attribute", ({ value }) => count(value))
  parser.on("opentag", ({ name, attributes }: SaxesTagPlain) => {
    count(name)
    if (open.length > MAX_DEPTH) refuse("its elements are nested too deeply")
    const element: XmlElement = { name, attributes, children: [], text: "" }
    if (open.length === 0) root = element
    else open.at(-1)?.children.push(element)
    open.push(element)
  })
  parser.on("closetag", () => void open.pop())

  const document = xml.trimStart()
  parser.write(lenient ? withValidCharacters(document) : document).close()
  return root ?? refuse("it has no root element")
}

/** Escapes ampersands that begin no reference and "]]>", and replaces characters that XML 1.0 forbids with U+FFFD. */
function withValidCharacters(xml: string): string {
  const [markup = "", ...rest] = xml.split("<![CDATA[")
  const repaired = rest.map((part) => {
    const end = part.indexOf("]]>")
    if (end < 0) return withoutForbidden(part)
    return `${withoutForbidden(part.slice(0, end))}]]>${repairedMarkup(part.slice(end + 3))}`
  })
  return [repairedMarkup(markup), ...repaired].join("<![CDATA[")
}

function repairedMarkup(markup: string): string {
  return withoutForbidden(markup)
    .replaceAll("]]>", "]]&gt;")
    .replace(/&(?:(lt|gt|amp|quot|apos);|#(\d{1,7});|#x([\da-fA-F]{1,6});)?/g, (reference, name, decimal, hex) => {
      if (reference === "&") return "&amp;"
      if (name !== undefined) return reference
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
      const isAllowed = code <= 0x10ffff && withoutForbidden(String.fromCodePoint(code)) !== "\ufffd"
      return isAllowed ? reference : "\ufffd"
    })
}

/** Characters outside production 2 (Char) of XML 1.0. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

function withoutForbidden(text: string): string {
  return text.replace(FORBIDDEN, "\ufffd")
}
