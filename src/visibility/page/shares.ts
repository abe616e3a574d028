import type { AnswerOf } from "../../answers.ts"
import { dayNumber } from "../../lib/days.ts"
import { card } from "../../ui/app/parts.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime, shortDay } from "../../ui/times.ts"
import { percent, spoken } from "../../ui/words.ts"

type Shares = AnswerOf<"list_ai_shares">

const SIDE = 1_000
const EDGE = 12

/** The share of answers that name the app, per check and assistant: points with intervals, and the same as a table. */
export function sharesCard({ checks }: Shares): Html {
  const engines = [...new Set(checks.map(({ engine }) => engine))]
  const days = checks.map(({ day }) => day).sort()
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined)
    return card("Share over time", html`<p class="inside">No check yet.</p>`)
  const span = Math.max(1, dayNumber(last) - dayNumber(first))
  const isSingle = first === last
  const x = (day: string) =>
    isSingle ? SIDE / 2 : Math.round(EDGE + ((SIDE - 2 * EDGE) * (dayNumber(day) - dayNumber(first))) / span)
  const y = (share: number) => Math.round(40 + 920 * (1 - share))
  const lines = engines.map((engine, at) => {
    const points = checks.filter((check) => check.engine === engine)
    const path = points.map(({ day, named, of }, nth) => `${nth ? "L" : "M"}${x(day)} ${y(named / of)}`).join("")
    const dots = points.map(({ day, named, of }) => `M${x(day)} ${y(named / of)}h0`).join("")
    const ranges = points.flatMap(({ day, low, high }) => {
      return low === null || high === null ? [] : [`M${x(day)} ${y(low)}V${y(high)}`]
    })
    return html`<g class="s${at + 1}"><path class="range" d="${ranges.join("")}"></path>
<path class="line" d="${path}"></path><path class="dots" d="${dots}"></path></g>`
  })
  return card(
    "Share over time",
    html`<div class="inside"><ul class="legend">${engines.map(
      (engine, at) => html`<li><svg viewBox="0 0 8 8" aria-hidden="true">
<circle class="s${at + 1}" cx="4" cy="4" r="3.5"></circle></svg>${nameOf(engine)}</li>`,
    )}</ul><div class="lines short" role="img" aria-label="Share of answers that name you, per check">
<svg viewBox="0 0 ${SIDE} ${SIDE}" preserveAspectRatio="none">
<path class="grid" d="${[0, 0.5, 1].map((share) => `M0 ${y(share)}H${SIDE}`)}"></path>${lines}</svg>
<svg>${[0, 0.5, 1].map(
      (share) => html`<text class="end" x="-8" y="${y(share) / 10}%" dy="4">${percent(share)}</text>
`,
    )}${
      isSingle
        ? html`<text class="mid" x="50%" y="100%" dy="18">${shortDay(first)}</text>`
        : html`<text x="0" y="100%" dy="18">${shortDay(first)}</text>
<text class="end" x="100%" y="100%" dy="18">${shortDay(last)}</text>`
    }</svg></div></div>
<details><summary>As a table</summary><div class="scroll" tabindex="0" role="group" aria-label="Share per check"><table>
<thead><tr><th scope="col">Day</th><th scope="col">Assistant</th><th scope="col" class="num">Named</th>
<th scope="col" class="num">95 % interval</th></tr></thead>
<tbody>${checks.toReversed().map(
      ({ day, engine, model, named, of, low, high }) => html`<tr><th scope="row">${dayTime(day)}</th>
<td>${nameOf(engine)} <span class="small quiet"><bdi>${model}</bdi></span></td><td class="num">${named} of ${of}</td>
<td class="num">${low === null || high === null ? "–" : `${percent(low)} to ${percent(high)}`}</td></tr>
`,
    )}</tbody></table></div></details>`,
    checks.length === engines.length ? "One check so far: more make a line" : "Per check, with intervals",
  )
}

const nameOf = (engine: string) => (engine === "openai" ? "OpenAI" : spoken(engine))
