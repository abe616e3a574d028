import type { AnswerOf } from "../../answers.ts"
import type { AlertGroup } from "../../lib/alert-groups.ts"
import { isInventedId } from "../../lib/store-ids.ts"
import { isInventedTerm } from "../../lib/term.ts"
import { address, appAddress, type PageContext, sideCode } from "../../ui/app/context.ts"
import { type Html, html } from "../../ui/html.ts"
import { DEMO_SOURCE, sourceName } from "../../ui/source-names.ts"
import { dayTime } from "../../ui/times.ts"
import { counted, spoken } from "../../ui/words.ts"

export type AlertRow = AnswerOf<"list_alerts">["alerts"][number]

/** Renders events: one item each, with links to what moved, to its apps and to its evidence. */
export function alertItems(context: PageContext, groups: readonly AlertGroup<AlertRow>[]): Html[] {
  return groups.map((group) => alertItem(context, group))
}

function alertItem(context: PageContext, { lead, rows, day, isRead, direction, line }: AlertGroup<AlertRow>): Html {
  const sent = rows.flatMap(({ deliveries }) => deliveries)
  const tags = [...new Set(sent.map(({ channel, state }) => `${channel}: ${state}`))]
  const source = lead.source && html` · ${isInvented(lead) ? DEMO_SOURCE : sourceName(lead.source)}`
  const target = subjectAddress(context, lead)
  const text = target === null ? line : html`<a class="event" href="${target}">${line}</a>`
  return html`<li${!isRead && html` class="fresh"`}>
<p>${direction && html`<span class="${direction}">${direction === "up" ? "▲" : "▼"}</span> `}${text}</p>
<p class="small quiet">
${dayTime(day)} · ${appLinks(context, rows)} · ${spoken(lead.type)}${source}${evidence(context, lead)}${tags.map(
    (tag) => html` · <span class="tag">${tag}</span>`,
  )}</p>${
    rows.length > 1 &&
    html`<details class="small"><summary>${counted(rows.length, "alert")}</summary>
<ul>${rows.map(({ sentence }) => html`<li>${sentence}</li>`)}</ul></details>`
  }</li>
`
}

const isInvented = ({ term, rivalId }: AlertRow) =>
  (term !== null && isInventedTerm(term)) || (rivalId !== null && isInventedId(rivalId))

/** The tab of an app that shows the subject of an alert, for the types without a keyword or rival. */
const TABS: Partial<Record<AlertRow["type"], string>> = {
  ai_mention_lost: "assistants",
  asa_rule: "ads",
  chart_drop: "charts",
  chart_enter: "charts",
  featured: "page",
  review_wave: "reviews",
  weekly: "",
}

/** Returns the page of the keyword, rival or tab that an alert is about. Null if the app is no longer tracked. */
function subjectAddress(
  context: PageContext,
  { type, appId, term, rivalId, country, platform }: AlertRow,
): string | null {
  if (appId === null) return null
  const at = country === null || platform === null ? null : sideCode({ country, platform })
  const tab = TABS[type]
  if (tab !== undefined) return address(appAddress(context, { id: appId }, tab), { at })
  if (term !== null) return address(appAddress(context, { id: appId }, "ranks"), { terms: term, at })
  return address(appAddress(context, { id: appId }, rivalId === null ? "rivals" : "rival"), { rival: rivalId, at })
}

function appLinks(context: PageContext, rows: readonly AlertRow[]): Html[] {
  const names = new Map(rows.map(({ appId, appName }) => [appId, appName]))
  return [...names].map(([id, name], at) => html`${at > 0 && ", "}${appLink(context, id, name)}`)
}

/** Returns a link to the app. `id` is null if the app is no longer tracked. */
function appLink(context: PageContext, id: string | null, name: string | null): Html {
  const text = html`<bdi>${name}</bdi>`
  return id === null ? text : html`<a href="${appAddress(context, { id })}">${text}</a>`
}

function evidence(context: PageContext, { appId, term, country, platform, day }: AlertRow): Html | false {
  if (appId === null || term === null || country === null) return false
  const at = `${country}-${platform ?? "ios"}`
  return html` · <a href="${address(appAddress(context, { id: appId }, "evidence"), { term, at, day })}">Evidence</a>`
}
