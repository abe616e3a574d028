import { hash } from "node:crypto"
import { Html, html } from "../html.ts"
import { ICON, MARK } from "../style.ts"
import { counted } from "../words.ts"
import { keptAddress, viewAt, viewBar } from "./bar.ts"
import { type AppHead, hereOf, MADE, type Page, type PageContext, type Side } from "./context.ts"
import { madeText } from "./made.ts"
import { APP_SCRIPT } from "./script.ts"
import { APP_STYLE } from "./style.ts"
import { shownTabs, shownTops, shownWorkspacePages } from "./tabs.ts"
import { hiddenFields } from "./write/form.ts"
import { SKIPPED, skippedLines } from "./write/skipped.ts"

/** Returns a complete page of /app. */
export function framed(context: PageContext, page: Page): string {
  const { title, body, app, at } = page
  return html`<!doctype html>
<html lang="en"${context.scheme && html` data-scheme="${context.scheme}"`}>
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
${headerPart(context, page)}
${context.isSample && SAMPLE_NOTE}${app?.isInvented && INVENTED_NOTE}${
  lacksPassphrase(context) && PASSPHRASE_NOTE
}<main id="text">
${refusedNotice(context)}${madeNotice(context)}${
  app ? html`${tabsPart(context, app, at)}${body}` : html`<h1>${title}</h1>\n${body}`
}</main>
<footer><p>A dash is a figure that was not measured. Absent means that the results were read and
the app was not among them. Days are UTC. <a href="/docs/operate">Manual</a> · <a href="/docs">API reference</a></p>
</footer>
<script>${new Html(APP_SCRIPT)}</script>
</body>
</html>
`.text
}

const SAMPLE_NOTE = html`<aside class="note-line" aria-label="Sample">
<p>This is a sample: an invented app with data on every page. Nothing here was measured.
<a href="/app">Your own apps</a></p></aside>
`

const PASSPHRASE_NOTE = html`<aside class="note-line" aria-label="Passphrase">
<p><a href="/sign-in/passphrase">Set a passphrase</a> to sign in without a code next time.</p></aside>
`

/** Returns whether the person has no passphrase and did not sign in through a proxy. */
function lacksPassphrase({ person }: PageContext): boolean {
  return person !== null && !person.hasPassphrase && person.via !== "proxy"
}

const INVENTED_NOTE = html`<aside class="note-line" aria-label="Invented">
<p><span class="tag warn">Invented</span> The demo made up this app and all its
figures, to show what a measured month looks like. <code>appmeter demo remove</code> removes it.</p></aside>
`

function headerPart(context: PageContext, { at, app }: Page): Html {
  const tops = shownTops(context).map((top) => {
    const isHere = top.path === (app ? "" : at)
    const current = isHere && html` aria-current="${app ? "true" : "page"}"`
    return html`<a href="${context.base}${top.path}"${current}>${top.name}</a>`
  })
  return html`<header class="bar"><div>
<a class="home" href="${context.base}">${new Html(MARK)} <span>Appmeter</span></a>
<nav aria-label="Main">${tops}</nav>
<form class="find" method="get" action="${context.base}/search" role="search">
<input type="search" name="q" aria-label="Search apps, keywords and rivals" placeholder="Search" maxlength="120"
data-search=""></form>
${workspaceMenu(context, at)}${personMenu(context)}</div></header>`
}

function workspaceMenu(context: PageContext, at: string): Html {
  const pages = shownWorkspacePages(context).map(
    (page) =>
      html`<a href="${context.base}${page.path}"${page.path === at && html` aria-current="page"`}>${page.name}</a>`,
  )
  return html`<details class="menu"><summary><bdi>${context.visitor ?? "Sample"}</bdi></summary>
<nav aria-label="Workspace">${pages}</nav></details>`
}

const SCHEMES = [
  ["light", "Light"],
  ["dark", "Dark"],
  ["", "Same as system"],
] as const

/** Colour scheme and sign-out. */
function personMenu(context: PageContext): Html {
  if (context.formFields.length === 0) return html`<a class="button" href="/sign-in">Sign in</a>`
  const hidden = hiddenFields(context.formFields)
  const schemes = SCHEMES.map(
    ([value, name]) =>
      html`<button type="submit" name="scheme" value="${value}" aria-pressed="${String(
        (context.scheme ?? "") === value,
      )}">${name}</button>`,
  )
  return html`<details class="menu"><summary><bdi>${context.person?.person}</bdi></summary><div>
<p><a href="${context.base}/settings/profile">Profile and sessions</a></p>
<form method="post" action="${context.base}/scheme">${hidden}${hiddenFields([["to", hereOf(context)]])}
<p class="small quiet">Colours</p>${schemes}</form>
<form method="post" action="/sign-out">${hidden}<button type="submit">Sign out</button></form></div></details>`
}

/**
 * Reports why the form was refused. Lists the errors of all fields, because some fields, such as checkboxes, show no
 * error themselves.
 */
function refusedNotice({ refused }: PageContext): Html | false {
  if (refused === null) return false
  const errors = Object.values(refused.errors)
  return html`<div class="notice bad" role="alert"><p>${refused.message}</p>${
    errors.length > 0 && html`<ul>${errors.map((error) => html`<li>${error}</li>`)}</ul>`
  }</div>
`
}

/** Lists the lines of an uploaded file that were not used. */
function skippedPart({ query }: PageContext): Html | false {
  const { count, lines } = skippedLines(query.get(SKIPPED) ?? "")
  if (count === 0 || lines.length === 0) return false
  const more = count > lines.length && html`<li>And ${count - lines.length} more.</li>`
  return html`<details open=""><summary>${counted(count, "line")} of the file skipped</summary>
<ul>${lines.map((line) => html`<li>${line}</li>`)}${more}</ul></details>`
}

/** Reports what the previous form did: in a toast if scripts run, otherwise in a line of text. */
function madeNotice(context: PageContext): Html | false {
  if (context.made.length === 0 || context.formFields.length === 0) return false
  const canUndo = context.made.some(({ canUndo }) => canUndo)
  const fields = [
    ...context.formFields,
    ["action", "undo_change"],
    ["request", context.query.get(MADE) ?? ""],
    ["back", hereOf(context)],
  ] as const
  const skipped = skippedPart(context)
  return html`<div class="notice" role="status"${!skipped && html` data-toast=""`}><p>${madeText(
    context.made,
  )}</p>${skipped}${
    canUndo &&
    html`<form method="post" action="${context.base}/write">${hiddenFields(fields)}
<button type="submit">Undo</button></form>`
  }</div>
`
}

/** Content security policy of /app: its own style, its one script, and forms to its own origin. */
export const APP_POLICY = [
  "default-src 'none'",
  `style-src '${digest(APP_STYLE)}'`,
  `script-src '${digest(APP_SCRIPT)}'`,
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ")

function digest(text: string): string {
  return `sha256-${hash("sha256", text, "base64")}`
}

function tabsPart(context: PageContext, app: AppHead, at: string): Html {
  const tabs = shownTabs(context).map((tab) => {
    const isHere = tab.path === at && html` aria-current="page"`
    return html`<a href="${keptAddress(context, app, tab.path)}"${isHere}>${tab.name}</a>`
  })
  const ids = [app.iosId && `App Store ${app.iosId}`, app.androidPkg && `Google Play ${app.androidPkg}`]
  return html`<p class="crumbs"><a href="${context.base}">Overview</a></p>
<div class="subject">${appIcon(context, app)}<div><h1><bdi>${app.name}</bdi></h1>
<p class="quiet small">${ids.filter(Boolean).join(" · ")}</p></div>
</div>
<nav class="tabs" aria-label="Pages of ${app.name}">${tabs}</nav>
`
}

const ICON_WIDTH = 96

/** The icon of an app, or its initials if there is none. Decorative, because the name is next to it. */
export function appIcon(context: PageContext, { name, icon }: { name: string; icon?: string | null }): Html {
  const source = context.picture(icon ?? null, ICON_WIDTH)
  if (source === null) return badge(name)
  return html`<img class="badge" src="${source}" width="48" height="48" alt="" loading="lazy">`
}

/** The initials of a name on a colour derived from it, in place of an icon. */
export function badge(name: string): Html {
  const letters = name
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .slice(0, 2)
    .map((word) => [...word][0])
    .join("")
  const colour = ([...name].reduce((sum, char) => sum + (char.codePointAt(0) as number), 0) % 6) + 1
  return html`<svg class="badge" viewBox="0 0 48 48" aria-hidden="true">
<rect class="b${colour}" width="48" height="48" rx="11"></rect>
<text x="24" y="30.5">${letters.toUpperCase() || "?"}</text></svg>`
}

/** The bar of a page without figures over time: a form that selects a storefront and store. */
export function sideForm(context: PageContext, app: AppHead, { only }: { only?: "ios" } = {}, side: Side): Html {
  return viewBar(context, app, { ...viewAt(context, app), side }, { hasNoDays: true, ...(only && { only }) })
}
