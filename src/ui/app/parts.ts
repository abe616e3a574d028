import type { Fault } from "../../lib/faults.ts"
import { type Html, type HtmlPart, html } from "../html.ts"
import { sourceName } from "../source-names.ts"
import { momentTime } from "../times.ts"
import { address, type Page, type PageContext } from "./context.ts"

/** A section with a heading. `note` is next to the heading. */
export function card(title: string | Html, body: HtmlPart, note: HtmlPart = ""): Html {
  return html`<section class="card"><header><h2>${title}</h2>${note && html`<div>${note}</div>`}</header>
${body}</section>
`
}

/** A placeholder for missing content: the reason, and what to do. */
export function empty(
  title: string,
  text: HtmlPart,
  { command, sample }: { command?: string; sample?: string } = {},
): Html {
  return html`<div class="empty"><p class="what">${title}</p>
<p class="quiet">${text}</p>
${command && html`<pre>${command}</pre>`}${
  sample && html`<p class="small"><a href="${sample}">See this page with sample data</a></p>`
}</div>
`
}

/** Returns the link of an empty page to the same page of the sample app. Empty on the sample itself. */
export function samplePage(context: PageContext, tab: string): { sample?: string } {
  return context.isSample ? {} : { sample: `/app/sample/apps/app_lumenjournal${tab && `/${tab}`}` }
}

/** Explains why a part of a page is missing, with the message of the fault. */
export function refusedPart({ code, message, extra }: Fault): Html {
  const { detail, scope } = extra as { detail?: string; scope?: string }
  // the detail lists ids, which only programs need; a person finds the apps by the page's link
  const visibleDetail = code === "not_found" ? undefined : detail
  const more = visibleDetail ?? (scope ? (ADVICE[scope] ?? rightMissing(scope)) : ADVICE[code])
  return empty(message, more ?? html`Programs get the code <code>${code}</code>.`)
}

/** The page for an address that is unknown or refused. */
export function notHerePage(context: PageContext, fault: Fault): Page {
  const isMissing = fault.status === 404
  return {
    title: isMissing ? "Page not found" : "This page cannot be shown",
    at: "none",
    body: html`<section class="card">${
      isMissing ? empty("There is nothing at this address", NOT_FOUND) : refusedPart(fault)
    }<p class="pages"><a href="${context.base}">Your apps</a></p></section>`,
  }
}

const NOT_FOUND = "It may have been removed, or belongs to another workspace."

/** The page that refuses a form that is too large or was not sent from a page of this session. */
export function formProblemPage(context: PageContext, isTooLarge: boolean): Page {
  return {
    title: "The form was not accepted",
    at: "none",
    body: html`<section class="card">${empty(
      "Nothing was changed",
      isTooLarge
        ? "The form is too large. Send a smaller file."
        : "Open the page again and send its form as it is shown.",
    )}<p class="pages"><a href="${context.base}">Your apps</a></p></section>`,
  }
}

const rightMissing = (scope: string) => `You lack the right ${scope}. An owner of the workspace can give it to you.`

/** Advice on what to do after a refusal, by the code of the fault or the missing right. */
const ADVICE: Record<string, string> = {
  "workspace:manage": "An owner of the workspace can do this.",
  "server:operate": "This is about the machine: the operator of the server can see it.",
  app_not_allowed: "This is about the whole workspace, and your access is limited to some of its apps.",
}

export interface Tile {
  name: string
  value: HtmlPart
  note?: HtmlPart
}

export function tiles(list: readonly Tile[]): Html {
  return html`<dl class="tiles">
${list.map(
  ({ name, value, note }) => html`<div><dt>${name}</dt><dd>${value}${note && html` <small>${note}</small>`}</dd></div>`,
)}</dl>
`
}

/** A list of names and values. Null values are left out. */
export function facts(list: readonly (readonly [name: string, value: HtmlPart])[]): Html {
  const present = list.filter(([, value]) => value !== null && value !== undefined && value !== false)
  return html`<dl class="facts">
${present.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
`
}

/** For example "12 Nov 2026, 06:12 UTC, App Store search". */
export function readBy(at: string | null, source: string | null): HtmlPart {
  if (at === null) return "Not read yet."
  return html`Read ${momentTime(at)}${source && html`, ${sourceName(source)}`}.`
}

/** Links to the other pages of a long list. */
export function pager(
  path: string,
  query: URLSearchParams,
  { page, pages }: { page: number; pages: number },
): Html | false {
  if (pages < 2) return false
  const to = (number: number) => address(path, { ...Object.fromEntries(query), page: number })
  return html`<nav class="pages" aria-label="More of the list">
${
  page > 1 && html`<a href="${to(page - 1)}" rel="prev">Before</a>`
}<span class="quiet">Page ${page} of ${pages}</span>${
    page < pages && html`<a href="${to(page + 1)}" rel="next">Next</a>`
  }</nav>
`
}

/** Returns a note that the figures are sample data. False unless the demo invented them. */
export function inventedNote(answer: object): Html | false {
  return sourcesIn(answer).some((source) => source?.state === "demo") && invented(INVENTED)
}

function sourcesIn(answer: object) {
  return "sources" in answer && Array.isArray(answer.sources) ? answer.sources : []
}

/** Returns a note that the reviews are sample data. False unless the demo invented them. */
export function inventedReviewsNote({ feed }: { readonly feed: string | null }): Html | false {
  return (feed?.startsWith("demo-") ?? false) && invented(INVENTED_REVIEWS)
}

/** Shows which questions or rows failed, and why. False if none failed. */
export function failureNote(answer: object): Html | false {
  const whys = sourcesIn(answer).flatMap((source) => {
    // sample data does not count as a failure; another note reports it
    return typeof source?.why === "string" && source.state !== "demo" ? [source.why as string] : []
  })
  return (
    whys.length > 0 &&
    html`${whys.map(
      (why) => html`<p class="small"><span class="tag warn">Not all is read</span> <bdi>${why}</bdi></p>`,
    )}`
  )
}

function invented(why: string): Html {
  return html`<p><span class="tag warn">Invented</span> ${why}</p>`
}

const INVENTED_REVIEWS = "The demo made up these reviews. They are deleted when you connect your own account."

const INVENTED = "The demo made up these figures. They are deleted when you connect your own account."
