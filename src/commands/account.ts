import { createSealer } from "../access/sealed.ts"
import { ConsoleProblem } from "../accounts/console.ts"
import {
  type AccountRow,
  addAccount,
  findAccount,
  listAccounts,
  pauseAccount,
  type Register,
  removeAccount,
  rotateKey,
  setMapping,
  testAccount,
} from "../accounts/register.ts"
import { consoleReach } from "../process/account-reading.ts"
import { SECRET_KEY_FIX } from "../settings/kinds.ts"
import { SettingsProblems } from "../settings/settings.ts"
import { type Command, CommandProblem, type Invocation, WrongUse } from "./cli/command.ts"
import { readSecret } from "./cli/read-secret.ts"
import { printable, show, table } from "./cli/show.ts"
import { chooseWorkspace, useDatabase } from "./cli/with-database.ts"

const WORKSPACE = { value: "NAME", meaning: "The workspace; needless while there is only one." }
const KEY_FILE = { value: "FILE", meaning: "The .p8 file, as the console gives it once; - reads it from stdin." }

export const accountAddConsole: Command = {
  name: "account add app-store-connect",
  changes: true,
  summary: "Connect the seller's console: a team key of it, sealed with SECRET_KEY. Shows what the key may do.",
  examples: [
    [
      "account add app-store-connect --issuer 69a6de70-… --key-id 2X9R4HXF34 --key-file AuthKey.p8 --vendor 85012345",
      "shows what it may do, and whose apps it has",
    ],
    ["account add app-store-connect --issuer … --key-id … --key-file - --vendor … < AuthKey.p8", "from stdin"],
  ],
  options: {
    workspace: WORKSPACE,
    issuer: { value: "ID", meaning: "The issuer id, above the console's list of team keys." },
    "key-id": { value: "ID", meaning: "The key's id, in that list. A Sales key is enough for reading." },
    "key-file": KEY_FILE,
    vendor: { value: "NUMBER", meaning: "The vendor number, in Payments and Financial Reports." },
  },
  async run(invocation) {
    const { issuer, keyId, vendor } = needed(invocation, { issuer: "issuer", keyId: "key-id", vendor: "vendor" })
    const privateKey = await readKey(invocation)
    const account = await askConsole(invocation, (register, workspaceId) =>
      addAccount(register, workspaceId, { key: { issuer, keyId, privateKey }, vendor }),
    )
    showAccount(invocation, account)
    return 0
  },
}

export const accountList: Command = {
  name: "account list",
  summary: "List a workspace's connected accounts: state, rights and apps.",
  examples: [["account list", "what each may do, and who must do what"]],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const accounts = await useWorkspace(invocation, listAccounts)
    show(invocation, { accounts }, () => accounts.flatMap(linesOf))
    return 0
  },
}

export const accountTest: Command = {
  name: "account test",
  summary: "Ask the console now what the key may do. Exit 1 when it is refused.",
  examples: [["account test ac_0123456789abcdef01", "rights and apps, as they are now"]],
  positionals: ["id"],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const [id] = invocation.positionals as [string]
    showAccount(
      invocation,
      await askConsole(invocation, (register, workspaceId) => testAccount(register, workspaceId, id)),
    )
    return 0
  },
}

export const accountRotate: Command = {
  name: "account rotate",
  changes: true,
  summary: "Put a new key in the place of the old one, once the console takes it. Reading goes on.",
  examples: [["account rotate ac_0123456789abcdef01 --key-id 7K2M9PQRST --key-file AuthKey.p8", "then revoke the old"]],
  positionals: ["id"],
  options: {
    workspace: WORKSPACE,
    "key-file": KEY_FILE,
    "key-id": { value: "ID", meaning: "The new key's id." },
    issuer: { value: "ID", meaning: "The issuer id; the stored one when left out." },
  },
  async run(invocation) {
    const [id] = invocation.positionals as [string]
    const { keyId } = needed(invocation, { keyId: "key-id" })
    const issuer = invocation.text("issuer")
    const privateKey = await readKey(invocation)
    const fresh = { keyId, privateKey, ...(issuer !== undefined && { issuer }) }
    showAccount(
      invocation,
      await askConsole(invocation, (register, workspace) => rotateKey(register, workspace, id, fresh)),
    )
    return 0
  },
}

export const accountMap: Command = {
  name: "account map",
  changes: true,
  summary: "Say by hand which tracked app an app of the account is; without one, that it is none.",
  examples: [["account map ac_0123456789abcdef01 310633997 app_4fD0Zs81hQbK", "no look at the account changes it"]],
  positionals: ["id", "store-id", "app-id?"],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const [id = "", outsideId = "", appId = null] = invocation.positionals
    const account = await useWorkspace(invocation, (sql, workspaceId) =>
      setMapping(sql, workspaceId, { id, outsideId, appId }),
    )
    showAccount(invocation, account)
    return 0
  },
}

export const accountPause: Command = {
  name: "account pause",
  changes: true,
  summary: "Ask the console nothing more, until --off. What was read stays.",
  examples: [["account pause ac_0123456789abcdef01", "account pause ac_… --off goes on"]],
  positionals: ["id"],
  options: { workspace: WORKSPACE, off: { meaning: "Read again." } },
  async run(invocation) {
    const [id] = invocation.positionals as [string]
    const on = !invocation.has("off")
    showAccount(
      invocation,
      await useWorkspace(invocation, (sql, workspaceId) => pauseAccount(sql, workspaceId, id, on)),
    )
    return 0
  },
}

export const accountRemove: Command = {
  name: "account remove",
  changes: true,
  summary: "Stop reading and destroy the sealed key. What was read stays, unless --forget.",
  examples: [["account remove ac_0123456789abcdef01 --forget", "with every figure that came from it"]],
  positionals: ["id"],
  options: {
    workspace: WORKSPACE,
    forget: { meaning: "Delete what was read too." },
    force: { meaning: "Do not ask." },
  },
  async run(invocation) {
    const [id] = invocation.positionals as [string]
    const forget = invocation.has("forget")
    const removed = await useWorkspace(invocation, async (sql, workspaceId) => {
      const { shown } = await findAccount(sql, workspaceId, id)
      const rest = forget ? "and all that was read with it" : "and what was read stays"
      if (!invocation.has("force"))
        await invocation.terminal.confirm(`Removing ${id} destroys its ${shown}, ${rest}. It cannot be undone.`)
      return await removeAccount(sql, workspaceId, id, forget)
    })
    show(invocation, { removed }, () => [`removed ${id}`])
    return 0
  },
}

async function readKey(invocation: Invocation): Promise<string> {
  const { keyFile } = needed(invocation, { keyFile: "key-file" })
  return await readSecret(invocation, keyFile, "the key")
}

/** Throws WrongUse where one of the options is missing. */
function needed<Name extends string>({ text }: Invocation, options: Record<Name, string>): Record<Name, string> {
  const found = Object.entries<string>(options).map(([name, option]) => {
    const value = text(option)
    if (value === undefined) throw new WrongUse(`--${option} is missing`)
    return [name, value]
  })
  return Object.fromEntries(found)
}

/** Work that asks the console; SECRET_KEY is missed before anything is. */
async function askConsole<T>(
  invocation: Invocation,
  work: (register: Register, workspaceId: number) => Promise<T>,
): Promise<T> {
  const { settings } = invocation
  if (!settings.secretKeys)
    throw new SettingsProblems([{ variable: "SECRET_KEY", value: "is missing", fix: SECRET_KEY_FIX }])
  const sealer = await createSealer(settings.secretKeys)
  try {
    return await useWorkspace(invocation, (sql, workspaceId) =>
      work({ sql, sealer, reach: consoleReach(settings, () => new Date()) }, workspaceId),
    )
  } catch (error) {
    throw error instanceof ConsoleProblem ? new CommandProblem(error.message) : error
  }
}

async function useWorkspace<T>(
  invocation: Invocation,
  work: (sql: Register["sql"], workspaceId: number) => Promise<T>,
): Promise<T> {
  return await useDatabase(invocation, async (sql) => {
    const { id } = await chooseWorkspace(sql, invocation.text("workspace"))
    return await work(sql, id)
  })
}

function showAccount(invocation: Invocation, account: AccountRow): void {
  show(invocation, { account }, () => linesOf(account))
}

function linesOf(account: AccountRow): string[] {
  const { id, shown, vendor, state, why, failure, lastFailure, rights, apps } = account
  const head = `${id}  App Store Connect, ${printable(shown)}, vendor ${vendor}: ${state}${why ? ` (${why})` : ""}`
  return [
    head,
    ...table(
      ["", "RIGHT", "STATE", "WHO MUST DO WHAT"],
      rights.map(({ name, state, why }) => ["", name, state, why]),
    ),
    ...table(
      ["", "APP", "STORE ID", "TRACKED AS"],
      apps.map(({ outsideId, name, appId }) => ["", printable(name), outsideId, appId ?? "not tracked"]),
    ),
    ...(failure !== null && lastFailure !== null
      ? [`  last trouble, ${lastFailure.toISOString().slice(0, 16)}: ${failure}`]
      : []),
  ]
}
