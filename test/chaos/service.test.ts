import { expect, setDefaultTimeout } from "bun:test"
import { serving } from "../commands/child.ts"
import { proxyTo } from "../database/proxy.ts"
import { scratchDatabase } from "../database/server.ts"
import { longOnServer } from "../long.ts"

setDefaultTimeout(90_000)

const ROUNDS = 24
// this test must not hit the rate limit
const FAST = { FIRST_WORKSPACE_RATE_PER_SECOND: "100000" }

longOnServer(
  "postgres: a keyed call gets a free 503 within 5 s while the database is frozen, and 200 afterwards",
  async () => {
    await using database = await scratchDatabase("frozen")
    const proxy = await proxyTo(new URL(database.url))
    const server = await serving({ env: { DATABASE_URL: proxy.url, ...FAST } }, ["--json"])
    const { url, key } = parseOutput(server.out())
    const call = (path: string) => timeCall(`${url}${path}`, key)
    expect((await call("/v1/apps")).status).toBe(200)
    proxy.freeze(true)
    const answers = await Promise.all(Array.from({ length: 100 }, () => call("/v1/apps")))
    const worstMs = Math.max(...answers.map((answer) => answer.ms))
    console.log(`frozen: ${answers.length} calls, worst ${Math.round(worstMs)} ms`)
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.error}`))).toEqual(new Set(["503 unavailable"]))
    expect(answers.every((answer) => Number(answer.retryAfter) >= 1 && answer.creditsLimit !== null)).toBe(true)
    expect(worstMs).toBeLessThan(5_000)
    expect((await call("/v1/sandbox/apps")).status).toBe(200)
    expect((await call("/livez")).status).toBe(200)
    expect((await call("/readyz")).status).toBe(503)
    proxy.freeze(false)
    proxy.cut()
    await until(5_000, async () => (await call("/v1/apps")).status === 200)
    server.kill()
    expect(await server.exited).toBe(0)
    proxy.close()
  },
)

longOnServer(
  `postgres: under load, ${ROUNDS} rounds of terminated database connections lose no credit; the server recovers`,
  async () => {
    await using database = await scratchDatabase("shot")
    const server = await serving({ env: { DATABASE_URL: database.url, ...FAST } }, ["--json"])
    const { url, key } = parseOutput(server.out())
    const counts: Record<string, number> = {}
    let going = true
    const caller = async () => {
      while (going) {
        const { status } = await timeCall(`${url}/v1/apps`, key)
        counts[status] = (counts[status] ?? 0) + 1
      }
    }
    const callers = Array.from({ length: 20 }, caller)
    const name = new URL(database.url).pathname.slice(1)
    let ended = 0
    for (let round = 0; round < ROUNDS; round++) {
      const rows = await database.admin`
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where datname = ${name} and pid <> pg_backend_pid()`
      ended += rows.length
      await Bun.sleep(60 + ((round * 31) % 90))
    }
    const shotAt = performance.now()
    await until(5_000, async () => (await timeCall(`${url}/readyz`, key)).status === 200)
    const healthyMs = performance.now() - shotAt
    going = false
    await Promise.all(callers)
    // refunds of charges with a lost answer may still be pending
    await until(10_000, async () => (await timeCall(`${url}/v1/apps`, key)).status === 200)
    console.log(
      `${ROUNDS} rounds ended ${ended} connections: ${JSON.stringify(counts)}, ready after ${Math.round(healthyMs)} ms`,
    )
    expect(Object.keys(counts).every((status) => status === "200" || status === "503")).toBe(true)
    // the number of answers between two rounds depends on the machine
    expect(counts[200]).toBeGreaterThan(0)
    expect(ended).toBeGreaterThan(ROUNDS)
    // one credit for each 200, including that of `until`, and none for a 503
    await until(10_000, async () => (await usedCredits(`${url}/v1/account`, key)) === (counts[200] as number) + 1)
    server.kill()
    expect(await server.exited).toBe(0)
  },
)

function parseOutput(out: string): { url: string; key: string } {
  const key = /svc_live_\w{36}/.exec(out)?.[0] as string
  return { url: /"url": "([^"]+)"/.exec(out)?.[1] as string, key }
}

async function timeCall(url: string, key: string) {
  const started = performance.now()
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  const body = response.headers.get("content-type")?.startsWith("application/json") ? await response.json() : null
  const { headers, status } = response
  const ms = performance.now() - started
  return {
    status,
    ms,
    error: body?.error,
    retryAfter: headers.get("retry-after"),
    creditsLimit: headers.get("x-credits-limit"),
  }
}

async function usedCredits(url: string, key: string): Promise<number> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  return (await response.json()).credits.used
}

async function until(limitMs: number, isMet: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + limitMs
  while (!(await isMet().catch(() => false))) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms`)
    await Bun.sleep(50)
  }
}
