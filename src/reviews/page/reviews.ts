import type { AnswerOf } from "../../answers.ts"
import { viewAt, viewBar } from "../../ui/app/bar.ts"
import { chartPart } from "../../ui/app/chart.ts"
import {
  type AppHead,
  address,
  appAddress,
  attempted,
  isFault,
  type Page,
  type PageContext,
  readHead,
  type Side,
  sideCode,
} from "../../ui/app/context.ts"
import { card, empty, inventedReviewsNote, readBy, refusedPart, samplePage, tiles } from "../../ui/app/parts.ts"
import { failedReadingPart, readingsLink } from "../../ui/app/readings.ts"
import { starsPart, starText } from "../../ui/app/stars.ts"
import type { Chart } from "../../ui/charts/chart.ts"
import { amounts, dayValue } from "../../ui/charts/scale.ts"
import { shareBar } from "../../ui/charts/small.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime, shortDay } from "../../ui/times.ts"
import { counted, figure, percent, sideName, whole } from "../../ui/words.ts"
import { filtersIn, listPart, readList, reviewsFile, reviewsOf } from "./list.ts"
import { readRatingChart } from "./rating-chart.ts"
import { summaryCard } from "./summary.ts"

type Stats = AnswerOf<"get_review_stats">
type Themes = AnswerOf<"list_review_themes">

/**
 * Shows the distribution of stars, the rating over time, themes with quotes, and the list of all reviews with replies.
 */
export async function reviewsPage(context: PageContext, appId: string): Promise<Page> {
  const app = await readHead(context, appId)
  const view = viewAt(context, app, { usual: 90 })
  const { side, days } = view
  const bar = viewBar(context, app, view, { compares: { rivals: [] } })
  const page = (body: Html): Page => ({ title: `Reviews · ${app.name}`, app, at: "reviews", body })
  if (context.query.get("as") === "csv") {
    const file = { name: `reviews-${sideCode(side)}.csv`, csv: await reviewsFile(context, appId, view) }
    return { ...page(html``), file }
  }
  const [stats, list, themes] = await Promise.all([
    attempted(context.ask("get_review_stats", { appId, ...side, ...days })),
    attempted(readList(context, appId, filtersIn(context, view))),
    attempted(context.ask("list_review_themes", { appId, ...side })),
  ])
  if (isFault(stats)) return page(html`${bar}${refusedPart(stats)}`)
  if (stats.count === null)
    return page(
      html`${bar}${await failedReadingPart(context, appId, { side, of: "reviews" })}<section class="card">${neverRead(
        context,
        side,
        stats.feed.state,
      )}</section>`,
    )
  const reviewIds = isFault(list) ? [] : reviewsOf(list, side).map(({ id }) => id)
  const [replies, rating] = await Promise.all([
    attempted(context.ask("list_review_replies", { appId, platform: side.platform, reviewIds })),
    readRatingChart(context, app, view, stats.byDay),
  ])
  const perDay = perDayChart(stats)
  const versions = stats.byVersion.flatMap(({ version }) => version ?? []).slice(0, 40)
  const body = html`${bar}${inventedReviewsNote(stats.feed)}${statTiles(stats)}
<div class="columns-2">${starsCard(context, app, side, stats)}${ratingCard(context, rating)}</div>
<div class="columns-2 wide-left"><div>${listPart(context, {
    app,
    side,
    list,
    versions,
    replies: isFault(replies) ? null : replies,
  })}</div><div>${
    isFault(themes) ? card("Themes", refusedPart(themes)) : themesCard(context, app, side, themes)
  }${summaryCard(context, app, side)}${daysCard(context, perDay)}${versionsPart(context, app, side, stats)}</div></div>`
  return { ...page(body), charts: [rating, perDay] }
}

function statTiles({ count, average, lowShare, from, to }: Stats): Html {
  return tiles([
    { name: "Reviews", value: figure(count), note: html`${dayTime(from, shortDay)} to ${dayTime(to, shortDay)}` },
    { name: "Average", value: figure(average, 2) },
    { name: "One or two stars", value: lowShare === null ? "–" : percent(lowShare) },
  ])
}

function starsCard(context: PageContext, app: AppHead, side: Side, { distribution, feed }: Stats): Html {
  return card(
    "Stars",
    html`<div class="inside">${distribution && starsPart(distribution)}</div>`,
    html`${readBy(feed.readAt, null)} ${readingsLink(context, app, side)}`,
  )
}

function ratingCard(context: PageContext, chart: Chart): Html {
  return card("Rating over time", html`<div class="inside">${chartPart(context, chart)}</div>`, "Average of seven days")
}

function perDayChart({ byDay, from, to }: Stats): Chart {
  const points = byDay.map(({ day, count }) => dayValue(day, count))
  return {
    id: "reviews",
    kind: "bars",
    title: `Reviews per day, ${shortDay(from)} to ${shortDay(to)}`,
    from,
    to,
    unit: amounts(whole, { none: "unknown" }),
    lines: [{ name: "Reviews", points }],
  }
}

function daysCard(context: PageContext, chart: Chart): Html {
  return card("Reviews per day", html`<div class="inside">${chartPart(context, chart)}</div>`, "Grey: incomplete day")
}

const MAX_VERSIONS = 10

function versionsPart(context: PageContext, app: AppHead, side: Side, { byVersion }: Stats): Html | false {
  if (byVersion.length === 0) return false
  const link = (version: string) => address(appAddress(context, app, "reviews"), { at: sideCode(side), version })
  return card(
    "By version",
    html`<div class="scroll" tabindex="0" role="group" aria-label="Versions"><table><thead>
<tr><th scope="col">Version</th><th scope="col" class="num">Reviews</th>
<th scope="col" class="num">Average</th></tr></thead>
<tbody>${byVersion.slice(0, MAX_VERSIONS).map(
      ({ version, count, average }) =>
        html`<tr><th scope="row">${
          version === null ? "unknown" : html`<a href="${link(version)}"><bdi>${version}</bdi></a>`
        }</th><td class="num">${count}</td>
<td class="num">${figure(average, 2)}</td></tr>`,
    )}</tbody></table></div>`,
  )
}

/** Shows the largest themes that rules find. False if there are too few reviews. */
function themesCard(
  context: PageContext,
  app: AppHead,
  side: Side,
  { reviews, themes, from, to }: Themes,
): Html | false {
  if (reviews === null || themes.length === 0) return false
  const find = (reviewId: string) =>
    address(appAddress(context, app, "reply"), { review: reviewId, at: sideCode(side) })
  return card(
    "Themes",
    html`<ul class="list">${themes.map(
      ({ label, sentiment, count, share, points, quotes }) =>
        html`<li><p><strong>${label}</strong> <span class="tag${TONES[sentiment] ?? ""}">${sentiment}</span></p>
<div class="spread"><span>${counted(count, "review")}</span>${shareBar(
          share,
          sentiment === "complaint" ? "hard" : "",
        )}<span class="small quiet">${percent(share)}${
          points !== null && html` <span title="in 30 days">(${points > 0 && "+"}${points} points)</span>`
        }</span></div>${quotes.map(
          ({ reviewId, quote, rating }) =>
            html`<p class="small">${starText(rating)} <a href="${find(reviewId)}">“<bdi>${quote}</bdi>”</a></p>`,
        )}</li>
`,
    )}</ul>`,
    html`Newest ${counted(reviews, "review")}${from && to && html`, ${dayTime(from)} to ${dayTime(to)}`}`,
  )
}

const TONES: Record<string, string> = { complaint: " warn", praise: " good" }

function neverRead(context: PageContext, side: Side, state: string): Html {
  if (state === "no_app") return empty("The app is not in this store", "Choose another storefront or store.")
  return empty(
    `No reviews were read in ${sideName(side)} yet`,
    "Reviews are read once a day, newest first. Then this page shows stars by day and version, and searches the texts.",
    samplePage(context, "reviews"),
  )
}
