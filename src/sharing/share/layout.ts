import { hash } from "node:crypto"
import { Html, type HtmlPart, html } from "../../ui/html.ts"
import { BASE_STYLE, ICON } from "../../ui/style.ts"

/**
 * The frame of a page behind a link: no script, no external resources, and one inline style, which the policy allows by
 * its hash.
 */
export function shareLayout(title: string, main: HtmlPart): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<style>${new Html(STYLE)}</style>
</head>
<body>
${main}
</body>
</html>
`.text
}

const STYLE = `${BASE_STYLE}header, main, footer { max-width: 60rem; margin: 0 auto; padding: 0 1rem }
header, .alone { padding-top: 2rem }
main { padding-bottom: 1rem }
h2 { font-size: 1.3rem; margin: 2.25rem 0 .25rem }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .25rem }
p { margin: .25rem 0 .6rem; max-width: 44rem }
.quiet, footer, caption { color: var(--quiet) }
footer { padding-top: 1rem; padding-bottom: 2.5rem; font-size: .875rem; border-top: 1px solid var(--line);
  margin-top: 2.5rem }
table { width: 100%; background: var(--card); border: 1px solid var(--line) }
caption { text-align: left; padding: .25rem 0 .5rem; font-size: .875rem }
th, td { padding: .5rem .75rem; border-top: 1px solid var(--line) }
thead th { font-size: .8125rem; color: var(--quiet); background: var(--soft); border-top: 0 }
tbody th { font-weight: 600 }
thead th, td { overflow-wrap: break-word }
.rank { font-size: 1.15rem; font-weight: 700; font-variant-numeric: tabular-nums }
.up { color: var(--up) }
.down { color: var(--down) }
.small, .note { font-size: .8125rem }
.note { display: block; color: var(--quiet) }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); gap: 1rem;
  margin: .75rem 0 0; padding: 0; list-style: none }
figure { margin: 0; padding: .75rem .75rem .6rem; background: var(--card); border: 1px solid var(--line);
  border-radius: .4rem; break-inside: avoid }
figcaption { font-weight: 600 }
.chart { display: block; width: 100%; height: auto; margin: .35rem 0 .25rem }
.chart text { font: 12px system-ui, sans-serif; fill: var(--quiet) }
.end { text-anchor: end }
.band { fill: var(--soft) }
.grid { stroke: var(--line); fill: none }
.line { stroke: var(--rank); stroke-width: 2; fill: none; stroke-linecap: round }
.dots { stroke: var(--rank); stroke-width: 4; fill: none; stroke-linecap: round }
.gone { fill: var(--gone) }
.mid { text-anchor: middle }
.point { stroke: transparent; stroke-width: 12; fill: none; stroke-linecap: round }
summary { color: var(--quiet); font-size: .875rem; padding: .4rem 0 }
.days { max-height: 16rem; overflow-y: auto }
.days th, .days td { padding: .2rem .5rem; font-size: .875rem; font-weight: 400 }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 13rem), 1fr)); margin: .5rem 0;
  padding: .35rem 0; background: var(--card); border: 1px solid var(--line); border-radius: .4rem }
dl div { padding: .4rem .75rem }
dt { color: var(--quiet); font-size: .8125rem }
dd { margin: 0 }
form { max-width: 24rem; margin: 1.5rem 0 }
label { display: block; font-weight: 600; margin-bottom: .35rem }
input, button { font: inherit; padding: .6rem .75rem; border-radius: .35rem; border: 1px solid var(--quiet);
  width: 100% }
input { background: var(--card); color: var(--ink) }
button { margin-top: .75rem; background: var(--rank); color: var(--page); border-color: var(--rank); font-weight: 600;
  cursor: pointer }
.wrong { color: var(--down); font-weight: 600 }
@media (min-width: 30.01rem) {
  td { white-space: nowrap }
}
@media (max-width: 30rem) {
  header, .alone { padding-top: 1.25rem }
  h1 { font-size: 1.4rem }
  th, td { padding: .45rem .5rem }
  tbody th, td { font-size: .9375rem }
  dl { grid-template-columns: 1fr 1fr }
}
@media print {
  body { font-size: .8rem }
  details { display: none }
  tr { break-inside: avoid }
}
`

/**
 * Content security policy: forbids scripts, frames, external resources and forms to other sites. The style is allowed
 * by its hash.
 */
export const SHARE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hash("sha256", STYLE, "base64")}'`,
  "img-src data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ")
