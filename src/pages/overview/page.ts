import type { AnswerOf } from "../../answers.ts"
import type { Page, PageContext } from "../../ui/app/context.ts"
import { empty, pager, tiles } from "../../ui/app/parts.ts"
import { type Html, html } from "../../ui/html.ts"
import { figure } from "../../ui/words.ts"
import { searchForm } from "../add-app.ts"
import { appCard } from "./cards.ts"
import { newsCard } from "./news.ts"

type Overview = AnswerOf<"get_overview">

/** The orders of the cards. The first one is the default. */
const ORDERS = [
  ["movement", "Most movement"],
  ["name", "Name"],
  ["reviews", "Most new reviews"],
  ["revenue", "Most revenue"],
] as const

/** If there are at most this many apps, their cards are shown beside the changes. */
const BESIDE = 2

/** The search is shown if there are at least this many apps. */
const SEARCH_FROM = 6

/** Shows what happened since the person's last visit, and the current figures of every app. */
export async function overviewPage(context: PageContext): Promise<Page> {
  const choice = choiceIn(context.query)
  const [overview, news] = [await context.ask("get_overview", choice), await context.ask("list_news")]
  const page = (body: Html): Page => ({ title: "Overview", at: "", body })
  if (overview.total === 0) return page(noApps(context))
  const { apps, pages } = overview
  const cards =
    apps.length === 0
      ? html`<section class="card">${empty("No app has this name", SEARCH_HINT)}</section>`
      : html`<ul class="apps">
${apps.map((app) => appCard(context, app))}</ul>`
  const isBeside = overview.total <= BESIDE
  const top = isBeside
    ? html`<div class="columns-2 wide-left"><div>${newsCard(context, news)}</div>
<div>${cards}${addLink(context)}</div></div>`
    : html`${newsCard(context, news)}${pages === 1 && totals(apps)}${toolbar(context, overview, choice)}${cards}`
  const isUnmeasured = apps.length > 0 && apps.every(({ ranks }) => ranks.day === null)
  return page(
    html`${top}${pager(context.base, context.query, { page: choice.page, pages })}${
      isUnmeasured && !context.isSample && SAMPLE_LINE
    }`,
  )
}

const SEARCH_HINT = "Search for a part of its name or for its id."

const SAMPLE_LINE = html`<p class="quiet">
No keyword was measured yet. <a href="/app/sample">The sample</a> shows how each page looks after some measured days.
</p>
`

interface Choice {
  q: string
  order: (typeof ORDERS)[number][0]
  page: number
}

/** Reads the choices in the address. Unknown ones become the default. */
function choiceIn(query: URLSearchParams): Choice {
  const page = Number(query.get("page"))
  return {
    q: (query.get("q") ?? "").trim().slice(0, 120),
    order: ORDERS.find(([order]) => order === query.get("order"))?.[0] ?? ORDERS[0][0],
    page: Number.isInteger(page) && page >= 1 && page <= 1_000 ? page : 1,
  }
}

function addLink(context: PageContext): Html | false {
  return (
    context.editFields.length > 0 && html`<p class="deeds"><a class="button" href="${context.base}/add">Add app</a></p>`
  )
}

function toolbar(context: PageContext, { total, matching }: Overview, { q, order }: Choice): Html {
  const options = ORDERS.map(
    ([value, name]) => html`<option value="${value}"${value === order && html` selected=""`}>${name}</option>`,
  )
  return html`<div class="line"><form class="filters" method="get" action="${context.base}" data-now="">${
    total >= SEARCH_FROM && html`<label>Find an app<input type="search" name="q" value="${q}" maxlength="120"></label>`
  }<label>Order<select name="order">${options}</select></label>
<button type="submit" data-spare="">Show</button>${
    q !== "" && html`<p class="hint">${matching} of ${total} apps</p>`
  }</form>${addLink(context)}</div>
`
}

/** Shows the totals. Each total includes only the apps that have the figure. */
function totals(apps: Overview["apps"]): Html {
  const sum = (figureOf: (app: Overview["apps"][number]) => number | null) => {
    const values = apps.flatMap((app) => figureOf(app) ?? [])
    return figure(values.length > 0 ? values.reduce((total, value) => total + value, 0) : null)
  }
  const week = "7 days"
  return tiles([
    { name: "Keywords", value: sum(({ ranks }) => ranks.tracked) },
    { name: "Up", value: html`<span class="up">${sum(({ ranks }) => ranks.up)}</span>`, note: week },
    { name: "Down", value: html`<span class="down">${sum(({ ranks }) => ranks.down)}</span>`, note: week },
    { name: "New reviews", value: sum(({ reviews }) => reviews.newReviews), note: week },
  ])
}

function noApps(context: PageContext): Html {
  return html`<section class="card">${empty(
    "No app is tracked yet",
    "Find it by its name, the link of its store page, or its id. The first ranks appear within seconds.",
    { sample: "/app/sample" },
  )}${searchForm(context)}</section>`
}
