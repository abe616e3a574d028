import { expect } from "bun:test"

const VOID = new Set(["meta", "link", "br", "hr", "img", "input", "wbr"])

export interface Markup {
  /** Tags that are opened but not closed, or closed but not opened. */
  unbalanced: string[]
  ids: string[]
  hrefs: string[]
  tags: Set<string>
  /** Attributes that a plain page does not need, such as handlers. */
  attributes: Set<string>
  /** Text outside tags and styles with an unescaped "<" or "&". */
  bare: string[]
}

/** Parses a page strictly: every tag must close in order, and every special character must be escaped. */
export function readMarkup(page: string): Markup {
  const found: Markup = { unbalanced: [], ids: [], hrefs: [], tags: new Set(), attributes: new Set(), bare: [] }
  const open: string[] = []
  const body = page.replace(/^<!doctype html>/, "").replace(/<style>[^<]*<\/style>/, "")
  let at = 0
  for (const tag of body.matchAll(/<(\/?)([a-z][a-z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"]*")?)*)\s*>/g)) {
    readText(body.slice(at, tag.index), found)
    at = tag.index + tag[0].length
    const [, closing, name = "", attributes = ""] = tag
    if (closing) {
      if (open.pop() !== name) found.unbalanced.push(`</${name}>`)
      continue
    }
    found.tags.add(name)
    if (!VOID.has(name)) open.push(name)
    readAttributes(attributes, found)
  }
  readText(body.slice(at), found)
  found.unbalanced.push(...open)
  return found
}

function readText(text: string, { bare }: Markup): void {
  const rest = text.replaceAll(/&(?:[a-z]+|#\d+);/g, "")
  if (/[<&]/.test(rest)) bare.push(text)
}

function readAttributes(text: string, found: Markup): void {
  for (const [, name = "", value = ""] of text.matchAll(/([a-zA-Z-]+)(?:="([^"]*)")?/g)) {
    found.attributes.add(name)
    readText(value, found)
    if (name === "id") found.ids.push(value)
    if (name === "href") found.hrefs.push(value)
  }
}

/** A text that breaks out of attributes, elements and scripts wherever it is not escaped. */
export const HOSTILE_MARKUP = `"'></textarea><script>alert(1)</script><b hostile='&amp;`

/** Expects that a page shows every text as text, and has no markup of HOSTILE_MARKUP. */
export function expectWellFormed(of: string, text: string): void {
  const { unbalanced, bare, attributes } = readMarkup(text.replaceAll(/<script>[\s\S]*?<\/script>/g, ""))
  expect([of, unbalanced, bare]).toEqual([of, [], []])
  expect([of, text.includes("<script>alert"), attributes.has("hostile")]).toEqual([of, false, false])
}
