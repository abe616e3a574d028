import { html } from "../html.ts"
import { momentTime } from "../times.ts"
import { percent, spoken } from "../words.ts"
import type { Desk, Page } from "./desk.ts"
import { card, empty } from "./parts.ts"

interface Sources {
  sources: {
    source: string
    lastSuccess: string | null
    answered24h: number
    failed24h: number
    lastFailure: { at: string; outcome: string } | null
    failuresInARow: number
  }[]
  alerts: { kind: string; source: string; since: string }[]
}

/** How the sources of all figures do. */
export async function sourcesPage(desk: Desk): Promise<Page> {
  const { sources, alerts } = await desk.ask<Sources>("list_sources")
  const title = "Sources"
  if (sources.length === 0)
    return {
      title,
      at: "/sources",
      body: html`<section class="card">${empty("No source was asked yet", "Every figure comes from a source: the store's search, an app's page, a chart, a list of reviews. As soon as they are asked, you see here which of them answer. What was imported or came with the demo has no source that is asked.", desk.isSample ? {} : { sample: "/app/sample/sources" })}</section>`,
    }
  return {
    title,
    at: "/sources",
    body: html`${
      alerts.length > 0 &&
      card(
        "Not in order",
        html`<ul class="list">${alerts.map(({ kind, source, since }) => html`<li class="fresh"><p><strong><code>${source}</code></strong> ${spoken(kind).toLowerCase()}</p><p class="small quiet">since ${momentTime(since)} · <code>appmeter doctor</code> says what to do</p></li>`)}</ul>`,
      )
    }${card(
      "Sources",
      html`<div class="scroll" tabindex="0" role="group" aria-label="Sources"><table class="rows"><thead><tr><th scope="col">Source</th><th scope="col" class="num">Answered, 24 h</th><th scope="col" class="wide">Last answer</th><th scope="col" class="wide">Last failure</th><th scope="col" class="num">In a row</th></tr></thead>
<tbody>${sources.map(({ source, lastSuccess, answered24h, failed24h, lastFailure, failuresInARow }) => {
        const all = answered24h + failed24h
        return html`<tr><th scope="row"><code>${source}</code></th><td class="num">${all === 0 ? html`<span class="quiet">–</span>` : html`${percent(answered24h / all)} <span class="quiet small">of ${all}</span>`}</td><td class="wide">${lastSuccess ? momentTime(lastSuccess) : html`<span class="quiet">never</span>`}</td><td class="wide">${lastFailure && html`${momentTime(lastFailure.at)}, ${spoken(lastFailure.outcome).toLowerCase()}`}</td><td class="num">${failuresInARow > 0 ? html`<span class="down">${failuresInARow}</span>` : "0"}</td></tr>
`
      })}</tbody></table></div>`,
    )}`,
  }
}
