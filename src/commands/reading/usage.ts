import type { Command } from "../cli/command.ts"
import { CSV, csvOf, show, table } from "../cli/show.ts"
import { useOperations, WORKSPACE } from "./ask.ts"

export const usage: Command = {
  name: "usage",
  summary: "Show how much of each limit a workspace has used.",
  examples: [["usage", "credits, keywords, apps and calls per day"]],
  options: { workspace: WORKSPACE, ...CSV },
  async run(invocation) {
    const answer = await useOperations(invocation, (ask) => ask("get_usage"))
    const { plan, quotas } = answer
    if (invocation.has("csv")) {
      const rows = quotas.map(({ key, kind, used, limit }) => [key, used, limit, kind])
      invocation.terminal.out(csvOf(["limit", "used", "of", "counted"], rows))
      return 0
    }
    show(invocation, answer, () => [
      `plan ${plan}`,
      ...table(
        ["LIMIT", "USED", "OF", "COUNTED"],
        quotas.map(({ key, kind, used, limit }) => [
          key,
          used ?? "not metered",
          limit ?? "no limit",
          COUNTED[kind] ?? kind,
        ]),
      ),
    ])
    return 0
  },
}

const COUNTED: Record<string, string> = { stock: "at once", month: "a month", day: "a day", rate: "a second" }
