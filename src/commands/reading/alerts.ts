import type { InputOf } from "../../answers.ts"
import { groupAlerts } from "../../lib/alert-groups.ts"
import { type Command, type Invocation, WrongUse } from "../cli/command.ts"
import { CSV, csvOf, harmless, printable, show, wrapped } from "../cli/show.ts"
import { findOneApp, useOperations, WORKSPACE } from "./ask.ts"

const SHOWN = 20

/** Number of alerts to read in order to show SHOWN events: an event may have dozens of alerts. */
const MAX_READ = 200

export const alerts: Command = {
  name: "alerts",
  summary: "Show the alert feed of a workspace, newest first.",
  examples: [
    ["alerts", `the newest ${SHOWN} events`],
    ["alerts --since 2026-11-24 --type rank_drop --unread", "drops since that day that nobody has read"],
    ["alerts --app 'Tide Times' --limit 100 --json", "of one app, as JSON"],
  ],
  options: {
    workspace: WORKSPACE,
    app: { value: "NAME", meaning: "Only alerts about this app: its name, id or store id." },
    type: {
      value: "TYPE",
      meaning: "Only alerts of this type, such as rank_drop. Repeat for several.",
      repeated: true,
    },
    from: { value: "YYYY-MM-DD", meaning: "The first UTC day of the alerts." },
    to: { value: "YYYY-MM-DD", meaning: "The last UTC day of the alerts." },
    since: { value: "TIME", meaning: "Only alerts found from this day or ISO 8601 time on." },
    until: { value: "TIME", meaning: "Only alerts found up to this day or time. A day includes its end." },
    unread: { meaning: "Only unread alerts." },
    read: { meaning: "Only read alerts." },
    limit: { value: "NUMBER", meaning: `Maximum number of alerts, 1 to 500. Default: the newest ${SHOWN} events.` },
    ...CSV,
  },
  async run(invocation) {
    const { terminal } = invocation
    const given = invocation.amount("limit")
    const isData = invocation.has("json") || invocation.has("csv")
    const limit = given ?? (isData ? SHOWN : MAX_READ)
    const filters = filtersOf(invocation)
    const answer = await useOperations(invocation, async (ask) => {
      const word = invocation.text("app")
      const app = word === undefined ? null : await findOneApp(ask, word)
      return await ask("list_alerts", { limit, ...filters, ...(app && { appId: app.id }) })
    })
    const { alerts: rows, omitted, unread } = answer
    if (invocation.has("csv")) {
      const cells = rows.map(({ at, type, appName, sentence, read }) => [at, type, appName, sentence, read])
      terminal.out(csvOf(["at", "type", "app", "sentence", "read"], cells))
      return 0
    }
    const isFiltered = invocation.has("app") || Object.keys(filters).length > 0
    const all = groupAlerts(rows)
    const groups = given === undefined ? all.slice(0, SHOWN) : all
    const older = omitted + rows.length - groups.reduce((sum, { rows: alike }) => sum + alike.length, 0)
    show(invocation, answer, () => [
      ...groups.flatMap(({ day, apps, isRead, direction, line }) => {
        const names = apps.length === 0 ? "workspace" : apps.map(printable).join(", ")
        const mark = direction === null ? "" : `${direction === "up" ? "▲" : "▼"} `
        const lines = wrapped(`${dateOf(day)}  ${names}  ${mark}${harmless(line)}`, terminal.columns())
        return isRead ? lines.map((one) => terminal.paint("faint", one)) : lines
      }),
      rows.length === 0
        ? isFiltered
          ? "no alert matches; leave a filter out, or see all alerts with: appmeter alerts"
          : "no alerts yet; they appear when a measured day differs from the previous one"
        : terminal.paint("faint", `${unread} unread${older > 0 ? `, ${older} older alerts not shown` : ""}`),
    ])
    return 0
  },
}

/** Returns the options as the filters of list_alerts, which have the same names. The API checks their values. */
function filtersOf({ has, text, texts }: Invocation): InputOf<"list_alerts"> {
  if (has("unread") && has("read")) throw new WrongUse("--unread and --read exclude each other; leave out both for all")
  const given = ["from", "to", "since", "until"].flatMap((name) => {
    const value = text(name)
    return value === undefined ? [] : [[name, value] as const]
  })
  // several types may also be separated by commas, as in the API
  const types = texts("type")?.flatMap((type) => type.split(",").map((part) => part.trim()))
  return {
    ...Object.fromEntries(given),
    ...(types && { type: types }),
    ...((has("unread") || has("read")) && { unread: has("unread") }),
  }
}

/** Returns "26 Nov", with the year unless it is this year. */
function dateOf(day: string): string {
  const isThisYear = day.slice(0, 4) === new Date().toISOString().slice(0, 4)
  return `${DATE.format(new Date(`${day}T00:00:00Z`))}${isThisYear ? "" : ` ${day.slice(0, 4)}`}`
}

const DATE = new Intl.DateTimeFormat("en-GB", { day: "2-digit", month: "short", timeZone: "UTC" })
