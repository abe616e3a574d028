import { hash } from "node:crypto"
import { Html, type HtmlPart, html } from "./html.ts"

export interface Beside {
  /** Stands beside the text where there is room, and else before it. */
  aside?: Html
  /** What the page does besides being read; it must be whole without. */
  script?: string
}

/** A whole page in one file: no image, no font, one style; light or dark as the reader's system says. */
export function layout(title: string, description: string, body: HtmlPart, { aside, script }: Beside = {}): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Appmeter</title>
<meta name="description" content="${description}">
<link rel="icon" href="data:,">
<style>${new Html(STYLE)}</style>
</head>
<body>
${aside && html`<a class="skip" href="#text">Skip the contents</a>\n${aside}\n`}<main${aside && html` id="text"`}>
<h1>${title}</h1>
${body}
</main>
${script && html`<script>${new Html(script)}</script>\n`}</body>
</html>
`.text
}

/** What a page of this layout may do: show itself, run the one script it holds, and ask its own origin where it `calls`. */
export function pagePolicy({ script, calls = false }: { script?: string; calls?: boolean } = {}): string {
  const digest = (text: string) => `'sha256-${hash("sha256", text, "base64")}'`
  return [
    "default-src 'none'",
    `style-src ${digest(STYLE)}`,
    ...(script === undefined ? [] : [`script-src ${digest(script)}`]),
    ...(calls ? ["connect-src 'self'"] : []),
    "img-src data:",
    `form-action ${calls ? "'self'" : "'none'"}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ")
}

const STYLE = `
:root { color-scheme: light dark; --quiet: color-mix(in srgb, CanvasText 68%, Canvas); --line: color-mix(in srgb, CanvasText 18%, Canvas); --box: color-mix(in srgb, CanvasText 6%, Canvas) }
* { box-sizing: border-box }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100% }
body { margin: 0; background: Canvas; color: CanvasText; font: 1rem/1.55 system-ui, sans-serif }
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 4rem }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 1rem }
h2 { margin: 2.5rem 0 .5rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: 1.25rem }
h3 { margin: 2.25rem 0 .25rem; font-size: 1.05rem }
h3 a { color: inherit; text-decoration: none }
h3 code { font-weight: 600; font-size: 1em }
h2 + section h3 { margin-top: 1.25rem }
p { margin: .25rem 0 .5rem; overflow-wrap: anywhere }
code, pre { font: .9em/1.5 ui-monospace, monospace; overflow-wrap: anywhere }
pre { margin: .5rem 0; padding: .6rem .75rem; white-space: pre-wrap; background: var(--box); border-radius: .35rem }
ul { margin: .5rem 0; padding-left: 1.2rem }
li { overflow-wrap: anywhere }
table { display: block; overflow-x: auto; border-collapse: collapse; margin: .5rem 0 }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line) }
td code { overflow-wrap: normal }
.quiet { color: var(--quiet) }
section:target { outline: 2px solid Highlight; outline-offset: .6rem; border-radius: .2rem }
[hidden] { display: none }
summary { cursor: pointer; padding: .25rem 0 }
form { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 13rem), 1fr)); gap: .6rem .75rem; align-items: end; margin: .25rem 0 .75rem }
label code { display: block }
input, select, button { font: inherit; width: 100%; min-height: 2.5rem; padding: .3rem .5rem; border: 1px solid var(--quiet); border-radius: .35rem; background: Canvas; color: CanvasText }
::placeholder { color: var(--quiet); opacity: 1 }
input[readonly] { background: var(--box) }
button { cursor: pointer; font-weight: 600; background: var(--box) }
.answer { max-height: 28rem; overflow-y: auto }
:focus-visible { outline: 2px solid Highlight; outline-offset: 2px }
.skip { position: absolute; left: -100vw }
.skip:focus { left: 1rem; top: .5rem; padding: .25rem .5rem; background: Canvas }
nav { max-height: 40vh; overflow-y: auto; padding: .75rem 1rem; border-bottom: 1px solid var(--line); font-size: .875rem; line-height: 1.4 }
nav ul { list-style: none; margin: .15rem 0 .75rem; padding: 0 }
nav li a { display: block; padding: .2rem 0; overflow-wrap: anywhere; text-decoration: none }
.chapter { display: block; font-weight: 600; color: inherit; text-decoration: none; padding: .15rem 0 }
nav a:hover, [aria-current] { text-decoration: underline }
@media (min-width: 62rem) {
  body:has(> nav) { display: grid; grid-template-columns: 19rem minmax(0, 48rem); justify-content: center; gap: 1rem }
  nav { position: sticky; top: 0; height: 100vh; max-height: none; padding: 1.5rem 1rem; border-bottom: 0; border-right: 1px solid var(--line) }
  main { margin: 0; width: 100% }
}
@media print { nav, .try, .skip { display: none } }
`
