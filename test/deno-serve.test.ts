import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import postgres from "postgres"
import { linesOf } from "./chaos/fleet.ts"
import { appmeter, removeFolders, type Serving, serving, startCommand } from "./commands/child.ts"
import { scratchDatabase } from "./database/server.ts"
import { noDeno, servedByDeno } from "./deno-process.ts"

setDefaultTimeout(60_000)
afterAll(removeFolders)

// the migration lock of src/database/locks.ts
const MIGRATING = 4_726_313_901

describe.skipIf(noDeno || !process.env.DATABASE_URL)("postgres: `deno serve` takes its flags and has limits", () => {
  const served = (url: string, env: Record<string, string> = {}, flags: string[] = []) =>
    servedByDeno([new URL(url).host], { DATABASE_URL: url, ...env }, flags)

  test("the flags of deno serve set the address, and the setting HOST is ignored", async () => {
    await using database = await scratchDatabase("deno_flags")
    const server = await serving({ ...served(database.url), env: { ...served(database.url).env, HOST: "192.0.2.1" } })
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    const document = await (await fetch(`${server.url}/v1/openapi.json`)).json()
    expect(document.servers[0].url).toStartWith(server.url)
    await ended(server)
  })

  test("a call that arrives during the migration is answered after the migration", async () => {
    await using database = await scratchDatabase("deno_early")
    const other = postgres(database.url, { max: 1 })
    await other`select pg_advisory_lock(${MIGRATING})`
    const port = freePort()
    const child = startCommand([], served(database.url, { PORT: String(port) }))
    const early = firstStatus(`http://127.0.0.1:${port}/readyz`)
    while ((await other`select from pg_locks where locktype = 'advisory' and not granted limit 1`).length === 0)
      await Bun.sleep(20)
    await Bun.sleep(300)
    expect(await Promise.race([early, "waits"])).toBe("waits")
    await other.end()
    expect(await early).toBe(200)
    child.kill()
    expect(await child.exited).toBe(0)
  })

  test("deno serve counts calls by the address of the caller", async () => {
    await using database = await scratchDatabase("deno_peer")
    const server = await serving(served(database.url, { SANDBOX_PER_SECOND: "1", TRUSTED_PROXIES: "127.0.0.1" }))
    // The server trusts forwarded addresses only from a known peer. If the peer were unknown, all callers would count
    // as one.
    const ask = async (from: number) => {
      const headers = { "x-forwarded-for": `198.51.100.${from}` }
      return (await fetch(`${server.url}/v1/sandbox/apps`, { headers })).status
    }
    expect(await Promise.all([1, 2, 3, 4, 5].map(ask))).toEqual([200, 200, 200, 200, 200])
    expect(await Promise.all([6, 6, 6, 6].map(ask))).toContain(429)
    await ended(server)
  })

  test("deno serve takes no new connection after a stop is requested, and exits with 0", async () => {
    await using database = await scratchDatabase("deno_end")
    const server = await serving(served(database.url, { DRAIN_MS: "700" }))
    server.kill()
    while (!linesOf(server).some(({ event }) => event === "stopping")) await Bun.sleep(10)
    const refused = await fetch(`${server.url}/readyz`).catch((error) => error.code)
    // when the port closes, a connection in the kernel's queue is reset, so it was not answered either
    expect(["ECONNREFUSED", "ECONNRESET"]).toContain(refused)
    expect(await server.exited).toBe(0)
    expect(linesOf(server).at(-1)).toMatchObject({ event: "stopped" })
  })

  test("wrong settings end deno serve with exit code 78", async () => {
    const wrong = await appmeter([], served("postgres://127.0.0.1/none", { LOG_LEVEL: "loud" }))
    expect(wrong).toMatchObject({ code: 78, err: expect.stringContaining("LOG_LEVEL") })
  })

  test("deno serve --parallel ends at the first call to a second worker and explains why", async () => {
    await using database = await scratchDatabase("deno_parallel")
    const server = await serving(served(database.url, { DENO_JOBS: "2" }, ["--parallel"]))
    const until = performance.now() + 20_000
    while (!server.err().includes("--parallel") && performance.now() < until)
      await fetch(`${server.url}/readyz`, { headers: { connection: "close" } }).catch(() => {})
    expect(await server.exited).toBe(1)
    expect(server.err()).toContain("appmeter: deno serve --parallel is not supported")
  })
})

async function ended(server: Serving): Promise<void> {
  server.kill()
  expect(await server.exited).toBe(0)
}

/** Repeats a request until the port is open. Returns the status of the first response. */
async function firstStatus(url: string): Promise<number> {
  for (;;) {
    const answer = await fetch(url).catch(() => null)
    if (answer) return answer.status
    await Bun.sleep(10)
  }
}

function freePort(): number {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() })
  const port = server.port as number
  server.stop(true)
  return port
}
