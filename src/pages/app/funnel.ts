import { dayBars, shareBar } from "../charts/small.ts"
import { type Html, html } from "../html.ts"
import { dayTime, shortDay } from "../times.ts"
import { figure, percent } from "../words.ts"
import { answerPart } from "./any-answer.ts"

interface Steps {
  impressions: number | null
  pageViews: number | null
  firstDownloads: number | null
}

interface Funnel {
  from: string
  to: string
  completeTo: string | null
  totals: Steps
  days: (Steps & { day: string; complete: boolean })[]
}

/** From seen to downloaded: each step as a share of the first, and the downloads day by day. */
export function funnelPart(answer: Record<string, unknown>): Html {
  const { from, to, completeTo, totals, days, ...rest } = answer as unknown as Funnel
  const steps: [string, number | null][] = [
    ["Impressions", totals.impressions],
    ["Page views", totals.pageViews],
    ["First downloads", totals.firstDownloads],
  ]
  const first = totals.impressions
  const bars = days.map(({ day, complete, firstDownloads }) => ({ day, value: complete ? firstDownloads : null }))
  const { sources: _, source: __, dayZone: ___, country: ____, ...lists } = rest as Record<string, unknown>
  return html`<div class="spread">${steps.map(([name, count]) => {
    const part = first === null || count === null || first === 0 ? null : count / first
    return html`<span>${name}</span>${part === null ? html`<span class="quiet">–</span>` : shareBar(part)}<span>${figure(count)} <span class="quiet small">${part !== null && percent(part)}</span></span>`
  })}</div>${completeTo && html`<p class="small quiet">Whole days alone, up to ${dayTime(completeTo)}.</p>`}<h3>First downloads a day</h3>${dayBars(bars, { title: "First downloads a day", said: ({ day, value }) => `${shortDay(day)}: ${value ?? "not whole yet"}`, from, to })}${answerPart(lists)}`
}
