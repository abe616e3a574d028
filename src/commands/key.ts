import { randomBytes } from "node:crypto"
import {
  type ApiKey,
  createKey,
  findKey,
  listKeys,
  markLeaked,
  pauseKey,
  resumeKey,
  revokeKey,
} from "../access/key-register.ts"
import { SCOPES, type Scope } from "../access/scopes.ts"
import type { Sql } from "../database/types.ts"
import { type Command, firstArgument, type Invocation, WrongUse } from "./cli/command.ts"
import { show, table } from "./cli/show.ts"
import { chooseWorkspace, useDatabase } from "./cli/with-database.ts"

const WORKSPACE = { value: "NAME", meaning: "The workspace. Optional if there is only one." }

export const keyCreate: Command = {
  name: "key create",
  changes: true,
  summary: "Create an API key. Its secret is shown only once.",
  examples: [
    ["key create --name ci", "a live key with every scope except hive:measure"],
    ["key create --name ci --scope apps:read --ip 192.0.2.0/24 --budget 1000", "a restricted key"],
    ["key create --test", "a key that only gets the fixed answers of the sandbox"],
    ["key create --json | jq -r .secret", "print only the secret"],
  ],
  options: {
    workspace: WORKSPACE,
    name: { value: "TEXT", meaning: "Name of the key, such as its purpose." },
    test: { meaning: "Create a test key." },
    scope: { value: "SCOPE", meaning: `A right of the key: ${SCOPES.join(", ")}.`, repeated: true },
    ip: { value: "ADDRESS", meaning: "An address or network that may use the key.", repeated: true },
    app: { value: "APP_ID", meaning: "An app that the key is limited to.", repeated: true },
    budget: { value: "CREDITS", meaning: "Maximum credits per month." },
    expires: { value: "WHEN", meaning: "Day or time in UTC, such as 2027-01-31 or 2027-01-31T12:00:00Z." },
  },
  async run(invocation) {
    const { text, texts, amount, has } = invocation
    const kind = has("test") ? ("test" as const) : ("live" as const)
    const request = {
      kind,
      name: text("name") ?? kind,
      scopes: texts("scope") as Scope[] | undefined,
      ipAllowList: texts("ip"),
      appList: texts("app"),
      monthlyBudget: amount("budget"),
      expiresAt: momentOf(text("expires")),
    }
    const made = await useDatabase(invocation, async (sql) => {
      const { name: workspace } = await chooseWorkspace(sql, text("workspace"))
      return await createKey(sql, { ...request, workspace }, randomBytes)
    })
    show(invocation, { secret: made.secret, key: made.key }, () => [made.secret])
    if (!has("json")) invocation.terminal.say("Save it now: it is not stored and cannot be shown again.")
    return 0
  },
}

export const keyList: Command = {
  name: "key list",
  summary: "List the API keys of a workspace.",
  examples: [["key list", "id, kind, state, usage and the last characters of each key"]],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const keys = await useDatabase(invocation, async (sql) => {
      const workspace = await chooseWorkspace(sql, invocation.text("workspace"))
      return await listKeys(sql, workspace.name)
    })
    showKeys(invocation, { keys }, keys)
    return 0
  },
}

export const keyRevoke = changing({
  name: "key revoke",
  summary: "Revoke a key permanently. It stops working within a second.",
  examples: [["key revoke 7 --force", "skip the confirmation"]],
  destroys: "Revoking",
  change: (sql, typed) => revokeKey(sql, idOf(typed)),
})

export const keyPause = changing({
  name: "key pause",
  summary: "Pause a key until it is resumed.",
  examples: [["key pause 7", "its calls are refused with key_paused"]],
  change: (sql, typed) => pauseKey(sql, idOf(typed)),
})

export const keyResume = changing({
  name: "key resume",
  summary: "Resume a paused key.",
  examples: [["key resume 7", "undo: appmeter key pause 7"]],
  change: (sql, typed) => resumeKey(sql, idOf(typed)),
})

export const keyLeaked = changing({
  name: "key leaked",
  summary: "Revoke a leaked key. Its calls are then refused with the reason.",
  examples: [
    ["key leaked 7 --force", "by its id"],
    ["key leaked - --force < found.txt", "by the secret itself, to keep it out of the shell history"],
  ],
  destroys: "Revoking",
  change: async (sql, typed, invocation) => {
    if (typed !== "-") return await markLeaked(sql, /^\d+$/.test(typed) ? idOf(typed) : typed)
    return await markLeaked(sql, await textOf(invocation.terminal.stdin()))
  },
})

interface Change extends Pick<Command, "name" | "summary" | "examples"> {
  /** Start of the question that asks for confirmation. Undefined if the change can be undone. */
  destroys?: string
  change(sql: Sql, typed: string, invocation: Invocation): Promise<ApiKey>
}

function changing({ destroys, change, ...command }: Change): Command {
  return {
    ...command,
    changes: true,
    positionals: ["id"],
    options: destroys ? { force: { meaning: "Skip the confirmation." } } : {},
    async run(invocation) {
      const typed = firstArgument(invocation)
      const key = await useDatabase(invocation, async (sql) => {
        if (destroys && !invocation.has("force"))
          await invocation.terminal.confirm(await readQuestion(sql, typed, destroys))
        return await change(sql, typed, invocation)
      })
      showKeys(invocation, { key }, [key])
      return 0
    },
  }
}

async function readQuestion(sql: Sql, typed: string, destroys: string): Promise<string> {
  const key = /^\d+$/.test(typed) ? await findKey(sql, idOf(typed)) : undefined
  const named = key ? `key ${key.id} (${key.name}, ${key.hint})` : "this key"
  return `${destroys} ${named} cannot be undone.`
}

function idOf(typed: string): number {
  if (!/^\d{1,15}$/.test(typed)) throw new WrongUse("give the id of the key; see: appmeter key list")
  return Number(typed)
}

const MOMENT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/

function momentOf(typed: string | undefined): Date | undefined {
  if (typed === undefined) return undefined
  const moment = new Date(MOMENT.test(typed) ? typed : Number.NaN)
  // Date converts February 30 to March 2
  if (Number.isNaN(moment.getTime()) || moment.toISOString().slice(0, 10) !== typed.slice(0, 10))
    throw new WrongUse("--expires must be a day or time in UTC, such as 2027-01-31 or 2027-01-31T12:00:00Z")
  return moment
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts).toString("utf8")
}

function showKeys(invocation: Invocation, value: object, keys: ApiKey[]): void {
  show(invocation, value, () =>
    table(
      ["ID", "KIND", "NAME", "KEY", "STATE", "USED", "BUDGET", "EXPIRES"],
      keys.map(({ id, kind, name, hint, state, used, monthlyBudget, expiresAt }) => [
        id,
        kind,
        name,
        hint,
        state,
        used,
        monthlyBudget,
        expiresAt?.toISOString().slice(0, 16) ?? null,
      ]),
      "no keys; create one with: appmeter key create",
    ),
  )
}
