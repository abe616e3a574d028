import { afterAll, beforeAll, expect, test } from "bun:test"
import { once } from "node:events"
import type postgres from "postgres"
import { openPool } from "../../src/database/driver/pool.ts"
import type { EmbeddedDatabase } from "../../src/database/embedded/open.ts"
import { closeStatement, message, parseStatement, query, sync, text } from "../../src/database/embedded/wire.ts"
import { embeddedOptions } from "../../src/database/options.ts"
import type { Sql } from "../../src/database/types.ts"
import { openInMemory } from "../database.ts"
import { slow } from "../long.ts"

let database: EmbeddedDatabase
let sql: Sql

beforeAll(async () => {
  database = await openInMemory()
  sql = database.sql
  await sql`create table thing (id int primary key, name text)`
  await sql`insert into thing select n, 'thing ' || n from generate_series(1, 100) n`
})

afterAll(async () => {
  await database.close()
})

test("a statement prepared by many connections exists once, and is dropped with the last connection", async () => {
  const connections = Array.from({ length: 6 }, connect)
  for (const [i, connection] of connections.entries()) {
    expect(await connection`select name from thing where id = ${i + 1}`).toMatchObject([{ name: `thing ${i + 1}` }])
  }
  expect(await countPrepared("select name from thing where id = $1")).toBe(1)
  const [last] = connections
  for (const connection of connections.slice(1)) await connection.end()
  expect(await last!`select name from thing where id = ${7}`).toMatchObject([{ name: "thing 7" }])
  await last!.end()
  expect(await countPrepared("select name from thing where id = $1")).toBe(0)
})

test("statements with the same text but different parameter types are prepared separately", async () => {
  const [first, second] = [connect(), connect()]
  const typeOf = (connection: Sql, value: postgres.ParameterOrFragment<never>) =>
    connection`select pg_typeof(${value})::text as type`
  expect(await typeOf(first, first.typed(1, 23))).toMatchObject([{ type: "integer" }])
  expect(await typeOf(second, second.typed(1 as never, 20))).toMatchObject([{ type: "bigint" }])
  expect(await typeOf(first, first.typed(1, 20))).toMatchObject([{ type: "bigint" }])
  expect(await countPrepared("select pg_typeof($1)::text as type")).toBe(2)
  await Promise.all([first.end(), second.end()])
})

test("a statement without its table fails for each client, and returns rows once the table exists", async () => {
  const connections = [connect(), connect(), connect()]
  const ask = (connection: Sql) => connection`select ${1}::int as n from later`
  for (const connection of connections) expect(await codeOf(ask(connection))).toBe("42P01")
  await sql`create table later ()`
  await sql`insert into later default values`
  for (const connection of connections) expect(await ask(connection)).toMatchObject([{ n: 1 }])
  await Promise.all(connections.map((connection) => connection.end()))
})

test("prepared statements use the new schema after a schema change, and the old schema after a rollback", async () => {
  await sql`create table wide (a int)`
  await sql`insert into wide values (1)`
  const [before, after, last] = [connect(), connect(), connect()]
  const all = async (connection: Sql) => [...(await connection`select * from wide where a = ${1}`)]
  expect(await all(before)).toEqual([{ a: 1 }])
  await sql`alter table wide add column b int default 2`
  expect(await all(after)).toEqual([{ a: 1, b: 2 }])
  expect(await all(before)).toEqual([{ a: 1, b: 2 }])
  const undone = sql.begin(async (tx) => {
    await tx`alter table wide add column c int default 3`
    expect(await all(tx as never)).toEqual([{ a: 1, b: 2, c: 3 }])
    throw Object.assign(new Error("undo"), { code: "undo" })
  })
  expect(await codeOf(undone)).toBe("undo")
  for (const connection of [last, before, after]) expect(await all(connection)).toEqual([{ a: 1, b: 2 }])
  await Promise.all([before, after, last].map((connection) => connection.end()))
})

test("a statement prepared in a failed transaction stays prepared, also for other clients", async () => {
  const [first, second] = [connect(), connect()]
  const ask = (connection: Sql) => connection`select name from thing where id = ${3} limit 1`
  const failing = first.begin(async (tx) => {
    await ask(tx as never)
    await tx`select 1 / ${0}::int`
  })
  expect(await codeOf(failing)).toBe("22012")
  for (const connection of [second, first]) expect(await ask(connection)).toMatchObject([{ name: "thing 3" }])
  expect(await countPrepared("select name from thing where id = $1 limit 1")).toBe(1)
  await Promise.all([first.end(), second.end()])
})

test.each(["discard all", "deallocate all"])(
  "after %s by one client, statements are prepared again for every client",
  async (clear) => {
    const [first, second] = [connect(), connect()]
    const ask = (connection: Sql) => connection`select name from thing where id = ${4} limit 2`
    for (const connection of [first, second]) await ask(connection)
    await first.unsafe(clear)
    for (const connection of [second, first, second]) expect(await ask(connection)).toMatchObject([{ name: "thing 4" }])
    await Promise.all([first.end(), second.end()])
  },
)

slow(
  "recently used statements stay prepared, and evicted statements are prepared again at their next use",
  async () => {
    const [first, second] = [connect(), connect()]
    const ask = async (connection: Sql, n: number) =>
      (await connection.unsafe(`select $1::int + ${n} as n`, [1], { prepare: true }))[0]
    for (let n = 0; n < 400; n++) expect({ ...(await ask(n % 2 === 0 ? first : second, n)) }).toEqual({ n: n + 1 })
    const [row] = await sql`select count(*)::int as n from pg_prepared_statements`
    expect(row!.n).toBeLessThanOrEqual(258)
    for (let n = 0; n < 400; n++) expect({ ...(await ask(first, n)) }).toEqual({ n: n + 1 })
    await first.begin(async (tx) => {
      for (let n = 0; n < 400; n += 7) expect({ ...(await ask(tx as never, n)) }).toEqual({ n: n + 1 })
      expect(await codeOf(tx.savepoint((sp) => sp`select 1 / ${0}::int`))).toBe("22012")
      expect({ ...(await ask(tx as never, 1)) }).toEqual({ n: 2 })
    })
    await Promise.all([first.end(), second.end()])
  },
)

test("the plan of a prepared statement is renewed once its table has grown", async () => {
  await sql`create table grown (id int primary key, name text)`
  await sql`analyze grown`
  const ask = (n: number) => sql`select name from grown where id = ${n}`
  const plan = async () => {
    const [statement] = await sql<{ name: string; planned: number }[]>`
      select name, generic_plans as planned
      from pg_prepared_statements
      where statement like 'select name from grown%'`
    const rows = await sql.unsafe(`explain execute "${statement!.name}" (7)`)
    return { planned: statement!.planned, steps: rows.map((row) => row["QUERY PLAN"]).join("\n") }
  }
  for (let n = 0; n < 30; n++) await ask(n)
  const before = await plan()
  expect(before.steps).toContain("Seq Scan")
  expect(before.planned).toBeGreaterThan(20)
  await sql`insert into grown select n, 'grown ' || n from generate_series(1, 5000) n`
  expect(await ask(7)).toMatchObject([{ name: "grown 7" }])
  expect((await plan()).steps).toContain("Index Scan")
})

test("statement names belong to one client, and a name in use is refused until its statement is closed", async () => {
  const [first, second] = [speak(), speak()]
  expect(await first(parse("a", "select 1"), ...run("a"), sync())).toBe("1 2 D C Z")
  expect(await first(parse("a", "select 2"), sync())).toBe("E42P05 Z")
  expect(await second(...run("a"), sync())).toBe("E26000 Z")
  expect(await second(parse("a", "select 1"), message("D", text("Sa")), ...run("a"), sync())).toBe("1 t T 2 D C Z")
  expect(await first(closeStatement("a"), parse("a", "select 3"), ...run("a"), sync())).toBe("3 1 2 D C Z")
  expect(await second(closeStatement("a"), sync())).toBe("3 Z")
  expect(await second(...run("a"), sync())).toBe("E26000 Z")
  expect(await first(...run("a"), closeStatement(""), sync())).toBe("2 D C 3 Z")
})

slow("messages after a failed message are skipped until the next Sync message", async () => {
  const [first, second] = [speak(), speak()]
  await second(parse("b", "select 5"), sync())
  expect(await first(parse("x", "select wrong"), parse("b", "select 5"), sync())).toBe("E42703 Z")
  expect(await first(...run("b"), sync())).toBe("E26000 Z")
  expect(await first(parse("b", "select 5"), parse("x", "select 6"), ...run("x"), ...run("b"), sync())).toBe(
    "1 1 2 D C 2 D C Z",
  )
  expect(await first(parse("y", "select 1 / 0"), ...run("y"), query("select 7"))).toBe("1 E22012")
  expect(await first(sync(), parse("z", "select 5"), ...run("z"), sync())).toBe("Z 1 2 D C Z")
  expect(await first(query("begin"), query("select 1 / 0"))).toBe("C Z E22012 Z")
  expect(await first(parse("c", "select 5"), ...run("c"), sync())).toMatch(/E25P02 Z$/)
  expect(await first(query("rollback"), parse("d", "select 5"), ...run("d"), sync())).toBe("C Z 1 2 D C Z")
})

const parse = (name: string, statement: string) => parseStatement(name, `${statement}\0\0\0`)

const run = (name: string) => [
  message("B", Buffer.concat([text(""), text(name), Buffer.alloc(6)])),
  message("E", Buffer.from([0, 0, 0, 0, 0])),
]

function connect(): Sql {
  return openPool(embeddedOptions(database.bridge!.socket, 1))
}

async function countPrepared(statement: string): Promise<number> {
  const [row] = await sql.unsafe("select count(*)::int as n from pg_prepared_statements where statement = $1", [
    statement,
  ])
  return row!.n
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => "passed",
    (error) => error.code,
  )
}

/** Sends messages unchanged. Returns the types of the responses, with the code of an error. */
function speak(): (...messages: Buffer[]) => Promise<string> {
  const session = database.bridge!.socket()
  const startup = Buffer.from([0, 0, 0, 8, 0, 3, 0, 0])
  const greeted = once(session, "data")
  session.write(startup)
  return async (...messages) => {
    await greeted
    const chunks: Buffer[] = []
    const listen = (chunk: Buffer) => chunks.push(chunk)
    session.on("data", listen)
    session.write(Buffer.concat(messages))
    const syncs = messages.filter((bytes) => bytes[0] === 0x53 || bytes[0] === 0x51).length
    const until = performance.now() + 500
    let types = typesOf(Buffer.concat(chunks))
    while (types.filter((type) => type === "Z").length < syncs && performance.now() < until) {
      await Bun.sleep(1)
      types = typesOf(Buffer.concat(chunks))
    }
    session.off("data", listen)
    return types.join(" ")
  }
}

function typesOf(bytes: Buffer): string[] {
  const types: string[] = []
  for (let at = 0; at < bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
    const type = String.fromCharCode(bytes[at]!)
    types.push(type === "E" ? `E${/\0C(\w{5})\0/.exec(bytes.toString("latin1", at))![1]}` : type)
  }
  return types
}
