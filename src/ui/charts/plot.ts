import { dayNumber } from "../../lib/days.ts"
import { type Html, html } from "../html.ts"
import { shortDay } from "../times.ts"
import { type Chart, type ChartLine, type ChartMark, lookOf, MARKS } from "./chart.ts"
import { dayTicks, piecesOf, RANKS, type RankPoint, type Unit } from "./scale.ts"

/**
 * Draws lines over the same days. The plot adapts to the available width while texts and strokes keep their size: all
 * lengths are percentages, and marks are line ends without length. An unmeasured day is a gap. A measured day without
 * a value is a square in the band below.
 */
export function linesPlot({ id, title, from, to, lines, marks = [], unit = RANKS }: Chart): Html {
  const scale = unit.scaleOf(lines.flatMap(({ points }) => points.flatMap(([, value]) => value ?? [])))
  const days = Math.max(1, dayNumber(to) - dayNumber(from))
  const bottom = unit.hasBand ? BOTTOM : SIDE - TOP
  const place: Place = {
    x: (day) => Math.round(EDGE + ((SIDE - 2 * EDGE) * (dayNumber(day) - dayNumber(from))) / days),
    y: (value) => Math.round(TOP + (bottom - TOP) * scale.depthOf(value)),
  }
  const marksByDay = Map.groupBy(marks, ({ day }) => day)
  return html`<div class="plot lines" role="img" aria-labelledby="${id}-t" aria-describedby="${id}-d">
<p id="${id}-t" hidden="">${title}</p><p id="${id}-d" hidden="">
${lines.map((line) => `${line.name}: ${inWords(line.points, unit)} `)}</p>
<svg viewBox="0 0 ${SIDE} ${SIDE}" preserveAspectRatio="none">
${unit.hasBand && html`<path class="band" d="M0 ${BAND}H${SIDE}V${SIDE}H0z"></path>`}
<path class="grid" d="${scale.ticks.map((value) => `M0 ${place.y(value)}H${SIDE}`)}"></path>
<path class="event" d="${[...marksByDay.keys()].map((day) => `M${place.x(day)} 0V${SIDE}`)}"></path>
${lines.map((line, at) => linePart(line, at, { place, of: lines.length, hasBand: unit.hasBand }))}</svg>
<svg>
${scale.ticks.map((value) => label({ look: "end", x: "-8", y: share(place.y(value)), dy: 4 }, unit.text(value)))}
${unit.hasBand && label({ look: "end", x: "-8", y: share((BAND + SIDE) / 2), dy: 4 }, unit.none)}
${[...marksByDay].map(([day, list]) => label({ look: "mid", x: share(place.x(day)), y: "0", dy: -2 }, signs(list)))}
${dayTicks(from, to, 5).map((day, at, all) => {
  // a phone has room for three
  const look = at === 0 ? "" : at === all.length - 1 ? "end" : at % 2 === 0 ? "mid" : "mid spare"
  return label({ look, x: share(place.x(day)), y: "100%", dy: 18 }, shortDay(day))
})}</svg>
</div>
`
}

function label({ look, x, y, dy }: { look: string; x: string; y: string; dy: number }, text: string): Html {
  return html`<text class="${look}" x="${x}" y="${y}" dy="${dy}">${text}</text>\n`
}

const SIDE = 1_000
/** Margin on each side, in per mille of the width. The crosshair's script uses it too. */
export const EDGE = 8
const TOP = 30
const BOTTOM = 850
const BAND = 900

interface Place {
  x(day: string): number
  y(value: number): number
}

/** Returns the signs of the marks' kinds, each once. */
const signs = (marks: readonly ChartMark[]) => [...new Set(marks.map(({ kind }) => MARKS[kind].sign))].join("")

function linePart(
  line: ChartLine,
  at: number,
  { place, of, hasBand }: { place: Place; of: number; hasBand: boolean },
): Html {
  const { name, points, sources = [], maxStep, ranges = [] } = line
  const pieces = piecesOf(points, sources, maxStep)
  const path = pieces.map((piece) =>
    piece.map(({ day, rank }, i) => `${i ? "L" : "M"}${place.x(day)} ${place.y(rank)}`).join(""),
  )
  const band = BAND + ((SIDE - BAND) * (at + 1)) / (of + 1)
  const isGone = ([, value]: RankPoint) => hasBand && value === null
  const absent = points.filter(isGone).map(([day]) => `M${place.x(day)} ${Math.round(band)}h0`)
  // both get a dot: a piece of a single day, because it has no length, and the last day, because readers look for it
  // first
  const alone = pieces.filter((piece) => piece.length === 1).flat()
  const last = points.at(-1)
  const marked = last && last[1] !== null ? [...alone, { day: last[0], rank: last[1] }] : alone
  return html`<g class="${lookOf(line, at)}" data-line="${at}"><title>${name}</title>
${
  ranges.length > 0 &&
  html`<path class="range" d="${ranges
    .map(([day, low, high]) => `M${place.x(day)} ${place.y(low)}V${place.y(high)}`)
    .join("")}"></path>`
}<path class="line" d="${path.join("")}"></path>
<path class="dots" d="${marked.map(({ day, rank }) => `M${place.x(day)} ${place.y(rank)}h0`).join("")}"></path>
<path class="gone" d="${absent.join("")}"></path></g>
`
}

const share = (length: number) => `${Math.round(length) / 10}%`

/** Returns a summary: "measured on 28 days, absent on 3; ranks 2 to 9, the last 4." */
function inWords(points: readonly RankPoint[], { noun, text, none }: Unit): string {
  if (points.length === 0) return "not measured in these days."
  const values = points.flatMap(([, value]) => value ?? [])
  const absent = points.length - values.length
  const days = points.length === 1 ? "1 day" : `${points.length} days`
  const measured = `measured on ${days}${absent > 0 ? `, ${none} on ${absent}` : ""}`
  if (values.length === 0) return `${measured}.`
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const span = least === most ? `${noun} ${text(least)}` : `${noun}s ${text(least)} to ${text(most)}`
  const last = points.at(-1)?.[1]
  return `${measured}; ${span}, the last ${last == null ? none : text(last)}.`
}

/** Draws the points of the first line as columns. An unknown value is a grey column, which differs from zero. */
export function barsPlot({ title, from, to, lines, unit = RANKS }: Chart): Html {
  const bars = lines[0]?.points ?? []
  const highest = Math.max(0, ...bars.map(([, value]) => value ?? 0))
  const width = 1_000 / Math.max(1, bars.length)
  return html`<div class="plot" role="img" aria-label="${title}">
<svg class="columns" viewBox="0 0 1000 100" preserveAspectRatio="none">
${bars.map(([, value], at) => {
  const height = value === null ? 100 : value <= 0 ? 1 : Math.max(3, Math.round((100 * value) / Math.max(1, highest)))
  return html`<rect${value === null && html` class="unknown"`} x="${Math.round(at * width * 10) / 10}"
 y="${100 - height}" width="${Math.round(width * 8) / 10}" height="${height}"></rect>`
})}</svg></div><p class="ends">
<span>${shortDay(from)}</span><span>most in a day: ${unit.text(highest)}</span><span>${shortDay(to)}</span></p>
`
}
