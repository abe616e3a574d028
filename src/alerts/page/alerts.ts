import type { AnswerOf } from "../../answers.ts"
import { groupAlerts } from "../../lib/alert-groups.ts"
import { attempted, type Desk, hereOf, isFault, type Page } from "../../ui/app/desk.ts"
import { card, empty, refusedPart } from "../../ui/app/parts.ts"
import { writeForm } from "../../ui/app/write/form.ts"
import { type Html, html } from "../../ui/html.ts"
import { counted, spoken, whole } from "../../ui/words.ts"
import { alertItems } from "./alert-list.ts"

type Rules = AnswerOf<"list_alert_rules">

/** Alerts of one page. */
const LISTED = 100

/** The alerts, newest first, and the rules of their delivery. */
export async function alertsPage(desk: Desk): Promise<Page> {
  const [{ unread, alerts, omitted }, rules] = await Promise.all([
    desk.ask("list_alerts", { limit: LISTED }),
    attempted(desk.ask("list_alert_rules")),
  ])
  const type = desk.query.get("type") ?? ""
  const filtered = alerts.filter((alert) => type === "" || alert.type === type)
  const types = [...new Set(alerts.map((alert) => alert.type))].sort()
  const until = alerts[0]?.at ?? ""
  const mark =
    unread > 0 &&
    writeForm(desk, {
      action: "mark_alerts_read",
      back: hereOf(desk),
      fixed: { until },
      button: "Mark all as read",
      look: "row",
    })
  const status = html`${mark}${unread > 0 && `${whole(unread)} unread`}${
    omitted > 0 && `, ${counted(omitted, "older alert")} not listed`
  }`
  const list =
    filtered.length > 0
      ? html`<ul class="list">${alertItems(desk, groupAlerts(filtered))}</ul>`
      : empty("No such alert", "Choose another type.")
  return {
    title: "Alerts",
    at: "/alerts",
    body: html`<div class="columns-2 wide-left"><div>${
      alerts.length === 0
        ? html`<section class="card">${noAlerts(desk)}</section>`
        : card("What happened", html`${typeForm(desk, types, type)}${list}`, status)
    }</div>
<div>${isFault(rules) ? card("Delivery", refusedPart(rules)) : deliveryPart(desk, rules)}</div></div>`,
  }
}

function typeForm(desk: Desk, types: readonly string[], chosen: string): Html {
  const options = types.map(
    (type) => html`<option value="${type}"${type === chosen && html` selected=""`}>${spoken(type)}</option>`,
  )
  return html`<form class="filters" method="get" action="${desk.base}/alerts" data-now="">
<label>Type<select name="type"><option value="">All</option>${options}</select></label>
<button type="submit" data-spare="">Show</button></form>
`
}

/** The rules and channels, which the settings change. */
function deliveryPart(desk: Desk, { rules, channels }: Rules): Html {
  const links =
    !desk.isSample &&
    html`<a href="${desk.base}/settings/rules">Change rules</a> · <a href="${desk.base}/settings/channels">Channels</a>`
  if (rules.length === 0)
    return card(
      "Delivery",
      empty(
        "No alert is delivered yet",
        channels.length === 0
          ? "Add a channel, such as Slack, Telegram or a webhook, then choose the alerts that it gets."
          : "All alerts are listed here. A rule also sends those of one type to your channels.",
      ),
      links,
    )
  return card("Delivery", html`<ul class="list">${rules.map(rulePart)}</ul>`, links)
}

function rulePart({ type, channels, dropBy, keywordScope, rivalScope }: Rules["rules"][number]): Html {
  const terms = [
    dropBy !== null && `Drops of at least ${counted(dropBy, "place")}`,
    keywordScope === "tagged" && "tagged keywords only",
    rivalScope === "manual" && "rivals you added only",
  ]
  const to = channels.length > 0 ? `to ${channels.map(spoken).join(", ")}` : "no channel yet"
  return html`<li><p><strong>${spoken(type)}</strong> ${to}</p>
<p class="small quiet">${terms.filter(Boolean).join(" · ") || "All of them"}</p></li>`
}

function noAlerts(desk: Desk): Html {
  return empty(
    "No alerts yet",
    "Alerts compare each measured day with the one before: ranks that moved, rivals that passed you, changed store " +
      "pages, charts, features and waves of bad reviews. The first ones can appear on the second day.",
    desk.isSample ? {} : { sample: "/app/sample/alerts" },
  )
}
