import type { AnswerOf } from "../../answers.ts"
import {
  type AppHead,
  appAddress,
  attempted,
  type Desk,
  isFault,
  type Page,
  readHead,
  type Side,
  sideAt,
  sideCode,
} from "../../ui/app/desk.ts"
import { sideForm } from "../../ui/app/frame.ts"
import { card, empty, inventedReviewsNote, readBy, refusedPart, samplePage, tiles } from "../../ui/app/parts.ts"
import { readingsLink } from "../../ui/app/readings.ts"
import { starsPart, starText } from "../../ui/app/stars.ts"
import { replyLink } from "../../ui/app/texts/drafts.ts"
import { dayBars } from "../../ui/charts/small.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime, shortDay } from "../../ui/times.ts"
import { counted, figure, percent, sideName, whole } from "../../ui/words.ts"
import { summaryCard } from "./summary.ts"

type Stats = AnswerOf<"get_review_stats">
type ReviewSearch = AnswerOf<"search_reviews">

const LISTED = 50

/** Shows the distribution of stars, the reviews by day and by version, and a search of the texts. */
export async function reviewsPage(desk: Desk, appId: string): Promise<Page> {
  const app = await readHead(desk, appId)
  const side = sideAt(app, desk.query)
  const [q, rating] = [desk.query.get("q")?.trim() ?? "", desk.query.get("rating") ?? ""]
  const stars = /^[1-5]$/.test(rating) ? { rating: [Number(rating)] } : {}
  const [stats, found] = await Promise.all([
    attempted(desk.ask("get_review_stats", { appId, ...side })),
    attempted(desk.ask("search_reviews", { appId, ...side, limit: LISTED, ...(q && { q }), ...stars })),
  ])
  const page = (body: Html): Page => ({ title: `Reviews · ${app.name}`, app, at: "reviews", body })
  if (isFault(stats)) return page(refusedPart(stats))
  if (stats.count === null)
    return page(
      html`${sideForm(desk, app, {}, side)}<section class="card">${neverRead(desk, side, stats.feed.state)}</section>`,
    )
  return page(
    html`${sideForm(desk, app, {}, side)}${inventedReviewsNote(stats.feed)}${statTiles(stats)}
<div class="columns-2 wide-left"><div>${listPart(desk, app, side, found)}</div><div>${summaryCard(desk, app, side)}${
      stats.distribution &&
      card(
        "Stars",
        html`<div class="inside">${starsPart(stats.distribution)}</div>`,
        html`${readBy(stats.feed.readAt, null)} ${readingsLink(desk, app, side)}`,
      )
    }${daysPart(stats)}${versionsPart(stats)}</div></div>`,
  )
}

function statTiles({ count, average, lowShare, from, to }: Stats): Html {
  return tiles([
    { name: "Reviews", value: figure(count), said: html`${dayTime(from, shortDay)} to ${dayTime(to, shortDay)}` },
    { name: "Average", value: figure(average, 2) },
    { name: "One or two stars", value: lowShare === null ? "–" : percent(lowShare) },
  ])
}

function daysPart({ byDay, from, to }: Stats): Html {
  const bars = byDay.map(({ day, count }) => ({ day, value: count }))
  return card(
    "Reviews per day",
    html`<div class="inside">
${dayBars(bars, {
  title: `Reviews per day, ${shortDay(from)} to ${shortDay(to)}`,
  said: ({ day, value }) => `${shortDay(day)}: ${value ?? "unknown"}`,
  from,
  to,
})}</div>`,
    "Grey: incomplete day",
  )
}

function versionsPart({ byVersion }: Stats): Html | false {
  if (byVersion.length === 0) return false
  return card(
    "By version",
    html`<div class="scroll" tabindex="0" role="group" aria-label="Versions"><table><thead>
<tr><th scope="col">Version</th><th scope="col" class="num">Reviews</th>
<th scope="col" class="num">Average</th></tr></thead>
<tbody>${byVersion.slice(0, 10).map(
      ({ version, count, average }) =>
        html`<tr><th scope="row"><bdi>${version ?? "unknown"}</bdi></th><td class="num">${count}</td>
<td class="num">${figure(average, 2)}</td></tr>`,
    )}</tbody></table></div>`,
  )
}

function listPart(desk: Desk, app: AppHead, side: Side, found: ReviewSearch | Parameters<typeof refusedPart>[0]): Html {
  const form = html`<form class="filters" method="get" action="${appAddress(desk, app, "reviews")}" data-now="">
<input type="hidden" name="at" value="${sideCode(side)}">
<label class="grow">Find in title or text<input type="search" name="q" maxlength="120" value="${
    desk.query.get("q") ?? ""
  }"></label>
<label>Stars<select name="rating"><option value="">All</option>
${[1, 2, 3, 4, 5].map(
  (star) =>
    html`<option value="${star}"${desk.query.get("rating") === String(star) && html` selected=""`}>${star}</option>`,
)}</select></label>
<button type="submit">Find</button></form>
`
  if (isFault(found)) return card("Reviews", html`${form}${refusedPart(found)}`)
  const { reviews, total } = found
  if (!reviews || reviews.length === 0)
    return card("Reviews", html`${form}${empty("No review matches", "Try other words or another number of stars.")}`)
  return card(
    "Reviews",
    html`${form}<ul class="list">
${reviews.map(
  ({
    id,
    rating,
    title,
    text,
    version,
    date,
  }) => html`<li><p>${starText(rating)}${title && html` <strong><bdi>${title}</bdi></strong>`}</p>
<p><bdi>${text}</bdi></p>
<p class="small quiet">
${dayTime(date.slice(0, 10))}${
  version && html` · version <bdi>${version}</bdi>`
} · ${replyLink(desk, app, side, id)}</p></li>
`,
)}</ul>`,
    total === null
      ? ""
      : reviews.length < total
        ? `The newest ${reviews.length} of ${whole(total)}`
        : counted(total, "review"),
  )
}

function neverRead(desk: Desk, side: Side, state: string): Html {
  if (state === "no_app") return empty("The app is not in this store", "Choose another storefront or store.")
  return empty(
    `No reviews were read in ${sideName(side)} yet`,
    "Reviews are read once a day, newest first. Then this page shows stars by day and version, and searches the texts.",
    samplePage(desk, "reviews"),
  )
}
