import type { AnswerOf, InputOf } from "../../answers.ts"
import { csvRecord } from "../../lib/csv.ts"
import { isRealDay } from "../../lib/time.ts"
import type { PageContext } from "../../ui/app/context.ts"
import { type Html, html } from "../../ui/html.ts"
import { spoken } from "../../ui/words.ts"
import { MAX_ALERTS } from "../feed.ts"
import { RULE_TYPES, type RuleType } from "../types.ts"

type Feed = AnswerOf<"list_alerts">
type Heads = AnswerOf<"list_app_heads">["apps"]

export interface Filters {
  appId?: string
  type?: RuleType[]
  since?: string
  unread?: boolean
}

/** Reads the filters in the address. Leaves out invalid values, which an edited address may contain. */
export function filtersIn(query: URLSearchParams, apps: Heads): Filters {
  const app = apps.find(({ id }) => id === query.get("app"))
  const type = RULE_TYPES.find((name) => name === query.get("type"))
  const since = query.get("since") ?? ""
  return {
    ...(app && { appId: app.id }),
    ...(type && { type: [type] }),
    ...(/^\d{4}-\d\d-\d\d$/.test(since) && isRealDay(since) && { since }),
    ...(query.get("unread") === "true" && { unread: true }),
  }
}

/** Reads a page of the feed. The sample has one page, which is filtered here. */
export async function readFeedPage(context: PageContext, input: InputOf<"list_alerts"> & Filters): Promise<Feed> {
  const feed = await context.ask("list_alerts", input)
  if (!context.isSample) return feed
  const { appId, type, since, unread } = input
  const alerts = feed.alerts.filter(
    (alert) =>
      (appId === undefined || alert.appId === appId) &&
      (type === undefined || type.includes(alert.type)) &&
      (since === undefined || alert.at >= since) &&
      (unread !== true || !alert.read),
  )
  return { ...feed, alerts }
}

export function filterForm(context: PageContext, apps: Heads, { appId, type, since, unread }: Filters): Html {
  const select = (
    name: string,
    label: string,
    options: readonly (readonly [value: string, text: string])[],
    chosen = "",
  ) =>
    html`<label>${label}<select name="${name}">${options.map(
      ([value, text]) => html`<option value="${value}"${value === chosen && html` selected=""`}>${text}</option>`,
    )}</select></label>`
  const names = apps.map(({ id, name }) => [id, name] as const)
  const types = RULE_TYPES.map((name) => [name, spoken(name)] as const)
  const states = [
    ["", "Read and unread"],
    ["true", "Unread only"],
  ] as const
  return html`<form class="filters" method="get" action="${context.base}/alerts" data-now="">${
    apps.length > 1 && select("app", "App", [["", "All apps"], ...names], appId)
  }${select("type", "Type", [["", "All types"], ...types], type?.[0])}${select(
    "unread",
    "State",
    states,
    unread ? "true" : "",
  )}<label>Since<input type="date" name="since" value="${since ?? ""}"></label>
<button type="submit">Show</button></form>
`
}

const COLUMNS = [
  "day",
  "at",
  "appName",
  "type",
  "platform",
  "country",
  "term",
  "rivalName",
  "before",
  "after",
  "sentence",
  "read",
] as const

/** Returns the alerts as a file, with the same filters. Longer feeds are read through the API. */
export async function alertsFile(context: PageContext, filters: Filters): Promise<string> {
  const { alerts } = await readFeedPage(context, { ...filters, limit: MAX_ALERTS })
  const rows = alerts.map((alert) => csvRecord(COLUMNS.map((name) => alert[name])))
  return csvRecord([...COLUMNS]) + rows.join("")
}
