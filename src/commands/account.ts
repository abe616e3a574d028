import { writeFileSync } from "node:fs"
import { createSealer } from "../access/sealed.ts"
import type { AccountOption, AnyAccountKind } from "../consoles/account-kind.ts"
import { ACCOUNT_KINDS, accountKind } from "../consoles/account-kinds.ts"
import { createKeyPair } from "../consoles/ads/key-pair.ts"
import { ConsoleProblem } from "../consoles/console.ts"
import {
  type AccountRow,
  addAccount,
  findAccount,
  listAccounts,
  pauseAccount,
  type Register,
  removeAccount,
  rotateKey,
  SeveralParts,
  setMapping,
  testAccount,
} from "../consoles/register.ts"
import { troubleLines } from "../consoles/trouble-lines.ts"
import { openAccountBodies } from "../measuring/raw-bodies.ts"
import { SECRET_KEY_FIX } from "../settings/kinds.ts"
import { listeningUrl, SettingsProblems } from "../settings/settings.ts"
import { nextSteps } from "./accounts/next-steps.ts"
import { type Command, CommandProblem, type Invocation, type Option, WrongUse } from "./cli/command.ts"
import { readSecret } from "./cli/read-secret.ts"
import { printable, show, table } from "./cli/show.ts"
import { chooseWorkspace, useDatabase } from "./cli/with-database.ts"
import { accountReach } from "./process/account-reading.ts"

export const WORKSPACE = { value: "NAME", meaning: "The workspace. Optional if there is only one." }

/** `account add`, one command for each kind of account. */
export const accountAdd: readonly Command[] = ACCOUNT_KINDS.map((kind) => ({
  name: `account add ${kind.name}`,
  changes: true,
  summary: `Connect ${kind.title}.`,
  details: kind.summary,
  examples: kind.examples,
  options: { workspace: WORKSPACE, ...optionsOf([...optionsOfKey(kind), kind.part]) },
  async run(invocation) {
    const { ids: idOptions, secret, part: partOption, listParts } = kind
    assertGiven(invocation, [
      ...Object.values(idOptions),
      ...(secret ? [secret] : []),
      ...(listParts ? [] : [partOption]),
    ])
    const ids = neededIds(invocation, kind)
    const part = invocation.text(partOption.option) ?? null
    const key = { ...ids, ...(await readKey(invocation, kind)) }
    try {
      const account = await askConsole(invocation, (register, workspaceId) =>
        addAccount(register, workspaceId, { kind: kind.name, key, part }),
      )
      show(invocation, { account }, () => [...linesOf(account, invocation), ...nextSteps(account)])
      return 0
    } catch (error) {
      if (!(error instanceof SeveralParts)) throw error
      const { parts, message } = error
      invocation.terminal.say(`${message}: choose one with --${kind.part.option}`)
      show(invocation, { parts }, () =>
        table(
          ["ID", "NAME"],
          parts.map(({ id, name }) => [id, printable(name)]),
        ),
      )
      return 2
    }
  },
}))

export const accountKeygen: Command = {
  name: "account keygen apple-ads",
  changes: true,
  summary: "Create a key pair for Apple Ads and print the public key.",
  details: "The private key is written to a file.",
  examples: [["account keygen apple-ads --key-file AdsKey.pem", "paste the printed key into Account Settings, API"]],
  options: { "key-file": { value: "FILE", meaning: "File for the private key. An existing file is not overwritten." } },
  async run(invocation) {
    const file = needed(invocation, "key-file")
    const { publicKey, privateKey } = createKeyPair()
    try {
      writeFileSync(file, privateKey, { flag: "wx", mode: 0o600 })
    } catch {
      throw new CommandProblem("the private key could not be written: the file exists already or is not writable")
    }
    show(invocation, { publicKey }, () => [publicKey.trim()])
    return 0
  },
}

export const accountList: Command = {
  name: "account list",
  summary: "List a workspace's connected accounts with state, rights and apps.",
  examples: [["account list", "the rights of each, and what is missing"]],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const accounts = await useWorkspace(invocation, listAccounts)
    show(invocation, { accounts }, () => accounts.flatMap((account) => linesOf(account, invocation)))
    return 0
  },
}

export const accountTest: Command = {
  name: "account test",
  summary: "Check which rights the key of an account has now.",
  details: "Exit code 1 if the key is refused.",
  examples: [["account test ac_0123456789abcdef01", "current rights and apps"]],
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
  summary: "Replace the key of an account once the console accepts the new one.",
  details: "Reading continues without interruption.",
  examples: [
    ["account rotate ac_0123456789abcdef01 --key-id 7K2M9PQRST --key-file AuthKey.p8", "then revoke the old key"],
  ],
  positionals: ["id"],
  options: { workspace: WORKSPACE, ...optionsOf(ACCOUNT_KINDS.flatMap(optionsOfKey)) },
  async run(invocation) {
    const [id] = invocation.positionals as [string]
    const { kind: name } = await useWorkspace(invocation, (sql, workspace) => findAccount(sql, workspace, id))
    const kind = accountKind(name)
    const ids = neededIds(invocation, kind, "fresh")
    const fresh = { ...ids, ...(await readKey(invocation, kind)) }
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
  summary: "Map an app of an account to a tracked app, or to none.",
  details: "Later checks of the account keep the mapping.",
  examples: [
    ["account map ac_0123456789abcdef01 310633997 app_4fD0Zs81hQbK", "App Store app 310633997 is this tracked app"],
  ],
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
  summary: "Pause reading an account, or resume it with --off.",
  details: "Data already read is kept.",
  examples: [["account pause ac_0123456789abcdef01", "resume with: account pause ac_… --off"]],
  positionals: ["id"],
  options: { workspace: WORKSPACE, off: { meaning: "Resume reading." } },
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
  summary: "Disconnect an account and destroy its stored key.",
  details: "Data already read is kept unless --forget is given.",
  examples: [["account remove ac_0123456789abcdef01 --forget", "also delete all data read from it"]],
  positionals: ["id"],
  options: {
    workspace: WORKSPACE,
    forget: { meaning: "Also delete the data read from it." },
    force: { meaning: "Skip the confirmation." },
  },
  async run(invocation) {
    const [id] = invocation.positionals as [string]
    const forget = invocation.has("forget")
    const removed = await useWorkspace(invocation, async (sql, workspaceId) => {
      const { shown } = await findAccount(sql, workspaceId, id)
      const rest = forget ? "and deletes all data read from it" : "and keeps the data read from it"
      if (!invocation.has("force"))
        await invocation.terminal.confirm(`Removing ${id} destroys its ${shown} ${rest}. This cannot be undone.`)
      return await removeAccount(sql, workspaceId, id, forget)
    })
    if (forget) await openAccountBodies(invocation.settings.measuring.raw).forget(id)
    show(invocation, { removed }, () => [`removed ${id}`])
    return 0
  },
}

function idsOf({ ids }: AnyAccountKind): AccountOption[] {
  return Object.values(ids)
}

export function optionsOfKey(kind: AnyAccountKind): AccountOption[] {
  return [...idsOf(kind), ...(kind.secret ? [readableFromStdin(kind.secret)] : [])]
}

function readableFromStdin(secret: AccountOption): AccountOption {
  return { ...secret, meaning: secret.meaning.replace(/\.$/, "; - reads it from stdin.") }
}

/** Returns the options for the help. An option of several kinds appears once. */
export function optionsOf(options: readonly AccountOption[]): Record<string, Option> {
  const entries = options.map(({ option, value, meaning }) => [option, { value, meaning }] as const)
  return Object.fromEntries([...entries].reverse())
}

/**
 * Returns the ids that the options give for a key. For a new key of an existing account (`fresh`), returns only the ids
 * that differ from key to key. Throws WrongUse if an id is missing.
 */
export function neededIds(invocation: Invocation, { ids }: AnyAccountKind, fresh?: "fresh"): Record<string, string> {
  assertGiven(
    invocation,
    Object.values(ids).filter(({ fresh: another }) => !fresh || another),
  )
  return Object.fromEntries(
    Object.entries(ids).flatMap(([name, { option }]) => {
      const value = invocation.text(option)
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
}

export async function readKey(invocation: Invocation, { secret }: AnyAccountKind): Promise<Record<string, string>> {
  if (!secret) return {}
  return { [secret.name]: await readSecret(invocation, needed(invocation, secret.option), "the key") }
}

function needed(invocation: Invocation, option: string): string {
  assertGiven(invocation, [{ option }])
  return invocation.text(option)!
}

/** Throws WrongUse with every option that is missing. */
function assertGiven({ text }: Invocation, options: readonly Pick<AccountOption, "option">[]): void {
  const missing = options.filter(({ option }) => text(option) === undefined).map(({ option }) => `--${option}`)
  if (missing.length === 0) return
  const last = missing.pop()
  throw new WrongUse(missing.length === 0 ? `${last} is missing` : `${missing.join(", ")} and ${last} are missing`)
}

/** Runs work that sends requests to the console. Throws before the work if SECRET_KEY is missing. */
export async function askConsole<T>(
  invocation: Invocation,
  work: (register: Register, workspaceId: number) => Promise<T>,
): Promise<T> {
  const { settings } = invocation
  if (!settings.secretKeys)
    throw new SettingsProblems([{ variable: "SECRET_KEY", value: "is missing", fix: SECRET_KEY_FIX }])
  const sealer = await createSealer(settings.secretKeys)
  try {
    return await useWorkspace(invocation, (sql, workspaceId) =>
      work({ sql, sealer, reach: accountReach(settings, () => new Date()) }, workspaceId),
    )
  } catch (error) {
    throw error instanceof ConsoleProblem ? new CommandProblem(error.message) : error
  }
}

export async function useWorkspace<T>(
  invocation: Invocation,
  work: (sql: Register["sql"], workspaceId: number) => Promise<T>,
): Promise<T> {
  return await useDatabase(invocation, async (sql) => {
    const { id } = await chooseWorkspace(sql, invocation.text("workspace"))
    return await work(sql, id)
  })
}

export function showAccount(invocation: Invocation, account: AccountRow): void {
  show(invocation, { account }, () => linesOf(account, invocation))
}

function linesOf(account: AccountRow, { settings }: Invocation): string[] {
  const { id, kind, shown, state, why, failure, lastFailure, rights, apps, writes, shownWrite, troubles } = account
  const { title, part, receive } = accountKind(kind)
  const address = settings.publicUrl ?? listeningUrl(settings.host, settings.port)
  const head = `${id}  ${title}, ${printable(shown)}, ${part.name} ${account.part}: ${state}${why ? ` (${why})` : ""}`
  return [
    head,
    ...(receive ? [`  receives messages at ${address}/in/${id}`] : []),
    ...(writes ? [`  writes: on${shownWrite ? `, ${printable(shownWrite)}` : ""}`] : []),
    ...table(
      ["", "RIGHT", "STATE", "WHAT IS MISSING"],
      rights.map(({ name, state, why }) => ["", name, state, why]),
    ),
    ...table(
      ["", "APP", "STORE ID", "TRACKED AS"],
      apps.map(({ outsideId, name, appId }) => ["", printable(name), outsideId, appId ?? "not tracked"]),
    ),
    ...troubleLines(troubles).map((line) => `  ${line}`),
    ...(failure !== null && lastFailure !== null
      ? [`  last error, ${lastFailure.toISOString().slice(0, 16)}: ${failure}`]
      : []),
  ]
}
