import { elementText, type Html, type HtmlPart, html } from "../ui/html.ts"

/** A page written in Markdown. Its first line, "# Title", is the title. */
export interface MarkdownPage {
  title: string
  /** The first paragraph, without markup. */
  summary: string
  body: Html
}

/**
 * Renders the subset of Markdown that the manual uses. Anything else is text and is escaped. `hrefOf` converts link
 * targets.
 */
export function renderMarkdown(text: string, hrefOf: (target: string) => string): MarkdownPage {
  const [heading = "", ...lines] = text.trim().split("\n")
  const blocks = blocksOf(lines)
  const summary = blocks.find((block) => SHAPES.every((shape) => !shape.begins.test(block[0] as string)))
  return {
    title: plainText(heading.replace(/^# /, "")),
    summary: plainText((summary ?? []).join(" ")),
    body: html`${blocks.map((block) => html`${renderBlock(block, hrefOf)}\n`)}`,
  }
}

/** Splits a page at its headings into parts of plain text. The first part begins with the title. */
export function markdownSections(text: string): { title: string; anchor: string; text: string }[] {
  return text
    .trim()
    .split(/^#+ /m)
    .slice(1)
    .map((section) => {
      const [heading = "", ...lines] = section.split("\n")
      const body = lines.filter((line) => !/^(?:```|\|[ -]*---)/.test(line)).join(" ")
      const plain = plainText(body.replaceAll(/[|\s]+/g, " ")).trim()
      return { title: plainText(heading), anchor: slugOf(heading), text: plain }
    })
}

/** Removes the marks of code, bold text and links. */
function plainText(text: string): string {
  return text.replaceAll(INLINE, (_, code, bold, label) => code ?? bold ?? label)
}

type HrefOf = (target: string) => string

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)\s]+)\)/g

interface Shape {
  /** Matches the first line of a block of this kind. */
  begins: RegExp
  render(lines: readonly string[], hrefOf: HrefOf): Html
}

const SHAPES: readonly Shape[] = [
  { begins: /^```/, render: (lines) => html`<pre>${elementText(lines.slice(1, -1).join("\n"))}</pre>` },
  { begins: /^##+ /, render: renderHeading },
  { begins: /^\|/, render: renderTable },
  { begins: /^- /, render: (lines, hrefOf) => html`<ul>\n${itemsOf(lines, hrefOf)}</ul>` },
  { begins: /^\d+\. /, render: (lines, hrefOf) => html`<ol>\n${itemsOf(lines, hrefOf)}</ol>` },
]

/** Splits lines into blocks. A block ends at an empty line, fenced code at its closing fence. */
function blocksOf(lines: readonly string[]): string[][] {
  const blocks: string[][] = []
  let open: string[] = []
  for (const line of lines) {
    const inCode = open[0]?.startsWith("```") === true
    if (inCode || line.trim() !== "") open.push(line)
    if (inCode ? line === "```" : line.trim() === "" && open.length > 0) {
      blocks.push(open)
      open = []
    }
  }
  return open.length > 0 ? [...blocks, open] : blocks
}

function renderBlock(lines: readonly string[], hrefOf: HrefOf): Html {
  const shape = SHAPES.find(({ begins }) => begins.test(lines[0] as string))
  return shape ? shape.render(lines, hrefOf) : html`<p>${inline(lines.join("\n"), hrefOf)}</p>`
}

function renderHeading([line = ""]: readonly string[], hrefOf: HrefOf): Html {
  const [, marks = "", text = ""] = /^(#+) (.*)$/.exec(line) ?? []
  const id = slugOf(text)
  return marks.length === 2
    ? html`<h2 id="${id}">${inline(text, hrefOf)}</h2>`
    : html`<h3 id="${id}">${inline(text, hrefOf)}</h3>`
}

/** Converts a heading to an anchor: "Where data lives" becomes "where-data-lives". */
function slugOf(text: string): string {
  const words = plainText(text)
    .toLowerCase()
    .match(/[a-z0-9]+/g)
  return (words ?? []).join("-")
}

function renderTable([head = "", , ...rows]: readonly string[], hrefOf: HrefOf): Html {
  return html`<table tabindex="0">
<thead><tr>${cellsOf(head).map((cell) => html`<th>${inline(cell, hrefOf)}</th>`)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${cellsOf(row).map((cell) => html`<td>${inline(cell, hrefOf)}</td>`)}</tr>\n`)}</tbody>
</table>`
}

/** Splits a table row into cells. A bar inside a cell is written "\|". */
function cellsOf(row: string): string[] {
  const cells = row
    .replace(/^\|/, "")
    .replace(/\|\s*$/, "")
    .split(/(?<!\\)\|/)
  return cells.map((cell) => cell.trim().replaceAll("\\|", "|"))
}

/** Appends a line that does not begin an item to the item above it. */
function itemsOf(lines: readonly string[], hrefOf: HrefOf): Html[] {
  const items: string[] = []
  for (const line of lines)
    if (/^(?:-|\d+\.) /.test(line)) items.push(line.replace(/^\S+ /, ""))
    else items.push(`${items.pop()}\n${line.trim()}`)
  return items.map((item) => html`<li>${inline(item, hrefOf)}</li>\n`)
}

function inline(text: string, hrefOf: HrefOf): HtmlPart[] {
  const parts: HtmlPart[] = []
  let at = 0
  for (const found of text.matchAll(INLINE)) {
    const [whole, code, bold, label, target] = found
    parts.push(text.slice(at, found.index))
    if (code !== undefined) parts.push(html`<code>${code}</code>`)
    else if (bold !== undefined) parts.push(html`<b>${inline(bold, hrefOf)}</b>`)
    else parts.push(html`<a href="${hrefOf(target as string)}">${inline(label as string, hrefOf)}</a>`)
    at = found.index + whole.length
  }
  return [...parts, text.slice(at)]
}
