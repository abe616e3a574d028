import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import postgres from "postgres"
import { bunRedisWire } from "../src/access/redis/bun-wire.ts"
import { catalog } from "../src/catalog.ts"
import { readTree, typedAs } from "../src/database/assets.ts"
import { prepareSandbox } from "../src/http/sandbox.ts"
import { linesOf } from "./chaos/fleet.ts"
import { appmeter, removeFolders, type Serving, serving } from "./commands/child.ts"
import { scratchDatabase } from "./database/server.ts"
import { denoBinary, noDeno, servedByDeno, underDeno } from "./deno-process.ts"
import { upstashRest } from "./upstash-rest.ts"
import { tally } from "./writes/writer.ts"

// `deno check` alone takes 45 s of processor time
setDefaultTimeout(300_000)
afterAll(removeFolders)

const root = join(import.meta.dirname, "..")

describe("the code under Deno", () => {
  test.skipIf(noDeno)("deno check finds no type error and no unresolved import", async () => {
    const child = Bun.spawn([denoBinary(), "check", "--no-lock", "src/deno.ts"], {
      cwd: root,
      env: { PATH: process.env.PATH ?? "", DENO_DIR: underDeno([], {}).env!.DENO_DIR, NO_COLOR: "1" },
      stderr: "pipe",
    })
    const output = await new Response(child.stderr).text()
    expect([await child.exited, output]).toEqual([0, expect.not.stringContaining("error")])
  })

  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => ({ name, text: readFileSync(join(root, "src", name), "utf8") }))

  test("only the allowed modules import Bun", () => {
    const needing = files.filter(({ text }) => /\bBun\.\w|from "bun|import\("bun/.test(text)).map(({ name }) => name)
    expect(
      needing.filter((name) => !/^(main\.ts$|commands\/|access\/redis\/|database\/embedded\/)/.test(name)),
    ).toEqual([])
  })

  test("the embedded database is loaded only on request", () => {
    const loading = files.filter(({ text }) => /^(import(?! type)|export).* from ".*\/embedded\//m.test(text))
    const unexpected = loading.map(({ name }) => name).filter((name) => !name.startsWith("database/embedded/"))
    // needed only for the start of a thread, which loads the rest
    expect(unexpected).toEqual(["commands/process/early-thread.ts"])
    const thread = files.find(({ name }) => name === "database/embedded/thread.ts")!
    expect(thread.text.match(/^import(?! type).*/gm)).toEqual(['import { DatabaseStopped } from "./stopped.ts"'])
  })
})

test.skipIf(noDeno)(
  "without DATABASE_URL every command explains in one sentence that the embedded database needs Bun",
  async () => {
    for (const command of ["serve", "key list", "migrate"]) {
      const ended = await appmeter(command.split(" "), underDeno(["127.0.0.1"], {}))
      expect([command, ended]).toEqual([command, { code: 1, out: "", err: NEEDS_BUN }])
    }
    expect(await appmeter([], servedByDeno([], {}))).toEqual({ code: 1, out: "", err: NEEDS_BUN })
  },
)

test.skipIf(noDeno)("deno run without a command shows the available commands, as Bun does", async () => {
  const deno = await appmeter([], underDeno([], {}))
  const bun = await appmeter([])
  const expectedError = bun.err.replace(
    `type ${typedAs()}`,
    "type deno run --no-lock --allow-env --allow-net --allow-read src/deno.ts",
  )
  expect(deno).toEqual({ ...bun, err: expect.stringContaining(expectedError) })
})

const NEEDS_BUN = "appmeter: the embedded database needs Bun; set DATABASE_URL to a PostgreSQL 15 or newer\n"

const WAYS = ["deno run", "deno serve"] as const

describe.skipIf(noDeno || !process.env.DATABASE_URL).each([...WAYS])("postgres: a server under `%s`", (way) => {
  let database: Awaited<ReturnType<typeof scratchDatabase>>
  let deno: Serving
  let bun: Serving
  const at = { deno: "", bun: "" }
  let key: string
  let app: string

  beforeAll(async () => {
    database = await scratchDatabase(way.replace(" ", "_"))
    const env = {
      DATABASE_URL: database.url,
      PUBLIC_URL: "https://meter.test",
      FIRST_WORKSPACE_RATE_PER_SECOND: "100000",
      SANDBOX_PER_SECOND: "100000",
    }
    const [denoPort, bunPort] = freePorts(2)
    at.deno = `http://127.0.0.1:${denoPort}`
    at.bun = `http://127.0.0.1:${bunPort}`
    const hosts = ["127.0.0.1", new URL(database.url).host]
    const run = underDeno(hosts, { ...env, PORT: String(denoPort) })
    if (way === "deno run") {
      deno = await serving(run, ["--demo"])
      // waits for the greeting, because reads change until the demo data is complete
      while (!linesOf(deno).some(({ event }) => event === "demo_completed")) await Bun.sleep(50)
    } else {
      deno = await serving(servedByDeno([new URL(database.url).host], { ...env, PORT: String(denoPort) }))
      expect(await appmeter(["demo", "load"], run)).toMatchObject({ code: 0 })
    }
    bun = await serving({ env: { ...env, PORT: String(bunPort) } })
    key = /svc_live_\w{36}/.exec(deno.out())![0]
    app = (await call(at.bun, "GET", "/v1/apps", { key })).body.apps[0].id
  })
  afterAll(async () => {
    for (const server of [bun, deno]) server?.kill("SIGKILL")
    await Promise.all([bun?.exited, deno?.exited])
    await database?.[Symbol.asyncDispose]()
  })

  test("Deno migrates the schema, creates the first workspace and logs as Bun does", () => {
    const lines = linesOf(deno)
    const extraEvents = way === "deno run" ? ["demo_loaded", "demo_completed"] : []
    expect(lines.map(({ event }) => event)).toEqual(expect.arrayContaining(["migrated", "listening", ...extraEvents]))
    expect(lines.find(({ event }) => event === "listening")).toMatchObject({ level: "info", database: "postgres" })
    expect(deno.err()).not.toContain("svc_")
  })

  test("Deno answers every recorded read with the same bytes as Bun", async () => {
    const calls = recorded(app)
    const differing: unknown[] = []
    for (const [method, path, keyed] of calls) {
      const options = keyed ? { key } : {}
      const expected = comparable(await call(at.bun, method, path, options))
      const answer = comparable(await call(at.deno, method, path, options))
      if (!Bun.deepEquals(answer, expected)) differing.push({ path, expected, answer })
    }
    console.log(`${calls.length} recorded calls`)
    expect(differing).toEqual([])
    expect(calls.length).toBeGreaterThan(30)
  })

  test.each(["zstd", "br", "gzip"])("the %s encoding decompresses to the bytes that Bun sends", async (encoding) => {
    for (const path of ["/docs", "/v1/openapi.json", "/v1/sandbox/alerts", `/v1/apps/${app}/keywords?country=us`]) {
      const expected = await call(at.bun, "GET", path, { key })
      const answer = await call(at.deno, "GET", path, { key, encoding })
      expect([path, answer.headers.get("content-encoding"), answer.text]).toEqual([path, encoding, expected.text])
    }
  })

  test("Deno sends Bun's ETags, 304 answers, rows and the caller's own request id", async () => {
    const path = `/v1/apps/${app}/keywords?country=us`
    const { headers } = await call(at.bun, "GET", path, { key })
    const sent = { "if-none-match": headers.get("etag") as string, "x-request-id": "mine" }
    for (const url of [at.deno, at.bun]) {
      const conditional = await call(url, "GET", path, { key, headers: sent })
      expect([conditional.status, conditional.text, conditional.headers.get("x-request-id")]).toEqual([304, "", "mine"])
    }
    const asRows = { key, headers: { accept: "text/csv" } }
    const [expected, rows] = [await call(at.bun, "GET", path, asRows), await call(at.deno, "GET", path, asRows)]
    expect(comparable(rows)).toEqual(comparable(expected))
    expect(rows.headers.get("content-type")).toStartWith("text/csv")
  })

  test("a write confirmed once under Deno is visible to Bun", async () => {
    const args = { appId: app, keywords: ["tea"] }
    const previewed = await call(at.deno, "POST", "/v1/actions", { key, body: { action: "add_keywords", args } })
    expect(previewed.status).toBe(200)
    const body = { confirmToken: previewed.body.confirmToken }
    const confirm = () => call(at.deno, "POST", "/v1/actions/confirm", { key, body })
    const answers = await Promise.all(Array.from({ length: 10 }, confirm))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)])
    const ranks = await call(at.bun, "GET", `/v1/apps/${app}/keywords?country=us`, { key })
    const added = ranks.body.keywords.filter(({ term }: { term: string }) => term === "tea")
    expect(added).toMatchObject([{ measured: false }])
  })

  test("Deno answers a tool call, and refuses one without a key", async () => {
    const { body: rest } = await call(at.bun, "GET", "/v1/apps", { key })
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_apps", arguments: {} } }
    const answer = await call(at.deno, "POST", "/mcp", { key, body })
    expect([answer.status, answer.body.result.isError ?? false]).toEqual([200, false])
    expect(rest.apps.length).toBeGreaterThan(3)
    expect(answer.body.result.structuredContent.apps).toEqual(rest.apps)
    const refused = await call(at.deno, "POST", "/mcp", { body })
    expect([refused.status, refused.body.error.code]).toEqual([401, -32001])
  })

  test("Deno refuses bodies as Bun does: too large, wrong type, malformed, nested too deeply", async () => {
    const bodies = [
      "{",
      `{"action":"${"x".repeat(70_000)}"}`,
      `{"action":"${"x".repeat(2_000_000)}"}`,
      `${"[".repeat(50_000)}${"]".repeat(50_000)}`,
      "",
      '{"a":1}',
    ]
    for (const body of bodies) {
      const [expected, answer] = [
        await call(at.bun, "POST", "/v1/actions", { key, body }),
        await call(at.deno, "POST", "/v1/actions", { key, body }),
      ]
      expect(comparable(answer)).toEqual(comparable(expected))
      expect(Math.floor(answer.status / 100)).toBe(4)
    }
  })

  test("Deno refuses an address and headers over 16 KiB as Bun does", async () => {
    const path = `/v1/search?q=${"x".repeat(50_000)}`
    const [expected, answer] = [await call(at.bun, "GET", path, { key }), await call(at.deno, "GET", path, { key })]
    expect([answer.status, comparable(answer)]).toEqual([431, comparable(expected)])
  })

  test("on SIGTERM the running call is answered, and Deno exits with 0 within 25 s", async () => {
    const release = await holdUp(database.url)
    const underWay = call(at.deno, "GET", "/v1/apps", { key })
    await Bun.sleep(300)
    deno.kill()
    const signalledAt = performance.now()
    await Bun.sleep(500)
    await release()
    expect((await underWay).status).toBe(200)
    expect(await deno.exited).toBe(0)
    expect(performance.now() - signalledAt).toBeLessThan(25_000)
    const events = linesOf(deno).map(({ event }) => event)
    expect(events.slice(-3)).toEqual(["stopping", "call", "stopped"])
  })
})

describe.skipIf(noDeno || !process.env.DATABASE_URL || !process.env.REDIS_URL)(
  "postgres: Deno and Bun on one database",
  () => {
    for (const store of ["redis", "upstash"] as const) {
      test(`Deno and Bun share one rate limit in ${store}`, async () => {
        await using database = await scratchDatabase(`deno_${store}`)
        const wire = bunRedisWire(process.env.REDIS_URL as string)
        const rest = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: upstashRest(wire, "token") })
        const counted: Record<string, string> =
          store === "redis"
            ? { REDIS_URL: process.env.REDIS_URL as string }
            : { UPSTASH_REDIS_REST_URL: rest.url.origin, UPSTASH_REDIS_REST_TOKEN: "token" }
        const prefix = { REDIS_PREFIX: `test-${process.pid}-deno-${store}` }
        const env = { DATABASE_URL: database.url, FIRST_WORKSPACE_RATE_PER_SECOND: "10", ...counted, ...prefix }
        const hosts = ["127.0.0.1", new URL(database.url).host, new URL(process.env.REDIS_URL as string).host]
        const deno = await serving(underDeno(hosts, { ...env, PORT: "0" }))
        const bun = await serving({ env })
        const key = /svc_live_\w{36}/.exec(deno.out())![0]
        expect(linesOf(deno).find(({ event }) => event === "listening")).toMatchObject({ limits: store })
        let timing = await inOneSecond([deno.url, bun.url], key)
        for (let tries = 1; timing.endedMs > 950 && tries < 10; tries++)
          timing = await inOneSecond([deno.url, bun.url], key)
        expect(timing.endedMs).toBeLessThan(950)
        expect(tally(timing.statuses)).toEqual({ "200": 10, "429": 30 })
        expect(deno.err()).not.toContain('"warn"')
        for (const server of [deno, bun]) server.kill()
        expect(await Promise.all([deno.exited, bun.exited])).toEqual([0, 0])
        await rest.stop(true)
        wire.close()
      })
    }
  },
)

/** Sends 40 calls within one second, half of them to each server. */
async function inOneSecond(urls: string[], key: string): Promise<{ statuses: string[]; endedMs: number }> {
  const ask = async (i: number) => String((await call(urls[i % 2] as string, "GET", "/v1/account", { key })).status)
  await Promise.all([0, 1].map(ask))
  const second = Math.ceil((Date.now() + 100) / 1_000) * 1_000
  await Bun.sleep(second + 20 - Date.now())
  const statuses = await Promise.all(Array.from({ length: 40 }, (_, i) => ask(i)))
  return { statuses, endedMs: Date.now() - second }
}

type Recorded = [method: string, path: string, keyed: boolean]

/**
 * Returns the calls to compare: documents, every sandbox fixture, the reads of an app, and refusals. Free calls come
 * before charged ones.
 */
function recorded(app: string): Recorded[] {
  const { samples } = prepareSandbox(catalog, readTree("fixtures/sandbox", ".json"), "https://meter.test")
  const reads = catalog.filter(({ method }) => method === "GET")
  const sandbox = reads.map(({ id }) => {
    const { path, rest } = samples.get(id)!
    return `/v1/sandbox${path}?${new URLSearchParams(rest as Record<string, string>)}`
  })
  const open = ["/docs", "/docs/errors", "/v1/openapi.json", "/livez", "/readyz", "/", "/v1/apps", "/v1/sandbox/none"]
  const free = [
    "/v1/account",
    "/v1/usage",
    "/v1/nothing",
    "/v1/apps/app_none",
    "/v1/apps?x=1",
    "/v1/jobs/none",
    "/v1/apps/%zz",
  ]
  const paid = [
    "",
    "/keywords?country=us",
    "/keywords?country=zz",
    "/rivals",
    "/keywords/block%20blast/history?country=us",
  ]
  return [
    ...[...open, ...sandbox].map((path): Recorded => ["GET", path, false]),
    ...["HEAD", "OPTIONS", "DELETE"].flatMap((method): Recorded[] => [
      [method, "/v1/sandbox/apps", false],
      [method, "/v1/apps", true],
      [method, "/docs", false],
    ]),
    ...free.map((path): Recorded => ["GET", path, true]),
    ...paid.map((path): Recorded => ["GET", `/v1/apps/${app}${path}`, true]),
    ...["/v1/apps", "/v1/search?q=block", "/v1/search?q=%C3%BC+%2B"].map((path): Recorded => ["GET", path, true]),
  ]
}

type Answered = Awaited<ReturnType<typeof call>>

/**
 * Returns an answer without what differs between calls: id, date, used credits and remaining calls; also without
 * keep-alive, because Deno closes a connection whose body was not read.
 */
function comparable({ status, headers, text }: Answered): object {
  const varying = ["x-request-id", "date", "x-credits-used", "x-credits-remaining", "ratelimit", "connection"]
  return { status, text, headers: [...headers].filter(([name]) => !varying.includes(name)).sort() }
}

interface CallOptions {
  key?: string
  /** An object is sent as JSON, text unchanged. */
  body?: object | string
  /** No compression by default, because the two runtimes have different builds of the compressors. */
  encoding?: string
  headers?: Record<string, string>
}

async function call(at: string, method: string, path: string, options: CallOptions) {
  const { key, body, encoding = "identity" } = options
  const headers = {
    "accept-encoding": encoding,
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
    ...(key && { authorization: `Bearer ${key}` }),
    ...(body !== undefined && { "content-type": "application/json" }),
    ...options.headers,
  }
  const text = typeof body === "string" ? body : JSON.stringify(body)
  const response = await fetch(`${at}${path}`, { method, headers, ...(body !== undefined && { body: text }) })
  const responseText = await response.text()
  return { status: response.status, headers: response.headers, text: responseText, body: json(responseText) }
}

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every operation
function json(text: string): any {
  return text.startsWith("{") ? JSON.parse(text) : null
}

/** Blocks reads of apps. Returns the function that ends this. */
async function holdUp(url: string): Promise<() => Promise<void>> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const session = await sql.reserve()
  await session`begin`
  await session`lock table tracked_app in access exclusive mode`
  return async () => {
    await session`rollback`
    session.release()
    await sql.end()
  }
}

/** Returns ports that were free a moment ago. With equal addresses, the answers of both servers are comparable. */
function freePorts(count: number): number[] {
  const servers = Array.from({ length: count }, () =>
    Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() }),
  )
  const ports = servers.map(({ port }) => port as number)
  for (const server of servers) server.stop(true)
  return ports
}
