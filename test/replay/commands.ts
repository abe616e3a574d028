import type { Call } from "./calls.ts"
import type { Comparer } from "./compare.ts"
import type { Report } from "./report.ts"
import { filled, named, parsed, type Session } from "./session.ts"

/** Commands of the terminal, the ledger first: usage by day and key, the audit of writes, totals of every workspace. */
const COMMANDS = [
  ...["main", "free", "packed", "pro", "studio", "poor"].map((workspace) => `usage --workspace ${workspace} --json`),
  "audit --workspace main --limit 500 --json",
  "workspace list --json",
  ...["main", "pro"].map((workspace) => `key list --workspace ${workspace} --json`),
  "app list --workspace main --json",
  "app keywords list @{tea} --json",
  "account list --workspace main --json",
  "link list --workspace main --json",
  "approval list --workspace main --json",
  "alerts --workspace main --json",
  "reviews @{tea} --json",
  "ranks --workspace main --json",
  "call list_keyword_ranks appId=@{tea} --workspace main --json",
  "call get_rank_history appId=@{tea} days=14 --workspace main --csv",
  "call nothing --workspace main --json",
  "call list_apps odd=1 --workspace main --json",
  "key create --workspace nothing --json",
  "nothing --json",
]

/** Runs each command on both builds next to their servers and compares exit code and document. */
export async function compareCommands(pair: [Session, Session], comparer: Comparer, report: Report): Promise<void> {
  for (const command of COMMANDS) {
    const [name] = /^[a-z ]+?(?= [-@]|$)/.exec(command) ?? [command]
    const call: Call = {
      operation: name,
      surface: "command",
      state: command,
      method: "run",
      path: `appmeter ${command}`,
      key: null,
      account: /--workspace (\w+)/.exec(command)?.[1] ?? "none",
    }
    const results = await Promise.all(
      pair.map(async ({ build, aliases }) => {
        const { code, out } = await build.cli(command.split(" ").map((part) => filled(part, aliases)))
        const text = named(out, aliases)
        return { code, out: inOneOrder(parsed(text)) ?? text.split("\n") }
      }),
    )
    report.add("command", comparer.compareValues(call, results[0], results[1]))
  }
}

/** Sorts links, which are listed by their random ids, in an order that is the same for both builds. */
function inOneOrder(document: unknown): unknown {
  const links = (document as { links?: { expiresAt: string; kind: string }[] } | null)?.links
  links?.sort((a, b) => `${a.expiresAt} ${a.kind}`.localeCompare(`${b.expiresAt} ${b.kind}`))
  return document
}
