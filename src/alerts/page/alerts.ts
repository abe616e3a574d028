import type { AnswerOf } from "../../answers.ts"
import { attempted, type Desk, isFault, type Page } from "../../ui/app/desk.ts"
import { card, empty, refusedPart } from "../../ui/app/parts.ts"
import { writeForm } from "../../ui/app/write/form.ts"
import { type Html, html } from "../../ui/html.ts"
import { momentTime } from "../../ui/times.ts"
import { counted, spoken } from "../../ui/words.ts"
import { alertList } from "./alert-list.ts"

type Rules = AnswerOf<"list_alert_rules">

/** At most 100 alerts, because pages with forms are not compressed and 200 exceed 100 KB. */
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
  const back = `${desk.base}/alerts`
  const mark = unread > 0 && writeForm(desk, { action: "mark_alerts_read", back, button: "Mark all as read" })
  const status = html`${mark}${unread > 0 && `${unread} unread`}${omitted > 0 && `, ${omitted} older are not listed`}`
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
    }</div><div>${isFault(rules) ? card("Delivery", refusedPart(rules)) : [rulesPart(desk, rules), channelsPart(rules)]}</div></div>`,
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
    dropBy !== null && `falls of ${dropBy} places or more`,
    keywordScope === "tagged" && "tagged keywords alone",
    rivalScope === "manual" && "rivals named by hand alone",
  ]
  const to = channels.length > 0 ? html`to ${channels.join(", ")}` : html`<span class="quiet">to nowhere</span>`
  const away = { action: "delete_alert_rule", back: `${desk.base}/alerts`, fixed: { type }, button: "End" }
  return html`<li><p><strong>${spoken(type)}</strong> ${to}</p><p class="small quiet">${terms.filter(Boolean).join(" · ") || "all of them"}</p>${writeForm(desk, away)}</li>`
}

/** The form creates the rule of a type, or replaces it. */
function ruleForm(desk: Desk, types: readonly string[]): Html | false {
  return writeForm(
    desk,
    { action: "create_alert_rule", back: `${desk.base}/alerts`, button: "Deliver" },
    html`<label class="grow">Type of alert<select name="type">${types.map((type) => html`<option value="${type}">${spoken(type)}</option>`)}</select></label>
<label>Falls of at least<input type="number" name="dropBy" min="1" max="100" placeholder="of a rank drop"></label>
<label>Keywords<select name="keywordScope"><option value="">All</option><option value="tagged">Tagged alone</option></select></label>
<label>Rivals<select name="rivalScope"><option value="">All</option><option value="manual">Named by hand alone</option></select></label>`,
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
