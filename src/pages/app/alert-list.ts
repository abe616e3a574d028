import { type Html, html } from "../html.ts"
import { dayTime } from "../times.ts"
import { spoken } from "../words.ts"
import { address, appAddress, type Desk } from "./desk.ts"

export interface AlertRow {
  id: number
  type: string
  appId: string
  appName: string
  platform: "ios" | "android" | null
  country: string | null
  day: string
  read: boolean
  sentence: string
  term: string | null
  source: string | null
  deliveries: { channel: string; state: string }[]
}

/** Alerts, newest first, each with a way to what it tells of. */
export function alertList(desk: Desk, alerts: readonly AlertRow[]): Html {
  return html`<ul class="list">
${alerts.map(
  (alert) => html`<li${!alert.read && html` class="fresh"`}><p>${alert.sentence}</p>
<p class="small quiet">${dayTime(alert.day)} · <a href="${appAddress(desk, { id: alert.appId })}"><bdi>${alert.appName}</bdi></a> · ${spoken(alert.type)}${alert.source && html` · <code>${alert.source}</code>`}${evidence(desk, alert)}${alert.deliveries.map(({ channel, state }) => html` · <span class="tag">${channel}: ${state}</span>`)}</p></li>
`,
)}</ul>
`
}

function evidence(desk: Desk, { appId, term, country, platform, day }: AlertRow): Html | false {
  if (term === null || country === null) return false
  const at = `${country}-${platform ?? "ios"}`
  return html` · <a href="${address(appAddress(desk, { id: appId }, "evidence"), { term, at, day })}">Evidence</a>`
}
