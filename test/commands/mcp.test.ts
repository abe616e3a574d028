import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as modern from "@modelcontextprotocol/client"
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio"
import * as legacy from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { catalog } from "../../src/catalog.ts"
import { scratchDatabase } from "../database/server.ts"
import { errorOf } from "../error-of.ts"
import { LONG } from "../long.ts"
import { answer, appmeter, begun, copyOf, dataFolder, removeFolders, type Serving, scratch, serving } from "./child.ts"

setDefaultTimeout(60_000)
afterAll(removeFolders)

const MAIN = join(import.meta.dirname, "../../src/main.ts")
const IOS = "1437843273"
const RIVAL = "333903271"

type Env = Record<string, string>

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

const INFO = { name: "test", version: "1" }
/** The official clients start the command themselves, as assistants do. */
const started = (args: string[], env: Env) => ({
  command: process.execPath,
  args: [MAIN, "mcp", ...args],
  env: { PATH: process.env.PATH ?? "", MEASURE: "no", BUN_JSC_useOMGJIT: "0", ...env },
  cwd: "/",
  stderr: "pipe" as const,
})

type Connect = (args: string[], env: Env) => Promise<Client>

const sdk: Connect = async (args, env) => {
  const client = new legacy.Client(INFO)
  await client.connect(new StdioClientTransport(started(args, env)))
  return client as unknown as Client
}
const client =
  (mode?: modern.VersionNegotiationMode): Connect =>
  async (args, env) => {
    const client = new modern.Client(INFO, mode ? { versionNegotiation: { mode } } : {})
    await client.connect(new ModernStdio(started(args, env)))
    return client as unknown as Client
  }

const CLIENTS: [string, Connect][] = [
  ["sdk 1.32.2", sdk],
  ["client 2.4.0", client()],
  ["client 2.4.0, auto", client("auto")],
  ["client 2.4.0, pinned to 2026-07-28", client({ pin: "2026-07-28" })],
]

/** Where a client may find the tools: in a folder nobody serves, beside its server, at the server's address. */
type Place = 0 | 1 | 2
/** Those tried there: in short each client in one place, at length in all. */
const clientsAt = (place: Place) => CLIENTS.filter((_, at) => LONG || at % 3 === place)

/** A data folder with a workspace, an app and a key. */
async function house(): Promise<Env> {
  made ??= (async () => {
    const env = await dataFolder()
    return { ...env, ...(await filled(env)) }
  })()
  const { DATA_DIR, ...key } = await made
  return { DATA_DIR: copyOf(DATA_DIR as string), ...key }
}

let made: Promise<Env> | undefined

async function filled(env: Env): Promise<Env> {
  await answer(["workspace", "create", "studio", "--limit", "ratePerSecond=1000"], { env })
  await answer(["app", "add", "--ios", IOS, "--keyword", "tea app", "--rival", `ios:${RIVAL}`], { env })
  return { APPMETER_KEY: (await answer(["key", "create"], { env })).secret }
}

/** What every client must be able to do, whatever answers behind it. */
async function exercise(connected: Client): Promise<void> {
  expect(connected.getServerVersion()).toMatchObject({ name: "appmeter" })
  const { tools } = await connected.listTools()
  expect(tools.map(({ name }) => name)).toEqual(catalog.map(({ id }) => id).sort())
  const listed = await connected.callTool({ name: "list_apps", arguments: {} })
  const [app] = listed.structuredContent?.apps ?? []
  const shown = await connected.callTool({ name: "get_app", arguments: { appId: app?.id } })
  expect([shown.isError, JSON.stringify(shown.structuredContent)]).toEqual([undefined, expect.stringContaining(IOS)])
  expect(shown._meta).toMatchObject({ credits: { cost: 1 } })
  const none = await connected.callTool({ name: "get_app", arguments: { appId: "app_none" } })
  expect([none.isError, JSON.parse(none.content[0]?.text ?? "").error]).toEqual([true, "not_found"])
  expect(await errorOf(connected.callTool({ name: "nonsense", arguments: {} }))).toMatchObject({ code: -32602 })
}

/** A person who presses what the test says, behind a client of either era. */
const ASKED_BY: [string, (args: string[], env: Env, press: () => "accept" | "decline") => Promise<Client>][] = [
  [
    "sdk 1.32.2, on the stream of its call",
    async (args, env, press) => {
      const client = new legacy.Client(INFO, { capabilities: { elicitation: {} } })
      client.setRequestHandler(ElicitRequestSchema, async () => ({ action: press(), content: {} }))
      await client.connect(new StdioClientTransport(started(args, env)))
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
      await client.connect(new ModernStdio(started(args, env)))
      return client as unknown as Client
    },
  ],
]

/** Previews a write and confirms it, as an assistant does. */
async function write(connected: Client, appId: string, keyword: string): Promise<Result> {
  const args = { appId, keywords: [keyword] }
  const preview = { name: "preview_action", arguments: { action: "add_keywords", args } }
  const { confirmToken } = (await connected.callTool(preview)).structuredContent!
  return await connected.callTool({ name: "confirm_action", arguments: { confirmToken } })
}

async function appIn(DATA_DIR: string): Promise<{ id: string; keywords: number }> {
  return (await answer(["app", "list"], { env: { DATA_DIR } })).apps[0]
}

describe("a data folder that nobody serves", () => {
  let env: Env

  beforeAll(async () => {
    env = await house()
  })

  test.each(clientsAt(0))("is worked with by %s", async (_, connect) => {
    const connected = await connect([], env)
    await exercise(connected)
    await connected.close()
  })

  test("is written to when the person behind the client agrees", async () => {
    const [, connect] = ASKED_BY[0]!
    const { id } = await appIn(env.DATA_DIR!)
    const connected = await connect([], env, () => "accept")
    expect((await write(connected, id, "kettle")).structuredContent).toMatchObject({ status: "applied" })
    await connected.close()
    expect(await appIn(env.DATA_DIR!)).toMatchObject({ keywords: 2 })
  })
})

describe("a server", () => {
  let env: Env
  let server: Serving

  beforeAll(async () => {
    env = await house()
    server = await serving({ env: { DATA_DIR: env.DATA_DIR! } })
  })
  afterAll(async () => {
    server.kill()
    expect(await server.exited).toBe(0)
  })

  test.each(clientsAt(1))("is worked with by %s beside it on its folder", async (_, connect) => {
    const connected = await connect([], env)
    await exercise(connected)
    await connected.close()
  })

  test.each(clientsAt(2))("is worked with by %s by its address", async (_, connect) => {
    const connected = await connect(["--url", server.url], addressed(env))
    await exercise(connected)
    await connected.close()
  })

  test.each(ASKED_BY)("writes only what the person behind the client agrees to: %s", async (_, connect) => {
    let pressed: "accept" | "decline" = "accept"
    const asked: string[] = []
    const connected = await connect(["--url", server.url], addressed(env), () => {
      asked.push(pressed)
      return pressed
    })
    const { id, keywords } = await appIn(env.DATA_DIR!)
    expect((await write(connected, id, `teapot ${keywords}`)).structuredContent).toMatchObject({ status: "applied" })
    pressed = "decline"
    expect((await write(connected, id, "samovar")).isError).toBe(true)
    await connected.close()
    expect(asked).toEqual(["accept", "decline"])
    expect(await appIn(env.DATA_DIR!)).toMatchObject({ keywords: keywords + 1 })
  })
})

/** What a server's address needs beside it: no database of its own. */
function addressed({ APPMETER_KEY }: Env): Env {
  return { APPMETER_KEY: APPMETER_KEY!, DATA_DIR: "/proc/none" }
}

/** The command, spoken to line by line. */
function piped(args: string[], env: Env) {
  const child = begun(["mcp", ...args], { env })
  const stdin = child.stdin as import("bun").FileSink
  const decoder = new TextDecoder()
  const got = { out: "", err: "" }
  const reading = (async () => {
    for await (const chunk of child.stdout) got.out += decoder.decode(chunk, { stream: true })
  })()
  const talk = (async () => {
    for await (const chunk of child.stderr) got.err += new TextDecoder().decode(chunk)
  })()
  const messages = () =>
    got.out
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  return {
    got,
    messages,
    send: async (...lines: (string | object)[]) => {
      for (const line of lines) stdin.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`)
      await stdin.flush()
    },
    async until(count: number) {
      while (messages().length < count) {
        if (child.exitCode !== null) throw new Error(`ended: ${got.out} ${got.err}`)
        await Bun.sleep(10)
      }
      return messages()
    },
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    async ended(closing = true) {
      if (closing) await stdin.end()
      const code = await child.exited
      await Promise.all([reading, talk])
      return code
    },
  }
}

const ask = (id: unknown, method: string, params: object = {}) => ({ jsonrpc: "2.0", id, method, params })
const call = (id: unknown, name: string, args: object = {}) => ask(id, "tools/call", { name, arguments: args })

describe("the command", () => {
  let env: Env

  beforeAll(async () => {
    env = await house()
  })

  test("says how to get a key where there is none, what is wrong with what was typed, and makes no database", async () => {
    const DATA_DIR = join(scratch(), "none")
    const cases: [string[], Env, number, RegExp][] = [
      [[], {}, 2, /no key in APPMETER_KEY; appmeter key create/],
      [[], { APPMETER_KEY: "$" + "{APPMETER_KEY}" }, 2, /placeholder.*appmeter key create/],
      [["--url", "ranks.example.com"], { APPMETER_KEY: "k" }, 2, /https:\/\/ranks\.example\.com/],
      [["--url", "https://x.example/mcp?key=svc_live_1"], { APPMETER_KEY: "k" }, 2, /^(?!.*svc_live_1).*--tools/],
      [[], { APPMETER_KEY: "k", APPMETER_URL: "file:///etc" }, 2, /APPMETER_URL/],
      [["--tools", "keywords,nonsense"], { APPMETER_KEY: "k" }, 2, /"nonsense".*keywords/],
      [["--key", "k"], {}, 2, /no option --key/],
      [[], { APPMETER_KEY: "k" }, 1, /no database in/],
    ]
    const one = async ([args, more, code, why]: (typeof cases)[number]) => {
      const ended = await appmeter(["mcp", ...args], { env: { DATA_DIR, ...more }, stdin: "" })
      expect([ended.code, ended.out, ended.err.split("\n").length]).toEqual([code, "", 2])
      expect(ended.err).toMatch(why)
    }
    await Promise.all(cases.map(one))
    expect(existsSync(DATA_DIR)).toBe(false)
  })

  test("answers what is under way when stdin ends, writes nothing but messages, and ends with 0", async () => {
    const running = piped([], { ...env, LOG_LEVEL: "debug" })
    await running.send(ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: INFO }))
    await running.send({ jsonrpc: "2.0", method: "notifications/initialized" }, "nonsense", call(2, "list_apps"))
    expect(await running.ended()).toBe(0)
    const byId = new Map(running.messages().map((message) => [message.id, message]))
    expect(byId.size).toBe(3)
    expect(byId.get(null).error.code).toBe(-32700)
    expect(byId.get(2).result.structuredContent.apps).toHaveLength(1)
    expect(running.got.out).not.toContain(env.APPMETER_KEY!)
    expect(running.got.err).not.toContain(env.APPMETER_KEY!)
    // its log is there, where it belongs
    expect(running.got.err).toContain('"operation":"list_apps"')
  })

  test("ends with 0 at SIGTERM too, though stdin stays open", async () => {
    const running = piped([], env)
    await running.send(call(1, "list_apps"))
    await running.until(1)
    running.kill("SIGTERM")
    expect(await running.ended(false)).toBe(0)
  })

  test("--tools shows and calls those toolsets alone", async () => {
    const running = piped(["--tools", "account, apps"], env)
    await running.send(ask(1, "tools/list"), call(2, "list_keyword_ranks"))
    await running.ended()
    const byId = new Map(running.messages().map((message) => [message.id, message]))
    const open = catalog.filter(({ toolset }) => toolset === "account" || toolset === "apps").map(({ id }) => id)
    expect(byId.get(1).result.tools.map(({ name }: { name: string }) => name)).toEqual(open.sort())
    expect(byId.get(2).error.code).toBe(-32602)
  })

  test("a key that is none is refused with what to do, and a body too large with its request's id", async () => {
    const running = piped([], { ...env, APPMETER_KEY: "svc_live_nonsense" })
    await running.send(ask(1, "tools/list"))
    await running.ended()
    expect(running.messages()[0]).toMatchObject({
      id: 1,
      error: { code: -32001, message: expect.stringContaining("appmeter key create") },
    })
    const big = piped([], env)
    await big.send(call(2, "get_app", { appId: "x".repeat(1_000_000) }), call(3, "list_apps"))
    await big.ended()
    const byId = new Map(big.messages().map((message) => [message.id, message]))
    expect(byId.get(2).error.data.error).toBe("body_too_large")
    expect(byId.get(3).result.isError).toBeUndefined()
  })

  test("lets go of a folder that nobody asks about: a server starts beside it, and it goes on through that", async () => {
    const DATA_DIR = env.DATA_DIR!
    const [one, other] = [piped([], env), piped([], env)]
    await Promise.all([one.send(call(1, "list_apps")), other.send(call(1, "list_apps"))])
    for (const running of [one, other]) expect((await running.until(1))[0].result.isError).toBeUndefined()
    const server = await serving({ env: { DATA_DIR } })
    await one.send(call(2, "list_apps"))
    expect((await one.until(2))[1].result.structuredContent.apps).toHaveLength(1)
    // killed with the call's connection still open: the folder is opened anew
    server.kill("SIGKILL")
    await server.exited
    let id = 2
    for (let done = false; !done; ) {
      await one.send(call(++id, "list_apps"))
      const { result } = (await one.until(id)).at(-1)
      done = !result.isError
      if (!done) expect(JSON.parse(result.content[0].text).error).toBe("unavailable")
    }
    expect(await Promise.all([one.ended(), other.ended()])).toEqual([0, 0])
    expect(await answer(["app", "list"], { env: { DATA_DIR } })).toMatchObject({ apps: [{}] })
  })

  test("reads no store: a live read is left to a server of that folder, and refused where there is none", async () => {
    let hits = 0
    const store = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response(String(++hits), { status: 503 }),
    })
    const addresses = ["itunes.apple.com", "apps.apple.com"].map((host) => `${host}=${store.url.origin}`)
    const reading = { ...env, MEASURE: "yes", UPSTREAM_URLS: addresses.join(",") }
    const { id: appId } = await appIn(env.DATA_DIR!)
    const running = piped([], reading)
    const read = async (id: number) => {
      await running.send(call(id, "get_rival_market", { appId, rivalId: `ios:${RIVAL}` }))
      return (await running.until(id)).at(-1).result
    }
    const alone = await read(1)
    expect([alone.isError, alone.content[0].text]).toEqual([true, expect.stringContaining("does not read it")])
    expect(hits).toBe(0)
    const server = await serving({ env: reading })
    expect((await read(2)).content[0].text).not.toContain("does not read it")
    expect(await running.ended()).toBe(0)
    server.kill()
    await server.exited
    expect(hits).toBeGreaterThan(0)
    await store.stop(true)
  })
})

const postgres = test.skipIf(!process.env.DATABASE_URL)

describe("a server database", () => {
  postgres("postgres: is worked with as a folder is, beside a server of it, and without making a folder", async () => {
    await using database = await scratchDatabase("mcp")
    const place = { DATABASE_URL: database.url, DATA_DIR: join(scratch(), "none") }
    const unmade = await appmeter(["mcp"], { env: { ...place, APPMETER_KEY: "k" }, stdin: "" })
    expect([unmade.code, unmade.err]).toEqual([1, expect.stringContaining("run: appmeter migrate")])
    await answer(["migrate"], { env: place })
    const env = { ...place, ...(await filled(place)) }
    for (const [, connect] of CLIENTS) {
      const connected = await connect([], env)
      await exercise(connected)
      await connected.close()
    }
    const server = await serving({ env: place })
    const beside = await client("auto")([], env)
    await exercise(beside)
    await beside.close()
    server.kill()
    expect([await server.exited, existsSync(place.DATA_DIR)]).toEqual([0, false])
  })
})

describe("a server by its address", () => {
  let env: Env
  let server: Serving

  beforeAll(async () => {
    env = await house()
    server = await serving({ env: { DATA_DIR: env.DATA_DIR!, PORT: "0" } })
  })

  test("may stand in APPMETER_URL, and is reached without the proxy that the environment names", async () => {
    const APPMETER_KEY = env.APPMETER_KEY!
    const http_proxy = "http://127.0.0.1:1"
    const running = piped([], { APPMETER_KEY, APPMETER_URL: `${server.url}/mcp/`, http_proxy, HTTP_PROXY: http_proxy })
    await running.send(call(1, "list_apps"))
    await running.ended()
    expect(running.messages()[0].result.structuredContent.apps).toHaveLength(1)
  })

  test("that is killed midway gives an error to each call and is used again once it is back", async () => {
    const running = piped(["--url", server.url], { APPMETER_KEY: env.APPMETER_KEY! })
    await running.send(call(1, "list_apps"))
    await running.until(1)
    server.kill("SIGKILL")
    await server.exited
    await running.send(call(2, "list_apps"))
    const [, lost] = await running.until(2)
    expect(lost).toMatchObject({
      id: 2,
      error: { code: -32000, message: expect.stringMatching(/appmeter serve|ended before the answer/) },
    })
    server = await serving({ env: { DATA_DIR: env.DATA_DIR!, PORT: new URL(server.url).port } })
    await running.send(call(3, "list_apps"))
    expect((await running.until(3))[2].result.structuredContent.apps).toHaveLength(1)
    expect(await running.ended()).toBe(0)
  })

  test("is told when a call is cancelled, by hanging up; nothing is answered, and the next call is", async () => {
    const [arrived, hungUp] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 60,
      async fetch(request) {
        const { id, method } = (await request.json()) as { id: number; method: string }
        if (method === "notifications/cancelled") return new Response(null, { status: 202 })
        if (id === 2) return Response.json({ jsonrpc: "2.0", id, result: {} })
        request.signal.addEventListener("abort", () => hungUp.resolve())
        arrived.resolve()
        return new Promise<Response>(() => {})
      },
    })
    const running = piped(["--url", slow.url.origin], { APPMETER_KEY: "k" })
    await running.send(call(1, "list_apps"))
    await arrived.promise
    await running.send(
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
      call(2, "list_apps"),
    )
    await hungUp.promise
    expect(await running.ended()).toBe(0)
    expect(running.messages()).toEqual([{ jsonrpc: "2.0", id: 2, result: {} }])
    await slow.stop(true)
  })

  afterAll(async () => {
    server.kill()
    await server.exited
  })
})
