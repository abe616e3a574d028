import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { readdirSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { readTree } from "../../src/database/assets.ts"
import { type EmbeddedOptions, openEmbedded } from "../../src/database/embedded/open.ts"
import { Runaways } from "../../src/database/embedded/runaways.ts"
import { timeLimitIn } from "../../src/database/embedded/time-limits.ts"
import { createGate, isConnectionProblem } from "../../src/database/gate.ts"
import { migrate } from "../../src/database/migrate.ts"
import { long, slow } from "../long.ts"
import { openService } from "../service.ts"
import { scratchFolder } from "./processes.ts"

setDefaultTimeout(60_000)

const { folder, remove } = scratchFolder()
afterAll(remove)

const dataDir = join(folder, "data")
const statements = { serverMs: 700, commandMs: 1_500 }
const RUNAWAY = 100_000_000_000

function openWatched(options: Partial<EmbeddedOptions> = {}) {
  const events: string[] = []
  const log = (_level: string, event: string) => {
    // the restart may interrupt maintenance, which is then repeated
    if (event.startsWith("database_") && event !== "database_maintenance_failed") events.push(event)
  }
  return openEmbedded({ dataDir, as: "server", log, statements, ...options }).then((database) => ({ database, events }))
}

/**
 * Returns "away" if the database was unavailable, the error if there was another failure, and null if there was none.
 */
const failure = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error) => (isConnectionProblem(error) ? "away" : String(error)),
  )

slow("a statement that exceeds its limit is stopped, no acknowledged write is lost, and writes continue", async () => {
  const { database, events } = await openWatched()
  const { sql, close } = database
  await sql`create table written (id int primary key)`
  const gate = createGate()
  let acknowledged = 0
  let writing = true
  const outcomes = new Set<string | null>()
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    for (let i = 0; writing; i++) {
      const code = await failure(gate.run(() => sql`insert into written (id) values (${writer * 1_000_000 + i})`))
      outcomes.add(code)
      if (code === null) acknowledged++
    }
  })
  await Bun.sleep(300)
  const before = acknowledged
  const filesBefore = openFiles()
  const startedAt = performance.now()
  expect(await failure(sql`select count(*) from generate_series(1, ${RUNAWAY}::bigint)`)).toBe("away")
  const stoppedMs = performance.now() - startedAt
  const during = acknowledged
  while (acknowledged === during) await Bun.sleep(10)
  const backMs = performance.now() - startedAt
  await Bun.sleep(300)
  writing = false
  await Promise.all(writers)
  const [row] = await sql`select count(*) as stored from written`
  process.stdout.write(
    `stopped after ${Math.round(stoppedMs)} ms, writes again after ${Math.round(backMs)} ms; ` +
      `${before} writes acknowledged before, ${acknowledged} in all, ${row!.stored} stored\n`,
  )
  expect(before).toBeGreaterThan(0)
  expect(row!.stored).toBeGreaterThanOrEqual(acknowledged)
  expect(row!.stored - acknowledged).toBeLessThanOrEqual(6)
  expect([...outcomes].filter((outcome) => outcome !== null && outcome !== "away")).toEqual([])
  expect(events).toEqual(["database_restarted"])
  // Checks that the files of the ended thread are closed.
  expect(openFiles()).toBeLessThan(filesBefore * 1.5 + 1)
  await close()
})

/** Returns the number of its files that this process has open. Only Linux lists them. */
function openFiles(): number {
  if (process.platform !== "linux") return 0
  return readdirSync("/proc/self/fd").filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`).startsWith(join(dataDir, "postgres"))
    } catch {
      return false
    }
  }).length
}

long("a transaction whose statement is stopped is rolled back entirely, and its connection works again", async () => {
  const { database } = await openWatched()
  const { sql, close } = database
  const runaway = sql.begin(async (tx) => {
    await tx`insert into written (id) values (-1)`
    await tx`select count(*) from generate_series(1, ${RUNAWAY}::bigint)`
  })
  expect(await failure(runaway)).toBe("away")
  expect([...(await sql`select id from written where id < 0`)]).toEqual([])
  await sql.begin((tx) => tx`insert into written (id) values (-2)`)
  expect([...(await sql`select id from written where id < 0`)]).toEqual([{ id: -2 }])
  await close()
})

long("a statement is not stopped while statement_timeout is 0 for its transaction or session", async () => {
  const { database, events } = await openWatched()
  const { sql, close } = database
  const slow = (connection: typeof sql) => connection`select pg_sleep(1.2)`
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`
    await slow(tx as unknown as typeof sql)
  })
  const reserved = await sql.reserve()
  await reserved`set statement_timeout = 0`
  await slow(reserved as unknown as typeof sql)
  await reserved`reset statement_timeout`
  reserved.release()
  expect(events).toEqual([])
  await sql.begin((tx) => tx`set local statement_timeout = 0`)
  expect(await failure(slow(sql))).toBe("away")
  expect(events).toEqual(["database_restarted"])
  await close()
})

long("calls during a runaway statement get 503 without a charge, and get 200 after the restart", async () => {
  const { database } = await openWatched()
  const { sql, close } = database
  await migrate(sql, readTree("sql", ".sql"), () => {})
  const service = openService({ sql, settings: { requestDeadlineMs: 400 } })
  const key = await service.key(await service.workspace())
  const runaway = failure(sql`select count(*) from generate_series(1, ${RUNAWAY}::bigint)`)
  await Bun.sleep(50)
  const concurrent = await Promise.all(Array.from({ length: 20 }, () => service.call("/v1/apps", { key })))
  expect(new Set(concurrent.map(({ status, body }) => `${status} ${body.error}`))).toEqual(new Set(["503 unavailable"]))
  expect(concurrent.every(({ headers }) => Number(headers.get("retry-after")) >= 1)).toBe(true)
  expect(await runaway).toBe("away")
  const until = performance.now() + 40_000
  let answer = await service.call("/v1/apps", { key })
  while (answer.status !== 200 && performance.now() < until) answer = await service.call("/v1/apps", { key })
  expect([answer.status, answer.credits.used]).toEqual([200, 1])
  await close()
})

long("a statement of a command has a separate limit, and the server keeps answering", async () => {
  const { database, events } = await openWatched()
  const command = await openEmbedded({ dataDir, as: "command", log: () => {} })
  expect(await failure(command.sql`select pg_sleep(1)`)).toBeNull()
  expect(await failure(command.sql`select count(*) from generate_series(1, ${RUNAWAY}::bigint)`)).toBe("away")
  expect([...(await database.sql`select 1 as one`)]).toEqual([{ one: 1 }])
  expect([...(await command.sql`select 1 as one`)]).toEqual([{ one: 1 }])
  expect(events).toEqual(["database_restarted"])
  await command.close()
  await database.close()
})

long("repeated statements that exceed their limit do not end the server", async () => {
  const losses: string[] = []
  const { database, events } = await openWatched({ onLoss: (error) => void losses.push(error.message) })
  const { sql, close } = database
  const times = 5
  for (let i = 0; i < times; i++) {
    expect(await failure(sql.unsafe(`select count(*) as n${i} from generate_series(1, ${RUNAWAY}::bigint)`))).toBe(
      "away",
    )
    expect([...(await sql`select ${i}::int as i`)]).toEqual([{ i }])
  }
  expect(losses).toEqual([])
  expect(events).toEqual(Array(times).fill("database_restarted"))
  await close()
})

long("a stopped statement is refused for a while, whether it is prepared, unprepared or in a transaction", async () => {
  const { database, events } = await openWatched()
  const { sql, close } = database
  const runaway = (connection: typeof sql) => connection`select count(*) from generate_series(1, ${RUNAWAY}::bigint)`
  expect(await failure(runaway(sql))).toBe("away")
  const refusals = await Promise.all(Array.from({ length: 12 }, () => failure(runaway(sql))))
  expect(new Set(refusals)).toEqual(new Set(["away"]))
  const inside = sql.begin(async (tx) => {
    await tx`insert into written (id) values (-3)`
    await runaway(tx as unknown as typeof sql)
  })
  expect(await failure(inside)).toBe("away")
  const caught = await sql.begin(async (tx) => {
    await tx.savepoint((savepoint) => runaway(savepoint as unknown as typeof sql)).catch(() => {})
    return await tx`select 1 as one`
  })
  expect([...caught]).toEqual([{ one: 1 }])
  expect([...(await sql`select id from written where id = -3`)]).toEqual([])
  const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => sql`select ${i}::int as i`))
  expect(answers.map(([row]) => row!.i)).toEqual(Array.from({ length: 40 }, (_, i) => i))
  expect(events).toEqual(["database_restarted"])
  await close()
})

long("when the database is reopened, grown tables are analyzed before clients can query", async () => {
  const { database } = await openWatched()
  const { sql, close } = database
  await sql`create table if not exists grown (id int, pad text)`
  await sql`insert into grown select n, repeat('x', 50) from generate_series(1, 20000) n`
  expect([...(await sql`select reltuples from pg_class where relname = 'grown'`)]).toEqual([{ reltuples: -1 }])
  const runaway = failure(sql`select count(*) as "before" from generate_series(1, ${RUNAWAY}::bigint)`)
  await Bun.sleep(50)
  await failure(sql`select 1`)
  expect(await runaway).toBe("away")
  expect([...(await sql`select reltuples from pg_class where relname = 'grown'`)]).toEqual([{ reltuples: 20_000 }])
  await close()
})

test("a statement is refused longer after each stop, and the statements of a stopped batch then run alone", () => {
  let now = 0
  const runaways = new Runaways(() => now)
  runaways.note(["a"])
  expect([runaways.refusedFor(["b", "a"]), runaways.refusedFor(["b"])]).toEqual([15_000, 0])
  now = 15_000
  expect(runaways.refusedFor(["a"])).toBe(0)
  runaways.note(["a"])
  expect(runaways.refusedFor(["a"])).toBe(30_000)
  for (let i = 0; i < 10; i++) runaways.note(["a"])
  expect(runaways.refusedFor(["a"])).toBe(5 * 60_000)
  now += 10 * 60_000
  expect(runaways.refusedFor(["a"])).toBe(0)
  runaways.note(["b", "c"])
  expect([runaways.refusedFor(["b", "c"]), runaways.mustRunAlone(["d", "c"]), runaways.mustRunAlone(["d"])]).toEqual([
    0,
    true,
    false,
  ])
})

test("statement_timeout in a statement is parsed the way PostgreSQL parses it", () => {
  const limitOf = (statement: string) => {
    const limit = timeLimitIn(statement)
    return limit && [limit.holds, limit.limitMs]
  }
  const unlimited = Number.POSITIVE_INFINITY
  expect(limitOf("set local statement_timeout = 0")).toEqual(["transaction", unlimited])
  expect(limitOf(" SET statement_timeout TO '90s';")).toEqual(["session", 90_000])
  expect(limitOf("set session statement_timeout = 2500")).toEqual(["session", 2_500])
  expect(limitOf("set statement_timeout = default")).toEqual(["session", null])
  expect(limitOf("reset statement_timeout")).toEqual(["session", null])
  expect(limitOf("vacuum (analyze) t")).toEqual(["statement", unlimited])
  for (const other of ["select 'set statement_timeout = 0'", "set lock_timeout = 0", "vacuumed", "select 1"])
    expect([other, limitOf(other)]).toEqual([other, null])
})
