import { hash } from "node:crypto"
import { Html, type HtmlPart, html } from "./html.ts"
import { SCHEME_SCRIPT } from "./scheme.ts"
import { BASE_STYLE, ICON, MARK } from "./style.ts"

interface LayoutOptions {
  /** The contents: next to the text if there is room, otherwise collapsed above it. */
  aside?: Html
  /** The script of the page. The page must also work without it. */
  script?: string
}

/**
 * Returns a complete page in one file: no images, no fonts, one style. Light or dark as the reader's system prefers, or
 * as the reader chose.
 */
export function layout(
  title: string,
  description: string,
  body: HtmlPart,
  { aside, script }: LayoutOptions = {},
): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Appmeter</title>
<meta name="description" content="${description}">
<link rel="icon" href="${ICON}">
<style>${new Html(STYLE)}</style>
<script>${new Html(SCHEME_SCRIPT)}</script>
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header><a class="home" href="/docs">${new Html(MARK)} Appmeter</a>
<nav aria-label="Documents">${PAGES.map(([address, name]) => html`<a href="${address}">${name}</a> `)}</nav>
<button class="scheme" type="button" hidden></button></header>
<div class="frame">
${
  aside &&
  html`<nav class="contents" aria-label="Contents" tabindex="0">
<details><summary>Contents</summary>\n${aside}</details></nav>\n`
}<main id="text">
<h1>${title}</h1>
${body}
</main>
</div>
${script && html`<script>${new Html(script)}</script>\n`}</body>
</html>
`.text
}

const PAGES = [
  ["/app", "Your apps"],
  ["/docs", "Reference"],
  ["/docs/errors", "Errors"],
  ["/docs/operate", "Manual"],
] as const

/**
 * The content security policy of a page: its own style and scripts, requests to its own origin if `calls`, and forms to
 * the `forms` origins. Browsers also apply the form policy to redirects after a form.
 */
export function pagePolicy({ script, calls = false, forms = [] }: PagePermissions = {}): string {
  const digest = (text: string) => `'sha256-${hash("sha256", text, "base64")}'`
  return [
    "default-src 'none'",
    `style-src ${digest(STYLE)}`,
    `script-src ${[SCHEME_SCRIPT, ...(script === undefined ? [] : [script])].map(digest).join(" ")}`,
    ...(calls ? ["connect-src 'self'"] : []),
    "img-src data:",
    `form-action ${[...(calls ? ["'self'"] : []), ...forms].join(" ") || "'none'"}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ")
}

interface PagePermissions {
  script?: string
  calls?: boolean
  forms?: readonly string[]
}

// On a wide screen, contents, text and commands are side by side. On a narrow one they are stacked, with the contents
// collapsed.
const STYLE = `${BASE_STYLE}
html { scroll-padding-top: 4.25rem }
a { color: var(--rank); text-underline-offset: .15em }
header {
  position: sticky; top: 0; z-index: 1; display: flex; gap: 1.5rem; align-items: center; min-height: 3.25rem;
  padding: 0 1rem; background: var(--card); border-bottom: 1px solid var(--line)
}
header a { color: inherit; text-decoration: none }
header nav { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; font-size: .9375rem }
header nav a { color: var(--quiet); padding: .3rem 0 }
a:hover, header nav a:hover { text-decoration: underline }
.home { display: flex; flex: none; gap: .5rem; align-items: center; font-weight: 700; white-space: nowrap }
.home svg { flex: none; color: var(--rank) }
header > .scheme {
  flex: none; width: auto; min-height: 2rem; margin-left: auto; padding: .1rem .7rem; font-size: .8125rem;
  background: var(--card); color: var(--ink); border-color: var(--edge)
}
@media (max-width: 40rem) {
  header { position: static; flex-wrap: wrap; gap: .25rem 1rem; padding: .5rem 1rem }
  header nav { order: 1; width: 100% }
}
main { max-width: 48rem; margin: 0 auto; padding: 1.5rem 1rem 4rem }
h2 { margin: 3rem 0 .5rem; font-size: 1.4rem; line-height: 1.25 }
h3 { margin: 0 0 .35rem; font-size: 1.05rem; line-height: 1.4 }
h3 a { color: inherit; text-decoration: none }
h3 code { font-weight: 600; font-size: 1em }
p { margin: .25rem 0 .6rem; max-width: 46rem }
code, pre { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, monospace }
pre {
  margin: .5rem 0; padding: .7rem .85rem; white-space: pre-wrap; background: var(--soft);
  border: 1px solid var(--line); border-radius: .4rem
}
ul { margin: .5rem 0; padding-left: 1.2rem }
table { display: block; overflow-x: auto; margin: .5rem 0 }
th, td { padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line) }
th { font-size: .8125rem; color: var(--quiet) }
td code { overflow-wrap: normal }
.quiet { color: var(--quiet) }
section {
  margin: 1.25rem 0; padding: 1.1rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem
}
section:target { border-color: var(--rank); box-shadow: inset 3px 0 var(--rank) }
li:target, tr:target { background: var(--soft) }
section p, section ul { max-width: none }
[hidden] { display: none }
.method {
  display: inline-block; min-width: 3.1rem; margin-right: .35rem; padding: .05rem .4rem; border-radius: .3rem;
  font: 700 .75rem/1.6 ui-monospace, monospace; text-align: center; color: var(--card); background: var(--up)
}
.POST { background: var(--rank) }
.arguments { list-style: none; padding: 0 }
.arguments li { padding: .45rem 0; border-top: 1px solid var(--line); font-size: .9375rem }
.fields table { font-size: .875rem; max-height: 26rem; overflow-y: auto }
.fields td:nth-child(2) { color: var(--quiet); min-width: 7rem }
summary { padding: .3rem 0; color: var(--quiet); font-size: .9375rem }
.lines summary { display: inline-block; padding: .2rem .6rem; border-radius: .3rem .3rem 0 0; font-size: .8125rem }
.lines details[open] > summary { color: var(--ink); font-weight: 600; box-shadow: inset 0 -2px var(--rank) }
@supports selector(::details-content) {
  .lines { display: grid; grid-template-columns: repeat(3, auto) 1fr; align-items: end }
  .lines details { display: contents }
  .lines summary { grid-row: 1 }
  .lines details::details-content { grid-row: 2; grid-column: 1 / -1; min-width: 0 }
  .lines details:not([open])::details-content { display: none }
}
.code { position: relative }
.code pre { padding-right: 4.5rem }
.code button {
  position: absolute; top: .35rem; right: .35rem; width: auto; min-height: 0; padding: .1rem .5rem;
  font-size: .75rem; background: var(--card); color: var(--ink)
}
form {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 11rem), 1fr)); gap: .6rem .75rem;
  align-items: end; margin: .25rem 0 .75rem
}
label code { display: block }
input, select, button {
  font: inherit; width: 100%; min-height: 2.5rem; padding: .3rem .55rem; border: 1px solid var(--quiet);
  border-radius: .35rem; background: var(--page); color: var(--ink)
}
input[type=radio], input[type=checkbox] { width: auto; min-height: 0 }
.search { grid-template-columns: 1fr auto }
.search label { grid-column: 1 / -1; font-size: .875rem }
.search button { width: auto }
form fieldset { grid-column: 1 / -1; margin: .25rem 0 }
.choices label { display: block; padding: .15rem 0 }
.choices label code { display: inline; margin-right: .35rem }
section > h2:first-child { margin-top: 0 }
button:disabled { opacity: .45; cursor: default }
button.other { background: var(--card); color: var(--ink); border-color: var(--quiet) }
::placeholder { color: var(--quiet); opacity: 1 }
input[readonly] { background: var(--soft) }
button { cursor: pointer; font-weight: 600; background: var(--rank); color: var(--page); border-color: var(--rank) }
.verdict button { justify-self: start; min-width: 11rem }
.verdict .other { font-weight: 400 }
.answer { max-height: 22rem; overflow-y: auto; font-size: .8125rem }
fieldset {
  margin: 1rem 0; padding: .75rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem
}
fieldset input[type=password] { max-width: 26rem }
.skip { position: absolute; left: -100vw; z-index: 2 }
.skip:focus { left: 1rem; top: .5rem; padding: .25rem .5rem; background: var(--card) }
.contents { padding: .4rem 1rem; border-bottom: 1px solid var(--line); font-size: .875rem; line-height: 1.4 }
.contents ul { list-style: none; margin: .15rem 0 .9rem; padding: 0 }
.contents li a { display: block; padding: .2rem 0; text-decoration: none; color: var(--quiet) }
.contents li a:hover { color: var(--ink) }
.chapter { display: block; font-weight: 600; color: inherit; text-decoration: none; padding: .2rem 0 }
[aria-current] { text-decoration: underline }
@media (min-width: 64rem) {
  .frame:has(> .contents) { display: grid; grid-template-columns: 17rem minmax(0, 1fr) }
  .frame:has(> .contents) main { margin: 0; width: 100%; padding: 2rem 2.5rem 5rem }
  .contents {
    position: sticky; top: 3.25rem; height: calc(100vh - 3.25rem); overflow-y: auto; padding: 1.25rem 1rem;
    border-bottom: 0; border-right: 1px solid var(--line)
  }
  @supports selector(::details-content) {
    .contents summary { display: none }
    .contents details::details-content { content-visibility: visible; display: block }
  }
}
@media (min-width: 84rem) {
  main:has(.shown) { max-width: 84rem }
  section:has(> .shown) {
    display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0 2rem; align-items: start
  }
}
@media print { .contents, header, .try, .skip, .code button { display: none } }
`
