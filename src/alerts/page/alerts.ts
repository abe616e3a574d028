import type { AnswerOf } from "../../answers.ts"
import { attempted, type Desk, hereOf, isFault, type Page } from "../../ui/app/desk.ts"
import { card, empty, refusedPart } from "../../ui/app/parts.ts"
import { writeForm } from "../../ui/app/write/form.ts"
import { selectField, textField } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { counted, spoken } from "../../ui/words.ts"
import { alertList } from "./alert-list.ts"

type Rules = AnswerOf<"list_alert_rules">

/** Alerts of one page. */
const LISTED = 100

/** The page with the alerts, newest first, and the rules and channels of their delivery. */
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
  const status = html`${mark}${unread > 0 && `${unread} unread`}${omitted > 0 && `, ${counted(omitted, "older alert")} not listed`}`
  return {
    title: "Alerts",
    at: "/alerts",
    body: html`<div class="columns-2 wide-left"><div>${
      alerts.length === 0
        ? html`<section class="card">${noAlerts(desk)}</section>`
        : card(
            "What happened",
            html`${typeForm(desk, types, type)}${filtered.length > 0 ? alertList(desk, filtered) : empty("No such alert", "Another type may have some.")}`,
            status,
          )
    }</div>
<div>${isFault(rules) ? card("Delivery", refusedPart(rules)) : [rulesPart(desk, rules), channelsPart(rules)]}</div></div>`,
  }
}

function typeForm(desk: Desk, types: readonly string[], chosen: string): Html {
  return html`<form class="filters" method="get" action="${desk.base}/alerts" data-now=""><label>Type<select name="type"><option value="">All</option>${types.map((type) => html`<option value="${type}"${type === chosen && html` selected=""`}>${spoken(type)}</option>`)}</select></label><button type="submit" data-spare="">Show</button></form>
`
}

function rulesPart(desk: Desk, { rules, types }: Rules): Html {
  const list =
    rules.length === 0
      ? empty(
          "Nothing is delivered",
          "The feed tells every alert. A rule has one type sent to Slack, Telegram or a webhook as well.",
        )
      : html`<ul class="list">${rules.map((rule) => rulePart(desk, rule))}</ul>`
  return card("Rules", html`${list}${ruleForm(desk, types)}`, rules.length > 0 && counted(rules.length, "rule"))
}

function rulePart(desk: Desk, { type, channels, dropBy, keywordScope, rivalScope }: Rules["rules"][number]): Html {
  const terms = [
    dropBy !== null && `Drops of at least ${counted(dropBy, "place")}`,
    keywordScope === "tagged" && "tagged keywords only",
    rivalScope === "manual" && "rivals you added only",
  ]
  const to = channels.length > 0 ? html`to ${channels.join(", ")}` : html`<span class="quiet">no channel yet</span>`
  const remove = {
    action: "delete_alert_rule",
    id: `delete_alert_rule-${type}`,
    back: `${desk.base}/alerts`,
    fixed: { type },
    button: "Remove",
    tone: "quiet",
  } as const
  return html`<li><p><strong>${spoken(type)}</strong> ${to}</p><p class="small quiet">${
    terms.filter(Boolean).join(" · ") || "All of them"
  }</p>${writeForm(desk, remove)}</li>`
}

/** The form creates the rule of a type, or replaces it. */
function ruleForm(desk: Desk, types: readonly string[]): Html | false {
  return writeForm(
    desk,
    { action: "create_alert_rule", back: `${desk.base}/alerts`, button: "Preview" },
    (form) => html`${selectField(form, {
      name: "type",
      label: "Type of alert",
      isWide: true,
      options: types.map((type) => [type, spoken(type)]),
    })}
${textField(form, {
  name: "dropBy",
  label: "Only drops of at least … places",
  type: "number",
  min: 1,
  max: 100,
  hint: "For rank drops",
})}
${selectField(form, {
  name: "keywordScope",
  label: "Keywords",
  options: [
    ["", "All"],
    ["tagged", "Tagged keywords only"],
  ],
})}
${selectField(form, {
  name: "rivalScope",
  label: "Rivals",
  options: [
    ["", "All"],
    ["manual", "Rivals I added only"],
  ],
})}`,
  )
}

function channelsPart({ channels }: Rules): Html {
  if (channels.length === 0)
    return card(
      "Channels",
      empty("No channel is connected", "Where alerts are sent to.", { command: "appmeter channel add slack" }),
    )
  return card(
    "Channels",
    html`<ul class="list">${channels.map(({ kind, address, disabled, lastOk, failure, lastFailure, waiting }) => html`<li><p><strong>${spoken(kind)}</strong> <span class="hash">${address}</span> ${disabled ? html`<span class="tag warn">off: ${disabled}</span>` : html`<span class="tag good">on</span>`}</p><p class="small quiet">${lastOk ? html`last taken ${momentTime(lastOk)}` : "nothing sent yet"}${failure && lastFailure && html` · failed ${momentTime(lastFailure)}: ${failure}`}${waiting > 0 && ` · ${waiting} waiting`}</p></li>`)}</ul>`,
  )
}

function noAlerts(desk: Desk): Html {
  return empty(
    "No alert yet",
    "Alerts tell what a measured day shows against the measured day before: ranks that moved, rivals that passed you or were passed, changed pages, charts, features, waves of bad reviews. The first can come with the second day of readings.",
    desk.isSample ? {} : { sample: "/app/sample/alerts" },
  )
}
