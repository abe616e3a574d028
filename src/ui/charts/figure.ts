import { escapeHtml, Html, html } from "../html.ts"
import { sourceName } from "../source-names.ts"
import { dayTime } from "../times.ts"
import { type Chart, type ChartCell, type ChartDay, daysOf, lookOf, MARKS } from "./chart.ts"
import { barsPlot, linesPlot } from "./plot.ts"
import { RANKS } from "./scale.ts"

/** Returns the legend, the picture and the table of a chart. The crosshair's script reads the table. */
export function chartFigure(chart: Chart): Html {
  const { id, kind = "lines", title, csv } = chart
  return html`<figure class="chart" data-chart="${kind}" aria-label="${title}">
<div class="over">${kind === "lines" ? legend(chart) : ""}${
    csv && html`<a class="small" href="${csv}" download="">CSV</a>`
  }</div>
${kind === "bars" ? barsPlot(chart) : linesPlot(chart)}<details class="data"${chart.isOpen && html` open=""`}>
<summary>Table of this chart</summary><div class="scroll" tabindex="0" role="group" aria-label="Table: ${title}">
<table id="${id}-data"><thead><tr><th scope="col">Day</th>${headings(chart)}</tr></thead>
<tbody>${rows(chart)}</tbody></table></div></details></figure>
`
}

function legend({ lines, marks = [] }: Chart): Html {
  const kinds = new Set(marks.map(({ kind }) => kind))
  return html`<ul class="legend">
${lines.map((line, at) => {
  const { name, currentValue, href } = line
  const label = html`<bdi>${name}</bdi>`
  return html`<li data-line="${at}">${dot(lookOf(line, at))}${href ? html`<a href="${href}">${label}</a>` : label}${
    currentValue && html` <span class="quiet">${currentValue}</span>`
  }</li>`
})}${Object.entries(MARKS).map(
  ([kind, { sign, name }]) =>
    kinds.has(kind as keyof typeof MARKS) &&
    html`<li class="quiet"><span aria-hidden="true">${sign}</span> ${name}</li>`,
)}</ul>
`
}

function dot(look: string): Html {
  return html`<svg viewBox="0 0 10 10" aria-hidden="true"><circle class="${look}" cx="5" cy="5" r="4"></circle></svg>`
}

function headings({ lines, marks = [] }: Chart): Html {
  return html`${lines.map((line, at) => {
    const last = line.sources?.at(-1)
    return html`<th scope="col">${dot(lookOf(line, at))}<bdi>${line.name}</bdi>${
      last && html` <small>${sourceName(last.source)}</small>`
    }</th>`
  })}${marks.length > 0 && html`<th scope="col" data-events="">Events</th>`}`
}

/** The newest day first. Rows are joined as text, because a year of eight lines has thousands of cells. */
function rows(chart: Chart): Html {
  const { lines, unit = RANKS, marks = [] } = chart
  const usual = lines.map(({ sources }) => sources?.at(-1)?.source ?? null)
  const cellOf = ({ value, source, note }: ChartCell, at: number, day: string) => {
    if (value === undefined) return '<td class="quiet">–</td>'
    const text = escapeHtml(value === null ? unit.none : unit.text(value))
    const state = value === null ? `<span class="gone">${text}</span>` : text
    const href = lines[at]!.hrefOn?.(day)
    const linked = href === undefined ? state : `<a href="${escapeHtml(href)}">${state}</a>`
    const by = note ?? (source !== null && source !== usual[at] ? sourceName(source) : null)
    return `<td>${linked}${by === null ? "" : ` <small>${escapeHtml(by)}</small>`}</td>`
  }
  const row = ({ day, cells, events }: ChartDay) =>
    `<tr><th scope="row">${dayTime(day).text}</th>${cells.map((cell, at) => cellOf(cell, at, day)).join("")}${
      marks.length > 0 ? `<td>${escapeHtml(events)}</td>` : ""
    }</tr>\n`
  return new Html(daysOf(chart).toReversed().map(row).join(""))
}
