import type { AnswerOf } from "../../answers.ts"
import { groupAlerts } from "../../lib/alert-groups.ts"
import { address, attempted, hereOf, isFault, MADE, type Page, type PageContext } from "../../ui/app/context.ts"
import { card, empty, refusedPart } from "../../ui/app/parts.ts"
import { writeForm } from "../../ui/app/write/form.ts"
import { type Html, html } from "../../ui/html.ts"
import { counted, spoken, whole } from "../../ui/words.ts"
import { alertItems } from "./alert-list.ts"
import { alertsFile, type Filters, filterForm, filtersIn, readFeedPage } from "./filters.ts"

type Rules = AnswerOf<"list_alert_rules">

/** Alerts of one page. An event may have dozens of them. */
const LISTED = 100

/** Shows the events of the feed with filters, newest first, and the rules of their delivery. */
export async function alertsPage(context: PageContext): Promise<Page> {
  const { apps } = await context.ask("list_app_heads")
  const filters = filtersIn(context.query, apps)
  const page = (body: Html): Page => ({ title: "Alerts", at: "/alerts", body })
  if (context.query.get("as") === "csv")
    return { ...page(html``), file: { name: "alerts.csv", csv: await alertsFile(context, filters) } }
  const cursor = context.query.get("after")
  const [feed, rules] = await Promise.all([
    attempted(readFeedPage(context, { ...filters, limit: LISTED, ...(cursor && { cursor }) })),
    attempted(context.ask("list_alert_rules")),
  ])
  const delivery = isFault(rules) ? card("Delivery", refusedPart(rules)) : deliveryPart(context, rules)
  return page(html`<div class="columns-2 wide-left"><div>${
    isFault(feed)
      ? card("What happened", html`${refusedPart(feed)}${firstPage(context)}`)
      : feedPart(context, feed, filters, apps)
  }</div>
<div>${delivery}</div></div>`)
}

type Feed = AnswerOf<"list_alerts">

function feedPart(context: PageContext, feed: Feed, filters: Filters, apps: AnswerOf<"list_app_heads">["apps"]): Html {
  const { alerts, unread, omitted, nextCursor } = feed
  const isFiltered = Object.keys(filters).length > 0
  if (alerts.length === 0 && !isFiltered) return html`<section class="card">${noAlerts(context)}</section>`
  const status = html`${unread > 0 && html`<span>${whole(unread)} unread</span> `}${markForm(context, feed, filters)}`
  const list =
    alerts.length > 0
      ? html`<ul class="list">${alertItems(context, groupAlerts(alerts))}</ul>`
      : empty("No such alert", html`Choose other filters, or <a href="${context.base}/alerts">show all alerts</a>.`)
  const to = (more: Record<string, string>) =>
    address(`${context.base}/alerts`, { ...Object.fromEntries(context.query), [MADE]: null, ...more })
  return card(
    "What happened",
    html`${filterForm(context, apps, filters)}${list}<p class="pages">${
      context.query.has("after") && firstPage(context)
    }${
      nextCursor !== null &&
      html`<a href="${to({ after: nextCursor })}" rel="next">Older</a>
<span class="quiet">${counted(omitted, "older alert")}</span>`
    }${alerts.length > 0 && !context.isSample && html`<a href="${to({ as: "csv", after: "" })}">CSV</a>`}</p>`,
    status,
  )
}

function firstPage(context: PageContext): Html {
  const { after: _, ...query } = Object.fromEntries(context.query)
  return html`<a href="${address(`${context.base}/alerts`, query)}">Newest</a>`
}

/** Marks all alerts, or those of the chosen app, up to the newest one that is shown. */
function markForm(context: PageContext, { alerts, unread }: Feed, { appId, type, since }: Filters): Html | false {
  const [newest] = alerts
  if (unread === 0 || !newest || type || since || context.query.has("after")) return false
  return writeForm(context, {
    action: "mark_alerts_read",
    back: hereOf(context),
    fixed: { until: newest.at, ...(appId !== undefined && { about: appId }) },
    button: appId === undefined ? "Mark all as read" : "Mark this app's as read",
    look: "row",
  })
}

/** Shows the rules and channels. They are changed in the settings. */
function deliveryPart(context: PageContext, { rules, channels }: Rules): Html {
  const links =
    !context.isSample &&
    html`<a href="${context.base}/settings/rules">Change rules</a> · <a
  href="${context.base}/settings/channels">Channels</a>`
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

function noAlerts(context: PageContext): Html {
  return empty(
    "No alerts yet",
    "Alerts compare each measured day with the one before: ranks that moved, rivals that passed you, changed store " +
      "pages, charts, features and waves of bad reviews. The first ones can appear on the second day.",
    context.isSample ? {} : { sample: "/app/sample/alerts" },
  )
}
