import { groupAlerts } from "../../lib/alert-groups.ts"
import type { Command } from "../cli/command.ts"
import { CSV, csvOf, harmless, printable, show, wrapped } from "../cli/show.ts"
import { useOperations, WORKSPACE } from "./ask.ts"

const SHOWN = 20

/** Number of alerts to read for that many events: an event may have dozens of alerts. */
const MAX_READ = 200

export const alerts: Command = {
  name: "alerts",
  summary: "Show the alert feed of a workspace, newest first.",
  examples: [
    ["alerts", `the newest ${SHOWN} events`],
    ["alerts --limit 100 --json", "as JSON"],
  ],
  options: {
    workspace: WORKSPACE,
    limit: { value: "NUMBER", meaning: `Maximum number of alerts, 1 to 500. Default: the newest ${SHOWN} events.` },
    ...CSV,
  },
  async run(invocation) {
    const { terminal } = invocation
    const given = invocation.amount("limit")
    const isData = invocation.has("json") || invocation.has("csv")
    const limit = given ?? (isData ? SHOWN : MAX_READ)
    const answer = await useOperations(invocation, (ask) => ask("list_alerts", { limit }))
    const { alerts: rows, omitted, unread } = answer
    if (invocation.has("csv")) {
      const cells = rows.map(({ at, type, appName, sentence, read }) => [at, type, appName, sentence, read])
      terminal.out(csvOf(["at", "type", "app", "sentence", "read"], cells))
      return 0
    }
    const all = groupAlerts(rows)
    const groups = given === undefined ? all.slice(0, SHOWN) : all
    const older = omitted + rows.length - groups.reduce((sum, { rows: alike }) => sum + alike.length, 0)
    show(invocation, answer, () => [
      ...groups.flatMap(({ lead, apps, isRead, direction, line }) => {
        const names = apps.length === 0 ? "workspace" : apps.map(printable).join(", ")
        const mark = direction === null ? "" : `${direction === "up" ? "▲" : "▼"} `
        const lines = wrapped(`${dateOf(lead.day)}  ${names}  ${mark}${harmless(line)}`, terminal.columns())
        return isRead ? lines.map((one) => terminal.paint("faint", one)) : lines
      }),
      rows.length === 0
        ? "no alerts yet; they appear when a measured day differs from the previous one"
        : terminal.paint("faint", `${unread} unread${older > 0 ? `, ${older} older alerts not shown` : ""}`),
    ])
    return 0
  },
}

/** Returns "26 Nov", with the year unless it is this year. */
function dateOf(day: string): string {
  const isThisYear = day.slice(0, 4) === new Date().toISOString().slice(0, 4)
  return `${DATE.format(new Date(`${day}T00:00:00Z`))}${isThisYear ? "" : ` ${day.slice(0, 4)}`}`
}

const DATE = new Intl.DateTimeFormat("en-GB", { day: "2-digit", month: "short", timeZone: "UTC" })
