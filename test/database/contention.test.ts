import { afterEach, expect, test } from "bun:test"
import postgres from "postgres"
import { Batches, joined } from "../../src/database/embedded/batches.ts"
import type { TurnLimits } from "../../src/database/embedded/turns.ts"
import { isConnectionProblem } from "../../src/database/gate.ts"
import { embeddedOptions } from "../../src/database/options.ts"
import { openInMemory } from "../database.ts"
import { long, slow } from "../long.ts"
import { slowness } from "../unit.ts"

const opened: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const database of opened.splice(0)) await database.close()
})

async function open(limits?: TurnLimits) {
  const database = await openInMemory(limits)
  opened.push(database)
  return database
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "passed",
    (error) => error.code as string,
  )

slow("a query that waits for its caller's own transaction fails with 55P03 instead of waiting forever", async () => {
  const { sql } = await open({ waitMs: 300 })
  const startedAt = performance.now()
  const code = await codeOf(
    sql.begin(async (tx) => {
      await tx`create table made (id int)`
      await sql`select ${1}::int`
    }),
  )
  expect(code).toBe("55P03")
  expect(performance.now() - startedAt).toBeLessThan(1_500)
  expect([...(await sql`select to_regclass('made')::text as made`)]).toEqual([{ made: null }])
})

slow("queries of every kind fail with 55P03 during an idle transaction, and work afterwards", async () => {
  const { sql } = await open({ waitMs: 300 })
  await sql`select ${0}::int as warm`
  const pause = Promise.withResolvers<void>()
  const holder = sql.begin(async (tx) => {
    await tx`select 1`
    await pause.promise
  })
  await Bun.sleep(50)
  const codes = await Promise.all([
    codeOf(sql`select ${1}::int as warm`),
    codeOf(sql`select ${"new"}::text`),
    codeOf(sql.unsafe("select 2")),
    codeOf(sql`select generate_series(1, 10)`.cursor(2, () => {})),
    codeOf(sql.begin((tx) => tx`select 3`)),
    ...Array.from({ length: 30 }, (_, i) => codeOf(sql`select ${i}::int as warm`)),
  ])
  expect(new Set(codes)).toEqual(new Set(["55P03"]))
  pause.resolve()
  await holder
  const rows = await Promise.all(Array.from({ length: 30 }, (_, i) => sql`select ${i}::int as n, ${"text"}::text`))
  expect(rows.map(([row]) => row!.n)).toEqual(Array.from({ length: 30 }, (_, i) => i))
})

long("a busy transaction makes other clients wait, but not fail", async () => {
  const { sql } = await open({ waitMs: 200 })
  const busy = sql.begin(async (tx) => {
    for (let i = 0; i < 40; i++) await tx`select pg_sleep(0.02)`
  })
  await Bun.sleep(20)
  expect(await codeOf(sql`select 1`)).toBe("passed")
  await busy
})

long("a client that is idle in a transaction while other clients wait is disconnected and rolled back", async () => {
  const { sql } = await open({ waitMs: 200, idleMs: 500 })
  await sql`create table kept (id int)`
  const never = codeOf(
    sql.begin(async (tx) => {
      await tx`insert into kept values (1)`
      await Bun.sleep(2_000)
      await tx`insert into kept values (2)`
    }),
  )
  await Bun.sleep(50)
  const until = performance.now() + 1_500
  let rows: unknown[] | null = null
  while (!rows && performance.now() < until)
    rows = await sql`select id from kept`.then(
      (found) => [...found],
      () => null,
    )
  expect(rows).toEqual([])
  expect(await never).toBe("CONNECTION_CLOSED")
  expect([...(await sql`select id from kept`)]).toEqual([])
})

slow("requests run before background work that waited longer, until there is a pause in requests", async () => {
  const unit = await slowness()
  const { sql, background, bridge } = await open({ lullMs: 150 * unit, patienceMs: 60_000 })
  await Promise.all([sql`select 1`, background`select 1`])
  const ended: string[] = []
  const note = (name: string, work: Promise<unknown>) => work.then(() => void ended.push(name))
  const busy = note("busy", sql`select pg_sleep(${0.1 * unit})`)
  await Bun.sleep(20 * unit)
  const work = [
    note("background", background`select 2`),
    ...["a", "b", "c"].map((name) => note(name, sql`select 3`)),
    busy,
  ]
  await Bun.sleep(110 * unit)
  // Between two round trips of one request.
  work.push(note("later", sql`select 4`))
  await Promise.all(work)
  expect([ended[0], ended.length, ended.at(-1)]).toEqual(["busy", 6, "background"])
  expect(bridge!.turns.contended).toBe(false)
})

long("background work runs after a limited wait, however many requests there are", async () => {
  const { sql, background } = await open({ lullMs: 60_000, patienceMs: 100 })
  await sql`select 1`
  let requests = 0
  let calling = true
  const callers = Array.from({ length: 4 }, async () => {
    for (; calling; requests++) await sql`select pg_sleep(0.005)`
  })
  for (let i = 0; i < 3; i++) await background`select ${i}::int as i`
  calling = false
  await Promise.all(callers)
  expect(requests).toBeGreaterThan(10)
})

slow("when the database thread dies, waiting and later statements fail within a second", async () => {
  const { sql, backend } = await open()
  const working = [sql`select pg_sleep(5)`, sql`select 1`, sql`select 2`].map(codeOf)
  await Bun.sleep(50)
  const startedAt = performance.now()
  backend!.kill()
  const codes = await Promise.all(working)
  for (let i = 0; i < 5; i++) codes.push(await codeOf(sql`select 3`))
  process.stdout.write(
    `8 queries failed ${Math.round(performance.now() - startedAt)} ms after the thread ended: ${codes}\n`,
  )
  for (const code of codes.filter((code) => code !== "passed")) expect(isConnectionProblem({ code })).toBe(true)
  expect(performance.now() - startedAt).toBeLessThan(1_000)
})

slow("a closed connection leaves no prepared statement, transaction or listener behind", async () => {
  const { sql, bridge } = await open()
  const [before] = await sql`select count(*) as n from pg_prepared_statements`
  for (let i = 0; i < 5; i++) {
    const other = postgres(embeddedOptions(bridge!.socket, 2))
    await other`select ${i}::int as n, ${"a"}::text`
    await other.listen("left", () => {})
    const abandoned = other.begin(async (tx) => {
      await tx`create table if not exists half (id int)`
      await Bun.sleep(200)
    })
    await Bun.sleep(20)
    await other.end({ timeout: 0 })
    await abandoned.catch(() => {})
  }
  await Bun.sleep(50)
  expect([...(await sql`select count(*) as n from pg_prepared_statements`)][0]!.n).toBeLessThanOrEqual(before!.n + 2)
  expect([
    ...(await sql`select to_regclass('half')::text as half, array(select pg_listening_channels()) as channels`),
  ]).toEqual([{ half: null, channels: [] }])
})

test("a COPY with too much data fails, and its data is not buffered", () => {
  const batches = new Batches(1_000)
  const start = Buffer.from([0, 0, 0, 8, 0, 3, 0, 0])
  const message = (type: string, body: string | Buffer) => {
    const bytes = Buffer.concat([Buffer.from(`${type}0000`), Buffer.from(body)])
    bytes.writeInt32BE(bytes.length - 1, 1)
    return bytes
  }
  const data = Array.from({ length: 50 }, () => message("d", Buffer.alloc(100)))
  const stream = Buffer.concat([start, message("Q", "copy t from stdin\0"), ...data, message("c", "")])
  const events = [...batches.feed(stream)]
  expect(events.map((event) => event.kind)).toEqual(["startup", "copy_in", "batch"])
  const last = events.at(-1)!
  if (last.kind !== "batch") throw new Error("no batch")
  const bytes = joined(last.batch.messages)
  expect(bytes.toString()).toContain("at most 1000 bytes in one COPY")
  expect(bytes.length).toBeLessThan(200)
})
