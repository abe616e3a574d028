import { hash } from "node:crypto"
import { Html, html } from "../html.ts"
import { ICON, MARK } from "../style.ts"
import { sideName } from "../words.ts"
import { type AppHead, address, appAddress, type Desk, type Page, type Side, sideCode, sidesOf } from "./desk.ts"
import { APP_SCRIPT } from "./script.ts"
import { APP_STYLE } from "./style.ts"
import { shownTabs, shownTops } from "./tabs.ts"

/** Returns a complete page of /app. */
export function framed(desk: Desk, { title, body, at, app }: Page): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Appmeter</title>
<link rel="icon" href="${ICON}">
<style>${new Html(APP_STYLE)}</style>
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header class="bar"><div>
<a class="home" href="${desk.base}">${new Html(MARK)} Appmeter</a>
<nav aria-label="Workspace">${shownTops(desk).map((top) => html`<a href="${desk.base}${top.path}"${top.path === (app ? "" : at) && html` aria-current="${app ? "true" : "page"}"`}>${top.name}</a>`)}</nav>
<nav aria-label="Help"><a href="/docs">Reference</a><a href="/docs/operate">Manual</a>${desk.visitor !== null && html`<a href="/sign-in" title="Signed in; sign out there"><bdi>${desk.visitor}</bdi></a>`}</nav>
</div></header>
${
  desk.isSample &&
  html`<aside class="note-line" aria-label="Sample"><p>A sample: an invented app with something on every page. Nothing here was measured. <a href="/app">Your own apps</a></p></aside>
`
}${
  app?.isInvented &&
  html`<aside class="note-line" aria-label="Invented"><p><span class="tag warn">Invented</span> This app is in no store: the demo made it up, and every figure, page, review and answer here, to show what a measured month looks like. It goes with <code>appmeter demo remove</code>.</p></aside>
`
}<main id="text">
${app ? html`${tabsPart(desk, app, at)}${body}` : html`<h1>${title}</h1>\n${body}`}</main>
<footer><p>A dash is a figure that nobody measured; absent means that the results were read, and the app was not among them. A rank leads to
the reading that it comes from. Days are UTC.</p></footer>
<script>${new Html(APP_SCRIPT)}</script>
</body>
</html>
`.text
}

/** Content security policy of /app: its own style, its one script, and forms to its own origin. */
export const APP_POLICY = [
  "default-src 'none'",
  `style-src '${digest(APP_STYLE)}'`,
  `script-src '${digest(APP_SCRIPT)}'`,
  "img-src data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ")

function digest(text: string): string {
  return `sha256-${hash("sha256", text, "base64")}`
}

function tabsPart(desk: Desk, app: AppHead, at: string): Html {
  const tabs = shownTabs(desk)
  const chosen = desk.query.get("at")
  return html`<p class="crumbs"><a href="${desk.base}">Apps</a></p>
<div class="subject">${badge(app.name)}<div><h1><bdi>${app.name}</bdi></h1>
<p class="quiet small">${[app.iosId && `App Store ${app.iosId}`, app.androidPkg && `Google Play ${app.androidPkg}`].filter(Boolean).join(" · ")}</p></div>
</div>
<nav class="tabs" aria-label="Pages of ${app.name}">${tabs.map((tab) => html`<a href="${address(appAddress(desk, app, tab.path), { at: chosen })}"${tab.path === at && html` aria-current="page"`}>${tab.name}</a>`)}</nav>
`
}

/** The initials of a name on a colour derived from it. Icons are not loaded from the stores. */
export function badge(name: string): Html {
  const letters = name
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .slice(0, 2)
    .map((word) => [...word][0])
    .join("")
  const colour = ([...name].reduce((sum, char) => sum + (char.codePointAt(0) as number), 0) % 6) + 1
  return html`<svg class="badge" viewBox="0 0 48 48" aria-hidden="true"><rect class="b${colour}" width="48" height="48" rx="11"></rect><text x="24" y="30.5">${letters.toUpperCase() || "?"}</text></svg>`
}

/** A form that selects a storefront and store. It keeps the other parts of the query. */
export function sideForm(desk: Desk, app: AppHead, { only }: { only?: "ios" } = {}, chosen: Side): Html | false {
  const sides = sidesOf(app).filter(({ platform }) => only === undefined || platform === only)
  if (sides.length < 2 || desk.isSample) return false
  const otherFields = [...desk.query].filter(([name]) => !["at", "page"].includes(name))
  return html`<form class="filters" method="get" data-now="">${otherFields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<label>Storefront<select name="at">${sides.map((side) => html`<option value="${sideCode(side)}"${sideCode(side) === sideCode(chosen) && html` selected=""`}>${sideName(side)}</option>`)}</select></label>
<button type="submit" data-spare="">Show</button></form>`
}
