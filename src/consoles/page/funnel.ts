import type { AnswerOf } from "../../answers.ts"
import { answerPart } from "../../ui/app/any-answer.ts"
import { dayBars, shareBar } from "../../ui/charts/small.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime, shortDay } from "../../ui/times.ts"
import { figure, percent } from "../../ui/words.ts"

/** The steps from impression to download, each as a share of the first, and the downloads by day. */
export function funnelPart(answer: AnswerOf<"get_funnel">): Html {
  const { from, to, completeTo, totals, days, sources: _, source: __, dayZone: ___, country: ____, ...lists } = answer
  const steps: [string, number | null][] = [
    ["Impressions", totals.impressions],
    ["Page views", totals.pageViews],
    ["First downloads", totals.firstDownloads],
  ]
  const first = totals.impressions
  const bars = days.map(({ day, complete, firstDownloads }) => ({ day, value: complete ? firstDownloads : null }))
  return html`<div class="spread">${steps.map(([name, count]) => {
    const part = first === null || count === null || first === 0 ? null : count / first
    return html`<span>${name}</span>${
      part === null ? html`<span class="quiet">–</span>` : shareBar(part)
    }<span>${figure(count)} <span class="quiet small">${part !== null && percent(part)}</span></span>`
  })}</div>${completeTo && html`<p class="small quiet">Whole days alone, up to ${dayTime(completeTo)}.</p>`}
<h3>First downloads a day</h3>
${dayBars(bars, {
  title: "First downloads a day",
  said: ({ day, value }) => `${shortDay(day)}: ${value ?? "not whole yet"}`,
  from,
  to,
})}${answerPart(lists)}`
}
