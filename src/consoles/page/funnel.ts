import type { AnswerOf } from "../../answers.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import { chartPart } from "../../ui/app/chart.ts"
import type { PageContext } from "../../ui/app/context.ts"
import type { Chart } from "../../ui/charts/chart.ts"
import { amounts, dayValue } from "../../ui/charts/scale.ts"
import { shareBar } from "../../ui/charts/small.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime } from "../../ui/times.ts"
import { figure, percent, spoken, whole } from "../../ui/words.ts"

/** Returns the steps from impression to download, each as a share of the first, and the downloads by day. */
export function funnelPart(answer: AnswerOf<"get_funnel">, context: PageContext): Html {
  const { completeTo, totals, countries, trafficSources } = answer
  const steps: [string, number | null][] = [
    ["Impressions", totals.impressions],
    ["Page views", totals.pageViews],
    ["First downloads", totals.firstDownloads],
  ]
  const first = totals.impressions
  return html`<div class="spread">${steps.map(([name, count]) => {
    const part = first === null || count === null || first === 0 ? null : count / first
    return html`<span>${name}</span>${
      part === null ? html`<span class="quiet">–</span>` : shareBar(part)
    }<span>${figure(count)} <span class="quiet small">${part !== null && percent(part)}</span></span>`
  })}</div>${completeTo && html`<p class="small quiet">Whole days alone, up to ${dayTime(completeTo)}.</p>`}
<h3>First downloads a day</h3>
${chartPart(context, funnelChart(answer))}${funnelTable(
  "Storefront",
  countries.map(({ country, ...counts }) => ({
    name: country === null ? "Unknown" : storefrontName(country),
    ...counts,
  })),
)}${funnelTable(
  "Where people came from",
  trafficSources.map(({ source, ...counts }) => ({ name: spoken(source), ...counts })),
)}`
}

export function funnelChart({ from, to, days }: AnswerOf<"get_funnel">): Chart {
  const points = days.map(({ day, complete, firstDownloads }) => dayValue(day, complete ? firstDownloads : null))
  return {
    id: "first-downloads",
    kind: "bars",
    title: "First downloads a day",
    from,
    to,
    unit: amounts(whole, { none: "incomplete" }),
    lines: [{ name: "First downloads", points }],
  }
}

type FunnelRow = Pick<AnswerOf<"get_funnel">["totals"], "impressions" | "pageViews" | "firstDownloads" | "rates"> & {
  name: string
}

const MAX_ROWS = 20

/** Returns a table of the funnel. False without rows. */
function funnelTable(first: string, rows: readonly FunnelRow[]): Html | false {
  const number = (name: string) => html`<th scope="col" class="num">${name}</th>`
  const rate = (value: number | null) => (value === null ? figure(null) : percent(value))
  return (
    rows.length > 0 &&
    html`<div class="scroll" tabindex="0" role="group" aria-label="${first}"><table><thead>
<tr><th scope="col">${first}</th>${number("Impressions")}${number("Page views")}${number("First downloads")}
${number("Downloads per page view")}</tr></thead>
<tbody>${rows.slice(0, MAX_ROWS).map(
      ({ name, impressions, pageViews, firstDownloads, rates }) =>
        html`<tr><th scope="row"><bdi>${name}</bdi></th><td class="num">${figure(impressions)}</td>
<td class="num">${figure(pageViews)}</td><td class="num">${figure(firstDownloads)}</td>
<td class="num">${rate(rates.downloaded.value)}</td></tr>
`,
    )}</tbody></table></div>`
  )
}
