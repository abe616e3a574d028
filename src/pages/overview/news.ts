import { alertItems } from "../../alerts/page/alert-list.ts"
import type { AnswerOf } from "../../answers.ts"
import { groupAlerts } from "../../lib/alert-groups.ts"
import { hereOf, type PageContext } from "../../ui/app/context.ts"
import { card, empty } from "../../ui/app/parts.ts"
import { writeForm } from "../../ui/app/write/form.ts"
import { type Html, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { counted } from "../../ui/words.ts"

type News = AnswerOf<"list_news">

/** Maximum number of events shown at first. Further events are collapsed. */
const LISTED = 8
/** Maximum number of events on the page, so that it stays small after a long absence. */
const MAX_EVENTS = 60

/** Shows the changes found since the person's last visit, one line per event of a keyword or rival. */
export function newsCard(context: PageContext, news: News): Html {
  const { since, isFirst, alerts, hasMore } = news
  const groups = groupAlerts(alerts, { acrossDays: true })
  const listed = groups.slice(0, MAX_EVENTS)
  const [first, more] = [listed.slice(0, LISTED), listed.slice(LISTED)]
  const title = isFirst ? "The last seven days" : "Since you were last here"
  if (groups.length === 0) return card(title, nothingNew(context, news), seenForms(context, news))
  const isWhole = groups.length === listed.length && !hasMore
  return card(
    title,
    html`<ul class="list">${alertItems(context, first)}</ul>${
      more.length > 0 &&
      html`<details class="more"><summary>${counted(more.length, "more change")}</summary>
<ul class="list">${alertItems(context, more)}</ul></details>`
    }<p class="pages"><a href="${context.base}/alerts">All alerts</a>${
      !isWhole && html`<span class="quiet">These are the newest. The older ones are there.</span>`
    }</p>`,
    html`${since !== null && !isFirst && html`<span>since ${momentTime(since)}</span> `}${seenForms(context, news)}`,
  )
}

/** A button that marks the changes on the page as seen, for this person only. */
function seenForms(context: PageContext, { alerts, readAt, canUndo }: News): Html | false {
  const back = hereOf(context)
  const mark =
    alerts.length > 0 &&
    writeForm(context, { action: "mark_seen", back, fixed: { until: readAt }, button: "Mark as seen", look: "row" })
  const undo =
    canUndo && writeForm(context, { action: "unmark_seen", back, button: "Undo", tone: "quiet", look: "row" })
  return (mark || undo) && html`${undo && html`<span>Marked as seen.</span> ${undo}`}${mark}`
}

function nothingNew(context: PageContext, { since, isFirst }: News): Html {
  if (isFirst || since === null)
    return empty(
      "Nothing happened yet",
      "Each measured day is compared with the one before: keywords that rose or fell by three places, rivals that " +
        "passed you, changed store pages, bad reviews. The first alerts appear on the second day.",
      context.isSample ? {} : { sample: "/app/sample/alerts" },
    )
  return empty(
    "Nothing new",
    html`No change was found since ${momentTime(since)}. <a href="${context.base}/alerts">All alerts</a>`,
  )
}
