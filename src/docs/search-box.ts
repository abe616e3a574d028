import { type Html, html } from "../ui/html.ts"

/** Maximum length of a query. */
export const MAX_QUERY = 120

/** A form that leads to the search page. The script of the reference shows matches below it while the reader types. */
export function searchBox(query = ""): Html {
  return html`<form class="search" role="search" action="/docs/search">
<label for="query">Search reference, errors and manual</label>
<input id="query" name="q" type="search" value="${query}" maxlength="${MAX_QUERY}" autocomplete="off" required>
<button>Search</button></form>
<div id="found" role="status"></div>
`
}
