import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { catalog } from "../../src/catalog.ts"
import { errorsPage } from "../../src/docs/errors.ts"
import { raisedFaults } from "../../src/http/openapi/responses.ts"
import { FAULT_CODES, FAULTS, type FaultCode } from "../../src/lib/faults.ts"
import { escapeHtml } from "../../src/ui/html.ts"
import { SCHEME_SCRIPT } from "../../src/ui/scheme.ts"
import { slow } from "../long.ts"
import { readMarkup } from "../pages/markup.ts"

const page = errorsPage(raisedFaults(catalog))
const markup = readMarkup(page)

test("every code has one anchor with its message and fields, below its status", () => {
  const sections = new Map(
    page
      .split('<section id="')
      .slice(1)
      .map((part) => [part.split('"')[0] as string, part]),
  )
  expect([...sections.keys()].sort()).toEqual([...FAULT_CODES].sort())
  for (const code of FAULT_CODES) {
    const { message, extra, status } = FAULTS[code]
    const section = sections.get(code) as string
    expect(section).toContain(`<p>${escapeHtml(message)}</p>`)
    for (const field of extra) expect(section).toContain(`<code>${field}</code>`)
    const above = page
      .slice(0, page.indexOf(`<section id="${code}"`))
      .split("<h2 id=")
      .at(-1) as string
    expect(above).toStartWith(`"status-${status}">${status} `)
  }
  expect(page).not.toContain("undefined")
})

/** Codes that src throws although no operation of this version can return them. */
const OUT_OF_REACH: FaultCode[] = []

slow("a code is marked as unused if src does not throw it or no operation can return it", () => {
  const marked = page
    .split('<section id="')
    .slice(1)
    .filter((part) => part.includes("Not raised by this version."))
    .map((part) => part.split('"')[0] as FaultCode)
  const thrown = thrownCodes()
  expect(thrown.size).toBeGreaterThan(40)
  expect(marked.filter((code) => thrown.has(code))).toEqual(OUT_OF_REACH)
  // every other code appears in src: thrown, or attached to a parameter or to a condition of a key
  const text = source()
  const unmarked = FAULT_CODES.filter((code) => !marked.includes(code))
  expect(unmarked.filter((code) => !text.includes(`"${code}"`))).toEqual([])
})

/** Returns the codes that src passes to `new Fault`. */
function thrownCodes(): Set<string> {
  const thrown = [...source().matchAll(/new Fault\(([^)]*)/g)].map(([, args]) => args as string)
  return new Set(thrown.flatMap((args) => [...args.matchAll(/"([a-z_]+)"/g)].map(([, code]) => code as string)))
}

/** Returns the text of src without the table of codes. */
function source(): string {
  const src = join(import.meta.dirname, "../../src")
  const files = readdirSync(src, { recursive: true, encoding: "utf8" })
  const sources = files.filter((file) => file.endsWith(".ts") && file !== "faults.ts")
  return sources.map((file) => readFileSync(join(src, file), "utf8")).join("\n")
}

test("the error page has balanced tags, unique ids, valid links, one form and one script", () => {
  expect([markup.unbalanced, markup.bare]).toEqual([[], []])
  expect(new Set(markup.ids).size).toBe(markup.ids.length)
  for (const href of markup.hrefs) {
    if (href.startsWith("#")) expect(markup.ids).toContain(href.slice(1))
    else if (!href.startsWith("data:"))
      expect(["/app", "/docs", "/docs/errors", "/docs/operate", "#text"]).toContain(href)
  }
  expect([...markup.tags].filter((tag) => ["script", "img", "iframe", "form"].includes(tag))).toEqual([
    "script",
    "form",
  ])
  expect([...markup.attributes].filter((name) => name.startsWith("on") || name === "style")).toEqual([])
  expect(page.match(/<script/g)).toHaveLength(1)
  expect(page).toContain(`<script>${SCHEME_SCRIPT}</script>`)
  expect(page).not.toContain("url(")
})
