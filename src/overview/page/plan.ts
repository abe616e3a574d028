import type { AnswerOf } from "../../answers.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import {
  address,
  appAddress,
  attempted,
  isFault,
  type Page,
  type PageContext,
  readHead,
  sideAt,
} from "../../ui/app/context.ts"
import { diffPart } from "../../ui/app/diff.ts"
import { sideForm } from "../../ui/app/frame.ts"
import { card, empty, refusedPart, samplePage } from "../../ui/app/parts.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime } from "../../ui/times.ts"
import { counted, figure, popularityBand, spoken } from "../../ui/words.ts"

type Task = Plan["tasks"][number]
type Plan = AnswerOf<"get_weekly_plan">

/** Renders the changes worth making to the store page this week, with reasons. Often there are none, by design. */
export async function planPage(context: PageContext, appId: string): Promise<Page> {
  const app = await readHead(context, appId)
  const side = sideAt(app, context.query)
  const page = (body: Html): Page => ({ title: `Plan · ${app.name}`, app, at: "plan", body })
  const plan = await attempted(context.ask("get_weekly_plan", { appId, platform: side.platform, limit: 10 }))
  if (isFault(plan)) return page(html`<section class="card">${refusedPart(plan)}</section>`)
  const evidence = (term: string, country: string) =>
    address(appAddress(context, app, "evidence"), { term, at: `${country}-${side.platform}` })
  return page(
    html`${sideForm(context, app, {}, side)}<div class="columns-2 wide-left"><div>${
      plan.tasks.length === 0
        ? html`<section class="card">${nothingToDo(context)}</section>`
        : plan.tasks.map((task, at) => taskPart(task, at + 1, evidence))
    }</div>
<div>${card("Storefronts", html`<ul class="list">${plan.storefronts.map(storefrontPart)}</ul>`)}</div></div>`,
  )
}

function taskPart(task: Task, place: number, evidence: (term: string, country: string) => string): Html {
  const { sentence, country, field, current, proposed, reasons, tradeOff, confidence, gains } = task
  return card(
    `${place}. ${spoken(field)}, ${storefrontName(country)}`,
    html`<div class="inside"><p>${sentence}</p>${diffPart(current, proposed, ["Now", "Proposed"])}
<ul>${reasons.map((reason) => html`<li>${reason}</li>`)}</ul><p class="quiet">${tradeOff}</p>${
      gains.length > 0 &&
      html`<div class="scroll" tabindex="0" role="group" aria-label="Expected gains"><table><thead>
<tr><th scope="col">Keyword</th><th scope="col" class="num">Rank</th><th scope="col" class="num">Expected</th>
<th scope="col" class="num">Popularity</th></tr></thead>
<tbody>${gains.map(
        ({ term, rank, expectedRank, popularity, popularityLow, popularityHigh }) =>
          html`<tr><th scope="row"><a href="${evidence(term, country)}"><bdi>${term}</bdi></a></th>
<td class="num">${rank ?? "absent"}</td><td class="num">${figure(expectedRank)}</td>
<td class="num">${popularityLow === null ? figure(popularity) : popularityBand(popularityLow, popularityHigh)}</td>
</tr>`,
      )}</tbody></table></div>`
    }</div>`,
    html`<span class="tag">${confidence} confidence</span>`,
  )
}

const STATES: Record<string, string> = {
  tasks: "has tasks",
  settling: "a recent change is taking effect; nothing is suggested until then",
  nothing_to_do: "nothing worth changing",
  not_measured: "the store page or the keywords were not read yet",
}

function storefrontPart({ country, state, settledAt, pageReadAt, keywords }: Plan["storefronts"][number]): Html {
  return html`<li><p><strong>${storefrontName(country)}</strong> · ${STATES[state] ?? spoken(state)}</p>
<p class="small quiet">
${counted(keywords, "keyword")} checked${settledAt && html` · settled by ${dayTime(settledAt.slice(0, 10))}`}${
    pageReadAt && html` · page read ${dayTime(pageReadAt.slice(0, 10))}`
  }</p></li>
`
}

function nothingToDo(context: PageContext): Html {
  return empty(
    "Nothing to do this week",
    "A task appears here when a word on your store page would likely gain more than it costs, " +
      "judged by ranks, popularity and the apps ahead. Most weeks have none; the list of storefronts says why.",
    samplePage(context, "plan"),
  )
}
