import { type Html, type HtmlPart, html } from "../ui/html.ts"

/** A heading of the page and the entries below it. */
export interface Chapter {
  /** Anchor of the heading. */
  id: string
  title: string
  entries: readonly { id: string; text: string }[]
}

/** The table of contents in groups. A script shows its filter. */
export function contents(chapters: readonly Chapter[]): Html {
  return html`<p hidden><label for="filter">Filter</label> <input id="filter" type="search" autocomplete="off"> <span id="found" role="status"></span></p>
${chapters.map(
  ({ id, title, entries }) => html`<div data-group><a class="chapter" href="#${id}">${title}</a>
${
  entries.length > 0 &&
  html`<ul>
${entries.map((entry) => html`<li><a href="#${entry.id}">${brokenAtSlashes(entry.text)}</a></li>\n`)}</ul>
`
}</div>
`,
)}`
}

/** Allows line breaks after slashes, so that a long path does not break inside a word. */
function brokenAtSlashes(text: string): HtmlPart {
  return text.split("/").map((part, i) => (i === 0 ? part : html`/<wbr>${part}`))
}
