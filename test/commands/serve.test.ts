import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import postgres from "postgres"
import { readTree, typedAs } from "../../src/database/assets.ts"
import { openEmbedded } from "../../src/database/embedded/open.ts"
import { stepsOf } from "../../src/database/migrate.ts"
import { forgetDemo } from "../../src/demo/load-at-start.ts"
import { silentLog } from "../../src/lib/log.ts"
import { isInventedId } from "../../src/lib/store-ids.ts"
import { until } from "../jobs/platform.ts"
import { afterSlow, beforeSlow, isQuick, LONG, long, slow } from "../long.ts"
import { slowness } from "../unit.ts"
import { answer, appmeter, dataFolder, pasted, removeFolders, type Serving, scratch, serving } from "./child.ts"
import { inFolder } from "./filled.ts"

setDefaultTimeout(60_000)
afterSlow(removeFolders)

const curls = (out: string) => out.split("\n").filter((line) => line.startsWith("  curl "))
/** Returns the keys that the welcome shows. */
const keysIn = (text: string) =>
  [...text.matchAll(/(?:Live|Test) key, [\w ]+: (svc_(?:live|test)_[0-9A-Za-z]{36})/g)].map(([, key]) => key as string)
const toolNames = async (mcpUrl: string, key: string): Promise<string[]> => {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "application/json" }
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })
  const { result } = await (await fetch(mcpUrl, { method: "POST", headers, body })).json()
  return result.tools.map(({ name }: { name: string }) => name)
}
const events = ({ err }: Serving) =>
  err()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))

/** Leaves out the demo's invented app, which is loaded after the welcome. */
const storeApps = (apps: readonly { iosId: string | null }[]) => apps.filter(({ iosId }) => !isInventedId(iosId ?? ""))

/** Stops loading the demo, as if it had been removed, but keeps the apps. */
async function stopLoading(dataDir: string): Promise<void> {
  const { sql, close } = await openEmbedded({ dataDir, as: "command", log: silentLog })
  await forgetDemo(sql)
  await close()
}

describe("the first start", () => {
  let env: { DATA_DIR: string }
  let server: Serving

  beforeSlow(async () => {
    env = await dataFolder()
    server = await serving({ env }, ["--demo"])
    // charts, account data and the rest are loaded after the welcome; they take 7 s, and no test here needs them
    if (!LONG) await stopLoading(env.DATA_DIR)
  })

  slow("the first start prints two keys, a sign-in link and a working call in at most twelve lines", async () => {
    const [live, testKey] = keysIn(server.out())
    expect([live?.slice(0, 9), testKey?.slice(0, 9)]).toEqual(["svc_live_", "svc_test_"])
    expect(server.out().trimEnd().split("\n").length).toBeLessThanOrEqual(12)
    expect(server.out()).toContain(`: ${server.url}/sign-in?code=`)
    const [call, ...rest] = curls(server.out())
    expect(rest).toEqual([])
    const ranks = await pasted(call as string)
    const states = ranks.keywords.map(({ measured, rank }: { measured: boolean; rank: number | null }) =>
      !measured ? "unmeasured" : rank === null ? "absent" : "present",
    )
    expect([...new Set(states)].sort()).toEqual(["absent", "present", "unmeasured"])
  })

  slow("the first start prints the MCP address for assistants, and the live key works there", async () => {
    const [mcpUrl, ...rest] = server.out().match(/\S+\/mcp\b/g) ?? []
    expect([server.out(), rest]).toEqual([expect.stringContaining(`\nAssistants connect to ${mcpUrl}\n`), []])
    expect(await toolNames(mcpUrl!, keysIn(server.out())[0]!)).toContain("list_keyword_ranks")
  })

  slow(
    "the first workspace has the enterprise plan, and a call with the test key answers like the sandbox",
    async () => {
      const { workspaces } = await answer(["workspace", "list"], { env })
      expect(workspaces).toMatchObject([
        { name: "default", plan: "enterprise", explorer: true, credits: { limit: 10_000_000 } },
      ])
      const headers = { authorization: `Bearer ${keysIn(server.out())[1]}` }
      const [keyAnswer, sandbox] = await Promise.all([
        fetch(`${server.url}/v1/apps`, { headers }).then((response) => response.text()),
        fetch(`${server.url}/v1/sandbox/apps`).then((response) => response.text()),
      ])
      expect(keyAnswer).toBe(sandbox)
    },
  )

  slow("the server logs one JSON object per line to stderr, without keys", () => {
    expect(events(server).map(({ event }) => event)).toContain("listening")
    expect(events(server).find(({ event }) => event === "listening")).toMatchObject({
      database: "embedded",
      limits: "process",
    })
    expect(keysIn(server.err())).toEqual([])
  })

  slow("a command uses the running server's database through a socket that only its user can open", async () => {
    const { secret, key } = await answer(["key", "create", "--name", "beside"], { env })
    const status = async () => (await fetch(`${server.url}/v1/account`, { headers: { "x-api-key": secret } })).status
    expect(await status()).toBe(200)
    await answer(["key", "revoke", String(key.id), "--force"], { env })
    // a key is cached for less than a second
    await until(async () => (await status()) === 401, 1_000 * (await slowness()))
    const sockets = readdirSync(env.DATA_DIR)
      .map((name) => statSync(join(env.DATA_DIR, name)))
      .filter((stat) => stat.isSocket())
    expect(sockets.map(({ mode }) => mode & 0o777)).toEqual([0o600])
  })

  long("a second server on the same folder or port is refused with a one-line error", async () => {
    const second = await appmeter(["serve"], { env: { ...env, PORT: "0" } })
    expect(second).toEqual({
      code: 1,
      out: "",
      err: `appmeter: the data directory ${env.DATA_DIR} is in use by another server\n`,
    })
    const { port } = new URL(server.url)
    const other = await appmeter(["serve"], { env: { ...(await dataFolder()), PORT: port } })
    expect([other.code, other.out]).toEqual([1, ""])
    expect(other.err.trim().split("\n").at(-1)).toBe(
      `appmeter: cannot listen on 127.0.0.1, port ${port}: the port is in use; choose another, for example PORT=8788`,
    )
    expect(other.err).not.toContain("    at ")
  })

  slow("after SIGTERM, a server answers the open call and exits with 0", async () => {
    const [live] = keysIn(server.out())
    const command = await openEmbedded({ dataDir: env.DATA_DIR, as: "command", log: silentLog })
    // the only backend sleeps, so that a call is open when the signal arrives
    const asleep = command.sql`select pg_sleep(2)`.execute()
    const ask = () => fetch(`${server.url}/v1/apps`, { headers: { authorization: `Bearer ${live}` } })
    const isAnswered = (call: Promise<Response>) =>
      Promise.race([call.then(() => true), Bun.sleep(200).then(() => false)])
    let call = ask()
    while (await isAnswered(call)) call = ask()
    server.kill()
    const signalledAt = performance.now()
    const response = await call
    expect(response.status).toBe(200)
    expect(storeApps((await response.json()).apps)).toHaveLength(4)
    await asleep
    await command.close()
    expect(await server.exited).toBe(0)
    expect(performance.now() - signalledAt).toBeLessThan(25_000)
    expect(
      events(server)
        .slice(-3)
        .map(({ event }) => event),
    ).toEqual(["stopping", "call", "stopped"])
  })

  long(
    "a second start prints no key and does not reload a removed demo; a repeated SIGINT stops it immediately",
    async () => {
      await answer(["demo", "remove", "--force"], { env })
      const secondStart = await serving({ env: { ...env, DRAIN_MS: "1500" } }, ["--demo"])
      expect(secondStart.out()).toContain(`Create a key: ${typedAs()} key create`)
      expect(secondStart.out()).toContain(`\nAssistants connect to ${secondStart.url}/mcp\n`)
      expect(keysIn(secondStart.out() + secondStart.err())).toEqual([])
      expect((await answer(["app", "list"], { env })).apps).toEqual([])
      const ready = () => fetch(`${secondStart.url}/readyz`).then(({ status }) => status)
      expect(await ready()).toBe(200)
      secondStart.kill()
      await Bun.sleep(300)
      expect(await ready()).toBe(503)
      expect((await fetch(`${secondStart.url}/v1/sandbox/apps`)).status).toBe(200)
      secondStart.kill("SIGINT")
      await Bun.sleep(500)
      secondStart.kill("SIGINT")
      expect(await secondStart.exited).toBe(1)
      expect(events(secondStart).at(-1)).toMatchObject({ event: "stopped_immediately", signal: "SIGINT" })
    },
  )
})

slow("serve --json prints one document with three working calls, even without the demo", async () => {
  const env = await dataFolder()
  const server = await serving({ env }, ["--json"])
  const { url, mcpUrl, keys, calls } = JSON.parse(server.out())
  expect(mcpUrl).toBe(`${url}/mcp`)
  expect(await toolNames(mcpUrl, keys.live)).toContain("list_keyword_ranks")
  expect(keys.workspace).toBe("default")
  expect([keys.live, keys.test]).toEqual([
    expect.stringMatching(/^svc_live_\w{36}$/),
    expect.stringMatching(/^svc_test_\w{36}$/),
  ])
  expect(calls).toHaveLength(3)
  for (const call of calls) expect(await pasted(call)).not.toHaveProperty("error")
  expect((await fetch(`${url}/livez`)).status).toBe(200)
  server.kill("SIGINT")
  expect(await server.exited).toBe(0)
})

long("an uncaught error is logged, and the server exits with 1", async () => {
  const preload = join(scratch(), "thrower.ts")
  writeFileSync(preload, `process.on("SIGUSR2", () => { throw new Error("boom svc_live_${"a".repeat(36)}") })`)
  const server = await serving({ env: await dataFolder(), preload })
  server.kill("SIGUSR2")
  expect(await server.exited).toBe(1)
  expect(events(server).find(({ event }) => event === "uncaught_error")).toMatchObject({
    level: "error",
    reason: "boom svc_live_[redacted]",
  })
  expect(events(server).at(-1)).toMatchObject({ event: "stopped", signal: "error" })
})

const writePreload = (source: string) => {
  const file = join(scratch(), "preload.ts")
  writeFileSync(file, source)
  return file
}

describe("an interrupted start", () => {
  long(
    "after a start that was killed before it showed its keys, the next start shows new keys and loads the demo",
    async () => {
      const env = await dataFolder()
      const preload = writePreload(`process.stdout.write = () => process.kill(process.pid, "SIGKILL")`)
      const killed = await appmeter(["serve", "--demo"], { env: { ...env, PORT: "0" }, preload })
      expect([killed.code, killed.out]).toEqual([137, ""])
      const server = await serving({ env }, ["--demo"])
      await stopLoading(env.DATA_DIR)
      const [call] = curls(server.out())
      expect(await pasted(call as string)).not.toHaveProperty("error")
      expect(storeApps((await answer(["app", "list"], { env })).apps)).toHaveLength(4)
      const { keys } = await answer(["key", "list"], { env })
      expect(keys.map(({ kind, state }: { kind: string; state: string }) => `${kind} ${state}`)).toEqual([
        "live revoked",
        "test revoked",
        "grant usable",
        "live usable",
        "test usable",
      ])
      server.kill("SIGKILL")
      await server.exited
      const third = await serving({ env })
      expect(keysIn(third.out())).toEqual([])
      third.kill()
      expect(await third.exited).toBe(0)
    },
  )

  long("a SIGTERM during the migration ends the start with exit code 0, before a port is open", async () => {
    const preload = writePreload(`
      const write = process.stderr.write.bind(process.stderr)
      let hasReported = false
      process.stderr.write = (text) => {
        if (!hasReported && text.includes('"migrated"')) process.kill(process.pid, "SIGTERM")
        hasReported ||= text.includes('"migrated"')
        return write(text)
      }`)
    const DATA_DIR = scratch()
    // as if from a version without tables: a new folder already has them
    await inFolder(DATA_DIR, async (sql) => {
      await sql`drop schema public cascade`
      await sql`create schema public`
    })
    const { code, out, err } = await appmeter(["serve"], { env: { DATA_DIR, PORT: "0" }, preload })
    expect([code, out]).toEqual([0, ""])
    expect(err).toContain('"migrated"')
    expect(err).not.toContain('"listening"')
    expect(JSON.parse(err.trim().split("\n").at(-1)!)).toMatchObject({ event: "stopped", signal: "SIGTERM" })
  })
})

long("a server exits with 1 when the database thread dies, and the next start serves", async () => {
  const env = await dataFolder()
  const preload = writePreload(`
    const Thread = globalThis.Worker
    globalThis.Worker = class extends Thread {
      constructor(...given) {
        super(...given)
        process.on("SIGUSR2", () => this.terminate())
      }
    }`)
  const server = await serving({ env, preload })
  // a key of the test, because the first keys may not be marked as shown yet; the next start would then replace them
  const { secret } = await answer(["key", "create", "--name", "beside"], { env })
  server.kill("SIGUSR2")
  expect(await server.exited).toBe(1)
  expect(events(server).map(({ event }) => event)).toContain("database_stopped")
  expect(events(server).at(-1)).toMatchObject({ event: "stopped", signal: "error" })
  const nextStart = await serving({ env })
  expect((await fetch(`${nextStart.url}/v1/account`, { headers: { "x-api-key": secret } })).status).toBe(200)
  nextStart.kill()
  expect(await nextStart.exited).toBe(0)
})

describe("the store of rate limits", () => {
  const startServer = async (env: Record<string, string>) => {
    const server = await serving({ env: { ...(await dataFolder()), ...env } })
    const [live] = keysIn(server.out())
    const { status } = await fetch(`${server.url}/v1/account`, { headers: { authorization: `Bearer ${live}` } })
    server.kill()
    expect([status, await server.exited]).toEqual([200, 0])
    return server
  }

  long("an unreachable rate-limit store is logged at the start, and the server starts without it", async () => {
    const server = await startServer({ REDIS_URL: "redis://:canary@127.0.0.1:1" })
    expect(events(server)).toContainEqual(expect.objectContaining({ event: "limits_unreachable", limits: "redis" }))
    expect(server.err()).not.toContain("canary")
  })

  test.skipIf(isQuick || !process.env.REDIS_URL)(
    "a reachable rate-limit store is logged without a warning",
    async () => {
      const server = await startServer({ REDIS_URL: process.env.REDIS_URL! })
      expect(events(server)).toContainEqual(expect.objectContaining({ event: "listening", limits: "redis" }))
      expect(server.err()).not.toContain('"warn"')
    },
  )
})

describe("on a server database", () => {
  const skipped = test.skipIf(isQuick || !process.env.DATABASE_URL)
  const name = `appmeter_commands_${process.pid}`
  const admin = () => postgres(process.env.DATABASE_URL!, { max: 1, onnotice: () => {} })
  const url = () => {
    const scratchUrl = new URL(process.env.DATABASE_URL!)
    scratchUrl.pathname = `/${name}`
    return scratchUrl.href
  }

  skipped("postgres: a command on a database that was never migrated shows the command to run", async () => {
    const sql = admin()
    await sql`create database ${sql(name)}`
    await sql.end()
    const env = { DATABASE_URL: url() }
    const { code, err } = await appmeter(["workspace", "list"], { env })
    expect([code, err]).toEqual([1, "appmeter: the database has no tables yet; run: appmeter migrate\n"])
    const steps = stepsOf(readTree("sql", ".sql")).map(({ name }) => name)
    expect((await answer(["migrate"], { env })).applied).toEqual(steps)
    expect((await answer(["workspace", "list"], { env })).workspaces).toEqual([])
  })

  skipped("postgres: one of two simultaneous first starts prints keys, and no folder is created", async () => {
    const env = { DATABASE_URL: url(), DATA_DIR: join(scratch(), "none") }
    const servers = await Promise.all([serving({ env }), serving({ env })])
    expect(servers.flatMap((server) => keysIn(server.out()))).toHaveLength(2)
    const { keys } = await answer(["key", "list"], { env })
    expect(keys.map(({ kind }: { kind: string }) => kind)).toEqual(["live", "test", "grant"])
    expect(existsSync(env.DATA_DIR)).toBeFalse()
    for (const server of servers) server.kill()
    expect(await Promise.all(servers.map(({ exited }) => exited))).toEqual([0, 0])
    // killed before it showed the keys, while another process is at its first start
    const connection = postgres(url(), { max: 1, onnotice: () => {} })
    await connection`update instance set value = 'made' where key = 'first_keys'`
    await connection`select pg_advisory_lock(4726313902)`
    const thirdServer = await serving({ env })
    expect(keysIn(thirdServer.out())).toEqual([])
    thirdServer.kill()
    await Promise.all([connection.end(), thirdServer.exited])
    const last = await serving({ env: { ...env, DATABASE_CONNECTIONS: "1" } })
    expect(keysIn(last.out())).toHaveLength(2)
    last.kill()
    expect(await last.exited).toBe(0)
    const sql = admin()
    await sql`drop database ${sql(name)} with (force)`
    await sql.end()
  })

  skipped("postgres: a database that does not exist is reported with a one-line error", async () => {
    const { code, err } = await appmeter(["serve"], { env: { DATABASE_URL: url(), PORT: "0" } })
    expect(code).toBe(1)
    expect(err).toMatch(/^appmeter: the database at \S+ does not exist; create it with: createdb\n$/)
  })
})
