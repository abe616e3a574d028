import { TOKENS } from "./tokens.ts"

/** The style of every page: tokens, type, tables, fields and focus. Light or dark as the reader's system prefers. */
export const BASE_STYLE = `${TOKENS}* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body {
  margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere;
}
h1 { font-size: var(--text-xl); line-height: 1.2; letter-spacing: -.015em; margin: 0 0 .4rem }
table { border-collapse: collapse }
th, td { text-align: left; vertical-align: top }
summary { cursor: pointer }
.changes { display: table; width: 100%; table-layout: fixed }
.changes th:first-child { width: 26% }
.changes th, .changes td { white-space: normal; overflow-wrap: anywhere; vertical-align: top }
.changes bdi { white-space: pre-line }
.changes td:last-child { font-weight: 600 }
@media (max-width: 40rem) {
  .changes thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  .changes, .changes tbody, .changes tr, .changes tbody th:first-child, .changes td { display: block; width: auto }
  .changes tbody th:first-child { border-bottom: 0; padding-bottom: 0 }
  .changes td { border: 0; padding: .1rem 1rem .35rem }
  .changes td:last-child::before { content: "→ " }
}
:focus-visible { outline: 3px solid var(--rank); outline-offset: 2px }
`

const BARS = "M1 11h3v4H1zM6.5 7h3v8h-3zM12 1h3v14h-3z"

/** The product's logo, a rising rank, in the colour of the surrounding text. */
export const MARK = `<svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true">
<path fill="currentColor" d="${BARS}"></path></svg>`

/** The logo as a separate image. */
export const ICON_SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">
<path fill="#1d5bbf" d="${BARS}"/></svg>`

/** The logo as a page icon that needs no second request. */
export const ICON = `data:image/svg+xml,${encodeURIComponent(ICON_SVG)}`
