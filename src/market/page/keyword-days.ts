import type { AnswerOf } from "../../answers.ts"
import type { Fault } from "../../lib/faults.ts"
import { isFault, type PageContext } from "../../ui/app/context.ts"
import { card } from "../../ui/app/parts.ts"
import { hiddenFields } from "../../ui/app/write/form.ts"
import { type FormState, textField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { sourceName } from "../../ui/source-names.ts"
import { dayTime, momentTime, shortDay } from "../../ui/times.ts"
import { counted, figure, popularityBand, spoken } from "../../ui/words.ts"
import { appCell, appPageAddress, linkTo, marketAddress } from "./frame.ts"

type Ranks = AnswerOf<"hive_get_keyword_ranks">
type History = AnswerOf<"hive_get_keyword_metrics_history">

/** Days of results side by side. */
const MAX_DAYS = 5

/** Renders the first ten results of each of the latest measured days. */
export function resultsCard(context: PageContext, ranks: Ranks | Fault, country: string): Html | false {
  if (isFault(ranks)) return false
  const days = ranks.results.filter(({ measured }) => measured).slice(0, MAX_DAYS)
  if (days.length === 0) return false
  const places = Math.max(...days.map(({ apps }) => apps?.length ?? 0))
  const heads = days.map(({ day }) => html`<th scope="col">${dayTime(day, shortDay)}</th>`)
  const rows = Array.from({ length: places }, (_, at) => {
    const cells = days.map(({ apps }) => {
      const app = apps?.[at]
      const name = app && html`<bdi>${app.name}</bdi>`
      return html`<td class="small wrap">${
        app && name ? linkTo(context, app.id, appPageAddress(context, app.id, country), name) : "–"
      }</td>`
    })
    return html`<tr><th scope="row" class="num">${at + 1}</th>${cells}</tr>`
  })
  const [latest] = days
  return card(
    "First results by day",
    html`<div class="scroll" tabindex="0" role="group" aria-label="First results by day"><table><thead><tr>
<th scope="col" class="num">#</th>${heads}</tr></thead><tbody>${rows}</tbody></table></div>`,
    latest?.measuredAt &&
      html`read ${momentTime(latest.measuredAt)}${latest.source && html`, ${sourceName(latest.source)}`}`,
  )
}

/** Renders popularity and difficulty as they were measured, newest first, with failed attempts. */
export function historyCard(history: History | Fault): Html | false {
  if (isFault(history)) return false
  const { popularity, difficulty } = history
  const days = [...new Set([...popularity, ...difficulty].map(({ day }) => day))].sort().reverse().slice(0, MAX_ROWS)
  if (days.length === 0) return false
  const rows = days.map((day) => {
    const [searches, hardness] = [popularity, difficulty].map((list) => list.find((one) => one.day === day))
    return html`<tr><th scope="row">${dayTime(day, shortDay)}</th><td class="num">${stateText(searches)}</td>
<td class="num">${stateText(hardness)}</td></tr>`
  })
  return card(
    "Measured before",
    html`<table><thead><tr><th scope="col">Day</th><th scope="col" class="num">Popularity</th>
<th scope="col" class="num">Difficulty</th></tr></thead><tbody>${rows}</tbody></table>`,
  )
}

const MAX_ROWS = 12

type Measured = History["popularity"][number]

function stateText(one: Measured | undefined): Html | string {
  if (!one) return figure(null)
  if (one.low !== null) return popularityBand(one.low, one.high)
  if (one.value !== null) return figure(one.value)
  return html`<span class="gone" title="${one.outcome ? spoken(one.outcome) : ""}">${one.state}</span>`
}

/** Renders a form that checks the current rank of any app for the keyword. */
export function rankCheckCard(
  context: PageContext,
  { term, country }: { term: string; country: string },
): Html | false {
  if (context.isSample) return false
  const form: FormState = { id: "check", values: null, errors: {} }
  const hidden = hiddenFields([
    ["term", term],
    ["country", country],
  ])
  return card(
    "Where is an app?",
    html`<form class="filters" method="get" action="${marketAddress(context, "rank")}">${hidden}${textField(form, {
      name: "app",
      label: "Link to its store page, or its id",
      maxLength: 500,
      isRequired: true,
      isWide: true,
    })}<div class="send"><button type="submit">Check rank</button></div></form>`,
  )
}

type Checked = AnswerOf<"check_rank">

const STATES = {
  absent: "It is sold in this storefront, but not among the results that were read.",
  not_in_store: "It is not sold in this storefront.",
} as const

/** Renders the rank of an app for a keyword, with its evidence and the apps above it. */
export function checkedCard(context: PageContext, checked: Checked): Html {
  const { app, rank, state, above, top, depth, measuredAt, source, sha256, country, platform } = checked
  const list = (above ?? top ?? []).map(
    (one) => html`<li class="line">${appCell(context, one, { country })}<span class="rank">${one.rank}</span></li>`,
  )
  const stands =
    state === "ranked"
      ? html`<strong>#${rank}</strong> of ${counted(depth, "place")} read`
      : html`<span class="gone">${STATES[state]}</span>`
  return card(
    html`<a href="${appPageAddress(context, app.id, country)}"><bdi>${app.name}</bdi></a>`,
    html`<div class="inside"><p>${stands}</p>
<p class="small quiet">Read ${momentTime(measuredAt)}, ${sourceName(source)}
(${platform === "ios" ? "App Store" : "Google Play"}). SHA-256 of the response: <span class="hash">${sha256}</span></p>
</div>${
      list.length > 0 &&
      html`<h3 class="inside">${above ? "Just above it" : "The first ten"}</h3>
<ul class="list">${list}</ul>`
    }`,
  )
}
