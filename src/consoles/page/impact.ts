import type { AnswerOf } from "../../answers.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import type { PageContext } from "../../ui/app/context.ts"
import { hiddenFields } from "../../ui/app/write/form.ts"
import { type Html, type HtmlPart, html } from "../../ui/html.ts"
import { dayTime } from "../../ui/times.ts"
import { counted, money, spoken } from "../../ui/words.ts"
import { intervalsPicture, type PercentRow, percentText } from "./intervals.ts"

type Impact = AnswerOf<"get_change_impact">
type Outcome = Impact["outcomes"][number]

const NAMES: Record<Outcome["outcome"], string> = {
  search_impressions: "Impressions in search",
  conversion: "Downloads per page view",
  ranks: "Ranks (lower is better)",
  store_visitors: "Visitors of the store page",
  acquisitions: "Installs by visitors",
  downloads: "First downloads",
  proceeds_per_download: "Proceeds per download",
}

const VERDICTS: Record<Impact["verdict"], readonly [name: string, tone: string, advice: string]> = {
  improved: ["Improved", " good", "The improvement is larger than the figure's usual changes. Keep the change."],
  worse: ["Worse", " warn", "The decline is larger than the figure's usual changes. Consider undoing the change."],
  no_clear_change: [
    "No clear change",
    "",
    "The interval includes zero: the change may have had no effect, or one that is too small to be seen.",
  ],
  too_early: ["Too early", "", "Wait until the days after the change are over and reported."],
  not_enough_data: [
    "Not enough days",
    "",
    "The interval comes from earlier days without a change. It needs twenty windows before the change (about half " +
      "a year if a window has seven days) and some downloads on each day. Until then there is no verdict.",
  ],
  confounded: [
    "Cannot be separated",
    " warn",
    "Something else changed in the same days. Make one change at a time, and wait for one window before the next.",
  ],
  cannot_tell: [
    "Nothing to compare with",
    "",
    "Too few storefronts stayed unchanged. Change one storefront first; the others then show what would have " +
      "happened without the change.",
  ],
}

/**
 * Shows the effect of a change of the store page: the verdict, each figure with its interval, and reasons for doubt.
 */
export function impactPart(impact: Impact, context: PageContext): Html {
  const { day, changed, verdict, sentence, outcomes, window, tryWindow } = impact
  const [name, tone, advice] = VERDICTS[verdict]
  const what = changed.map(
    ({ kind, countries }) => html`${spoken(kind)} in ${countries.map(storefrontName).join(", ")}`,
  )
  const judged = outcomes.filter(({ effectPercent }) => effectPercent !== null)
  return html`<p><strong>${listed(what)}</strong>, ${dayTime(day)} <span class="tag${tone}">${name}</span></p>
<p>${sentence}</p>${
    judged.length > 0 && intervalsPicture(`Change after ${day}, with its interval`, judged.map(rowOf))
  }<p class="quiet">${advice}${
    impact.standing && " A movement after the change was not necessarily caused by it."
  }</p>${waitingPart(outcomes)}${doubtsPart(impact)}${chooseForm(context, { day, window, tryWindow })}`
}

function rowOf({ outcome, country, effectPercent, lowPercent, highPercent, ...rest }: Outcome): PercentRow {
  const { treatedPercent, controlsPercent, verdict, primary, before, after } = rest
  const [name, tone] = VERDICTS[verdict]
  return {
    name: html`${NAMES[outcome]}${country && html` <span class="small quiet">${storefrontName(country)}</span>`}${
      primary && html` <span class="tag">decides</span>`
    }`,
    value: effectPercent as number,
    low: lowPercent ?? (effectPercent as number),
    high: highPercent ?? (effectPercent as number),
    tone: verdict === "improved" ? "up" : verdict === "worse" ? "down" : "",
    note: html`<span class="tag${tone}">${name}</span> ${dayTime(before.from)} to ${dayTime(
      before.to,
    )}, then ${dayTime(after.from)} to ${dayTime(after.to)}${
      controlsPercent !== null &&
      treatedPercent !== null &&
      html`. Changed ${percentText(treatedPercent)}, unchanged ${percentText(controlsPercent)}`
    }`,
  }
}

/** Returns the outcomes without a figure, and what each waits for. False if there are none. */
function waitingPart(outcomes: readonly Outcome[]): Html | false {
  const waiting = outcomes.filter(({ effectPercent }) => effectPercent === null)
  return (
    waiting.length > 0 &&
    html`<h3>Not judged yet</h3><ul class="small">
${waiting.map(({ outcome, verdict, after, earlierDays, earlierNeeded }) => {
  const days =
    earlierNeeded !== null && `: ${earlierDays ?? 0} of ${counted(earlierNeeded, "earlier day")} are available`
  const until = verdict === "too_early" && html`: its days end on ${dayTime(after.to)}`
  return html`<li>${NAMES[outcome]}: ${VERDICTS[verdict][0].toLowerCase()}${days}${until}</li>`
})}</ul>`
  )
}

function doubtsPart({ overlaps, adsSpend, missing }: Impact): Html | false {
  const events = Map.groupBy(overlaps, ({ kind, country, day, own: isOwn }) => [kind, country, day, isOwn].join())
  const lines: HtmlPart[] = [...events.values()].map(([event, ...more]) => {
    const { kind, country, day, own: isOwn } = event!
    const times = more.length > 0 && ` (${more.length + 1})`
    return html`${isOwn ? "Yours" : "A rival"}: ${spoken(kind).toLowerCase()}${times}, ${storefrontName(
      country,
    )}, ${dayTime(day)}`
  })
  const { before, after, currency, changePercent } = adsSpend ?? {}
  const perDay = (amount: number) => (currency ? money(amount, currency) : String(amount))
  if (before != null && after != null)
    lines.push(
      html`Ads: ${perDay(before)} a day before, ${perDay(after)} after${
        changePercent != null && html` (${percentText(changePercent)})`
      }`,
    )
  for (const { what, why } of missing) lines.push(html`${spoken(what)} is missing. ${why}`)
  return (
    lines.length > 0 &&
    html`<h3>Also in these days</h3><ul class="small">${lines.map((line) => html`<li>${line}</li>`)}</ul>`
  )
}

/** Returns the form that selects another change by its day, and the length of the window. */
function chooseForm(
  { query }: PageContext,
  { day, window, tryWindow }: { day: string; window: number; tryWindow: number | null },
): Html {
  const hidden = [...query].filter(([name]) => name !== "day" && name !== "window")
  const windows = [...new Set([7, 14, 30, window])].sort((a, b) => a - b)
  return html`<form class="filters" method="get">${hiddenFields(hidden)}
<label>Change of<input type="date" name="day" value="${query.get("day") ?? day}"></label>
<label>Window<select name="window">${windows.map(
    (days) => html`<option value="${days}"${days === window && html` selected=""`}>${days} days</option>`,
  )}</select></label>
<button type="submit">Show</button>${
    tryWindow !== null && html`<p class="small quiet">${tryWindow} days may show smaller changes.</p>`
  }</form>`
}

const listed = (parts: readonly Html[]) => html`${parts.map((part, at) => html`${at > 0 && "; "}${part}`)}`
