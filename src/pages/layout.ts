import { Html, type HtmlPart, html } from "./html.ts"

/** A whole page: no script, no image, no font, one inline style; light or dark as the reader's system says. */
export function layout(title: string, description: string, body: HtmlPart): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Appmeter</title>
<meta name="description" content="${description}">
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`.text
}

const STYLE = `
:root { color-scheme: light dark; --quiet: color-mix(in srgb, CanvasText 65%, Canvas); --line: color-mix(in srgb, CanvasText 18%, Canvas); --box: color-mix(in srgb, CanvasText 6%, Canvas) }
* { box-sizing: border-box }
body { margin: 0; background: Canvas; color: CanvasText; font: 1rem/1.55 system-ui, sans-serif }
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 4rem }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 1rem }
h2 { margin: 2.5rem 0 .5rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: 1.25rem }
h3 { margin: 1.75rem 0 .25rem; font-size: 1.05rem }
h3 a { color: inherit; text-decoration: none }
p { margin: .25rem 0 .5rem; overflow-wrap: anywhere }
code, pre { font: .9em/1.5 ui-monospace, monospace; overflow-wrap: anywhere }
pre { margin: .5rem 0; padding: .6rem .75rem; overflow-x: auto; background: var(--box); border-radius: .35rem }
ul { padding-left: 1.2rem }
.quiet { color: var(--quiet) }
section:target { outline: 2px solid Highlight; outline-offset: .6rem; border-radius: .2rem }
`
