import type { Command } from "../cli/command.ts"
import { CSV, csvOf, harmless, printable, show, wrapped } from "../cli/show.ts"
import { useOperations, WORKSPACE } from "./ask.ts"

const SHOWN = 20

export const alerts: Command = {
  name: "alerts",
  summary: "Show what changed, newest first: the alert feed of the workspace.",
  examples: [
    ["alerts", `the newest ${SHOWN}`],
    ["alerts --limit 100 --json", "for another program"],
  ],
  options: {
    workspace: WORKSPACE,
    limit: { value: "NUMBER", meaning: `The most alerts to show, 1 to 500; ${SHOWN} when left out.` },
    ...CSV,
  },
  async run(invocation) {
    const { terminal } = invocation
    const limit = invocation.amount("limit") ?? SHOWN
    const answer = await useOperations(invocation, (ask) => ask("list_alerts", { limit }))
    const { alerts: rows, omitted, unread } = answer
    if (invocation.has("csv")) {
      const cells = rows.map(({ at, type, appName, sentence, read }) => [at, type, appName, sentence, read])
      terminal.out(csvOf(["at", "type", "app", "sentence", "read"], cells))
      return 0
    }
    show(invocation, answer, () => [
      ...rows.flatMap(({ at, read, appName, sentence }) => {
        const head = `${at.slice(0, 16).replace("T", " ")}  ${printable(appName ?? "workspace")}: `
        const lines = wrapped(`${head}${harmless(sentence)}`, terminal.columns())
        return read ? lines.map((line) => terminal.paint("faint", line)) : lines
      }),
      rows.length === 0
        ? "no alerts yet: they come when a measured day differs from the one before"
        : terminal.paint("faint", `${unread} unread${omitted > 0 ? `, ${omitted} older ones not shown` : ""}`),
    ])
    return 0
  },
}
