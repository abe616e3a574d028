import { type Html, html } from "../html.ts"
import { momentTime } from "../times.ts"
import { counted, spoken } from "../words.ts"
import { type AlertRow, alertList } from "./alert-list.ts"
import { attempted, type Desk, isFault, type Page } from "./desk.ts"
import { card, empty, refusedPart } from "./parts.ts"

interface Rules {
  rules: {
    type: string
    channels: string[]
    dropBy: number | null
    keywordScope: string | null
    rivalScope: string | null
  }[]
  channels: {
    kind: string
    address: string
    disabled: string | null
    lastOk: string | null
    failure: string | null
    lastFailure: string | null
    waiting: number
  }[]
}

const LISTED = 200

/** What happened, newest first, and what of it is delivered where. */
export async function alertsPage(desk: Desk): Promise<Page> {
  const [{ unread, alerts, omitted }, rules] = await Promise.all([
    desk.ask<{ unread: number; alerts: AlertRow[]; omitted: number }>("list_alerts", { limit: LISTED }),
    attempted(desk.ask<Rules>("list_alert_rules")),
  ])
  const type = desk.query.get("type") ?? ""
  const shown = alerts.filter((alert) => type === "" || alert.type === type)
  const types = [...new Set(alerts.map((alert) => alert.type))].sort()
  const said = html`${unread > 0 && `${unread} unread`}${omitted > 0 && `, ${omitted} older are not listed`}`
  return {
    title: "Alerts",
    at: "/alerts",
    body: html`<div class="columns-2 wide-left"><div>${
      alerts.length === 0
        ? html`<section class="card">${noAlerts(desk)}</section>`
        : card(
            "What happened",
            html`${typeForm(desk, types, type)}${shown.length > 0 ? alertList(desk, shown) : empty("No such alert", "Another type may have some.")}`,
            said,
          )
    }</div><div>${isFault(rules) ? card("Delivery", refusedPart(rules)) : [rulesPart(rules), channelsPart(rules)]}</div></div>`,
  }
}

function typeForm(desk: Desk, types: readonly string[], chosen: string): Html {
  return html`<form class="filters" method="get" action="${desk.base}/alerts" data-now=""><label>Type<select name="type"><option value="">All</option>${types.map((type) => html`<option value="${type}"${type === chosen && html` selected=""`}>${spoken(type)}</option>`)}</select></label><button type="submit" data-spare="">Show</button></form>
`
}

function rulesPart({ rules }: Rules): Html {
  if (rules.length === 0)
    return card(
      "Rules",
      empty(
        "Nothing is delivered",
        "The feed tells every alert. A rule has one type sent to Slack, Telegram or a webhook as well.",
        {
          command: `appmeter call preview_action \\\n  '{"action":"create_alert_rule","args":{"type":"rank_drop","dropBy":5}}'`,
        },
      ),
    )
  return card(
    "Rules",
    html`<ul class="list">${rules.map(({ type, channels, dropBy, keywordScope, rivalScope }) => html`<li><p><strong>${spoken(type)}</strong> ${channels.length > 0 ? html`to ${channels.join(", ")}` : html`<span class="quiet">to nowhere</span>`}</p><p class="small quiet">${[dropBy !== null && `falls of ${dropBy} places or more`, keywordScope === "tagged" && "tagged keywords alone", rivalScope === "manual" && "rivals named by hand alone"].filter(Boolean).join(" · ") || "all of them"}</p></li>`)}</ul>`,
    counted(rules.length, "rule"),
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
