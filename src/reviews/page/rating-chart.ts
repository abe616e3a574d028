import { dayNumber } from "../../lib/days.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime, shortDay } from "../../ui/times.ts"
import { figure } from "../../ui/words.ts"

interface ReviewDay {
  day: string
  /** Null if unknown. */
  count: number | null
  average: number | null
}

interface Week {
  from: string
  to: string
  count: number
  /** Null without reviews. */
  average: number | null
  /** Whether the reviews of every day are known. */
  isKnown: boolean
}

const WEEK = 7

/** Averages the stars of every seven days up to the last one. A single day has too few reviews. */
function ratingWeeks(byDay: readonly ReviewDay[]): Week[] {
  const weeks: Week[] = []
  for (let end = byDay.length; end > 0; end -= WEEK) {
    const days = byDay.slice(Math.max(0, end - WEEK), end)
    const count = days.reduce((sum, day) => sum + (day.count ?? 0), 0)
    const stars = days.reduce((sum, day) => sum + (day.count ?? 0) * (day.average ?? 0), 0)
    weeks.unshift({
      from: days[0]!.day,
      to: days.at(-1)!.day,
      count,
      average: count > 0 ? stars / count : null,
      isKnown: days.every((day) => day.count !== null),
    })
  }
  return weeks
}

/** The average stars of each week as a line, and the same as a table. A week without reviews is a gap. */
export function ratingChart(byDay: readonly ReviewDay[]): Html {
  const weeks = ratingWeeks(byDay)
  const first = dayNumber(byDay[0]!.day)
  const days = Math.max(1, dayNumber(byDay.at(-1)!.day) - first)
  const x = ({ from, to }: Week) =>
    Math.round(EDGE + ((SIDE - 2 * EDGE) * ((dayNumber(from) + dayNumber(to)) / 2 - first)) / days)
  const y = (stars: number) => Math.round(TOP + ((SIDE - 2 * TOP) * (5 - stars)) / 4)
  let [line, isJoined] = ["", false]
  const dots: string[] = []
  for (const week of weeks) {
    if (week.average !== null) {
      line += `${isJoined ? "L" : "M"}${x(week)} ${y(week.average)}`
      dots.push(`M${x(week)} ${y(week.average)}h0`)
    }
    isJoined = week.average !== null
  }
  const rated = weeks.flatMap(({ average }) => average ?? [])
  const summary =
    rated.length === 0 ? "no week has reviews" : `${stars(Math.min(...rated))} to ${stars(Math.max(...rated))}`
  return html`<div class="lines short" role="img" aria-label="Average stars per week: ${summary}">
<svg viewBox="0 0 ${SIDE} ${SIDE}" preserveAspectRatio="none">
<path class="grid" d="${[1, 2, 3, 4, 5].map((star) => `M0 ${y(star)}H${SIDE}`)}"></path>
<g class="s1"><path class="line" d="${line}"></path><path class="dots" d="${dots}"></path></g></svg>
<svg>${[1, 2, 3, 4, 5].map(
    (star) => html`<text class="end" x="-8" y="${y(star) / 10}%" dy="4">${star} ★</text>
`,
  )}<text x="0" y="100%" dy="18">${shortDay(weeks[0]!.from)}</text>
<text class="end" x="100%" y="100%" dy="18">${shortDay(weeks.at(-1)!.to)}</text></svg></div>
<details><summary>Average stars per week as a table</summary>
<div class="scroll" tabindex="0" role="group" aria-label="Average stars per week"><table><thead>
<tr><th scope="col">Week</th><th scope="col" class="num">Reviews</th>
<th scope="col" class="num">Average</th></tr></thead>
<tbody>${weeks.toReversed().map(
    ({
      from,
      to,
      count,
      average,
      isKnown,
    }) => html`<tr><th scope="row">${dayTime(from, shortDay)} to ${dayTime(to)}</th>
<td class="num">${isKnown ? count : html`at least ${count}`}</td><td class="num">${figure(average, 2)}</td></tr>
`,
  )}</tbody></table></div></details>`
}

const SIDE = 1_000
const EDGE = 8
const TOP = 60

const stars = (average: number) => `${average.toFixed(2)} stars`
