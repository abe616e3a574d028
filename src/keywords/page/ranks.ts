import {
  type AppHead,
  address,
  appAddress,
  attempted,
  type Desk,
  isFault,
  type Page,
  readHead,
  type Side,
  sideAt,
  sideCode,
} from "../../ui/app/desk.ts"
import { card, empty, periodIn, periods, refusedPart } from "../../ui/app/parts.ts"
import { MAX_LINES, rankLines } from "../../ui/charts/rank-lines.ts"
import type { RankPoint } from "../../ui/charts/scale.ts"
import { type Html, html } from "../../ui/html.ts"
import { sourceName } from "../../ui/source-names.ts"
import { dayTime } from "../../ui/times.ts"
import { counted, sideName } from "../../ui/words.ts"
import { legend } from "./legend.ts"
import { type History, PERIODS, readHistory } from "./rows.ts"

/** Charts the selected keywords together and lists the measured days of each in a table. */
export async function ranksPage(desk: Desk, appId: string): Promise<Page> {
  const app = await readHead(desk, appId)
  const side = sideAt(app, desk.query)
  const days = periodIn(desk.query, PERIODS)
  const terms = [...new Set(desk.query.getAll("terms"))].slice(0, MAX_LINES)
  const page = (body: Html): Page => ({
    title: terms.length === 1 ? `${terms[0]} · ${app.name}` : app.name,
    app,
    at: "",
    body,
  })
  const back = html`<p class="crumbs">
<a href="${appAddress(desk, app)}?at=${sideCode(side)}">Keywords in ${sideName(side)}</a></p>`
  if (terms.length === 0)
    return page(
      html`${back}
<section class="card">
${empty(
  "Choose keywords to draw",
  "Tick some in the table of keywords, up to eight, and draw them together.",
)}</section>`,
    )
  const history = await attempted(readHistory(desk, app, side, { days, terms }))
  if (isFault(history)) return page(html`${back}${card("Ranks over time", refusedPart(history))}`)
  const lines = (history?.keywords ?? []).filter(({ term }) => terms.includes(term))
  const measured = lines.filter(({ series }) => series.length > 0)
  if (history === null || measured.length === 0)
    return page(html`${back}<section class="card">${nothingMeasured(desk, app, terms)}</section>`)
  const from = [...measured.map(({ series }) => series[0]![0]), history.to].sort()[0] as string
  return page(
    html`${back}${card(
      measured.length === 1 ? `Rank of “${measured[0]!.term}”` : "Ranks over time",
      html`<div class="inside">${legend(
        measured.map(({ term, series }) => ({
          name: term,
          said: lastOf(series),
          href: address(appAddress(desk, app, "evidence"), { term, at: sideCode(side) }),
        })),
      )}${rankLines({
        id: "ranks",
        title: `Ranks of ${measured.map(({ term }) => term).join(", ")}`,
        from,
        to: history.to,
        lines: measured.map(({ term: name, series: points, sources }) => ({ name, points, sources })),
        told: true,
      })}
<p class="reading" id="ranks-said">
A gap is a day that was not measured. A square in the band below is a day on which the app was not among the results
read. A line is not drawn across a change of source.</p></div>`,
      periods(appAddress(desk, app, "ranks"), desk.query, days, PERIODS),
    )}<div class="columns-3">${measured.map((line) => daysPart(desk, app, side, line))}</div>`,
  )
}

function lastOf(series: readonly RankPoint[]): string {
  const rank = series.at(-1)?.[1]
  return rank === null || rank === undefined ? "absent" : `#${rank}`
}

/** Days of a keyword's table that are shown; earlier ones are collapsed. */
const SHOWN_DAYS = 10

function daysPart(desk: Desk, app: AppHead, side: Side, { term, series, sources }: History["keywords"][number]): Html {
  const sourceOn = (day: string) => sources.find((run) => run.from <= day && day <= run.to)?.source ?? ""
  const rows = series.toReversed().map(([day, rank]) => {
    const href = address(appAddress(desk, app, "evidence"), { term, at: sideCode(side), day })
    return html`<tr><th scope="row">${dayTime(day)}</th>
<td class="num"><a class="rank" href="${href}">${rank ?? html`<span class="gone">absent</span>`}</a></td>
<td class="small">${sourceName(sourceOn(day))}</td></tr>
`
  })
  const [latest, more] = [rows.slice(0, SHOWN_DAYS), rows.slice(SHOWN_DAYS)]
  return card(
    `“${term}”`,
    html`${dayTable(`Latest days of ${term}`, latest)}${
      more.length > 0 &&
      html`<details>
<summary>${counted(more.length, "day")} before</summary>${dayTable(`Earlier days of ${term}`, more)}</details>`
    }`,
    `${counted(series.length, "measured day")}`,
  )
}

function dayTable(name: string, rows: readonly Html[]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${name}"><table><thead>
<tr><th scope="col">Day</th><th scope="col" class="num">Rank</th><th scope="col">Read by</th></tr></thead>
<tbody>${rows}</tbody></table></div>`
}

function nothingMeasured(desk: Desk, app: AppHead, terms: readonly string[]): Html {
  return empty(
    "Nothing was measured in these days",
    html`No result of ${terms
      .map((term) => `“${term}”`)
      .join(", ")} was read in the days chosen. A longer period may have some; a keyword that was
added today has its first rank some seconds later. <a href="${appAddress(desk, app)}">All keywords</a>`,
  )
}
