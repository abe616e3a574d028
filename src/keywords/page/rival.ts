import type { AnswerOf } from "../../answers.ts"
import { dayNumber } from "../../lib/days.ts"
import {
  type AppHead,
  address,
  appAddress,
  type Page,
  type PageContext,
  readHead,
  type Side,
  sideAt,
  sideCode,
} from "../../ui/app/context.ts"
import { changePart } from "../../ui/app/diff.ts"
import { appIcon } from "../../ui/app/frame.ts"
import { card, empty, facts } from "../../ui/app/parts.ts"
import { hiddenFields, writeForm } from "../../ui/app/write/form.ts"
import { chartFigure } from "../../ui/charts/figure.ts"
import { amounts, dayValue } from "../../ui/charts/scale.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime, shortDay } from "../../ui/times.ts"
import { counted, figure, whole } from "../../ui/words.ts"

type Rival = AnswerOf<"get_rival">

/**
 * Compares one rival with the app. Reading its keywords uses one of the month's keyword spies, so following a link
 * shows only a button. Pressing the button opens the page, which then costs no spy for 30 days.
 */
export async function rivalPage(context: PageContext, appId: string): Promise<Page> {
  const app = await readHead(context, appId)
  const side = sideAt(app, context.query)
  const rivalId = context.query.get("rival") ?? ""
  const page = (title: string, body: Html): Page => ({ title: `${title} · ${app.name}`, app, at: "rivals", body })
  const back = html`<p class="crumbs">
<a href="${address(appAddress(context, app, "rivals"), { at: sideCode(side) })}">Rivals</a></p>`
  if (!context.isSample && !context.isSent)
    return page("A rival", html`${back}${await openPart(context, app, side, rivalId)}`)
  const rival = await context.ask("get_rival", { appId, rivalId, ...side })
  return page(
    rival.name,
    html`${back}<div class="subject">${appIcon(context, rival)}<div><h2><bdi>${rival.name}</bdi></h2>
<p class="quiet small">
${rival.developer && html`<bdi>${rival.developer}</bdi> · `}<code>${rival.id}</code>${
      rival.manual && html` <span class="tag">added by you</span>`
    }</p></div></div>
<div class="columns-2 wide-left"><div>${keywordsPart(context, app, side, rival)}</div>
<div>${ratingsPart(rival)}${changesPart(context, rival)}</div></div>`,
  )
}

async function openPart(context: PageContext, app: AppHead, side: Side, rivalId: string): Promise<Html> {
  const { rivals } = await context.ask("list_rivals", {
    appId: app.id,
    ...side,
  })
  const rival = rivals.find(({ id }) => id === rivalId)
  if (!rival)
    return html`<section class="card">${empty(
      "No such rival in this storefront",
      "Rivals are apps that rank above yours for your keywords, and those you add.",
    )}</section>`
  const to = address(appAddress(context, app, "rival"), { rival: rival.id, at: sideCode(side) })
  const price =
    context.isMetered() &&
    " It takes 1 credit and one keyword spy of the month, and stays open for 30 days at no further cost."
  return card(
    rival.name,
    html`<div class="inside"><p>Its ratings, changes of its page, and every keyword it ranks for.${price}</p></div>
<form class="filters" method="post" action="${to}">${hiddenFields(context.formFields)}
<button class="main" type="submit">Open rival</button></form>`,
  )
}

function keywordsPart(
  context: PageContext,
  app: AppHead,
  side: Side,
  { locked, keywords = [], total = 0, searched, spies, openUntil }: Rival,
): Html {
  const title = "What it ranks for"
  if (locked)
    return card(
      title,
      empty(
        "The month's keyword spies are used up",
        `${spies ? `${spies.used} of ${spies.limit}. ` : ""}The next month brings more.`,
      ),
    )
  if (keywords.length === 0)
    return card(title, empty("No keyword found", "No search results that were read in the last seven days contain it."))
  const rows = keywords.slice(0, MAX_KEYWORDS).map((keyword) => keywordRow(context, app, side, keyword))
  const table = html`<div class="scroll" tabindex="0" role="group" aria-label="${title}"><table class="rows">
<thead><tr><th scope="col">Keyword</th><th scope="col" class="num">Theirs</th><th scope="col" class="num">Ours</th>
<th scope="col">Read</th></tr></thead>
<tbody>${rows}</tbody></table></div>`
  const write = {
    action: "add_keywords",
    back: address(appAddress(context, app), { at: sideCode(side) }),
    fixed: { appId: app.id, seen: app.version },
    button: "Add selected keywords",
    look: "",
  }
  const hasNew = keywords.some(({ tracked }) => !tracked)
  return card(
    title,
    (hasNew && context.editFields.length > 0 && writeForm(context, write, () => table)) || table,
    html`${keywords.length < total && `${keywords.length} of `}${counted(
      total,
      "keyword",
    )} of ${figure(searched)} searched${openUntil && html` · open until ${dayTime(openUntil.slice(0, 10))}`}`,
  )
}

type RivalKeyword = NonNullable<Rival["keywords"]>[number]

/** Returns the row of a keyword. One that is not tracked yet can be selected to add it. */
function keywordRow(
  context: PageContext,
  app: AppHead,
  side: Side,
  { term, rank, ourRank, day, tracked }: RivalKeyword,
): Html {
  const evidence = address(appAddress(context, app, "evidence"), { term, at: sideCode(side), day })
  const untracked = html`${
    context.editFields.length > 0 &&
    html`<input type="checkbox" name="terms" value="${term}" aria-label="Select ${term}"> `
  }<bdi>${term}</bdi> <span class="tag">not tracked</span>`
  const name = tracked ? html`<a href="${evidence}"><bdi>${term}</bdi></a>` : untracked
  return html`<tr><th scope="row">${name}</th>
<td class="num"><span class="${ourRank === null || rank < ourRank ? "down" : "up"}">${rank}</span></td>
<td class="num">${ourRank ?? html`<span class="gone">absent</span>`}</td>
<td class="small">${dayTime(day, shortDay)}</td></tr>
`
}

const MAX_KEYWORDS = 200

function ratingsPart({ rating, ratings, ratingsDay, available, history }: Rival): Html {
  const { points, from, to } = history
  const gained = points.slice(1).map(({ day, ratings: count, source }, at) => {
    const before = points[at]!
    const isComparable = before.source === source && count >= before.ratings
    const days = Math.max(1, dayNumber(day) - dayNumber(before.day))
    return dayValue(day, isComparable ? (count - before.ratings) / days : null)
  })
  return card(
    "Ratings",
    html`<div class="inside">${facts([
      ["Ratings", figure(ratings)],
      ["Average", figure(rating, 2)],
      ["In the store", available === null ? null : available ? "yes" : "no"],
    ])}${
      gained.length > 0 &&
      html`<h3>Gained a day, up to each reading</h3>
${chartFigure({
  id: "ratings",
  kind: "bars",
  title: "Ratings gained a day",
  from,
  to,
  unit: amounts(whole, { none: "not comparable" }),
  lines: [{ name: "Ratings gained", points: gained }],
})}`
    }</div>`,
    ratingsDay && dayTime(ratingsDay),
  )
}

function changesPart(context: PageContext, { changes }: Rival): Html {
  if (changes.length === 0)
    return card(
      "What changed on its page",
      empty("No change was seen", "Its page is read at most once a day. Changes of the last 90 days are shown."),
    )
  const items = changes.map((change) => changePart(context, change))
  return card("What changed on its page", html`<ul class="list">${items}</ul>`)
}
