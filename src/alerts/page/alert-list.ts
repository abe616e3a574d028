import type { AnswerOf } from "../../answers.ts"
import { type AlertGroup, groupAlerts } from "../../lib/alert-groups.ts"
import { address, appAddress, type Desk } from "../../ui/app/desk.ts"
import { type Html, html } from "../../ui/html.ts"
import { sourceName } from "../../ui/source-names.ts"
import { dayTime } from "../../ui/times.ts"
import { counted, spoken } from "../../ui/words.ts"

export type AlertRow = AnswerOf<"list_alerts">["alerts"][number]

/** Renders alerts, newest first: one item per event, with links to its app and its evidence. */
export function alertList(desk: Desk, alerts: readonly AlertRow[], most = alerts.length): Html {
  return html`<ul class="list">
${groupAlerts(alerts)
  .slice(0, most)
  .map((group) => alertItem(desk, group))}</ul>
`
}

function alertItem(desk: Desk, { lead, rows, isRead, direction, line }: AlertGroup<AlertRow>): Html {
  const sent = rows.flatMap(({ deliveries }) => deliveries)
  const tags = [...new Set(sent.map(({ channel, state }) => `${channel}: ${state}`))]
  const source = lead.source && html` · ${sourceName(lead.source)}`
  return html`<li${!isRead && html` class="fresh"`}>
<p>${direction && html`<span class="${direction}">${direction === "up" ? "▲" : "▼"}</span> `}${line}</p>
<p class="small quiet">
${dayTime(lead.day)} · ${appLinks(desk, rows)} · ${spoken(lead.type)}${source}${evidence(desk, lead)}${tags.map(
    (tag) => html` · <span class="tag">${tag}</span>`,
  )}</p>${
    rows.length > 1 &&
    html`<details class="small"><summary>${counted(rows.length, "alert")}</summary>
<ul>${rows.map(({ sentence }) => html`<li>${sentence}</li>`)}</ul></details>`
  }</li>
`
}

function appLinks(desk: Desk, rows: readonly AlertRow[]): Html[] {
  const names = new Map(rows.map(({ appId, appName }) => [appId, appName]))
  return [...names].map(([id, name], at) => html`${at > 0 && ", "}${appLink(desk, id, name)}`)
}

/** The id is null if the app is no longer tracked. */
function appLink(desk: Desk, id: string | null, name: string | null): Html {
  const text = html`<bdi>${name}</bdi>`
  return id === null ? text : html`<a href="${appAddress(desk, { id })}">${text}</a>`
}

function evidence(desk: Desk, { appId, term, country, platform, day }: AlertRow): Html | false {
  if (appId === null || term === null || country === null) return false
  const at = `${country}-${platform ?? "ios"}`
  return html` · <a href="${address(appAddress(desk, { id: appId }, "evidence"), { term, at, day })}">Evidence</a>`
}
