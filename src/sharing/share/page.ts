import { DAY_MS } from "../../lib/time.ts"
import { type Html, html } from "../../ui/html.ts"
import { STORE_NAMES, sourceName } from "../../ui/source-names.ts"
import { dayTime, momentTime, shortDay } from "../../ui/times.ts"
import { shareLayout } from "./layout.ts"
import { rankChart } from "./rank-chart.ts"
import type { SharedKeyword, SharedPoint, SharedReport, SharedStore } from "./report.ts"
import { storePagePart } from "./store-page-part.ts"

interface SharedPage {
  report: SharedReport
  createdAt: Date
  expiresAt: Date
}

/** Renders a shared page: for each store a table of ranks, rank charts and a summary of the store page. */
export function sharedPage({ report, createdAt, expiresAt }: SharedPage): string {
  const { app, country, stores, tracked } = report
  const from = firstDay(report)
  return shareLayout(
    `${app} · ${country}`,
    html`<header>
<h1><bdi>${app}</bdi></h1>
<p>Storefront: ${country}. Ranks and store pages as of ${momentTime(createdAt.toISOString())}. This is a frozen copy: it
does not change, and is here until ${momentTime(expiresAt.toISOString())}.</p>
</header>
<main>
${!tracked && html`<p>Nothing is measured in ${country} for this app.</p>\n`}
${stores.map((store) => storePart(store, { ...report, from }))}
</main>
<footer>
<p>Not measured: nobody read the results that day. Not in the first N: they were read that deep, and the app was not
among them. Made with Appmeter.</p>
</footer>`,
  )
}

/**
 * Returns the first day of all charts: the earliest measurement or 13 days before `to`, whichever is earlier, but not
 * before `from`.
 */
function firstDay({ stores, from, to }: SharedReport): string {
  const measured = stores.flatMap(({ keywords }) => keywords.flatMap(({ points }) => points?.[0]?.[0] ?? []))
  const twoWeeks = new Date(Date.parse(to) - 13 * DAY_MS).toISOString().slice(0, 10)
  const first = [...measured, twoWeeks].sort()[0] as string
  return first > from ? first : from
}

function storePart(store: SharedStore, report: SharedReport): Html {
  const { platform, keywords } = store
  const name = STORE_NAMES[platform]
  const charted = keywords.filter(({ points }) => points !== null)
  return html`<section aria-labelledby="${platform}">
<h2 id="${platform}">${name}</h2>
<h3>Ranks</h3>
${keywords.some(({ measured }) => measured) && html`<p>${totalText(keywords)}</p>\n`}
${keywords.length === 0 ? html`<p>No keyword is tracked.</p>\n` : ranksTable(store)}${
  charted.length > 0 &&
  html`<h3>Ranks over time</h3>
<p class="quiet">Rank 1 is at the top. A gap is a day that was not measured; a square in the band below is a day on
which the app was not among the results read.${
    keywords.some(isUncharted) && ` Only the first ${charted.length} measured keywords have charts.`
  }</p>
<ul class="charts">
${charted.map((keyword, i) => chartPart(`${platform}-${i + 1}`, keyword, report))}</ul>\n`
}${storePagePart(store)}
</section>
`
}

/** True if a keyword was measured but the page has reached its limit of charts. */
const isUncharted = ({ measured, points }: SharedKeyword) => measured && points === null

function ranksTable({ platform, day, keywords, more }: SharedStore): Html {
  const readings = [...new Set(keywords.filter(({ measured }) => measured).map(readingText))]
  // if this text is the same for all keywords, it is shown once in the caption
  const [only = ""] = readings.length === 1 ? readings : []
  const when = day === null ? "Never measured." : html`Search results of ${dayTime(day)} (UTC)${only && `, ${only}`}.`
  return html`<table>
<caption>${STORE_NAMES[platform]}: rank of each keyword. ${when}${more > 0 && ` ${more} more are not listed.`}</caption>
<thead><tr><th scope="col">Keyword</th><th scope="col">Rank</th><th scope="col">Change</th></tr></thead>
<tbody>
${keywords.map(
  (keyword) =>
    html`<tr><th scope="row"><bdi>${keyword.term}</bdi></th><td>${rankText(keyword)}${
      keyword.measured && only === "" && html` <span class="note">${readingText(keyword)}</span>`
    }</td><td>${changeText(keyword)}</td></tr>\n`,
)}</tbody>
</table>
`
}

function readingText({ source, depth }: SharedKeyword): string {
  return `first ${depth}, ${source && sourceName(source)}`
}

function rankText({ measured, rank, depth }: SharedKeyword): Html | string {
  if (!measured) return html`<span class="quiet">Not measured</span>`
  return rank === null ? `Not in the first ${depth}` : html`<span class="rank">${rank}</span>`
}

function changeText({ measured, change }: SharedKeyword): Html | string {
  if (!measured) return ""
  if (!change) return html`<span class="quiet">No earlier day</span>`
  const { direction, places, since } = change
  const day = html`<span class="note">since ${dayTime(since, shortDay)}</span>`
  if (direction === null)
    return html`Not comparable ${day}${change.why && html` <span class="note">${WHY[change.why]}</span>`}`
  const rises = direction === "up" || direction === "entered"
  const tone = direction === "same" ? "" : rises ? "up" : "down"
  return html`<span class="${tone}">${MOVES[direction]}${places ? ` ${places}` : ""}</span> ${day}`
}

const WHY = {
  source: "another source read it then, whose ranks may differ",
  depth: "one of the two readings was less deep",
} as const

/** Returns a text such as "3 of 5 keywords in the top 10; 2 up, 1 down." */
function totalText(keywords: readonly SharedKeyword[]): string {
  const ranks = keywords.flatMap(({ rank }) => rank ?? [])
  const moved = (...ways: string[]) =>
    keywords.filter(({ measured, change }) => measured && change && ways.includes(change.direction ?? "")).length
  const [up, down] = [moved("up", "entered"), moved("down", "dropped")]
  const top = ranks.filter((rank) => rank <= 10).length
  return `${top} of ${keywords.length} keywords in the top 10${up + down > 0 ? `; ${up} up, ${down} down` : ""}.`
}

const MOVES = { up: "▲ Up", down: "▼ Down", entered: "▲ Entered", dropped: "▼ Dropped out", same: "Unchanged" } as const

function chartPart(id: string, { term, points }: SharedKeyword, { from, to }: SharedReport): Html {
  const measured = points ?? []
  const summary = inWords(measured, from, to)
  return html`<li><figure>
<figcaption><bdi>${term}</bdi></figcaption>
${rankChart({
  id,
  title: `Rank of “${term}” over time`,
  description: summary,
  from,
  to,
  points: measured,
  dayLabel: shortDay,
})}
<p class="small quiet" aria-hidden="true">${summary}</p>
<details>
<summary>Every measured day</summary>
<div class="days" tabindex="0" role="group" aria-label="Measured days of ${term}">
<table>
<thead><tr><th scope="col">Day</th><th scope="col">Rank</th><th scope="col">Read by</th></tr></thead>
<tbody>
${measured
  .toReversed()
  .map(
    ([day, rank, source]) =>
      html`<tr><th scope="row">${dayTime(day)}</th><td>${rank ?? "absent"}</td><td>${sourceName(source)}</td></tr>\n`,
  )}</tbody>
</table>
</div>
</details>
</figure></li>
`
}

function inWords(points: readonly SharedPoint[], from: string, to: string): string {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  const ranks = points.flatMap(([, rank]) => (rank === null ? [] : [rank]))
  const absent = points.length - ranks.length
  const measured = `Measured on ${points.length} of ${days} days`
  const gone = absent > 0 ? `, absent on ${absent}` : ""
  const readers = new Set(points.map(([, , source]) => source)).size
  const mixed = readers > 1 ? ` Read by ${readers} sources, whose ranks are not compared.` : ""
  if (ranks.length === 0) return `${measured}${gone}.${mixed}`
  const [best, worst] = [Math.min(...ranks), Math.max(...ranks)]
  return `${measured}${gone}; ${best === worst ? `rank ${best}` : `ranks ${best} to ${worst}`}.${mixed}`
}
