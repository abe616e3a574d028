import type { AnswerOf } from "../../answers.ts"
import { inStore, storefrontName } from "../../lib/storefront-names.ts"
import { address, appAddress, type PageContext, sideCode } from "../../ui/app/context.ts"
import { appIcon } from "../../ui/app/frame.ts"
import { Html, type HtmlPart, html } from "../../ui/html.ts"
import { dayTime, shortDay } from "../../ui/times.ts"
import { counted, money, STORES, whole } from "../../ui/words.ts"

type App = AnswerOf<"get_overview">["apps"][number]
type Mover = NonNullable<App["ranks"]["riser"]>

/** One app: its last 30 days, its best movers, and its reviews and revenue of seven days. */
export function appCard(context: PageContext, app: App): Html {
  const { name, iosId, androidPkg, countries, ranks } = app
  const stores = [iosId && STORES.ios, androidPkg && STORES.android].filter(Boolean).join(", ")
  const where =
    countries.length > 3 ? counted(countries.length, "storefront") : countries.map(storefrontName).join(", ")
  return html`<li><div class="subject">${appIcon(context, app)}<div>
<h2><a class="cover" href="${appAddress(context, app)}"><bdi>${name}</bdi></a></h2>
<p class="quiet small">${stores} · ${where}</p></div></div>
${standing(ranks)}${movers(context, app)}${week(context, app)}</li>
`
}

function standing({ day, tracked, measured, top10, best, line }: App["ranks"]): Html {
  if (day === null) return html`<p class="small quiet">${counted(tracked, "keyword")}, not measured yet.</p>`
  return html`<div class="trend">${shareLine(line)}<p><strong>${top10} of ${measured}</strong> in the top 10
<span class="quiet small">${best === null ? "absent everywhere" : html`best ${best}`}</span></p></div>
<p class="small quiet">${
    measured < tracked ? `${whole(measured)} of ${counted(tracked, "keyword")}` : counted(tracked, "keyword")
  } measured on ${dayTime(day)}</p>`
}

/**
 * The share of keywords in the top ten, drawn as a line that has its highest value at the top. Unmeasured days are
 * gaps.
 */
function shareLine(line: readonly (number | null)[]): Html | false {
  if (line.every((share) => share === null)) return false
  const highest = Math.max(0.1, ...line.map((share) => share ?? 0))
  let path = ""
  let isGap = true
  for (const [at, share] of line.entries()) {
    if (share === null) {
      isGap = true
      continue
    }
    const x = Math.round(2 + (100 * at) / Math.max(1, line.length - 1))
    const y = Math.round((24 - (21 * share) / highest) * 10) / 10
    path += isGap ? `M${x} ${y}h0` : `L${x} ${y}`
    isGap = false
  }
  return html`<svg class="spark" viewBox="0 0 104 27" preserveAspectRatio="none" role="img"
aria-label="Share in the top 10, last 30 days">
<path d="${new Html(path)}"></path></svg>`
}

function movers(context: PageContext, app: App): Html | false {
  const { up, down, riser, faller } = app.ranks
  if (up === null) return false
  if (!riser && !faller) return html`<p class="small quiet">No keyword moved in 7 days.</p>`
  return html`<ul class="movers small">${riser && html`<li>${mover(context, app, riser, "up")}${more(up)}</li>`}${
    faller && html`<li>${mover(context, app, faller, "down")}${more(down)}</li>`
  }</ul>`
}

const more = (count: number | null) =>
  count !== null && count > 1 && html` <span class="quiet">and ${whole(count - 1)} more</span>`

function mover(
  context: PageContext,
  app: App,
  { term, country, platform, from, to, fromDay, toDay }: Mover,
  way: "up" | "down",
) {
  const target = address(appAddress(context, app, "ranks"), { terms: term, at: sideCode({ country, platform }) })
  const place = (rank: number | null) => rank ?? "absent"
  const where = inStore({ platform, storefront: country })
  return html`<span class="${way}">${way === "up" ? "▲" : "▼"} ${place(from)} → ${place(to)}</span>
<a href="${target}" title="${`${where}, ${shortDay(fromDay)} to ${shortDay(toDay)}`}"><bdi>${term}</bdi></a>`
}

function week(context: PageContext, app: App): Html {
  const { reviews, revenue } = app
  const { newReviews, averageStars } = reviews
  const written =
    newReviews === null
      ? unknown("not read in 7 days")
      : html`${whole(newReviews)}${averageStars !== null && html` <small>${averageStars.toFixed(1)} ★</small>`}`
  return html`<dl><div><dt>New reviews</dt><dd>${written}</dd></div>${
    revenue.state !== "hidden" && html`<div><dt>Revenue</dt><dd>${revenuePart(context, app)}</dd></div>`
  }</dl>
<p class="small quiet">In 7 days${reportedText(revenue)}${
    revenue.play !== undefined && reportedText(revenue.play, " on Google Play")
  }</p>`
}

function reportedText({ to, days }: Pick<App["revenue"], "to" | "days">, where = ""): Html | false {
  if (to === null) return false
  return html`, revenue${where} to ${dayTime(to, shortDay)}${days < 7 && ` (${counted(days, "day")} reported)`}`
}

/** Amounts of the two stores are never added, because Google Play's amounts for the latest days are not settled. */
function revenuePart(context: PageContext, app: App): HtmlPart {
  const { play, state } = app.revenue
  if (play === undefined) return appStorePart(context, app)
  const { to, proceeds, figure } = play
  const amounts = to === null ? unknown("no report yet") : revenueText(proceeds)
  const store = figure === "proceeds" ? STORES.android : `${STORES.android}, estimated sales`
  return html`${state !== "not_connected" && html`${appStorePart(context, app)} <small>${STORES.ios}</small><br>`}${
    amounts
  } <small>${store}</small>`
}

function appStorePart(context: PageContext, app: App): HtmlPart {
  const { state, proceeds, isInvented } = app.revenue
  if (state === "reported")
    return html`${revenueText(proceeds)}${isInvented && html` <span class="tag warn">Invented</span>`}`
  if (state === "not_reported") return unknown("no report yet")
  return unknown(html`<a href="${appAddress(context, app, "revenue")}">not connected</a>`)
}

/** Amounts by currency, because amounts of different currencies are never added. The largest number comes first. */
function revenueText(amounts: App["revenue"]["proceeds"]): Html {
  const byCurrency = Map.groupBy(amounts, ({ currency }) => currency)
  const sums = [...byCurrency]
    .map(([currency, of]) => ({ currency, amount: of.reduce((sum, { amount }) => sum + Number(amount), 0) }))
    .sort((a, b) => b.amount - a.amount)
  const [first = "0", ...otherAmounts] = sums.map(({ amount, currency }) => money(amount, currency))
  return html`${first}${otherAmounts.length > 0 && html` <small>+ ${otherAmounts.join(" + ")}</small>`}`
}

/** Shows a dash with the reason why the figure is missing. */
function unknown(why: HtmlPart): Html {
  return html`<span class="quiet">– <small>${why}</small></span>`
}
