import { expect } from "bun:test"
import { join } from "node:path"
import * as modern from "@modelcontextprotocol/client"
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio"
import * as legacy from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { catalog } from "../../src/catalog.ts"
import { errorOf } from "../error-of.ts"
import { LONG } from "../long.ts"
import { answer, copyOf, dataFolder, openFolder, removeFolders } from "./child.ts"

const MAIN = join(import.meta.dirname, "../../src/main.ts")
const IOS = "1437843273"
export const RIVAL = "333903271"

export type Env = Record<string, string>

interface Result {
  isError?: boolean
  structuredContent?: { apps?: { id: string }[]; confirmToken?: string }
  content: { text?: string }[]
  _meta?: Record<string, unknown>
}

interface Client {
  listTools(): Promise<{ tools: { name: string }[] }>
  callTool(call: { name: string; arguments: object }): Promise<Result>
  getServerVersion(): { name: string } | undefined
  close(): Promise<void>
}

export const INFO = { name: "test", version: "1" }
/** The official clients start the command themselves, like assistants. */
const startOptions = (args: string[], env: Env) => ({
  command: process.execPath,
  args: [MAIN, "mcp", ...args],
  env: { PATH: process.env.PATH ?? "", MEASURE: "no", BUN_JSC_useOMGJIT: "0", ...env },
  cwd: "/",
  stderr: "pipe" as const,
})

type Connect = (args: string[], env: Env) => Promise<Client>

const sdk: Connect = async (args, env) => {
  const client = new legacy.Client(INFO)
  await client.connect(new StdioClientTransport(startOptions(args, env)))
  return client as unknown as Client
}
export const client =
  (mode?: modern.VersionNegotiationMode): Connect =>
  async (args, env) => {
    const client = new modern.Client(INFO, mode ? { versionNegotiation: { mode } } : {})
    await client.connect(new ModernStdio(startOptions(args, env)))
    return client as unknown as Client
  }

export const CLIENTS: [string, Connect][] = [
  ["sdk 1.32.2", sdk],
  ["client 2.4.0", client()],
  ["client 2.4.0, auto", client("auto")],
  ["client 2.4.0, pinned to 2026-07-28", client({ pin: "2026-07-28" })],
]

/** The place of the tools: 0 is a folder without a server, 1 a folder whose server runs, 2 a server's address. */
type Place = 0 | 1 | 2
/** Returns the clients to test in a place. Short runs test each client in one place only, long runs in all places. */
export const clientsAt = (place: Place) => CLIENTS.filter((_, at) => LONG || Math.min(at, 2) === place)

/** Creates a data folder with a workspace, an app and a key. */
export async function service(): Promise<Env> {
  cachedEnv ??= (async () => {
    const env = await dataFolder()
    const database = await openFolder(env)
    const serviceEnv = { ...env, ...(await fillFolder(env)) }
    await database.close()
    return serviceEnv
  })()
  const { DATA_DIR, ...key } = await cachedEnv
  return { DATA_DIR: copyOf(DATA_DIR as string), ...key }
}

let cachedEnv: Promise<Env> | undefined

/** Removes the folder, so that the next caller creates a new one. */
export function leave(): void {
  removeFolders()
  cachedEnv = undefined
}

export async function fillFolder(env: Env): Promise<Env> {
  await answer(["workspace", "create", "studio", "--limit", "ratePerSecond=1000"], { env })
  await answer(["app", "add", "--ios", IOS, "--keyword", "tea app", "--rival", `ios:${RIVAL}`], { env })
  return { APPMETER_KEY: (await answer(["key", "create"], { env })).secret }
}

/** Checks what every client can do with any endpoint. */
export async function exercise(connected: Client): Promise<void> {
  expect(connected.getServerVersion()).toMatchObject({ name: "appmeter" })
  const { tools } = await connected.listTools()
  expect(tools.map(({ name }) => name)).toEqual(catalog.map(({ id }) => id).sort())
  const listed = await connected.callTool({ name: "list_apps", arguments: {} })
  const [app] = listed.structuredContent?.apps ?? []
  const appAnswer = await connected.callTool({ name: "get_app", arguments: { appId: app?.id } })
  expect([appAnswer.isError, JSON.stringify(appAnswer.structuredContent)]).toEqual([
    undefined,
    expect.stringContaining(IOS),
  ])
  expect(appAnswer._meta).toMatchObject({ credits: { cost: 1 } })
  const missingApp = await connected.callTool({ name: "get_app", arguments: { appId: "app_none" } })
  expect([missingApp.isError, JSON.parse(missingApp.content[0]?.text ?? "").error]).toEqual([true, "not_found"])
  expect(await errorOf(connected.callTool({ name: "nonsense", arguments: {} }))).toMatchObject({ code: -32602 })
}

/** Clients of both protocol versions, with a user who presses the given button. */
export const ASKED_BY: [string, (args: string[], env: Env, press: () => "accept" | "decline") => Promise<Client>][] = [
  [
    "sdk 1.32.2, on the stream of its call",
    async (args, env, press) => {
      const client = new legacy.Client(INFO, { capabilities: { elicitation: {} } })
      client.setRequestHandler(ElicitRequestSchema, async () => ({ action: press(), content: {} }))
      await client.connect(new StdioClientTransport(startOptions(args, env)))
      return client as unknown as Client
    },
  ],
  [
    "client 2.4.0 pinned to 2026-07-28, by asking again",
    async (args, env, press) => {
      const client = new modern.Client(INFO, {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode: { pin: "2026-07-28" } },
      })
      client.setRequestHandler("elicitation/create", async () => ({ action: press(), content: {} }))
      await client.connect(new ModernStdio(startOptions(args, env)))
      return client as unknown as Client
    },
  ],
]

/** Previews a write and confirms it, like an assistant. */
export async function write(connected: Client, appId: string, keyword: string): Promise<Result> {
  const args = { appId, keywords: [keyword] }
  const preview = { name: "preview_action", arguments: { action: "add_keywords", args } }
  const { confirmToken } = (await connected.callTool(preview)).structuredContent!
  return await connected.callTool({ name: "confirm_action", arguments: { confirmToken } })
}

export async function appIn(DATA_DIR: string): Promise<{ id: string; keywords: number }> {
  return (await answer(["app", "list"], { env: { DATA_DIR } })).apps[0]
}

/** Returns the environment for a client of a server's address, without a database. */
export function remoteEnv({ APPMETER_KEY }: Env): Env {
  return { APPMETER_KEY: APPMETER_KEY!, DATA_DIR: "/proc/none" }
}
