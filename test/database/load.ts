// A process that queries a database continuously while its connections are being ended (outage.test.ts): bun load.ts
// URL
import { openDatabase } from "../../src/database/connect.ts"
import { isConnectionProblem } from "../../src/database/gate.ts"
import { silentLog } from "../../src/lib/log.ts"

let unhandled = 0
process.on("unhandledRejection", () => unhandled++)

const { sql, close } = await openDatabase({ databaseUrl: process.argv[2]!, dataDir: "", as: "server", log: silentLog })
await sql`create table if not exists purse (id int primary key, held int not null)`
await sql`insert into purse select n, 1000 from generate_series(1, 20) n`

let running = true
let done = 0
let failed = 0
const unexplained = new Set<string>()

async function attempt(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
    done++
  } catch (error) {
    failed++
    if (!isConnectionProblem(error)) unexplained.add(String(error))
  }
}

const transfer = (from: number, to: number) =>
  sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(1)`
    await tx`update purse set held = held - 1 where id = ${from}`
    await tx`update purse set held = held + 1 where id = ${to}`
  })

async function worker(n: number): Promise<void> {
  for (let i = 0; running; i++) {
    if (n % 4 === 0) await attempt(() => transfer((i % 20) + 1, ((i * 7 + n) % 20) + 1))
    else if (n % 4 === 1) await attempt(useReserved)
    else await attempt(() => sql`select ${i}::int as i, ${[n, i]}::int[] as list, repeat('x', 2000) as text`)
  }
}

async function useReserved(): Promise<void> {
  const reserved = await sql.reserve()
  try {
    await reserved`select 1`
    await reserved`select 2`
  } finally {
    reserved.release()
  }
}

const workers = Array.from({ length: 40 }, (_, n) => worker(n))

process.on("SIGUSR2", async () => {
  const startedAt = performance.now()
  // The process is healthy if twice as many queries as the pool has connections are all answered, and the load
  // continues without failures.
  for (;;) {
    const before = { done, failed }
    const all = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => sql`select ${i}::int as i`))
    if (all.every(({ status }) => status === "fulfilled") && done > before.done && failed === before.failed) break
  }
  const healthyAfterMs = Math.round(performance.now() - startedAt)
  running = false
  await Promise.all(workers)
  const [{ total }] = (await sql`select sum(held)::int as total from purse`) as unknown as [{ total: number }]
  const report = {
    done,
    failed,
    unexplained: [...unexplained],
    healthyAfterMs,
    unhandled,
    transfersInPart: total - 20_000,
  }
  process.stdout.write(`${JSON.stringify(report)}\n`)
  await close()
  process.exit(0)
})
