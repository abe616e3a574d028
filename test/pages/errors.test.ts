import { expect, test } from "bun:test"
import { FAULT_CODES, FAULTS } from "../../src/faults.ts"
import { errorsPage } from "../../src/pages/errors.ts"
import { escapeHtml } from "../../src/pages/html.ts"
import { readMarkup } from "./markup.ts"

const page = errorsPage()
const markup = readMarkup(page)

test("every code has one anchor with its sentence and the fields it carries, below its status", () => {
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

test("the markup is whole: tags closed, ids unique, links alive, no script", () => {
  expect([markup.unbalanced, markup.bare]).toEqual([[], []])
  expect(new Set(markup.ids).size).toBe(markup.ids.length)
  for (const href of markup.hrefs) {
    if (href.startsWith("#")) expect(markup.ids).toContain(href.slice(1))
    else expect(["/docs", "data:,"]).toContain(href)
  }
  expect([...markup.tags].filter((tag) => ["script", "img", "iframe", "form"].includes(tag))).toEqual([])
  expect([...markup.attributes].filter((name) => name.startsWith("on") || name === "style")).toEqual([])
  expect(page).not.toContain("url(")
})
