import type { AnswerOf } from "../../answers.ts"
import {
  type AppHead,
  address,
  appAddress,
  type Page,
  type PageContext,
  type Side,
  sideCode,
} from "../../ui/app/context.ts"
import { card, empty, inventedReviewsNote } from "../../ui/app/parts.ts"
import { starText } from "../../ui/app/stars.ts"
import { askPart, madePage, points, type TextPage, writtenCard } from "../../ui/app/texts/written.ts"
import { shareBar } from "../../ui/charts/small.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime } from "../../ui/times.ts"
import { counted, figure, percent, sideName, spoken } from "../../ui/words.ts"

type Theme = Summary["themes"][number] | NonNullable<Summary["finerThemes"]>[number]
type Summary = AnswerOf<"summarize_reviews">

const PAGE: TextPage = { title: "What reviews are about", at: "reviews", back: { tab: "reviews", name: "Reviews" } }

/** Links from the reviews to their summary. */
export function summaryCard(context: PageContext, app: AppHead, side: Side, isLink = true): Html {
  return askPart(context, address(appAddress(context, app, "summary"), { at: sideCode(side) }), {
    title: "What they are about",
    description:
      "Themes of the newest reviews, each with its count, its change in a month, and quotes from the reviews.",
    cost: "1 credit and, if it is new today, one Review AI run of the month",
    button: "Summarise them",
    isLink,
  })
}

export async function summaryPage(context: PageContext, appId: string): Promise<Page> {
  return await madePage<Summary>(context, appId, {
    page: PAGE,
    offer: (app, side) => summaryCard(context, app, side, false),
    make: ({ country, platform: store }) => context.ask("summarize_reviews", { appId, country, store }),
    show: (summary, _, side) =>
      summary.state === "ready"
        ? summaryPart(summary)
        : html`<section class="card">${notReady(side, summary)}</section>`,
  })
}

function summaryPart(summary: Summary): Html {
  const themes = [...summary.themes, ...(summary.finerThemes ?? [])]
  return html`${aboutPart(summary)}<div class="columns-2">${themes.map(themePart)}</div>${writtenCard(summary.written)}`
}

function notReady(side: Side, { state, reviews }: Summary): Html {
  if (state === "never_read")
    return empty(
      `No review of ${sideName(side)} was read yet`,
      "Reviews are read once a day. Their themes can be counted from twenty reviews on.",
    )
  return empty(
    "Too few reviews for a summary",
    `${counted(reviews ?? 0, "review")} with text; a summary needs at least twenty. No unit was charged.`,
  )
}

function aboutPart({ feed, reviews, from, to, without }: Summary): Html {
  return html`${inventedReviewsNote(feed)}
<p class="quiet">Of ${counted(reviews ?? 0, "review")} with a text${
    from && to && html`, ${dayTime(from)} to ${dayTime(to)}`
  }; ${figure(without)} are about none of these. Each review is counted, and may be about several things.</p>`
}

function themePart({
  label,
  sentence,
  sentiment,
  count,
  share,
  average,
  change,
  quotes,
  firstDay,
  lastDay,
}: Theme): Html {
  return card(
    label,
    html`<div class="inside">${sentence && html`<p>${sentence}</p>`}
<div class="spread"><span>${counted(count, "review")}</span>${shareBar(
      share,
      sentiment === "complaint" ? "hard" : "",
    )}<span class="small quiet">${percent(share)}</span></div>
<p class="small quiet">
${average.toFixed(2)} stars on average · ${dayTime(firstDay)} to ${dayTime(lastDay)}${
      change &&
      html` · last 30 days ${change.recent.count} of ${change.recent.reviews},
before ${change.before.count} of ${change.before.reviews}${change.points !== null && ` (${points(change.points)})`}`
    }</p><ul class="list">
${quotes.map(
  ({ quote, rating, date, reviewId }) =>
    html`<li><p>“<bdi>${quote}</bdi>”</p>
<p class="small quiet">${starText(rating)} ${dayTime(date.slice(0, 10))} · <code>${reviewId}</code></p></li>`,
)}</ul></div>`,
    html`<span class="tag${SENTIMENT[sentiment] ?? ""}">${spoken(sentiment).toLowerCase()}</span>`,
  )
}

const SENTIMENT: Record<string, string> = { complaint: " warn", praise: " good" }
