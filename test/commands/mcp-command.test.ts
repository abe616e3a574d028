import { describe, expect, setDefaultTimeout } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { catalog } from "../../src/catalog.ts"
import { afterSlow, beforeSlow, long, slow } from "../long.ts"
import { answer, appmeter, type Serving, scratch, serving, startCommand } from "./child.ts"
import { begunHere, runHere } from "./here.ts"
import { appIn, type Env, INFO, leave, RIVAL, service } from "./mcp-clients.ts"

setDefaultTimeout(60_000)
afterSlow(leave)

/** Starts the command in a separate process and exchanges lines with it. */
function startPiped(args: string[], env: Env) {
  const child = startCommand(["mcp", ...args], { env })
  const stdin = child.stdin as import("bun").FileSink
  const [out, err] = [collect(child.stdout), collect(child.stderr)]
  const exited = child.exited.then(async (code) => {
    await Promise.all([out.done, err.done])
    return code
  })
  const parts = { out: () => out.text, err: () => err.text, exited, write: (text: string) => stdin.write(text) }
  const kill = (signal: NodeJS.Signals) => child.kill(signal)
  return { ...openDialogue({ ...parts, flush: () => stdin.flush(), end: () => stdin.end() }), kill }
}

/** Starts the command in this process. */
function pipedHere(args: string[], env: Env) {
  const { input, out, err, exited } = begunHere(["mcp", ...args], env)
  return openDialogue({ out, err, exited, write: (text) => input.write(text), flush: () => {}, end: () => input.end() })
}

function collect(stream: ReadableStream<Uint8Array>): { text: string; done: Promise<void> } {
  const collection = { text: "", done: Promise.resolve() }
  const decoder = new TextDecoder()
  collection.done = (async () => {
    for await (const chunk of stream) collection.text += decoder.decode(chunk, { stream: true })
  })()
  return collection
}

interface Spoken {
  out(): string
  err(): string
  exited: Promise<number>
  write(text: string): unknown
  flush(): unknown
  end(): unknown
}

function openDialogue({ out, err, exited, write, flush, end }: Spoken) {
  let hasEnded = false
  void exited.then(() => {
    hasEnded = true
  })
  const messages = () =>
    out()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  return {
    out,
    err,
    messages,
    send: async (...lines: (string | object)[]) => {
      for (const line of lines) write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`)
      await flush()
    },
    async until(count: number) {
      while (messages().length < count) {
        if (hasEnded) throw new Error(`ended: ${out()} ${err()}`)
        await Bun.sleep(10)
      }
      return messages()
    },
    async ended(closing = true) {
      if (closing) await end()
      return await exited
    },
  }
}

const ask = (id: unknown, method: string, params: object = {}) => ({ jsonrpc: "2.0", id, method, params })
const call = (id: unknown, name: string, args: object = {}) => ask(id, "tools/call", { name, arguments: args })

describe("the command", () => {
  let env: Env

  beforeSlow(async () => {
    env = await service()
  })

  slow("appmeter mcp explains a missing key and wrong usage, and creates no database", async () => {
    const DATA_DIR = join(scratch(), "none")
    const cases: [string[], Env, number, RegExp][] = [
      [[], {}, 2, /APPMETER_KEY is not set; create one with appmeter key create/],
      [[], { APPMETER_KEY: "$" + "{APPMETER_KEY}" }, 2, /placeholder.*appmeter key create/],
      [["--url", "ranks.example.com"], { APPMETER_KEY: "k" }, 2, /https:\/\/ranks\.example\.com/],
      [["--url", "https://x.example/mcp?key=svc_live_1"], { APPMETER_KEY: "k" }, 2, /^(?!.*svc_live_1).*--tools/],
      [[], { APPMETER_KEY: "k", APPMETER_URL: "file:///etc" }, 2, /APPMETER_URL/],
      [["--tools", "keywords,nonsense"], { APPMETER_KEY: "k" }, 2, /"nonsense".*keywords/],
      [["--key", "k"], {}, 2, /unknown option --key/],
      [[], { APPMETER_KEY: "k" }, 1, /no database in/],
    ]
    const checkCase = async ([args, settings, code, expected]: (typeof cases)[number], at: number) => {
      const runIn = at === cases.length - 1 ? appmeter : runHere
      const ended = await runIn(["mcp", ...args], { env: { DATA_DIR, ...settings }, stdin: "" })
      expect([ended.code, ended.out, ended.err.split("\n").length]).toEqual([code, "", 2])
      expect(ended.err).toMatch(expected)
    }
    // wrong usage is reported before the command waits; only the last case needs a separate process
    await Promise.all(cases.map(checkCase))
    expect(existsSync(DATA_DIR)).toBe(false)
  })

  slow("appmeter mcp answers open calls when stdin ends, writes only messages to stdout and exits with 0", async () => {
    const running = startPiped([], { ...env, LOG_LEVEL: "debug" })
    await running.send(ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: INFO }))
    await running.send({ jsonrpc: "2.0", method: "notifications/initialized" }, "nonsense", call(2, "list_apps"))
    expect(await running.ended()).toBe(0)
    const byId = new Map(running.messages().map((message) => [message.id, message]))
    expect(byId.size).toBe(3)
    expect(byId.get(null).error.code).toBe(-32700)
    expect(byId.get(2).result.structuredContent.apps).toHaveLength(1)
    expect(running.out()).not.toContain(env.APPMETER_KEY!)
    expect(running.err()).not.toContain(env.APPMETER_KEY!)
    // stderr contains the command's log
    expect(running.err()).toContain('"operation":"list_apps"')
  })

  long("appmeter mcp exits with 0 on SIGTERM while stdin is open", async () => {
    const running = startPiped([], env)
    await running.send(call(1, "list_apps"))
    await running.until(1)
    running.kill("SIGTERM")
    expect(await running.ended(false)).toBe(0)
  })

  long("appmeter mcp --tools lists and calls only the tools of the given toolsets", async () => {
    const running = pipedHere(["--tools", "account, apps"], env)
    await running.send(ask(1, "tools/list"), call(2, "list_keyword_ranks"))
    await running.ended()
    const byId = new Map(running.messages().map((message) => [message.id, message]))
    const open = catalog.filter(({ toolset }) => toolset === "account" || toolset === "apps").map(({ id }) => id)
    expect(byId.get(1).result.tools.map(({ name }: { name: string }) => name)).toEqual(open.sort())
    expect(byId.get(2).error.code).toBe(-32602)
  })

  long("appmeter mcp refuses an unknown key with advice, and an oversized call with body_too_large", async () => {
    const running = pipedHere([], { ...env, APPMETER_KEY: "svc_live_nonsense" })
    await running.send(ask(1, "tools/list"))
    await running.ended()
    expect(running.messages()[0]).toMatchObject({
      id: 1,
      error: { code: -32001, message: expect.stringContaining("appmeter key create") },
    })
    const big = pipedHere([], env)
    await big.send(call(2, "get_app", { appId: "x".repeat(1_000_000) }), call(3, "list_apps"))
    await big.ended()
    const byId = new Map(big.messages().map((message) => [message.id, message]))
    expect(byId.get(2).error.data.error).toBe("body_too_large")
    expect(byId.get(3).result.isError).toBeUndefined()
  })

  long("appmeter mcp closes an idle data folder so that a server can start, and then calls the server", async () => {
    const DATA_DIR = env.DATA_DIR!
    const [first, second] = [startPiped([], env), startPiped([], env)]
    await Promise.all([first.send(call(1, "list_apps")), second.send(call(1, "list_apps"))])
    for (const running of [first, second]) expect((await running.until(1))[0].result.isError).toBeUndefined()
    const server = await serving({ env: { DATA_DIR } })
    await first.send(call(2, "list_apps"))
    expect((await first.until(2))[1].result.structuredContent.apps).toHaveLength(1)
    // killed while the call's connection is open, so that the next call opens the folder again
    server.kill("SIGKILL")
    await server.exited
    let id = 2
    for (let done = false; !done; ) {
      await first.send(call(++id, "list_apps"))
      const { result } = (await first.until(id)).at(-1)
      done = !result.isError
      if (!done) expect(JSON.parse(result.content[0].text).error).toBe("unavailable")
    }
    expect(await Promise.all([first.ended(), second.ended()])).toEqual([0, 0])
    expect(await answer(["app", "list"], { env: { DATA_DIR } })).toMatchObject({ apps: [{}] })
  })

  /** A store that refuses, with the settings to read it. */
  function refusingStore() {
    const counter = { hits: 0 }
    const fetch = () => new Response(String(++counter.hits), { status: 503 })
    const store = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch })
    const addresses = ["itunes.apple.com", "apps.apple.com"].map((host) => `${host}=${store.url.origin}`)
    return { seen: counter, store, reading: { ...env, MEASURE: "yes", UPSTREAM_URLS: addresses.join(",") } }
  }

  /** Requests a live read from the command of a folder without a server. */
  async function readAlone(reading: Env) {
    const { id: appId } = await appIn(env.DATA_DIR!)
    const running = pipedHere([], reading)
    const readMarket = async (id: number) => {
      await running.send(call(id, "get_rival_market", { appId, rivalId: `ios:${RIVAL}` }))
      return (await running.until(id)).at(-1).result
    }
    const { isError, content } = await readMarket(1)
    expect([isError, content[0].text]).toEqual([true, expect.stringContaining("does not read it")])
    return { running, read: readMarket }
  }

  slow("appmeter mcp refuses to read from a store if no server uses the data folder", async () => {
    const { seen: counter, store, reading } = refusingStore()
    const { running } = await readAlone(reading)
    expect([await running.ended(), counter.hits]).toEqual([0, 0])
    await store.stop(true)
  })

  long("appmeter mcp reads from a store only through a server that uses the data folder", async () => {
    const { seen: counter, store, reading } = refusingStore()
    const { running, read } = await readAlone(reading)
    expect(counter.hits).toBe(0)
    const server = await serving({ env: reading })
    expect((await read(2)).content[0].text).not.toContain("does not read it")
    expect(await running.ended()).toBe(0)
    server.kill()
    await server.exited
    expect(counter.hits).toBeGreaterThan(0)
    await store.stop(true)
  })
})

describe("a server by its address", () => {
  let env: Env
  let server: Serving

  beforeSlow(async () => {
    env = await service()
    server = await serving({ env: { DATA_DIR: env.DATA_DIR!, PORT: "0" } })
  })

  slow("appmeter mcp connects to APPMETER_URL directly and ignores the environment's proxy", async () => {
    const APPMETER_KEY = env.APPMETER_KEY!
    const http_proxy = "http://127.0.0.1:1"
    const running = startPiped([], {
      APPMETER_KEY,
      APPMETER_URL: `${server.url}/mcp/`,
      http_proxy,
      HTTP_PROXY: http_proxy,
    })
    await running.send(call(1, "list_apps"))
    await running.ended()
    expect(running.messages()[0].result.structuredContent.apps).toHaveLength(1)
  })

  long("a call to a killed server fails, and the next call reaches the restarted server", async () => {
    const running = startPiped(["--url", server.url], { APPMETER_KEY: env.APPMETER_KEY! })
    await running.send(call(1, "list_apps"))
    await running.until(1)
    server.kill("SIGKILL")
    await server.exited
    await running.send(call(2, "list_apps"))
    const [, lostCall] = await running.until(2)
    expect(lostCall).toMatchObject({
      id: 2,
      error: { code: -32000, message: expect.stringMatching(/appmeter serve|ended before the answer/) },
    })
    server = await serving({ env: { DATA_DIR: env.DATA_DIR!, PORT: new URL(server.url).port } })
    await running.send(call(3, "list_apps"))
    expect((await running.until(3))[2].result.structuredContent.apps).toHaveLength(1)
    expect(await running.ended()).toBe(0)
  })

  slow("a cancelled call closes its connection and gets no answer, and the next call works", async () => {
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
    const running = pipedHere(["--url", slow.url.origin], { APPMETER_KEY: "k" })
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

  afterSlow(async () => {
    server.kill()
    await server.exited
  })
})
