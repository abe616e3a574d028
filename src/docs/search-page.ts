import { type Html, html } from "../ui/html.ts"
import { layout } from "../ui/layout.ts"
import { REFERENCE_SCRIPT } from "./reference-script.ts"
import { MAX_MATCHES, type Match } from "./search.ts"
import { searchBox } from "./search-box.ts"

/** Returns the page with the matches of a query. */
export function searchPage(query: string, matches: readonly Match[]): string {
  return layout(
    query === "" ? "Search" : `Search: ${query}`,
    "Search the reference, the error codes and the manual.",
    html`${searchBox(query)}${query !== "" && resultPart(matches)}`,
    { script: REFERENCE_SCRIPT },
  )
}

function resultPart(matches: readonly Match[]): Html {
  if (matches.length === 0) return html`<p>Nothing found. Every word must occur; try fewer or shorter words.</p>\n`
  const count = matches.length === MAX_MATCHES ? `The best ${MAX_MATCHES} matches.` : `${matches.length} found.`
  return html`<p>${count}</p>
<ul>
${matches.map(matchLine)}</ul>
`
}

function matchLine({ kind, title, text, address }: Match): Html {
  return html`<li><a href="${address}">${title}</a> ${kind}. ${text}</li>\n`
}
