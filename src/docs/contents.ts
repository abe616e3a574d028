import { type Html, type HtmlPart, html } from "../ui/html.ts"

/** A page of the reference, with links to its parts if it is the current one. */
export interface Chapter {
  address: string
  title: string
  isCurrent: boolean
  entries: readonly { anchor: string; text: string }[]
}

/** The table of contents: every page, and the parts of the current one. */
export function contents(chapters: readonly Chapter[]): Html {
  return html`${chapters.map(chapterLinks)}`
}

function chapterLinks({ address, title, isCurrent, entries }: Chapter): Html {
  const current = isCurrent && html` aria-current="page"`
  return html`<a class="chapter" href="${address}"${current}>${title}</a>
${isCurrent && entries.length > 0 && html`<ul>\n${entries.map(entryLink)}</ul>\n`}`
}

function entryLink({ anchor, text }: Chapter["entries"][number]): Html {
  return html`<li><a href="#${anchor}">${brokenAtSlashes(text)}</a></li>\n`
}

/** Allows line breaks after slashes, so that a long path does not break inside a word. */
function brokenAtSlashes(text: string): HtmlPart {
  return text.split("/").map((part, i) => (i === 0 ? part : html`/<wbr>${part}`))
}
