import { dayNumber } from "../../lib/days.ts"
import { Html, html } from "../html.ts"
import { depthOf, piecesOf, type RankPoint, rankSpan } from "./scale.ts"

/** A keyword's ranks as a small line in a table row. Unmeasured days are gaps, and absences are low marks. */
export function sparkline(
  points: readonly RankPoint[],
  { from, to, sources }: { from: string; to: string; sources: readonly { source: string; from: string; to: string }[] },
): Html {
  if (points.length === 0) return html`<span class="quiet">–</span>`
  const first = dayNumber(from)
  const days = Math.max(1, dayNumber(to) - first)
  const x = (at: number) => Math.round(2 + (WIDTH * (at - first)) / days)
  const span = rankSpan(points.flatMap(([, rank]) => rank ?? []))
  const y = (rank: number) => Math.round(2 + HEIGHT * depthOf(rank, span))
  let [line, gone] = ["", ""]
  for (const piece of piecesOf(points, sources)) {
    let mark = "M"
    for (const { at, rank } of piece) {
      line += `${mark}${x(at)} ${y(rank)}`
      mark = "L"
    }
    if (piece.length === 1) line += "h0"
  }
  for (const [day, rank] of points) if (rank === null) gone += `M${x(dayNumber(day))} ${HEIGHT + 3}h0`
  return html`<svg class="spark" viewBox="0 0 ${WIDTH + 4} ${HEIGHT + 5}" aria-hidden="true">
<path d="${new Html(line)}"></path>${gone !== "" && html`<path class="gone" d="${new Html(gone)}"></path>`}</svg>`
}

const WIDTH = 100
const HEIGHT = 22

/** A share from 0 to 1 as a bar. The text next to it has the number. */
export function shareBar(part: number, tone = ""): Html {
  const width = `${Math.round(Math.max(0, Math.min(1, part)) * 1_000) / 10}%`
  return html`<svg class="bar ${tone}" aria-hidden="true"><rect class="all" width="100%" height="100%" rx="3"></rect>
<rect width="${width}" height="100%" rx="3"></rect></svg>`
}
