import type { AnswerOf } from "../../answers.ts"
import { type Desk, type Page, readHead, sideAt } from "../../ui/app/desk.ts"
import { sideForm } from "../../ui/app/frame.ts"
import { card, empty, samplePage } from "../../ui/app/parts.ts"
import { readingsLink } from "../../ui/app/readings.ts"
import { chartFigure } from "../../ui/charts/figure.ts"
import { type Html, html } from "../../ui/html.ts"
import { sourceName } from "../../ui/source-names.ts"
import { momentTime } from "../../ui/times.ts"
import { sideName, spoken } from "../../ui/words.ts"

type Chart = Positions["charts"][number]
type Positions = AnswerOf<"get_chart_positions">

/** Shows the app's ranks in the store's top charts, now and over time. */
export async function chartsPage(desk: Desk, appId: string): Promise<Page> {
  const app = await readHead(desk, appId)
  const side = sideAt(app, desk.query)
  const { state, charts, from, to } = await desk.ask("get_chart_positions", { appId, country: side.country })
  const page = (body: Html): Page => ({ title: `Charts · ${app.name}`, app, at: "charts", body })
  const measured = charts.filter((chart) => chart.measured).toSorted((a, b) => (a.rank ?? 9_999) - (b.rank ?? 9_999))
  const form = sideForm(desk, app, {}, side)
  if (measured.length === 0) return page(html`${form}<section class="card">${notMeasured(desk, side, state)}</section>`)
  const unread = charts.filter((chart) => !chart.measured)
  return page(
    html`${form}
<div class="columns-2">
${measured.map((chart, at) => chartPart(chart, `c${at}`, { from, to, evidence: readingsLink(desk, app, side) }))}</div>
${unread.length > 0 && html`<p class="quiet small">Not read yet: ${unread.map(nameOf).join("; ")}.</p>`}`,
  )
}

function nameOf({ device, kind, scope, genre }: Chart): string {
  const category = genre ? (genre.name ?? `category ${genre.id}`) : "its category"
  const of = scope === "overall" ? "all apps" : category
  return `${spoken(kind)}, ${of}${device === "ipad" ? ", iPad" : ""}`
}

function chartPart(chart: Chart, id: string, days: { from: string; to: string; evidence: Html }): Html {
  const { rank, depth, measuredAt, source, series, sources } = chart
  const name = nameOf(chart)
  const stands =
    rank === null
      ? html`<span class="gone">Not in the first ${depth}</span>`
      : html`<strong>#${rank}</strong> of ${depth}`
  const isRanked = series.some(([, place]) => place !== null)
  const from = series[0]?.[0] ?? days.from
  const lines = [{ name, points: series, sources }]
  return card(
    name,
    html`<div class="inside">
<p>${stands}</p>${
      isRanked && series.length > 1 && chartFigure({ id, title: `Places in ${name}`, from, to: days.to, lines })
    }<p class="small quiet">
${measuredAt && html`Read ${momentTime(measuredAt)}`}${
  source && html`, ${sourceName(source)}`
}${!isRanked && series.length > 0 && `; absent on all ${series.length} measured days`}.</p></div>`,
    days.evidence,
  )
}

function notMeasured(desk: Desk, side: { country: string; platform: "ios" | "android" }, state: string): Html {
  if (state === "unsupported_platform" || side.platform === "android")
    return empty(
      "Charts are only read in the App Store",
      "Google Play publishes no charts that can be read. Choose the App Store if the app is in it.",
    )
  return empty(
    `No charts were read in ${sideName(side)} yet`,
    "Top charts are read once a day, as soon as the app's category is known from its store page.",
    samplePage(desk, "charts"),
  )
}
