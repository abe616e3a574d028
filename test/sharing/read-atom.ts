import { expect } from "bun:test"
import { SaxesParser } from "saxes"

interface Element {
  name: string
  attributes: Record<string, string>
  children: Element[]
  text: string
}

export interface AtomDocument {
  id: string
  title: string
  updated: string
  self: string
  entries: { id: string; title: string; updated: string; published: string; content: string; category: string }[]
}

/**
 * Parses an Atom document and checks what RFC 4287 requires: the namespace, exactly one id, title and updated of feed
 * and entries, an author, a link to itself, times of RFC 3339, distinct ids and no foreign element. Throws if it is not
 * well-formed. Shares no code with the service.
 */
export function readAtom(text: string): AtomDocument {
  const root = parse(text)
  expect([root.name, root.attributes.xmlns]).toEqual(["feed", "http://www.w3.org/2005/Atom"])
  const self = root.children.filter(({ name, attributes }) => name === "link" && attributes.rel === "self")
  expect(self).toHaveLength(1)
  expect(all(root, "author").flatMap((author) => all(author, "name"))).toHaveLength(1)
  const entries = all(root, "entry").map((entry) => {
    expect(all(entry, "content").map(({ attributes }) => attributes.type)).toEqual(["text"])
    const [published, content] = ["published", "content"].map((name) => only(entry, name))
    expect(published).toMatch(TIME)
    const category = all(entry, "category")[0]!.attributes.term!
    return { ...headOf(entry), published: published!, content: content!, category }
  })
  expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length)
  const names = new Set([root, ...all(root, "entry")].flatMap(({ children }) => children.map(({ name }) => name)))
  expect([...names].filter((name) => !ALLOWED.includes(name))).toEqual([])
  return { ...headOf(root), self: self[0]!.attributes.href!, entries }
}

const ALLOWED = ["id", "title", "updated", "published", "link", "author", "generator", "entry", "category", "content"]
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

function headOf(element: Element): { id: string; title: string; updated: string } {
  const [id, title, updated] = ["id", "title", "updated"].map((name) => only(element, name)) as [string, string, string]
  expect(id).toMatch(/^tag:[a-z0-9.-]+,\d{4}:\S+$/)
  expect(updated).toMatch(TIME)
  return { id, title, updated }
}

function only(element: Element, name: string): string {
  const found = all(element, name)
  expect([name, found.length, found[0]?.children.length]).toEqual([name, 1, 0])
  return found[0]!.text
}

const all = ({ children }: Element, name: string) => children.filter((child) => child.name === name)

function parse(text: string): Element {
  const root: Element = { name: "", attributes: {}, children: [], text: "" }
  const open = [root]
  const parser = new SaxesParser()
  parser.on("error", (error) => {
    throw error
  })
  parser.on("opentag", ({ name, attributes }) => {
    const element = { name, attributes: attributes as Record<string, string>, children: [], text: "" }
    open.at(-1)!.children.push(element)
    open.push(element)
  })
  parser.on("text", (part) => {
    open.at(-1)!.text += part
  })
  parser.on("closetag", () => void open.pop())
  parser.write(text).close()
  return root.children[0]!
}
