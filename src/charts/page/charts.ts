import type { AnswerOf } from "../../answers.ts"
import { later } from "../../lib/days.ts"
import { type View, viewAt, viewBar } from "../../ui/app/bar.ts"
import { chartPart } from "../../ui/app/chart.ts"
import { type Page, type PageContext, readHead, sideAt } from "../../ui/app/context.ts"
import { readMarks } from "../../ui/app/marks.ts"
import { card, empty, samplePage } from "../../ui/app/parts.ts"
import { readingsLink } from "../../ui/app/readings.ts"
import type { ChartMark, Chart as Lines } from "../../ui/charts/chart.ts"
import { type Html, html } from "../../ui/html.ts"
import { sourceName } from "../../ui/source-names.ts"
import { momentTime } from "../../ui/times.ts"
import { sideName, spoken } from "../../ui/words.ts"

type Chart = Positions["charts"][number]
type Positions = AnswerOf<"get_chart_positions">

/** Shows the app's ranks in the store's top charts, now and over time. */
export async function chartsPage(context: PageContext, appId: string): Promise<Page> {
  const app = await readHead(context, appId)
  const { country } = sideAt(app, context.query)
  const { state, charts } = await context.ask("get_chart_positions", { appId, country })
  const measured = charts.filter((chart) => chart.measured).toSorted((a, b) => (a.rank ?? 9_999) - (b.rank ?? 9_999))
  const lastDay = measured.reduce((last, { series }) => later(last, series.at(-1)?.[0] ?? ""), "")
  const view = viewAt(context, app, { usual: 90, lastDay: lastDay || null })
  const { side } = view
  const page = (body: Html): Page => ({ title: `Charts · ${app.name}`, app, at: "charts", body })
  if (measured.length === 0)
    return page(html`${viewBar(context, app, view, { hasNoDays: true })}<section class="card">
${notMeasured(context, side, state)}</section>`)
  const marks = await readMarks(context, app, view)
  const unread = charts.filter((chart) => !chart.measured)
  const shownCharts = measured.map((chart, at) => ({ chart, lines: linesOf(chart, `c${at}`, { view, marks }) }))
  const evidence = readingsLink(context, app, side)
  return {
    ...page(
      html`${viewBar(context, app, view)}
<div class="columns-2">
${shownCharts.map(({ chart, lines }) => chartCard(chart, lines && chartPart(context, lines), evidence))}</div>
${unread.length > 0 && html`<p class="quiet small">Not read yet: ${unread.map(nameOf).join("; ")}.</p>`}`,
    ),
    charts: shownCharts.flatMap(({ lines }) => lines ?? []),
  }
}

function nameOf({ device, kind, scope, genre }: Chart): string {
  const category = genre ? (genre.name ?? `category ${genre.id}`) : "its category"
  const of = scope === "overall" ? "all apps" : category
  return `${spoken(kind)}, ${of}${device === "ipad" ? ", iPad" : ""}`
}

/** Returns the positions in the days of the view as a chart. Null if there are too few for a line. */
function linesOf(
  chart: Chart,
  id: string,
  { view: { days, period }, marks }: { view: View; marks: readonly ChartMark[] },
): Lines | null {
  const points = chart.series.filter(([day]) => days.from <= day && day <= days.to)
  if (points.length < 2 || points.every(([, place]) => place === null)) return null
  const name = nameOf(chart)
  const from = period === null ? days.from : points[0]![0]
  const lines = [{ name, points, sources: chart.sources }]
  return { id, title: `Places in ${name}`, from, to: days.to, lines, marks: marks.filter(({ day }) => day >= from) }
}

function chartCard(chart: Chart, figure: Html | null, evidence: Html): Html {
  const { rank, depth, measuredAt, source, series } = chart
  const isRanked = series.some(([, place]) => place !== null)
  const state =
    rank === null
      ? html`<span class="gone">Not in the first ${depth}</span>`
      : html`<strong>#${rank}</strong> of ${depth}`
  return card(
    nameOf(chart),
    html`<div class="inside">
<p>${state}</p>${figure}<p class="small quiet">
${measuredAt && html`Read ${momentTime(measuredAt)}`}${
  source && html`, ${sourceName(source)}`
}${!isRanked && series.length > 0 && `; absent on all ${series.length} measured days`}.</p></div>`,
    evidence,
  )
}

function notMeasured(
  context: PageContext,
  side: { country: string; platform: "ios" | "android" },
  state: string,
): Html {
  if (state === "unsupported_platform" || side.platform === "android")
    return empty(
      "Charts are only read in the App Store",
      "Google Play publishes no charts that can be read. Choose the App Store if the app is in it.",
    )
  return empty(
    `No charts were read in ${sideName(side)} yet`,
    "Top charts are read once a day. This starts when the app's category is known from its store page.",
    samplePage(context, "charts"),
  )
}
