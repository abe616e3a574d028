import type { AnswerOf } from "../../answers.ts"
import type { Page, PageContext } from "../../ui/app/context.ts"
import { card, empty } from "../../ui/app/parts.ts"
import { type Html, html } from "../../ui/html.ts"
import { sourceName } from "../../ui/source-names.ts"
import { momentTime } from "../../ui/times.ts"
import { counted, percent, spoken } from "../../ui/words.ts"

type Source = Sources["sources"][number]
type Sources = AnswerOf<"list_sources">

/** The page about sources in the sample. */
export async function sourcesPage(context: PageContext): Promise<Page> {
  return { title: "Sources", at: "/sources", body: await sourcesPart(context) }
}

/** Shows the status of each source, and the sources that were never read. */
export async function sourcesPart(context: PageContext): Promise<Html> {
  const { sources, alerts } = await context.ask("list_sources")
  const isAsked = ({ lastSuccess, lastFailure }: Source) => lastSuccess !== null || lastFailure !== null
  const read = sources.filter(isAsked)
  const unread = sources.filter((source) => !isAsked(source))
  return html`${alerts.length > 0 && card("Not in order", alertList(alerts))}${
    read.length > 0 ? card("Sources", askedPart(read)) : html`<section class="card">${noneAsked(context)}</section>`
  }${unread.length > 0 && card("Not read yet", unreadList(unread), counted(unread.length, "source"))}`
}

function alertList(alerts: Sources["alerts"]): Html {
  return html`<ul class="list">${alerts.map(
    ({ kind, source, since }) =>
      html`<li class="fresh"><p><strong>${inTitle(sourceName(source))}</strong> ${spoken(kind).toLowerCase()}</p>
<p class="small quiet">since ${momentTime(since)} · check the installation to see what to do</p></li>`,
  )}</ul>`
}

function unreadList(sources: readonly Source[]): Html {
  return html`<ul class="list">${sources.map(
    ({ source }) => html`<li><p>${inTitle(sourceName(source))}</p><p class="small quiet">${READS[source]}</p></li>`,
  )}</ul>`
}

function noneAsked(context: PageContext): Html {
  return empty(
    "No source was read yet",
    "Every figure comes from a source. As soon as the server reads the sources, this page shows which of them " +
      "answer.",
    context.isSample ? {} : { sample: "/app/sample/sources" },
  )
}

const inTitle = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

/** The data that each source provides. */
const READS: Record<string, string> = {
  "apple-web-search": "Ranks in the App Store, as its own search pages show them.",
  "apple-store-search": "Ranks in the App Store as its app gets them, used where the search pages do not answer.",
  "play-search": "Ranks on Google Play.",
  "itunes-search": "Apps by name, for the search that adds an app.",
  "itunes-lookup": "Version, price, rating and category of App Store apps: yours and their rivals.",
  "apple-hints": "What the App Store suggests while somebody types, the basis of popularity estimates.",
  "play-details": "An app's page on Google Play: texts, pictures, installs and ratings.",
  "play-suggest": "What Google Play suggests while somebody types.",
  "apple-reviews": "The newest reviews in a storefront of the App Store.",
  "play-reviews": "The newest reviews in a language of Google Play.",
  "apple-app-page": "An app's page in the App Store: texts, pictures, events, stories and ratings by star.",
  "apple-charts": "Top charts of the App Store, of the categories of tracked apps.",
  "apple-genres": "Names of the App Store's categories.",
  "itunes-developer": "Which apps a developer has.",
  "app-ads-txt": "Who sells advertising in an app, from its developer's own site.",
}

function askedPart(sources: readonly Source[]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Sources"><table class="rows"><thead>
<tr><th scope="col">Source</th><th scope="col" class="num">Answered, 24 h</th>
<th scope="col" class="wide">Last answer</th>
<th scope="col" class="wide">Last failure</th><th scope="col" class="num">In a row</th></tr></thead>
<tbody>${sources.map(sourceRow)}</tbody></table></div>`
}

function sourceRow({ source, lastSuccess, answered24h, failed24h, lastFailure, failuresInARow }: Source): Html {
  const all = answered24h + failed24h
  const share = html`${percent(answered24h / all)} <span class="quiet small">of ${all}</span>`
  const failure = lastFailure && html`${momentTime(lastFailure.at)}, ${spoken(lastFailure.outcome).toLowerCase()}`
  return html`<tr><th scope="row">${inTitle(sourceName(source))}<br><span class="small quiet">${READS[source]}</span>
</th>
<td class="num">${all === 0 ? html`<span class="quiet">–</span>` : share}</td>
<td class="wide">${lastSuccess ? momentTime(lastSuccess) : html`<span class="quiet">never</span>`}</td>
<td class="wide">${failure}</td>
<td class="num">${failuresInARow > 0 ? html`<span class="down">${failuresInARow}</span>` : "0"}</td></tr>
`
}
