import { type Html, html } from "../ui/html.ts"

/** Maximum length of a query. */
export const MAX_QUERY = 120

/** A form that opens the search page. While the reader types, the script of the reference shows matches below it. */
export function searchBox(query = ""): Html {
  return html`<form class="search" role="search" action="/docs/search">
<label for="query">Search reference, errors and manual</label>
<input id="query" name="q" type="search" value="${query}" maxlength="${MAX_QUERY}" autocomplete="off" required>
<button>Search</button></form>
<div id="found" role="status"></div>
`
}
