import { ENTITLEMENT_NAMES, PLANS, type Plan } from "../access/plans.ts"
import { findSqlRolesOf, revokeSqlRole } from "../access/sql-roles.ts"
import {
  createWorkspace,
  deleteWorkspace,
  findWorkspace,
  listWorkspaces,
  type Overrides,
  setWorkspace,
  type Workspace,
} from "../access/workspaces.ts"
import { wholeNumber } from "./cli/arguments.ts"
import { type Command, firstArgument, type Invocation, WrongUse } from "./cli/command.ts"
import { show, table } from "./cli/show.ts"
import { useDatabase } from "./cli/with-database.ts"
import { revokedLine } from "./sql.ts"

const SHARED = {
  plan: { value: "PLAN", meaning: `One of ${PLANS.join(", ")}.` },
  explorer: { value: "yes|no", meaning: "Whether the workspace can call Hive endpoints." },
  "ip-list-required": { value: "yes|no", meaning: "Whether each key of the workspace needs an address list." },
  limit: {
    value: "NAME=AMOUNT",
    meaning: `A limit that overrides the plan; NAME=plan restores the plan's. Names: ${ENTITLEMENT_NAMES.join(", ")}.`,
    repeated: true,
  },
} as const

export const workspaceCreate: Command = {
  name: "workspace create",
  changes: true,
  summary: "Create a workspace.",
  examples: [
    ["workspace create acme", "a workspace on the Pro plan"],
    ["workspace create acme --plan studio --limit credits=100000", "with more credits a month"],
  ],
  positionals: ["name"],
  options: { ...SHARED, pack: { value: "CREDITS", meaning: "Credits of a pack, in addition to the monthly credits." } },
  async run(invocation) {
    const request = {
      ...sharedOf(invocation),
      name: firstArgument(invocation),
      plan: (invocation.text("plan") ?? "pro") as Plan,
      pack: invocation.amount("pack"),
    }
    const workspace = await useDatabase(invocation, (sql) => createWorkspace(sql, request))
    showWorkspaces(invocation, { workspace }, [workspace])
    return 0
  },
}

export const workspaceSet: Command = {
  name: "workspace set",
  changes: true,
  summary: "Change the plan, limits or state of a workspace.",
  details: "Values that are not given stay unchanged.",
  examples: [
    ["workspace set acme --plan enterprise", "change the plan"],
    ["workspace set acme --add-pack 50000", "add credits once"],
    ["workspace set acme --suspended yes", "suspend the workspace"],
  ],
  positionals: ["name"],
  options: {
    ...SHARED,
    "add-pack": { value: "CREDITS", meaning: "Credits to add as a pack." },
    suspended: { value: "yes|no", meaning: "Whether the workspace is suspended." },
    "reset-month": { meaning: "Reset a billing month in the future, caused by a wrong clock, to this month." },
  },
  async run(invocation) {
    const changes = {
      ...sharedOf(invocation),
      addPack: invocation.amount("add-pack"),
      suspended: yesOrNo(invocation, "suspended"),
      resetMonth: invocation.has("reset-month") || undefined,
    }
    const given = Object.values(changes).some((change) => change !== undefined)
    if (!given) throw new WrongUse("no change was given; see: appmeter workspace set --help")
    const name = firstArgument(invocation)
    const workspace = await useDatabase(invocation, (sql) => setWorkspace(sql, name, changes))
    showWorkspaces(invocation, { workspace }, [workspace])
    return 0
  },
}

export const workspaceList: Command = {
  name: "workspace list",
  summary: "List all workspaces.",
  examples: [["workspace list --json", "with all details"]],
  async run(invocation) {
    const workspaces = await useDatabase(invocation, listWorkspaces)
    showWorkspaces(invocation, { workspaces }, workspaces)
    return 0
  },
}

export const workspaceDelete: Command = {
  name: "workspace delete",
  changes: true,
  summary: "Delete a workspace, its keys and its tracked apps.",
  details: "Measured data is kept. Database roles that read its reports are dropped.",
  examples: [["workspace delete acme --force", "skip the confirmation"]],
  positionals: ["name"],
  options: { force: { meaning: "Skip the confirmation." } },
  async run(invocation) {
    const name = firstArgument(invocation)
    const { deleted, roles } = await useDatabase(invocation, async (sql) => {
      await findWorkspace(sql, name)
      if (!invocation.has("force"))
        await invocation.terminal.confirm(`Deleting the workspace ${JSON.stringify(name)} cannot be undone.`)
      const deleted = await deleteWorkspace(sql, name)
      const roles: { role: string; dropped: boolean }[] = []
      for (const role of await findSqlRolesOf(sql, deleted.id))
        roles.push({ role, dropped: await revokeSqlRole(sql, role) })
      return { deleted, roles }
    })
    show(invocation, { deleted: { ...deleted, name }, roles }, () => [
      `deleted ${name}; it tracked ${deleted.apps} ${deleted.apps === 1 ? "app" : "apps"}`,
      ...roles.map(({ role, dropped }) => revokedLine(role, dropped)),
    ])
    return 0
  },
}

/** Parses yes or no. Undefined leaves the setting unchanged. */
function yesOrNo({ text }: Invocation, option: string): boolean | undefined {
  const given = text(option)
  if (given === undefined) return undefined
  if (given !== "yes" && given !== "no") throw new WrongUse(`--${option} must be yes or no`)
  return given === "yes"
}

function sharedOf(invocation: Invocation) {
  const { text, texts } = invocation
  return {
    plan: text("plan") as Plan | undefined,
    explorer: yesOrNo(invocation, "explorer"),
    ipListRequired: yesOrNo(invocation, "ip-list-required"),
    overrides: overridesOf(texts("limit")),
  }
}

function overridesOf(limits: string[] | undefined): Overrides | undefined {
  if (!limits) return undefined
  const pairs = limits.map((limit) => {
    const [name = "", amount, ...more] = limit.split("=")
    if (amount === undefined || more.length > 0)
      throw new WrongUse("--limit must be NAME=AMOUNT, such as credits=50000")
    return [name, amount === "plan" ? null : wholeNumber(`the amount of --limit ${name.slice(0, 40)}`, amount)]
  })
  return Object.fromEntries(pairs)
}

function showWorkspaces(invocation: Invocation, value: object, workspaces: Workspace[]): void {
  show(invocation, value, () =>
    table(
      ["ID", "NAME", "PLAN", "EXPLORER", "CREDITS USED", "OF", "IN PACKS", "STATE"],
      workspaces.map(({ id, name, plan, explorer, credits, suspendedAt }) => [
        id,
        name,
        plan,
        explorer ? "yes" : "no",
        credits.used,
        credits.limit,
        credits.packCredits,
        suspendedAt ? "suspended" : "active",
      ]),
      "no workspaces; create one with: appmeter workspace create",
    ),
  )
}
