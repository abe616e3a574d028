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
  summary: "Show a write that an assistant requested, and approve or decline it.",
  examples: [
    ["approve ap_5f0c6f6a1d2e3b4a9c", "show the preview, then ask for approval"],
    ["approve ap_5f0c6f6a1d2e3b4a9c --decline", "decline it; it cannot be confirmed any more"],
  ],
  positionals: ["id"],
  options: { decline: { meaning: "Decline the write." }, force: { meaning: "Skip the confirmation." } },
  async run(invocation) {
    const id = firstArgument(invocation)
    const verdict = invocation.has("decline") ? ("declined" as const) : ("approved" as const)
    const by = `${invocation.recorded!.actor}, on the machine`
    const approval = await useDatabase(invocation, async (sql) => {
      const waiting = await readWaiting(sql, id)
      for (const line of linesOf(waiting)) invocation.terminal.say(line)
      if (verdict === "approved" && !invocation.has("force"))
        await invocation.terminal.confirm("Once approved, the write runs when the assistant confirms it.")
      if (!(await settleApproval(sql, { workspaceId: null, id }, { verdict, by, scopes: null })))
        throw new CommandProblem(`${id} is not pending any more: it expired, or somebody else decided`)
      return { ...waiting, verdict, decidedBy: by }
    })
    show(invocation, { approval }, () => [`${verdict} ${id}`])
    return 0
  },
}

export const approvalList: Command = {
  name: "approval list",
  summary: "List writes that wait for approval, and which writes need one.",
  examples: [["approval list", "each with its id for: appmeter approve ID"]],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const { approvals, rule } = await useDatabase(invocation, async (sql) => {
      const { id } = await chooseWorkspace(sql, invocation.text("workspace"))
      return {
        approvals: await listApprovals(sql, { workspaceId: id, rights: null }),
        rule: await readApprovalRule(sql, id, null),
      }
    })
    show(invocation, { approvals, rule }, () => [
      ...table(
        ["ID", "UNTIL", "KEY", "ACTION", "SUMMARY"],
        approvals.map(({ id, expiresAt, key, action, shown }) => [
          id,
          `${expiresAt.toISOString().slice(11, 16)} UTC`,
          printable(key.name ?? `key ${key.id}`),
          action,
          harmless(shown.summary),
        ]),
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
    ["approval require update_listing reply_review", "for the workspace, replacing the previous list"],
    ["approval require all --key 7", "every write of one key, in addition to the workspace's list"],
    ["approval require --none", "no write needs approval"],
    ["approval require all --asking yes", "also accept a yes that a person gives in the client"],
  ],
  positionals: ["action…?"],
  options: {
    workspace: WORKSPACE,
    key: { value: "ID", meaning: "Only for this key." },
    none: { meaning: "No write needs approval." },
    asking: {
      value: "yes|no",
      meaning: "Whether a yes that a person gives in the client counts, for the whole workspace.",
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
    if (asking !== undefined && keyId !== null)
      throw new WrongUse("--asking applies to the whole workspace; leave out --key")
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
  if (has("none") && positionals.length > 0) throw new WrongUse("--none cannot be combined with actions")
  if (positionals.length === 0 && !has("none")) {
    if (invocation.text("asking") === undefined) throw new WrongUse("give actions, all, or --none")
    return undefined
  }
  const { actions } = await import("../catalog.ts")
  const names = [ALL_ACTIONS, ...actions.map(({ name }) => name)]
  const unknown = positionals.find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new WrongUse(`unknown action ${JSON.stringify(unknown.slice(0, 40))}; choose from ${names.join(", ")}`)
  return positionals
}

async function readWaiting(sql: Sql, id: string): Promise<Approval> {
  const [approval] = await listApprovals(sql, { workspaceId: null, id, rights: null })
  if (!approval)
    throw new CommandProblem(
      `no write with the id ${JSON.stringify(id.slice(0, 40))} waits for approval; see: appmeter approval list`,
    )
  const { verdict, decidedBy, expiresAt } = approval
  if (verdict) throw new CommandProblem(`${id} was ${verdict} by ${decidedBy}`)
  if (expiresAt < new Date()) throw new CommandProblem(`${id} expired at ${expiresAt.toISOString().slice(0, 16)}`)
  return approval
}

/** Returns the lines of the preview, without control characters. */
function linesOf({ action, shown, key }: Approval): string[] {
  const { summary, notes, credits, destructive } = shown
  return [
    `${action}, by ${key.name ?? `key ${key.id}`}: ${summary}`,
    ...changedLines(shown, WHOLE).map((line) => `  ${line}`),
    ...notes.map((note) => `  ${note}`),
    ...(destructive ? ["  It deletes something or makes it public."] : []),
    `  It costs ${credits} ${credits === 1 ? "credit" : "credits"}.`,
  ].map(harmless)
}

function ruleLine({ actions, ofKey, askingCounts }: ApprovalRule): string {
  const named = [...new Set([...actions, ...ofKey])]
  if (named.length === 0) return "no write needs approval outside the assistant"
  const at = askingCounts ? "outside the assistant or in the client" : "outside the assistant"
  return `need approval ${at}: ${named.join(", ")}`
}
