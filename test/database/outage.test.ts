import { expect, test } from "bun:test"
import { join } from "node:path"
import { openDatabase } from "../../src/database/connect.ts"
import { createGate, DatabaseUnavailable, isConnectionProblem } from "../../src/database/gate.ts"
import { silentLog } from "../../src/lib/log.ts"
import { proxyTo } from "./proxy.ts"
import { scratchDatabase } from "./server.ts"

const ROUNDS = 40

test.skipIf(!process.env.DATABASE_URL)(
  `postgres: after ${ROUNDS} rounds of pg_terminate_backend under load, the process is healthy within 5 s`,
  async () => {
    await using database = await scratchDatabase("terminate")
    const child = Bun.spawn([process.execPath, join(import.meta.dirname, "load.ts"), database.url], {
      stdout: "pipe",
      stderr: "pipe",
    })
    const name = new URL(database.url).pathname.slice(1)
    let ended = 0
    await Bun.sleep(700)
    for (let round = 0; round < ROUNDS; round++) {
      const rows = await database.admin`
        select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name} and pid <> pg_backend_pid()`
      ended += rows.length
      await Bun.sleep(60 + ((round * 31) % 90))
    }
    child.kill("SIGUSR2") // Requests the report.
    const [out, errors, status] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    process.stdout.write(`${ROUNDS} rounds ended ${ended} connections: ${out}`)
    expect([errors, status]).toEqual(["", 0])
    const report = JSON.parse(out)
    // How many connections are open again by the next round depends on the machine.
    expect(ended).toBeGreaterThan(ROUNDS)
    expect(report.unexplained).toEqual([])
    expect(report.healthyAfterMs).toBeLessThan(5_000)
    expect(report.unhandled).toBe(0)
    expect(report.transfersInPart).toBe(0)
  },
  40_000,
)

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: a frozen database gives 300 callers an error within 5 s, and queries work once it responds",
  async () => {
    const proxy = await proxyTo(new URL(process.env.DATABASE_URL!))
    const { sql, close } = await openDatabase({ databaseUrl: proxy.url, dataDir: "", as: "server", log: silentLog })
    const gate = createGate({ maxWaiting: 200 })
    await Promise.all(Array.from({ length: 20 }, () => sql`select 1`))
    proxy.freeze(true)
    const ask = async () => {
      const startedAt = performance.now()
      const error = await gate
        .run(() => sql`select 1`)
        .then(
          () => null,
          (error) => error,
        )
      return {
        why: error instanceof DatabaseUnavailable ? error.why : String(error),
        ms: performance.now() - startedAt,
      }
    }
    const answers = await Promise.all(Array.from({ length: 300 }, ask))
    const worst = Math.max(...answers.map(({ ms }) => ms))
    const count = (why: string) => answers.filter((answer) => answer.why === why).length
    process.stdout.write(
      `frozen: ${count("deadline")} deadline, ${count("crowded")} crowded, worst ${Math.round(worst)} ms, ` +
        `${gate.unfinished} unfinished\n`,
    )
    expect([count("deadline"), count("crowded"), gate.unfinished]).toEqual([200, 100, 200])
    expect(worst).toBeLessThan(5_000)

    proxy.freeze(false)
    proxy.cut()
    const until = performance.now() + 5_000
    let healthy = false
    while (!healthy && performance.now() < until) {
      healthy = await gate
        .run(() => sql`select 1`)
        .then(
          () => true,
          (error) => isConnectionProblem(error) && Bun.sleep(20).then(() => false),
        )
    }
    expect(healthy).toBe(true)
    await Bun.sleep(50)
    expect(gate.unfinished).toBe(0)
    await close()
    proxy.close()
  },
  30_000,
)
