import { Buffer } from "node:buffer"
import { type Html, html } from "../html.ts"
import { counted } from "../words.ts"
import { plainText } from "./foreign.ts"

/** A piece of a mail. Every text is shown literally; only `link` becomes a link, to this instance. */
type LetterPart =
  | { kind: "text"; text: string; isQuiet?: boolean }
  | { kind: "list"; items: readonly LetterItem[]; left?: number }
  | { kind: "table"; columns: readonly string[]; rows: readonly (readonly string[])[] }
  | { kind: "quote"; text: string; by: string }
  | { kind: "code"; text: string }
  | { kind: "link"; label: string; url: string }

export interface LetterItem {
  text: string
  /** A second line. */
  more?: string | undefined
  direction?: "up" | "down" | null
}

export interface LetterSection {
  title: string
  parts: readonly LetterPart[]
}

export interface Letter {
  title: string
  /** The subject as a sentence, shown below the title and in the mail program's list of mails. */
  about: string
  sections: readonly LetterSection[]
  /** Why the person gets the mail. */
  footer: string
  /** The address that ends the subscription. Null if the mail does not belong to a subscription. */
  unsubscribeUrl: string | null
  /** The page with the same content and more. Null if there is none. */
  page: { label: string; url: string } | null
}

/** Gmail cuts off a mail of more than 102 KB. The limit leaves a margin for encoded line breaks. */
const MAX_HTML_BYTES = 80_000

/**
 * Returns a letter as plain text and as HTML. The HTML needs no picture, script or style sheet: tables with inline
 * styles, at most 600 px wide, light by default and dark where the mail program supports it. Sections that would make
 * it too large are left out and counted.
 */
export function writeLetter(letter: Letter): { text: string; html: string } {
  const sections = letter.sections.map((section) => ({
    text: textSection(section),
    html: htmlSection(section),
  }))
  let bytesLeft = MAX_HTML_BYTES
  const fitting = sections.filter((section) => {
    bytesLeft -= Buffer.byteLength(section.html.text)
    return bytesLeft >= 0
  })
  const left = sections.length - fitting.length
  const more = left > 0 ? `And ${counted(left, "more part")}, which would make this mail too large.` : null
  return {
    text: textFrame(letter, [...fitting.map(({ text }) => text), ...(more === null ? [] : [more])]),
    html: htmlFrame(letter, html`${fitting.map((section) => section.html)}${more !== null && paragraph(more, true)}`),
  }
}

function textFrame({ title, about, footer, unsubscribeUrl, page }: Letter, sections: readonly string[]): string {
  const lines = [
    plainText(title),
    plainText(about),
    ...sections,
    ...(page === null ? [] : [`${page.label}: ${page.url}`]),
    `-- \n${plainText(footer)}${unsubscribeUrl === null ? "" : `\nUnsubscribe: ${unsubscribeUrl}`}`,
  ]
  return `${lines.filter((line) => line !== "").join("\n\n")}\n`
}

function textSection({ title, parts }: LetterSection): string {
  return [plainText(title).toUpperCase(), ...parts.map(textPart)].join("\n")
}

const SIGNS = { up: "+", down: "-" } as const

function textPart(part: LetterPart): string {
  switch (part.kind) {
    case "text":
      return plainText(part.text)
    case "list":
      return [...part.items.map(textItem), ...leftOver(part.left)].join("\n")
    case "table":
      return part.rows.map((cells) => textRow(part.columns, cells)).join("\n")
    case "quote":
      return `  "${plainText(part.text)}"\n  ${plainText(part.by)}`
    case "code":
      return `  ${plainText(part.text)}`
    case "link":
      return `${plainText(part.label)}: ${part.url}`
  }
}

/** Returns "Tea: rose 1, fell 0". */
function textRow(columns: readonly string[], [head = "", ...cells]: readonly string[]): string {
  const figures = cells.map((cell, at) => `${columns[at + 1]!.toLowerCase()} ${plainText(cell)}`)
  return `* ${plainText(head)}: ${figures.join(", ")}`
}

function textItem({ text, more, direction }: LetterItem): string {
  const head = `${direction ? SIGNS[direction] : "*"} ${plainText(text)}`
  return more === undefined ? head : `${head}\n  ${plainText(more)}`
}

function leftOver(left = 0): string[] {
  return left > 0 ? [`and ${counted(left, "more", "more")}`] : []
}

const FONT = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const INK = "color:#17191c"
const QUIET = "color:#5a5f67"

/** Mail programs without this block, such as Gmail, use the light colours of the inline styles. */
const DARK = `
:root { color-scheme: light dark; supported-color-schemes: light dark }
@media (prefers-color-scheme: dark) {
  .page { background: #121315 !important }
  .card { background: #1a1c1f !important; border-color: #2c3035 !important }
  .line { border-color: #2c3035 !important }
  .ink { color: #eceef0 !important }
  .quiet { color: #a3a8b0 !important }
  .soft { background: #23262a !important; border-color: #454a51 !important }
  .up { color: #6fd195 !important }
  .down { color: #ff9d8a !important }
  .link { color: #7db1ff !important }
}
`

function htmlFrame({ title, about, footer, unsubscribeUrl, page }: Letter, sections: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">
<title>${plainText(title)}</title>
<style>${DARK}</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f7f7f5;-webkit-text-size-adjust:100%">
<div role="main">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0"
 style="background:#f7f7f5"><tr><td align="center" style="padding:16px 8px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" border="0"
 style="max-width:600px;background:#ffffff;border:1px solid #e1e3e6;border-radius:8px">
<tr><td style="padding:20px;text-align:left;word-break:break-word;overflow-wrap:anywhere">
<h1 class="ink" style="margin:0 0 4px;font-size:20px;line-height:1.3;${FONT};${INK}">${isolated(title)}</h1>
${paragraph(about, true)}
${sections}
${page && html`<p style="margin:20px 0 0;font-size:15px;${FONT}">${link(page.label, page.url)}</p>`}
</td></tr></table>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px">
<tr><td style="padding:12px 20px;text-align:left;word-break:break-word;overflow-wrap:anywhere">
<p class="quiet" style="margin:0;font-size:13px;line-height:1.5;${FONT};${QUIET}">${isolated(footer)}${
    unsubscribeUrl && html`<br>${link("Unsubscribe", unsubscribeUrl)}`
  }</p>
</td></tr></table>
</td></tr></table>
</div>
</body>
</html>
`.text
}

function htmlSection({ title, parts }: LetterSection): Html {
  return html`<h2 class="ink" style="margin:24px 0 6px;font-size:16px;line-height:1.3;${FONT};${INK}">${isolated(
    title,
  )}</h2>
${parts.map(htmlPart)}`
}

function htmlPart(part: LetterPart): Html {
  switch (part.kind) {
    case "text":
      return paragraph(part.text, part.isQuiet)
    case "list":
      return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
${part.items.map(htmlItem)}</table>
${leftOver(part.left).map((text) => paragraph(text, true))}`
    case "table":
      return htmlTable(part)
    case "quote":
      return html`<blockquote class="soft ink"
 style="margin:0 0 10px;padding:8px 12px;background:#f0f1f3;border-left:3px solid #c9cdd2;font-size:15px;
line-height:1.5;${FONT};${INK}">${isolated(part.text)}<br><span class="quiet"
 style="font-size:13px;${QUIET}">${isolated(part.by)}</span></blockquote>
`
    case "code":
      return html`<p class="ink" style="margin:8px 0;font-size:24px;letter-spacing:2px;font-family:monospace;${INK}">${
        part.text
      }</p>
`
    case "link":
      return html`<p style="margin:4px 0;font-size:15px;${FONT}">${link(part.label, part.url)}</p>
`
  }
}

function htmlItem({ text, more, direction = null }: LetterItem): Html {
  const sign = direction && (direction === "up" ? "▲" : "▼")
  const colour = direction === "down" ? "#a8341f" : "#14693a"
  return html`<tr><td valign="top" width="20" style="padding:4px 0;font-size:13px;line-height:1.6">${
    sign
      ? html`<span class="${direction}" style="color:${colour}">${sign}</span>`
      : html`<span class="quiet" style="${QUIET}">•</span>`
  }</td><td class="ink" style="padding:4px 0;font-size:15px;line-height:1.45;${FONT};${INK}">${isolated(text)}${
    more !== undefined && html`<br><span class="quiet" style="font-size:13px;${QUIET}">${isolated(more)}</span>`
  }</td></tr>
`
}

function htmlTable({ columns, rows }: Extract<LetterPart, { kind: "table" }>): Html {
  const cell = "padding:5px 8px 5px 0;font-size:14px;line-height:1.4;text-align:left;vertical-align:top"
  const head = `${cell};font-weight:normal;white-space:nowrap;word-break:normal;overflow-wrap:normal;${FONT};${QUIET}`
  const body = `${cell};border-top:1px solid #e1e3e6;${FONT};${INK}`
  return html`<table width="100%" cellpadding="0" cellspacing="0" border="0" style="border-collapse:collapse">
<tr>${columns.map((column) => html`<th scope="col" class="quiet" style="${head}">${column}</th>`)}</tr>
${rows.map(
  (cells) => html`<tr>${cells.map((text) => html`<td class="ink line" style="${body}">${isolated(text)}</td>`)}</tr>
`,
)}</table>
`
}

function paragraph(text: string, isQuiet = false): Html {
  const name = isQuiet ? "quiet" : "ink"
  const style = `margin:0 0 8px;font-size:${isQuiet ? 14 : 15}px;line-height:1.5;${FONT};${isQuiet ? QUIET : INK}`
  return html`<p class="${name}" style="${style}">${isolated(text)}</p>
`
}

/** A text whose writing direction does not affect what follows it. */
function isolated(text: string): Html {
  return html`<bdi>${plainText(text)}</bdi>`
}

function link(label: string, url: string): Html {
  return html`<a class="link" href="${url}" style="color:#1d5bbf;text-decoration:underline">${label}</a>`
}
