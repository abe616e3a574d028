import type { AnswerOf } from "../../answers.ts"
import { nameOfStorefront, storefrontName } from "../../lib/storefront-names.ts"
import { chartPart } from "../../ui/app/chart.ts"
import { address, isFault, MADE, type Page, type PageContext } from "../../ui/app/context.ts"
import { type Face, readFaces } from "../../ui/app/faces.ts"
import { card, empty, pager } from "../../ui/app/parts.ts"
import type { Chart as Lines } from "../../ui/charts/chart.ts"
import { type FormState, selectField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { sourceName } from "../../ui/source-names.ts"
import { dayTime, momentTime, shortDay } from "../../ui/times.ts"
import { counted, figure, whole } from "../../ui/words.ts"
import { dollars, estimateText } from "./estimate.ts"
import {
  appCell,
  appPageAddress,
  countryIn,
  dayIn,
  followForm,
  genreOptions,
  hasPage,
  kindName,
  linkTo,
  type Market,
  marketAddress,
  marketAnswer,
  marketPage,
  missingPart,
  nameOfGenre,
  readButton,
  storefrontOptions,
} from "./frame.ts"

type Chart = AnswerOf<"get_market_chart">
type Row = Chart["apps"][number]

const CREDITS = 10
const PAGE_ROWS = 100
const KINDS = ["free", "paid", "grossing", "ipad"] as const
const PERIODS = [1, 7, 30] as const

/**
 * Renders a top chart of any measured day: positions, changes, first days, newcomers, leavers, and the history of an
 * app.
 */
export async function marketChartsPage(context: PageContext): Promise<Page> {
  const market = await context.ask("get_market")
  const wanted = chartIn(context, market)
  const chart = await marketAnswer(context.ask("get_market_chart", wanted))
  const page = (body: Html) => marketPage(context, { title: "Charts", tab: "charts", body })
  const form = chartForm(context, wanted)
  if (isFault(chart)) {
    const follow = followForm(context, wanted)
    const title = `This chart of ${nameOfStorefront(wanted.country)} was not read yet`
    return page(
      html`<section class="card">${form}</section><section class="card">${missingPart(context, chart, {
        title,
        credits: CREDITS,
        follow,
      })}</section>`,
    )
  }
  const rows = shownRows(context, chart)
  const codes = [...rows.shown, ...(chart.entered ?? []), ...(chart.left ?? [])].map(({ id }) => `ios:${id}`)
  const faces = await readFaces(context, codes, chart.country)
  const history = historyOf(chart)
  const body = html`<section class="card">${form}</section>
${chart.history && historyCard(context, chart, history)}
<div class="columns-2 wide-left"><div>${chartCard(context, chart, { ...rows, faces })}</div>
<div>${moversCard(context, chart, faces)}${movesCard(context, chart, "entered", faces)}
${movesCard(context, chart, "left", faces)}
${await thresholdsCard(context, chart)}</div></div>`
  return { ...page(body), ...(history && { charts: [history] }) }
}

/** Returns the chart that the address names, otherwise one that was read. */
function chartIn(context: PageContext, { first }: Market) {
  const { query } = context
  const kind = query.get("kind") ?? ""
  const genre = query.get("genre") ?? ""
  const day = dayIn(query, "day")
  const app = query.get("app") ?? ""
  const isChosen = query.has("country") || query.has("genre") || query.has("kind")
  const base = isChosen ? null : first
  return {
    country: countryIn(query, base?.country),
    kind: (KINDS as readonly string[]).includes(kind) ? kind : (base?.kind ?? "free"),
    genre: /^[1-9]\d{0,5}$/.test(genre) ? genre : (base?.genre ?? "36"),
    since: sinceIn(context),
    ...(day !== null && { day }),
    ...(/^\d{5,12}$/.test(app) && { app }),
  }
}

type WantedChart = ReturnType<typeof chartIn>

function chartForm(context: PageContext, { country, kind, genre, day }: WantedChart): Html {
  const form: FormState = { id: "chart", values: null, errors: {} }
  return html`<form class="filters" method="get" action="${marketAddress(context, "charts")}" data-now="">
${selectField(form, { name: "country", label: "Storefront", value: country, options: storefrontOptions() })}
${selectField(form, {
  name: "kind",
  label: "List",
  value: kind,
  options: KINDS.map((code) => [code, kindName(code)]),
})}${selectField(form, { name: "genre", label: "Category", value: genre, options: genreOptions() })}
<div class="field"><label for="chart-day">Day</label>
<input type="date" id="chart-day" name="day" value="${day ?? ""}"></div>
<div class="send"><button class="main" type="submit">Show chart</button></div></form>`
}

interface ShownRows {
  shown: readonly Row[]
  page: number
  pages: number
}

function shownRows({ query }: PageContext, { apps }: Chart): ShownRows {
  const pages = Math.max(1, Math.ceil(apps.length / PAGE_ROWS))
  const number = Number(query.get("page"))
  const page = Number.isInteger(number) && number >= 1 ? Math.min(number, pages) : 1
  return { shown: apps.slice((page - 1) * PAGE_ROWS, page * PAGE_ROWS), page, pages }
}

function chartCard(
  context: PageContext,
  chart: Chart,
  { shown, page, pages, faces }: ShownRows & { faces: ReadonlyMap<string, Face> },
): Html {
  const { against, day, previous, next, measuredAt, source, depth, origin, firstDay } = chart
  const heads = PERIODS.map((days, at) => {
    const from = against[at]
    const title = from ? `since ${shortDay(from)}` : "nothing to compare with"
    return html`<th scope="col" class="num wide" title="${title}">${counted(days, "day")}</th>`
  })
  const rows = shown.map(
    (row) => html`<tr><td class="num"><span class="rank">${row.rank}</span></td>
<th scope="row">${appCell(context, row, { country: chart.country, face: faces.get(`ios:${row.id}`) })}</th>
${row.was.map((was, at) => html`<td class="num${at > 0 && " wide"}">${moveText(row.rank, was)}</td>`)}
<td class="wide small">${row.firstSeen ? dayTime(row.firstSeen) : unknownSince(firstDay)}</td>
<td class="wide small">${
      hasPage(context, row.id) && html`<a href="${historyAddress(context, row.id)}">Over time</a>`
    }</td>
</tr>`,
  )
  const earlier = previous && html`<a href="${dayAddress(context, previous)}" rel="prev">${shortDay(previous)}</a> · `
  const steps = html`${earlier}
${dayTime(day)}${next && html` · <a href="${dayAddress(context, next)}" rel="next">${shortDay(next)}</a>`}`
  const title = `${kindName(chart.kind)}, ${nameOfGenre(chart.genre)}, ${storefrontName(chart.country)}`
  return card(
    title,
    html`${
      shown.length === 0
        ? empty("The chart was read and is empty", "The store lists no app on it.")
        : html`<div class="scroll" tabindex="0" role="group" aria-label="${title}"><table class="rows chart">
<thead><tr><th scope="col" class="num">#</th><th scope="col">App</th>${heads}
<th scope="col" class="wide">First seen</th><th scope="col" class="wide">Positions</th></tr>
</thead><tbody>${rows}</tbody></table></div>`
    }${pager(context.path, context.query, { page, pages })}<p class="inside small quiet">
Read ${momentTime(measuredAt)}, ${sourceName(source)}${origin !== "own" && html` (<bdi>${origin}</bdi>)`}, ${counted(
      depth,
      "place",
    )}. Measured since ${dayTime(firstDay)}. “new” was certainly not among the places read then.
App Store only: Google Play publishes no charts.</p>
${readButton(context, CREDITS)}`,
    steps,
  )
}

const unknownSince = (firstDay: string) =>
  html`<span class="quiet" title="on the first reading of ${shortDay(firstDay)}, so possibly earlier">–</span>`

function dayAddress(context: PageContext, day: string): string {
  return address(context.path, { ...choicesIn(context), day })
}

function historyAddress(context: PageContext, app: string): string {
  return address(context.path, { ...choicesIn(context), app })
}

function choicesIn({ query }: PageContext): Record<string, string> {
  return Object.fromEntries([...query].filter(([name]) => ![MADE, "page"].includes(name)))
}

/** Shows the change of rank, a new entry, or a dash with the reason. */
function moveText(rank: number, was: Row["was"][number]): Html {
  if (was === null) return html`<span class="quiet" title="nothing to compare with">–</span>`
  if (was === "absent") return html`<span class="up">new</span>`
  if (was === rank) return html`<span class="quiet">=</span>`
  const isUp = was > rank
  const places = Math.abs(was - rank)
  return html`<span class="${isUp ? "up" : "down"}" title="was ${was}">${isUp ? "▲" : "▼"} ${places}</span>`
}

const MOVES = {
  entered: { title: "Newcomers", none: "No app entered." },
  left: { title: "Leavers", none: "No app left." },
} as const

function movesCard(
  context: PageContext,
  chart: Chart,
  which: "entered" | "left",
  faces: ReadonlyMap<string, Face>,
): Html {
  const { title, none } = MOVES[which]
  const moves = chart[which]
  const nav = sinceLinks(context, title)
  if (moves === null)
    return card(
      title,
      empty(
        "Nothing can be compared yet",
        "A comparison needs two measured days from one source. Follow the storefront to have it read daily.",
      ),
      nav,
    )
  if (moves.length === 0) return card(title, html`<p class="inside quiet">${none}</p>`, nav)
  const items = moves.slice(0, MAX_MOVES).map(
    (
      app,
    ) => html`<li class="line">${appCell(context, app, { country: chart.country, face: faces.get(`ios:${app.id}`) })}
<span>${"rank" in app ? html`<span class="up">▲ ${app.rank}</span>` : html`<span class="down">was ${app.was}</span>`}
</span></li>`,
  )
  return card(
    html`${title} <span class="quiet small">${moves.length}</span>`,
    html`<ul class="list">${items}</ul>`,
    nav,
  )
}

const MAX_MOVES = 15
const MAX_MOVERS = 5

function sinceLinks(context: PageContext, title: string): Html {
  const since = sinceIn(context)
  return html`<nav class="periods" aria-label="${title}, since">${PERIODS.map((days) => {
    const to = address(context.path, { ...choicesIn(context), since: days })
    return html`<a href="${to}"${days === since && html` aria-current="true"`}>${counted(days, "day")}</a>`
  })}</nav>`
}

const sinceIn = ({ query }: PageContext) => PERIODS.find((days) => String(days) === query.get("since")) ?? 1

/** Renders the largest climbs and falls over the chosen number of days. */
function moversCard(context: PageContext, chart: Chart, faces: ReadonlyMap<string, Face>): Html | false {
  const at = PERIODS.indexOf(sinceIn(context))
  const moves = chart.apps.flatMap((row) => {
    const was = row.was[at]
    return typeof was === "number" && was !== row.rank ? [{ row, was, places: was - row.rank }] : []
  })
  if (moves.length === 0) return false
  const largest = moves.toSorted((a, b) => b.places - a.places || a.row.rank - b.row.rank)
  const climbed = largest.filter(({ places }) => places > 0).slice(0, MAX_MOVERS)
  const fell = largest.filter(({ places }) => places < 0).slice(-MAX_MOVERS)
  const items = [...climbed, ...fell].map(
    ({ row, was }) =>
      html`<li class="line">${appCell(context, row, {
        country: chart.country,
        face: faces.get(`ios:${row.id}`),
      })}<span>${moveText(row.rank, was)} <span class="small quiet">${was} → ${row.rank}</span></span></li>`,
  )
  return card("Movers", html`<ul class="list">${items}</ul>`, sinceLinks(context, "Movers"))
}

/**
 * Renders the estimated figures of ranks on the chart. They are read only when the person requests them, because
 * reading them takes longer.
 */
async function thresholdsCard(context: PageContext, { country, kind, genre }: Chart): Promise<Html | false> {
  if (kind === "ipad" || context.isSent) return false
  const name = kind === "grossing" ? "Revenue" : "Downloads"
  const title = `${name} needed for a rank`
  if (!context.isSample && context.query.get("needs") !== "yes")
    return html`<p class="small"><a href="${address(context.path, {
      ...choicesIn(context),
      needs: "yes",
    })}">${title}</a></p>`
  const query = { country, kind, genre: genre.id, limit: 1, estimates: true }
  const answer = await marketAnswer(context.ask("hive_get_chart", query))
  if (isFault(answer) || !answer.thresholds || answer.thresholds.length === 0)
    return card(title, empty("Too few estimates yet", "At least five apps of the chart must have an estimate."))
  const written = answer.measure === "revenue" ? dollars : whole
  const rows = answer.thresholds.map(
    ({ rank, estimate, n }) => html`<tr><th scope="row">Rank ${rank}</th><td>${estimateText(estimate, written)}</td>
<td class="num">${figure(n)}</td></tr>`,
  )
  return card(
    title,
    html`<table><thead><tr><th scope="col">For</th><th scope="col">A month, estimated</th>
<th scope="col" class="num">Apps behind it</th></tr></thead><tbody>${rows}</tbody></table>`,
    dayTime(answer.day),
  )
}

/** Returns the ranks of the chosen app on this chart over time. Null if there are too few for a line. */
function historyOf({ history }: Chart): Lines | null {
  const points = history?.points ?? []
  if (!history || points.length < 2 || points.every(([, rank]) => rank === null)) return null
  const { name, sources } = history
  return {
    id: "history",
    title: `Positions of ${name}`,
    from: points[0]![0],
    to: points.at(-1)![0],
    lines: [{ name, points, sources }],
  }
}

function historyCard(context: PageContext, { history, country }: Chart, lines: Lines | null): Html | false {
  if (!history) return false
  const { id, name, points } = history
  const close = address(context.path, { ...choicesIn(context), app: null })
  const name_ = linkTo(context, id, appPageAddress(context, id, country), html`<bdi>${name}</bdi>`)
  const body = lines
    ? html`<div class="inside">${chartPart(context, lines)}
<p class="small quiet">Measured days of the last 90. A gap is a day that was not measured.</p></div>`
    : points.length === 1 && points[0]![1] !== null
      ? empty("Only one day was measured so far", "The line starts with the second measured day.")
      : empty("It was not on this chart", "It was on this chart on no measured day of the last 90 days.")
  return card(html`Positions of ${name_}`, body, html`<a href="${close}">Close</a>`)
}

/** Returns the address of a chart with the history of an app. */
export function chartAddress(
  context: PageContext,
  chart: { country: string; kind: string; genre: string },
  app?: string,
): string {
  return marketAddress(context, "charts", { ...chart, app: app ?? null })
}
