import { afterAll, expect, test } from "bun:test"
import { createServer } from "node:net"
import postgres from "postgres"
import { DatabaseProblem, openDatabase } from "../../src/database/connect.ts"
import { assertDriverPatched } from "../../src/database/patched.ts"
import { vacuumTables } from "../../src/database/upkeep.ts"
import { silentLog } from "../../src/lib/log.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { scratchDatabase } from "./server.ts"

const open = (databaseUrl: string) => openDatabase({ databaseUrl, dataDir: "", as: "server", log: silentLog })

const problem = (databaseUrl: string) =>
  open(databaseUrl).then(
    () => "opened",
    (error) => (error instanceof DatabaseProblem ? error.message : String(error)),
  )

// A server that accepts everyone and answers every query with one value.
function fakeServer(answer: () => Buffer) {
  const server = createServer((socket) => socket.on("data", () => socket.write(answer())))
  afterAll(() => void server.close())
  return new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port))
  })
}

const refusal = (code: string): Buffer => {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0Mpassword of secret user\0\0`)
  const bytes = Buffer.concat([Buffer.from("E0000"), fields])
  bytes.writeInt32BE(bytes.length - 1, 1)
  return bytes
}

test("a database URL that is invalid or has another scheme is reported without its password", async () => {
  expect(await problem("postgres//x")).toBe(
    "DATABASE_URL is not an address like postgres://user:password@host:5432/name",
  )
  expect(await problem("mysql://u:secret@h/db")).toBe("DATABASE_URL begins with mysql: but must begin with postgres:")
})

test("the error for a refused connection states that nothing listens at the address", async () => {
  expect(await problem("postgres://u:secret@127.0.0.1:1/db")).toBe(
    "the database at 127.0.0.1:1/db is not reachable: nothing listens there",
  )
})

test("a wrong password, a missing database and a refused setting have distinct error messages", async () => {
  const lines: string[] = []
  for (const code of ["28P01", "3D000", "08P01", "53300"]) {
    const port = await fakeServer(() => refusal(code))
    lines.push((await problem(`postgres://u:secret@127.0.0.1:${port}/db`)).replace(String(port), "PORT"))
  }
  expect(lines).toEqual([
    "the database at 127.0.0.1:PORT/db refused the user name or password in DATABASE_URL",
    "the database at 127.0.0.1:PORT/db does not exist; create it with: createdb",
    'the database at 127.0.0.1:PORT/db refused a connection setting; remove what follows "?" in DATABASE_URL, ' +
      "except prepare=false",
    "the database at 127.0.0.1:PORT/db has no connections left",
  ])
})

slow(
  "connecting to a server that never answers fails after 5 s",
  async () => {
    const port = await fakeServer(() => Buffer.alloc(0))
    const startedAt = performance.now()
    const severalDown = problem("postgres://u:p@ss:1@127.0.0.1:1,127.0.0.1:2/db")
    expect(await problem(`postgres://u@127.0.0.1:${port}/db`)).toBe(
      `the database at 127.0.0.1:${port}/db is not reachable: no answer within 5 s`,
    )
    expect(await severalDown).toBe("the database at 127.0.0.1:1,127.0.0.1:2/db is not reachable: no answer within 5 s")
    expect(performance.now() - startedAt).toBeLessThan(8_000)
  },
  15_000,
)

test.skipIf(!process.env.DATABASE_URL)("postgres: a server older than 15 is refused", async () => {
  await using database = await scratchDatabase("old")
  const name = new URL(database.url).pathname.slice(1)
  const old = postgres(database.url, { max: 1 })
  await old`create schema old`
  await old`create function old.current_setting(text) returns text language sql as $$ select '140012' $$`
  await old`alter database ${old(name)} set search_path = old, pg_catalog`
  await old.end()
  expect(await problem(database.url)).toEndWith(`/${name} is PostgreSQL 14; Appmeter needs 15 or newer`)
})

test("a PostgreSQL driver without the required patch is refused", () => {
  assertDriverPatched()
  expect(() => assertDriverPatched({})).toThrow("lacks our patch; run: bun install --frozen-lockfile")
})

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: types, time zone and limits are set on every connection",
  async () => {
    const { sql, close, kind } = await open(process.env.DATABASE_URL!)
    expect(kind).toBe("postgres")
    const [row] = await sql`
    select 5::bigint as big, '2026-02-28'::date as day, '2026-01-02T03:04:05Z'::timestamptz as at,
      current_setting('TimeZone') as zone, current_setting('statement_timeout') as limit,
      current_setting('idle_in_transaction_session_timeout') as idle`
    expect(row).toEqual({
      big: 5,
      day: "2026-02-28",
      at: new Date("2026-01-02T03:04:05Z"),
      zone: "UTC",
      limit: "4s",
      idle: "10s",
    })
    expect(await sql.begin((tx) => tx`select pg_sleep(9)`).catch((error) => error.code)).toBe("57014")
    await close()
  },
  15_000,
)

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: a vacuum leaves the statement timeout of its connection unchanged",
  async () => {
    await using database = await scratchDatabase("vacuum")
    const { sql, close } = await openDatabase({
      databaseUrl: database.url,
      dataDir: "",
      as: "server",
      log: silentLog,
      maxConnections: 1,
    })
    await sql`create table load as select generate_series(1, 1000) as id`
    await vacuumTables(sql, [{ schema: "public", name: "load" }])
    const [row] = await sql`
    select reltuples::int as n, current_setting('statement_timeout') as limit from pg_class where relname = 'load'`
    expect(row).toEqual({ n: 1000, limit: "4s" })
    await close()
  },
)

test("rows of a statement that fails partway never reach the next statement", async () => {
  const sql = await freshDatabase()
  const reserved = await sql.reserve()
  try {
    for (const failing of [
      reserved`select 1 / (3 - i) as inverse from generate_series(1, 9) as i`,
      reserved.unsafe("select 1 / (3 - i) as inverse from generate_series(1, 9) as i").simple(),
    ]) {
      expect(await failing.catch((error) => error.code)).toBe("22012")
      expect([...(await reserved`select i from generate_series(1, 2) as i`)]).toEqual([{ i: 1 }, { i: 2 }])
    }
  } finally {
    reserved.release()
  }
})

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: a transaction whose connection dies never runs its later statements on another connection",
  async () => {
    await using database = await scratchDatabase("lost")
    const sql = postgres(database.url, { max: 1, onnotice: () => {} })
    await sql`create table note (text text)`
    const outcomes: string[] = []
    const note = (work: PromiseLike<unknown>) =>
      work.then(
        () => outcomes.push("done"),
        (error) => outcomes.push(error.code),
      )
    const finished = Promise.withResolvers<void>()
    const transaction = sql.begin(async (tx) => {
      await tx`insert into note values ('inside')`
      const [row] = await tx`select pg_backend_pid() as pid`
      await database.admin`select pg_terminate_backend(${row!.pid})`
      await Bun.sleep(100)
      await sql`select 1`
      await note(tx`insert into note values ('outside')`)
      await note(tx.unsafe("insert into note values ('outside')"))
      finished.resolve()
    })
    expect(await transaction.catch((error) => error.code)).toBe("CONNECTION_CLOSED")
    await finished.promise
    expect(outcomes).toEqual(["CONNECTION_CLOSED", "CONNECTION_CLOSED"])
    expect([...(await sql`select text from note`)]).toEqual([])
    await sql.end()
  },
)

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: statements on a dead reserved connection fail, and the pool works after its release",
  async () => {
    const sql = postgres(process.env.DATABASE_URL!, { max: 2, onnotice: () => {} })
    const other = postgres(process.env.DATABASE_URL!, { max: 1 })
    for (let i = 0; i < 5; i++) {
      const reserved = await sql.reserve()
      const [row] = await reserved`select pg_backend_pid() as pid`
      await other`select pg_terminate_backend(${row!.pid})`
      const codes: string[] = []
      for (let n = 0; n < 3; n++)
        codes.push(
          await reserved`select 1`.then(
            () => "done",
            (error) => error.code,
          ),
        )
      for (const code of codes) expect(["57P01", "CONNECTION_CLOSED", "ECONNRESET"]).toContain(code)
      reserved.release()
    }
    const rows = await Promise.all(
      Array.from({ length: 20 }, (_, i) => sql`select ${i}::int as i, ${[i]}::int[] as list`),
    )
    expect(rows.map(([r]) => r)).toEqual(Array.from({ length: 20 }, (_, i) => ({ i, list: [i] })))
    await Promise.all([sql.end({ timeout: 1 }), other.end()])
  },
)
