import { parseXml, type XmlElement } from "../../measuring/parsing/xml.ts"
import { ReadFailure } from "../../measuring/source.ts"

const DOCTYPE = /^\s*plist(?:\s+PUBLIC\s+"[^"<>]*"\s+"[^"<>]*")?\s*$/

/**
 * Converts an XML property list to a value: a dict to an object without a prototype, an array to an array, a string,
 * date or data to a string, an integer or real to a number, and true and false to booleans. As strict as parseXml:
 * throws ReadFailure (`changed`) for any other element, a repeated key or text between elements.
 */
export function parsePlist(xml: string, what: string): unknown {
  const changed = new ReadFailure("changed", `${what} is not a property list`)
  // Apple also escapes ">": a bare one means that a tag lost its beginning.
  if (/>[^<]*>/.test(xml)) throw changed
  const root = parseXml(xml, what, { format: "property list", doctype: DOCTYPE })
  if (root.name !== "plist" || /[^\d.]/.test(root.attributes.version ?? "")) throw changed
  const [value, ...more] = childrenOf({ ...root, attributes: {} })
  if (!value || more.length > 0) throw changed
  return valueIn(value)

  function childrenOf({ children, text, attributes }: XmlElement): XmlElement[] {
    if (text.trim() !== "" || Object.keys(attributes).length > 0) throw changed
    return children
  }

  function textOf({ children, text, attributes }: XmlElement, pattern = /^/): string {
    if (children.length > 0 || Object.keys(attributes).length > 0 || !pattern.test(text)) throw changed
    return text
  }

  function valueIn(element: XmlElement): unknown {
    const { name } = element
    if (name === "dict") return dictOf(childrenOf(element))
    if (name === "array") return childrenOf(element).map(valueIn)
    if (name === "true" || name === "false") return textOf(element, /^$/) === "" && name === "true"
    if (name === "integer") return Number(textOf(element, /^\s*[+-]?\d{1,15}\s*$/))
    if (name === "real") return Number(textOf(element, /^\s*[+-]?\d{1,15}(?:\.\d+)?(?:[eE][+-]?\d{1,2})?\s*$/))
    if (!["string", "date", "data"].includes(name)) throw changed
    return textOf(element)
  }

  function dictOf(children: readonly XmlElement[]): Record<string, unknown> {
    const entries: Record<string, unknown> = Object.create(null)
    for (let at = 0; at < children.length; at += 2) {
      const [key, value] = [children[at]!, children[at + 1]]
      if (key.name !== "key" || !value || Object.hasOwn(entries, textOf(key))) throw changed
      entries[textOf(key)] = valueIn(value)
    }
    return entries
  }
}
