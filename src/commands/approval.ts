import { ALL_ACTIONS, type ApprovalRule, readApprovalRule, setApprovalRule } from "../access/approval-rules.ts"
import type { Sql } from "../database/types.ts"
import { changedLines, WHOLE } from "../tracking/actions/changed-lines.ts"
import { type Approval, listApprovals, settleApproval } from "../writes/approvals.ts"
import { type Command, CommandProblem, firstArgument, type Invocation, WrongUse } from "./cli/command.ts"
import { harmless, printable, show, table } from "./cli/show.ts"
import { chooseWorkspace, useDatabase } from "./cli/with-database.ts"

const WORKSPACE = { value: "NAME", meaning: "The workspace. Optional if there is only one." }

export const approve: Command = {
  name: "approve",
  changes: true,
  summary: "Show a write that an assistant asked for, and approve or decline it.",
  examples: [
    ["approve ap_5f0c6f6a1d2e3b4a9c", "shows the preview that the assistant was answered, and asks"],
    ["approve ap_5f0c6f6a1d2e3b4a9c --decline", "it is never confirmed"],
  ],
  positionals: ["id"],
  options: { decline: { meaning: "Say no." }, force: { meaning: "Skip the confirmation." } },
  async run(invocation) {
    const id = firstArgument(invocation)
    const verdict = invocation.has("decline") ? ("declined" as const) : ("approved" as const)
    const by = `${invocation.recorded!.actor}, on the machine`
    const approval = await useDatabase(invocation, async (sql) => {
      const waiting = await readWaiting(sql, id)
      for (const line of linesOf(waiting)) invocation.terminal.say(line)
      if (verdict === "approved" && !invocation.has("force"))
        await invocation.terminal.confirm("Approved, it is written as soon as it is confirmed.")
      if (!(await settleApproval(sql, { workspaceId: null, id }, { verdict, by })))
        throw new CommandProblem(`${id} no longer waits: it expired, or somebody was faster`)
      return { ...waiting, verdict, decidedBy: by }
    })
    show(invocation, { approval }, () => [`${verdict} ${id}`])
    return 0
  },
}

export const approvalList: Command = {
  name: "approval list",
  summary: "List writes that wait for approval, and which writes need one.",
  examples: [["approval list", "each with the command that approves it"]],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const { approvals, rule } = await useDatabase(invocation, async (sql) => {
      const { id } = await chooseWorkspace(sql, invocation.text("workspace"))
      return { approvals: await listApprovals(sql, { workspaceId: id }), rule: await readApprovalRule(sql, id, null) }
    })
    show(invocation, { approvals, rule }, () => [
      ...table(
        ["ID", "UNTIL", "KEY", "ACTION", "SUMMARY"],
        approvals.map(({ id, expiresAt, key, action, shown }) => [
          id, `${expiresAt.toISOString().slice(11, 16)} UTC`, printable(key.name ?? `key ${key.id}`), action, harmless(shown.summary),
        ]), // biome-ignore format: one row of the table
      ),
      ruleLine(rule!),
    ])
    return 0
  },
}

export const approvalRequire: Command = {
  name: "approval require",
  changes: true,
  summary: "Choose which writes a person must approve outside the assistant.",
  examples: [
    ["approval require update_listing reply_review", "of the workspace; in place of what was required before"],
    ["approval require all --key 7", "every write of one key, besides what the workspace requires"],
    ["approval require --none", "none"],
    ["approval require all --asking yes", "a yes to the question that a client shows its person counts as well"],
  ],
  positionals: ["action…?"],
  options: {
    workspace: WORKSPACE,
    key: { value: "ID", meaning: "Of this key alone." },
    none: { meaning: "Require it of no write." },
    asking: {
      value: "yes|no",
      meaning: "Whether what a client says that its person answered counts, in the whole workspace.",
    },
  },
  async run(invocation) {
    const asking = invocation.text("asking")
    const keyId = invocation.amount("key") ?? null
    const change = {
      actions: await namesOf(invocation),
      askingCounts: asking === undefined ? undefined : asking === "yes",
    }
    if (asking !== undefined && !["yes", "no"].includes(asking)) throw new WrongUse("--asking must be yes or no")
    if (asking !== undefined && keyId !== null) throw new WrongUse("--asking is of the whole workspace, not of a key")
    const rule = await useDatabase(invocation, async (sql) => {
      const { id } = await chooseWorkspace(sql, invocation.text("workspace"))
      return await setApprovalRule(sql, id, keyId, change)
    })
    show(invocation, { rule }, () => [ruleLine(rule)])
    return 0
  },
}

async function namesOf(invocation: Invocation): Promise<string[] | undefined> {
  const { positionals, has } = invocation
  if (has("none") && positionals.length > 0) throw new WrongUse("--none goes with no action")
  if (positionals.length === 0 && !has("none")) {
    if (invocation.text("asking") === undefined) throw new WrongUse("name actions, or all, or --none")
    return undefined
  }
  const { actions } = await import("../catalog.ts")
  const known = [ALL_ACTIONS, ...actions.map(({ name }) => name)]
  const unknown = positionals.find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new WrongUse(`there is no action ${JSON.stringify(unknown.slice(0, 40))}; there are ${known.join(", ")}`)
  return positionals
}

async function readWaiting(sql: Sql, id: string): Promise<Approval> {
  const [approval] = await listApprovals(sql, { workspaceId: null, id })
  if (!approval)
    throw new CommandProblem(`nothing waits under ${JSON.stringify(id.slice(0, 40))}; see: appmeter approval list`)
  const { verdict, decidedBy, expiresAt } = approval
  if (verdict) throw new CommandProblem(`${id} was ${verdict} by ${decidedBy}`)
  if (expiresAt < new Date()) throw new CommandProblem(`${id} expired at ${expiresAt.toISOString().slice(0, 16)}`)
  return approval
}

/** The preview, line by line, with nothing that could redraw the terminal. */
function linesOf({ action, shown, key }: Approval): string[] {
  const { summary, notes, credits, destructive } = shown
  return [
    `${action}, by ${key.name ?? `key ${key.id}`}: ${summary}`,
    ...changedLines(shown, WHOLE).map((line) => `  ${line}`),
    ...notes.map((note) => `  ${note}`),
    ...(destructive ? ["  It takes something away, or shows it to the world."] : []),
    `  It costs ${credits} ${credits === 1 ? "credit" : "credits"}.`,
  ].map(harmless)
}

function ruleLine({ actions, ofKey, askingCounts }: ApprovalRule): string {
  const named = [...new Set([...actions, ...ofKey])]
  if (named.length === 0) return "no write must be approved outside the assistant"
  const at = askingCounts ? "outside the assistant, or at a client that asks its person" : "outside the assistant"
  return `to be approved ${at}: ${named.join(", ")}`
}
