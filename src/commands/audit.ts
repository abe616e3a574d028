import { listOperatorActions, type OperatorAction } from "../access/operator-actions.ts"
import { type AuditRow, listAudit } from "../writes/audit.ts"
import { type Command, type Invocation, WrongUse } from "./cli/command.ts"
import { harmless, show, table } from "./cli/show.ts"
import { chooseWorkspace, useDatabase } from "./cli/with-database.ts"

const MAX_LIMIT = 1_000

export const audit: Command = {
  name: "audit",
  summary: "List confirmed writes and operator commands, newest first.",
  examples: [
    ["audit", "the latest 50 writes of the workspace"],
    ["audit --app app_4fD0Zs81hQbK --limit 10", "the latest ten writes to one app"],
    ["audit --json | jq -r .writes[].requestId", "only the request ids, as in the log"],
  ],
  options: {
    workspace: { value: "NAME", meaning: "The workspace. Optional if there is only one." },
    app: { value: "APP_ID", meaning: "Only writes to this app, even if it is no longer tracked." },
    limit: { value: "N", meaning: `Maximum number of writes, 1 to ${MAX_LIMIT}. Default: 50.` },
  },
  async run(invocation) {
    const limit = limitOf(invocation)
    const [writes, commands] = await useDatabase(invocation, async (sql) => {
      const workspace = await chooseWorkspace(sql, invocation.text("workspace"))
      const appId = invocation.text("app")
      const writes = await listAudit(sql, { workspaceId: workspace.id, rights: null, appId, limit })
      return [writes, appId === undefined ? await listOperatorActions(sql, limit) : []]
    })
    show(invocation, { writes, commands }, () => [
      ...table(
        ["TIME", "WORKSPACE", "KEY", "ACTION", "TARGET", "CREDITS", "REQUEST", "SUMMARY"],
        writes.map((write) => [
          write.at.toISOString(),
          write.workspace,
          write.key.name === null ? `key ${write.key.id}` : `${write.key.name} ${write.key.hint}`,
          write.action,
          write.target,
          write.credits,
          write.requestId,
          summaryOf(write),
        ]),
        "no confirmed writes yet",
      ),
      ...commandLines(commands),
    ])
    return 0
  },
}

function summaryOf({ summary, jobId, approvedBy }: AuditRow): string {
  const job = jobId ? ` (${jobId})` : ""
  const approval = approvedBy ? `; approved by ${harmless(approvedBy)}` : ""
  return `${harmless(summary)}${job}${approval}`
}

/**
 * Returns a line per command. Commands are not filtered by workspace, because a command may concern several workspaces
 * or none.
 */
function commandLines(commands: readonly OperatorAction[]): string[] {
  if (commands.length === 0) return []
  const rows = commands.map(({ at, actor, command, typed, exitCode }) => [
    at.toISOString(),
    actor,
    exitCode === null ? "did not end" : exitCode === 0 ? "done" : "failed",
    harmless(`${command} ${typed}`),
  ])
  return ["", ...table(["TIME", "ON THE MACHINE", "ENDED", "COMMAND"], rows)]
}

function limitOf({ amount }: Invocation): number {
  const limit = amount("limit") ?? 50
  if (limit < 1 || limit > MAX_LIMIT) throw new WrongUse(`--limit must be 1 to ${MAX_LIMIT}`)
  return limit
}
