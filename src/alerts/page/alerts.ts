import type { AnswerOf } from "../../answers.ts"
import { groupAlerts } from "../../lib/alert-groups.ts"
import { address, attempted, type Desk, hereOf, isFault, MADE, type Page } from "../../ui/app/desk.ts"
import { card, empty, refusedPart } from "../../ui/app/parts.ts"
import { writeForm } from "../../ui/app/write/form.ts"
import { type Html, html } from "../../ui/html.ts"
import { counted, spoken, whole } from "../../ui/words.ts"
import { alertItems } from "./alert-list.ts"
import { alertsFile, type Filters, filterForm, filtersIn, readFeedPage } from "./filters.ts"

type Rules = AnswerOf<"list_alert_rules">

/** Alerts of one page. An event may have dozens of them. */
const LISTED = 100

/** The events of the feed with filters, newest first, and the rules of their delivery. */
export async function alertsPage(desk: Desk): Promise<Page> {
  const { apps } = await desk.ask("list_app_heads")
  const filters = filtersIn(desk.query, apps)
  const page = (body: Html): Page => ({ title: "Alerts", at: "/alerts", body })
  if (desk.query.get("as") === "csv")
    return { ...page(html``), file: { name: "alerts.csv", csv: await alertsFile(desk, filters) } }
  const cursor = desk.query.get("after")
  const [feed, rules] = await Promise.all([
    attempted(readFeedPage(desk, { ...filters, limit: LISTED, ...(cursor && { cursor }) })),
    attempted(desk.ask("list_alert_rules")),
  ])
  const delivery = isFault(rules) ? card("Delivery", refusedPart(rules)) : deliveryPart(desk, rules)
  return page(html`<div class="columns-2 wide-left"><div>${
    isFault(feed)
      ? card("What happened", html`${refusedPart(feed)}${firstPage(desk)}`)
      : feedPart(desk, feed, filters, apps)
  }</div>
<div>${delivery}</div></div>`)
}

type Feed = AnswerOf<"list_alerts">

function feedPart(desk: Desk, feed: Feed, filters: Filters, apps: AnswerOf<"list_app_heads">["apps"]): Html {
  const { alerts, unread, omitted, nextCursor } = feed
  const isFiltered = Object.keys(filters).length > 0
  if (alerts.length === 0 && !isFiltered) return html`<section class="card">${noAlerts(desk)}</section>`
  const status = html`${unread > 0 && html`<span>${whole(unread)} unread</span> `}${markForm(desk, feed, filters)}`
  const list =
    alerts.length > 0
      ? html`<ul class="list">${alertItems(desk, groupAlerts(alerts))}</ul>`
      : empty("No such alert", html`Choose other filters, or <a href="${desk.base}/alerts">show all alerts</a>.`)
  const to = (more: Record<string, string>) =>
    address(`${desk.base}/alerts`, { ...Object.fromEntries(desk.query), [MADE]: null, ...more })
  return card(
    "What happened",
    html`${filterForm(desk, apps, filters)}${list}<p class="pages">${desk.query.has("after") && firstPage(desk)}${
      nextCursor !== null &&
      html`<a href="${to({ after: nextCursor })}" rel="next">Older</a>
<span class="quiet">${counted(omitted, "older alert")}</span>`
    }${alerts.length > 0 && !desk.isSample && html`<a href="${to({ as: "csv", after: "" })}">CSV</a>`}</p>`,
    status,
  )
}

function firstPage(desk: Desk): Html {
  const { after: _, ...query } = Object.fromEntries(desk.query)
  return html`<a href="${address(`${desk.base}/alerts`, query)}">Newest</a>`
}

/** Marks all alerts, or those of the chosen app, up to the newest one that is shown. */
function markForm(desk: Desk, { alerts, unread }: Feed, { appId, type, since }: Filters): Html | false {
  const [newest] = alerts
  if (unread === 0 || !newest || type || since || desk.query.has("after")) return false
  return writeForm(desk, {
    action: "mark_alerts_read",
    back: hereOf(desk),
    fixed: { until: newest.at, ...(appId !== undefined && { about: appId }) },
    button: appId === undefined ? "Mark all as read" : "Mark this app's as read",
    look: "row",
  })
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
          ? "Add a channel, such as Slack, Discord or ntfy, then choose the alerts that it gets."
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
