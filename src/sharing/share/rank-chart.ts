import { dayNumber } from "../../lib/days.ts"
import { dayTicks } from "../../ui/charts/scale.ts"
import { type Html, html } from "../../ui/html.ts"
import type { SharedPoint } from "./report.ts"

interface RankChart {
  /** Prefix of the element ids of this chart; unique on the page. */
  id: string
  title: string
  description: string
  /** UTC days, inclusive. The same for all charts of a page. */
  from: string
  to: string
  /** Measured days, oldest first. */
  points: readonly SharedPoint[]
  /** Formats a day as "20 Nov", for the axis and the tooltips. */
  dayLabel: (day: string) => string
}

/**
 * Draws ranks over time. Consecutive days of one source are connected. An unmeasured day leaves a gap. A day on which
 * the app was absent is a square in the band below.
 */
export function rankChart({ id, title, description, from, to, points, dayLabel }: RankChart): Html {
  const lowest = lowestShown(points)
  const place = placer(from, to, lowest)
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="${id}-t ${id}-d">
<title id="${id}-t">${title}</title>
<desc id="${id}-d">${description}</desc>
<rect class="band" x="${LEFT}" y="${BAND_TOP}" width="${WIDTH - LEFT - RIGHT}" height="${BAND_HEIGHT}"></rect>
<path class="grid" d="${ticks(lowest).map((rank) => `M${LEFT} ${place.y(rank)}H${WIDTH - RIGHT}`)}"></path>
<g class="axis">
${ticks(lowest).map((rank) => html`<text class="end" x="${LEFT - 5}" y="${place.y(rank) + 4}">${rank}</text>\n`)}
<text class="end" x="${LEFT - 5}" y="${BAND_TOP + BAND_HEIGHT / 2 + 4}">absent</text>
${dayTicks(from, to, 4).map((day, at, all) => {
  const [align, x] = at === 0 ? ["", LEFT] : at === all.length - 1 ? ["end", WIDTH - RIGHT] : ["mid", place.x(day)]
  return html`<text class="${align}" x="${x}" y="${HEIGHT - 3}">${dayLabel(day)}</text>\n`
})}</g>
<path class="line" d="${linesOf(points, place)}"></path>
<path class="dots" d="${dotsOf(points, place)}"></path>
<path class="gone" d="${squaresOf(points, place)}"></path>
${points.map(([day, rank]) => {
  const y = rank === null ? BAND_TOP + BAND_HEIGHT / 2 : place.y(rank)
  return html`<path class="point" d="M${place.x(day)} ${y}h0"><title>${dayLabel(day)}:
${rank ?? "absent"}</title></path>`
})}
</svg>`
}

const WIDTH = 340
const HEIGHT = 156
const LEFT = 46
const RIGHT = 8
const TOP = 10
const BOTTOM = 104
const BAND_TOP = 116
const BAND_HEIGHT = 18
const SQUARE = 4

/** Returns the lowest rank of the axis: a round number, so that small moves near the top do not change the scale. */
function lowestShown(points: readonly SharedPoint[]): number {
  const worst = Math.max(1, ...points.map(([, rank]) => rank ?? 1))
  return ROUND.find((rank) => rank >= worst) ?? worst
}

const ROUND = [10, 20, 50, 100, 150, 200, 250]

/** The ranks with a label on the axis: 1, the middle and the lowest. */
const ticks = (lowest: number) => [1, Math.round(lowest / 2), lowest]

interface Placer {
  x(day: string): number
  y(rank: number): number
}

function placer(from: string, to: string, lowest: number): Placer {
  const days = Math.max(1, dayNumber(to) - dayNumber(from))
  return {
    x: (day) =>
      rounded(LEFT + SQUARE + ((WIDTH - LEFT - RIGHT - 2 * SQUARE) * (dayNumber(day) - dayNumber(from))) / days),
    y: (rank) => rounded(TOP + ((BOTTOM - TOP) * (rank - 1)) / (lowest - 1)),
  }
}

function linesOf(points: readonly SharedPoint[], { x, y }: Placer): string {
  return points
    .map(([day, rank, source], i) => {
      const [before, rankBefore, sourceBefore] = points[i - 1] ?? []
      const joined = before !== undefined && rankBefore != null && dayNumber(day) - dayNumber(before) === 1
      return rank !== null && joined && source === sourceBefore
        ? `M${x(before)} ${y(rankBefore)}L${x(day)} ${y(rank)}`
        : ""
    })
    .join("")
}

/** Draws lines of zero length. Their round ends appear as dots. */
function dotsOf(points: readonly SharedPoint[], { x, y }: Placer): string {
  return points.map(([day, rank]) => (rank === null ? "" : `M${x(day)} ${y(rank)}h0`)).join("")
}

function squaresOf(points: readonly SharedPoint[], { x }: Placer): string {
  const y = BAND_TOP + (BAND_HEIGHT - SQUARE) / 2
  return points
    .map(([day, rank]) =>
      rank === null ? `M${rounded(x(day) - SQUARE / 2)} ${y}h${SQUARE}v${SQUARE}h-${SQUARE}z` : "",
    )
    .join("")
}

const rounded = (length: number) => Math.round(length * 10) / 10
