import { randomBytes } from "node:crypto"
import type { Rights } from "../access/key-register.ts"
import {
  createInvitation,
  type Invitation,
  invitationLinkOf,
  listInvitations,
  withdrawInvitation,
} from "../access/people/invitations.ts"
import {
  addMember,
  addPerson,
  changeRights,
  findMember,
  findPersonId,
  listMembers,
  type Member,
  removeMember,
  setOperator,
} from "../access/people/people.ts"
import { isRole, ROLES, scopesOf } from "../access/people/roles.ts"
import { createCode, signInLinkOf } from "../access/sign-in/code.ts"
import { makePassphrase, removePassphrase, setPassphrase } from "../access/sign-in/passphrase.ts"
import { readSecondFactor, removeSecondFactor } from "../access/sign-in/second-factor.ts"
import type { Sql } from "../database/types.ts"
import { type Command, CommandProblem, firstArgument, type Invocation, WrongUse } from "./cli/command.ts"
import { readSecret } from "./cli/read-secret.ts"
import { show, table } from "./cli/show.ts"
import { chooseWorkspace, useDatabase } from "./cli/with-database.ts"
import { addressOf } from "./sign-in.ts"

const WORKSPACE = { value: "NAME", meaning: "The workspace. Optional if there is only one." }
const ROLE = { value: "ROLE", meaning: `One of ${ROLES.join(", ")}. Default: viewer.` }
const APP = {
  value: "APP_ID",
  meaning: "An app that the person is limited to. Default: every app.",
  repeated: true,
} as const

export const personList: Command = {
  name: "person list",
  summary: "List the people and open invitations of a workspace.",
  examples: [["person list --workspace acme", "name, role, apps and last visit of each person"]],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const listed = await useDatabase(invocation, async (sql) => {
      const { id } = await chooseWorkspace(sql, invocation.text("workspace"))
      return { people: await listMembers(sql, id), invitations: await listInvitations(sql, id) }
    })
    showPeople(invocation, listed, listed.people, listed.invitations)
    return 0
  },
}

export const personAdd: Command = {
  name: "person add",
  changes: true,
  summary: "Add a person to a workspace and print a code that signs them in.",
  details: "A person who is a member of another workspace keeps name and passphrase.",
  examples: [
    ["person add ada --role editor", "a new person, or one of another workspace"],
    ["person add bo --role viewer-without-money --app app_4fD0Zs81hQbK", "sees one app, without its money"],
  ],
  positionals: ["name"],
  options: { workspace: WORKSPACE, role: ROLE, app: APP },
  async run(invocation) {
    const name = firstArgument(invocation)
    const rights = rightsOf(invocation, invocation.text("role") ?? "viewer")
    const added = await useDatabase(invocation, async (sql) => {
      const { id: workspaceId } = await chooseWorkspace(sql, invocation.text("workspace"))
      const personId = await findPersonId(sql, name)
      await sql.begin(async (tx) => {
        if (personId === null) await addPerson(tx, { ...rights, workspaceId, name })
        else await addMember(tx, { ...rights, workspaceId, personId })
      })
      return { person: await findMember(sql, workspaceId, name), code: await createCode(sql, workspaceId, name) }
    })
    const url = signInLinkOf(addressOf(invocation.settings), added.code)
    show(invocation, { ...added, url }, () => [added.code, url])
    return 0
  },
}

export const personInvite: Command = {
  name: "person invite",
  changes: true,
  summary: "Print a link that makes whoever opens it a member of a workspace.",
  details: "Works once, within seven days. The person chooses name and passphrase.",
  examples: [["person invite ada --role editor --workspace acme", "send the link to Ada"]],
  positionals: ["name"],
  options: { workspace: WORKSPACE, role: ROLE, app: APP },
  async run(invocation) {
    const name = firstArgument(invocation)
    const rights = rightsOf(invocation, invocation.text("role") ?? "viewer")
    const { secret, workspace } = await useDatabase(invocation, async (sql) => {
      const chosen = await chooseWorkspace(sql, invocation.text("workspace"))
      const invitation = { ...rights, workspaceId: chosen.id, name, invitedBy: null }
      return { secret: await createInvitation(sql, invitation), workspace: chosen.name }
    })
    const url = invitationLinkOf(addressOf(invocation.settings), secret)
    show(invocation, { workspace, name, url }, () => [url])
    return 0
  },
}

export const personWithdraw: Command = {
  name: "person withdraw",
  changes: true,
  summary: "Withdraw an open invitation.",
  examples: [["person withdraw 3", "see the ids with: appmeter person list"]],
  positionals: ["id"],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const typed = firstArgument(invocation)
    if (!/^\d{1,9}$/.test(typed)) throw new WrongUse("give the id of the invitation; see: appmeter person list")
    const isWithdrawn = await useDatabase(invocation, async (sql) => {
      const { id } = await chooseWorkspace(sql, invocation.text("workspace"))
      return await withdrawInvitation(sql, id, Number(typed))
    })
    if (!isWithdrawn) throw new CommandProblem(`the workspace has no open invitation with id ${typed}`)
    show(invocation, { withdrawn: Number(typed) }, () => [`withdrew invitation ${typed}`])
    return 0
  },
}

export const personRole: Command = {
  name: "person role",
  changes: true,
  summary: "Change what a person may do in a workspace.",
  details: "Takes effect within a second, also for their assistants and keys.",
  examples: [
    ["person role ada editor", "change the role and allow every app"],
    ["person role ada viewer --app app_4fD0Zs81hQbK", "limit the person to one app"],
    ["person role ada owner --operator yes", "also show the machine's health, data folder and backups"],
  ],
  positionals: ["name", "role"],
  options: {
    workspace: WORKSPACE,
    app: APP,
    operator: { value: "yes|no", meaning: "Whether the person operates this server." },
  },
  async run(invocation) {
    const { positionals, text } = invocation
    const rights = rightsOf(invocation, positionals[1] ?? "")
    const operator = text("operator")
    if (operator !== undefined && !["yes", "no"].includes(operator)) throw new WrongUse("--operator must be yes or no")
    const person = await useDatabase(invocation, async (sql) => {
      const { id } = await chooseWorkspace(sql, text("workspace"))
      const { personId, name } = await findMember(sql, id, firstArgument(invocation))
      await sql.begin(async (tx) => {
        await changeRights(tx, id, personId, rights)
        if (operator !== undefined) await setOperator(tx, personId, operator === "yes")
      })
      return await findMember(sql, id, name)
    })
    showPeople(invocation, { person }, [person])
    return 0
  },
}

export const personPassphrase: Command = {
  name: "person passphrase",
  changes: true,
  summary: "Set or remove the passphrase of a person.",
  details: "Ends every browser session of the person.",
  examples: [
    ["person passphrase ada", "create a passphrase and show it once"],
    ["person passphrase ada --file passphrase.txt", "set your own passphrase; - reads it from stdin"],
    ["person passphrase ada --remove", "then only codes of appmeter sign-in work"],
  ],
  positionals: ["name"],
  options: {
    file: { value: "FILE", meaning: "File with the passphrase (at least 12 characters), or - for stdin." },
    remove: { meaning: "Remove the passphrase." },
  },
  async run(invocation) {
    const { text, has, terminal } = invocation
    const name = firstArgument(invocation)
    const file = text("file")
    if (file !== undefined && has("remove")) throw new WrongUse("give either --file or --remove, not both")
    const fromFile = file === undefined ? undefined : await readSecret(invocation, file, "the passphrase")
    const passphrase = fromFile ?? makePassphrase(randomBytes)
    await useDatabase(invocation, async (sql) => {
      const personId = await requirePersonId(sql, name)
      await (has("remove") ? removePassphrase(sql, personId) : setPassphrase(sql, personId, passphrase))
    })
    const made = fromFile === undefined && !has("remove")
    show(invocation, { person: name, ...(made && { passphrase }) }, () => (made ? [passphrase] : []))
    if (made && !has("json")) terminal.say("Save it now: it is not stored and cannot be shown again.")
    return 0
  },
}

export const personSecondFactor: Command = {
  name: "person second-factor",
  changes: true,
  summary: "Show whether a person has a second factor, or turn it off.",
  details: "Turn it off for somebody who lost the phone and the recovery codes. The passphrase stays.",
  examples: [
    ["person second-factor ada", "whether it is on, and how many recovery codes are left"],
    ["person second-factor ada --off", "then the passphrase alone signs Ada in"],
  ],
  positionals: ["name"],
  options: { off: { meaning: "Turn the second factor off." } },
  async run(invocation) {
    const name = firstArgument(invocation)
    const isEnding = invocation.has("off")
    const factor = await useDatabase(invocation, async (sql) => {
      const personId = await requirePersonId(sql, name)
      const found = await readSecondFactor(sql, personId)
      if (isEnding && !(await removeSecondFactor(sql, personId)))
        throw new CommandProblem(`${name} has no second factor`)
      return isEnding ? null : found
    })
    const isOn = factor?.confirmedAt != null
    const recoveryCodesLeft = isOn ? factor.recoveryCodesLeft : 0
    show(invocation, { person: name, isOn, recoveryCodesLeft }, () => [
      isOn ? `on, ${recoveryCodesLeft} recovery codes left` : "off",
    ])
    return 0
  },
}

export const personRemove: Command = {
  name: "person remove",
  changes: true,
  summary: "Remove a person from a workspace.",
  details: "Ends their sessions, assistants, keys and invitations there within a second.",
  examples: [["person remove ada --workspace acme --force", "skip the confirmation"]],
  positionals: ["name"],
  options: { workspace: WORKSPACE, force: { meaning: "Skip the confirmation." } },
  async run(invocation) {
    const removed = await useDatabase(invocation, async (sql) => {
      const { id, name: workspace } = await chooseWorkspace(sql, invocation.text("workspace"))
      const { personId, name } = await findMember(sql, id, firstArgument(invocation))
      if (!invocation.has("force"))
        await invocation.terminal.confirm(`Removing ${name} from ${workspace} ends their keys and cannot be undone.`)
      await sql.begin((tx) => removeMember(tx, id, personId))
      return { person: name, workspace }
    })
    show(invocation, { removed }, () => [`removed ${removed.person} from ${removed.workspace}`])
    return 0
  },
}

async function requirePersonId(sql: Sql, name: string): Promise<number> {
  const personId = await findPersonId(sql, name)
  if (personId === null) throw new CommandProblem(`nobody is named ${JSON.stringify(name.slice(0, 100))}`)
  return personId
}

function rightsOf({ texts }: Invocation, role: string): Rights {
  if (!isRole(role)) throw new WrongUse(`the role must be one of ${ROLES.join(", ")}`)
  return { scopes: scopesOf(role), appList: texts("app") ?? null }
}

function showPeople(
  invocation: Invocation,
  value: object,
  people: readonly Member[],
  invitations: readonly Invitation[] = [],
): void {
  const rowOf = ({ name, role, appList, isOperator, hasPassphrase, usedAt }: Member) => [
    name,
    role,
    appList === null ? "all" : appList.length,
    isOperator ? "yes" : "no",
    hasPassphrase ? "yes" : "no",
    usedAt?.toISOString().slice(0, 16) ?? null,
  ]
  const headings = ["NAME", "ROLE", "APPS", "OPERATOR", "PASSPHRASE", "LAST VISIT"]
  const invitationRow = ({ id, name, role, invitedBy, expiresAt }: Invitation) => [
    id,
    name,
    role,
    invitedBy ?? "the command line",
    expiresAt.toISOString().slice(0, 16),
  ]
  show(invocation, value, () => [
    ...table(headings, people.map(rowOf), "no people; create one with: appmeter person add"),
    ...(invitations.length > 0
      ? ["", ...table(["INVITATION", "FOR", "ROLE", "SENT BY", "EXPIRES"], invitations.map(invitationRow))]
      : []),
  ])
}
