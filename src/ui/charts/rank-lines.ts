import { dayNumber } from "../../lib/days.ts"
import { type Html, html } from "../html.ts"
import { shortDay } from "../times.ts"
import { dayTicks, depthOf, piecesOf, type RankPoint, rankSpan, rankTicks } from "./scale.ts"

interface RankLine {
  name: string
  /** Measured days, oldest first. */
  points: readonly RankPoint[]
  /** Runs of points from one source. A change of source breaks the line. */
  sources: readonly { source: string; from: string; to: string }[]
}

interface RankLines {
  /** Prefix of the element ids of the chart. Unique on the page. */
  id: string
  title: string
  /** UTC days, inclusive. */
  from: string
  to: string
  lines: readonly RankLine[]
  /** Whether each point shows its day and rank under the pointer. */
  told?: boolean
}

/** Number of lines with distinct colours. */
export const MAX_LINES = 8

/**
 * A chart of ranks of several keywords over the same days, with the first rank at the top. The plot adapts to the
 * available width while texts and strokes keep their size: all lengths are percentages, and marks are line ends without
 * length. An unmeasured day is a gap. A day on which the app was absent is a square in the band below.
 */
export function rankLines({ id, title, from, to, lines, told = false }: RankLines): Html {
  const span = rankSpan(lines.flatMap(({ points }) => points.flatMap(([, rank]) => rank ?? [])))
  const days = Math.max(1, dayNumber(to) - dayNumber(from))
  const place: Place = {
    x: (day) => Math.round(EDGE + ((SIDE - 2 * EDGE) * (dayNumber(day) - dayNumber(from))) / days),
    y: (rank) => Math.round(TOP + (BOTTOM - TOP) * depthOf(rank, span)),
  }
  const ticks = rankTicks(span)
  return html`<div class="lines" role="img" aria-labelledby="${id}-t" aria-describedby="${id}-d"${
    told && html` data-to="${id}-said"`
  }>
<p id="${id}-t" hidden="">${title}</p><p id="${id}-d" hidden="">
${lines.map((line) => `${line.name}: ${inWords(line.points)} `)}</p>
<svg viewBox="0 0 ${SIDE} ${SIDE}" preserveAspectRatio="none">
<path class="band" d="M0 ${BAND}H${SIDE}V${SIDE}H0z"></path>
<path class="grid" d="${ticks.map((rank) => `M0 ${place.y(rank)}H${SIDE}`)}"></path>
${lines.map((line, at) => linePart(line, at, { place, told, of: lines.length }))}</svg>
<svg>
${ticks.map((rank) => html`<text class="end" x="-8" y="${share(place.y(rank))}" dy="4">${rank}</text>\n`)}
<text class="end" x="-8" y="${share((BAND + SIDE) / 2)}" dy="4">absent</text>
${dayTicks(from, to, 5).map(
  (day, at, all) =>
    html`<text class="${
      at === 0 ? "" : at === all.length - 1 ? "end" : "mid"
    }" x="${share(place.x(day))}" y="100%" dy="18">${shortDay(day)}</text>\n`,
)}</svg>
</div>
`
}

const SIDE = 1_000
const EDGE = 8
const TOP = 30
const BOTTOM = 850
const BAND = 900

interface Place {
  x(day: string): number
  y(rank: number): number
}

function linePart(
  { name, points, sources }: RankLine,
  at: number,
  { place, told, of }: { place: Place; told: boolean; of: number },
): Html {
  const pieces = piecesOf(points, sources)
  const path = pieces.map((piece) =>
    piece.map(({ day, rank }, i) => `${i ? "L" : "M"}${place.x(day)} ${place.y(rank)}`).join(""),
  )
  const band = BAND + ((SIDE - BAND) * (at + 1)) / (of + 1)
  const absent = points.flatMap(([day, rank]) => (rank === null ? [`M${place.x(day)} ${Math.round(band)}h0`] : []))
  // a piece of one day has no length, and readers look for the last day first
  const alone = pieces.filter((piece) => piece.length === 1).flat()
  const last = points.at(-1)
  const marked = last && last[1] !== null ? [...alone, { day: last[0], rank: last[1] }] : alone
  return html`<g class="s${(at % MAX_LINES) + 1}"><title>${name}</title>
<path class="line" d="${path.join("")}"></path>
<path class="dots" d="${marked.map(({ day, rank }) => `M${place.x(day)} ${place.y(rank)}h0`).join("")}"></path>
<path class="gone" d="${absent.join("")}"></path>
${
  told &&
  points.map(
    ([day, rank]) =>
      html`<path class="told" d="M${place.x(day)} ${rank === null ? Math.round(band) : place.y(rank)}h0">
<title>${name}, ${shortDay(day)}: ${rank ?? "absent"}</title></path>`,
  )
}</g>
`
}

const share = (length: number) => `${Math.round(length) / 10}%`

/** Returns a summary: "measured on 28 days, absent on 3; ranks 2 to 9, the last 4." */
function inWords(points: readonly RankPoint[]): string {
  if (points.length === 0) return "not measured in these days."
  const ranks = points.flatMap(([, rank]) => rank ?? [])
  const absent = points.length - ranks.length
  const days = points.length === 1 ? "1 day" : `${points.length} days`
  const measured = `measured on ${days}${absent > 0 ? `, absent on ${absent}` : ""}`
  if (ranks.length === 0) return `${measured}.`
  const [best, worst] = [Math.min(...ranks), Math.max(...ranks)]
  const span = best === worst ? `rank ${best}` : `ranks ${best} to ${worst}`
  return `${measured}; ${span}, the last ${points.at(-1)?.[1] ?? "absent"}.`
}
