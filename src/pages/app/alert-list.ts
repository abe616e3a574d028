import type { AnswerOf } from "../../answers.ts"
import { type Html, html } from "../html.ts"
import { dayTime } from "../times.ts"
import { spoken } from "../words.ts"
import { address, appAddress, type Desk } from "./desk.ts"

export type AlertRow = AnswerOf<"list_alerts">["alerts"][number]

/** Alerts, newest first, each with a way to what it tells of. */
export function alertList(desk: Desk, alerts: readonly AlertRow[]): Html {
  return html`<ul class="list">
${alerts.map(
  (alert) => html`<li${!alert.read && html` class="fresh"`}><p>${alert.sentence}</p>
<p class="small quiet">${dayTime(alert.day)} · ${appLink(desk, alert)} · ${spoken(alert.type)}${alert.source && html` · <code>${alert.source}</code>`}${evidence(desk, alert)}${alert.deliveries.map(({ channel, state }) => html` · <span class="tag">${channel}: ${state}</span>`)}</p></li>
`,
)}</ul>
`
}

/** The app may no longer be tracked. */
function appLink(desk: Desk, { appId, appName }: AlertRow): Html {
  const name = html`<bdi>${appName}</bdi>`
  return appId === null ? name : html`<a href="${appAddress(desk, { id: appId })}">${name}</a>`
}

function evidence(desk: Desk, { appId, term, country, platform, day }: AlertRow): Html | false {
  if (appId === null || term === null || country === null) return false
  const at = `${country}-${platform ?? "ios"}`
  return html` · <a href="${address(appAddress(desk, { id: appId }, "evidence"), { term, at, day })}">Evidence</a>`
}
