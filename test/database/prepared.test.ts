import { afterAll, beforeAll, expect, test } from "bun:test"
import { once } from "node:events"
import type postgres from "postgres"
import { openPool } from "../../src/database/driver/pool.ts"
import type { EmbeddedDatabase } from "../../src/database/embedded/open.ts"
import { closeStatement, message, parseStatement, query, sync, text } from "../../src/database/embedded/wire.ts"
import { embeddedOptions } from "../../src/database/options.ts"
import type { Sql } from "../../src/database/types.ts"
import { openInMemory } from "../database.ts"

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

test("a statement that many connections prepare exists once and is dropped when the last of them ends", async () => {
  const connections = Array.from({ length: 6 }, connect)
  for (const [i, own] of connections.entries()) {
    expect(await own`select name from thing where id = ${i + 1}`).toMatchObject([{ name: `thing ${i + 1}` }])
  }
  expect(await kept("select name from thing where id = $1")).toBe(1)
  const [last] = connections
  for (const own of connections.slice(1)) await own.end()
  expect(await last!`select name from thing where id = ${7}`).toMatchObject([{ name: "thing 7" }])
  await last!.end()
  expect(await kept("select name from thing where id = $1")).toBe(0)
})

test("the same text with other parameter types is another statement", async () => {
  const [one, other] = [connect(), connect()]
  const typed = (own: Sql, value: postgres.ParameterOrFragment<never>) => own`select pg_typeof(${value})::text as type`
  expect(await typed(one, one.typed(1, 23))).toMatchObject([{ type: "integer" }])
  expect(await typed(other, other.typed(1 as never, 20))).toMatchObject([{ type: "bigint" }])
  expect(await typed(one, one.typed(1, 20))).toMatchObject([{ type: "bigint" }])
  expect(await kept("select pg_typeof($1)::text as type")).toBe(2)
  await Promise.all([one.end(), other.end()])
})

test(
  "a statement that cannot be parsed is not shared: each client gets its own error, " +
    "and all get rows once the table exists",
  async () => {
    const connections = [connect(), connect(), connect()]
    const ask = (own: Sql) => own`select ${1}::int as n from later`
    for (const own of connections) expect(await codeOf(ask(own))).toBe("42P01")
    await sql`create table later ()`
    await sql`insert into later default values`
    for (const own of connections) expect(await ask(own)).toMatchObject([{ n: 1 }])
    await Promise.all(connections.map((own) => own.end()))
  },
)

test("a changed schema is seen by statements prepared before and after; a rolled-back change by none", async () => {
  await sql`create table wide (a int)`
  await sql`insert into wide values (1)`
  const [before, after, last] = [connect(), connect(), connect()]
  const all = async (own: Sql) => [...(await own`select * from wide where a = ${1}`)]
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
  for (const own of [last, before, after]) expect(await all(own)).toEqual([{ a: 1, b: 2 }])
  await Promise.all([before, after, last].map((own) => own.end()))
})

test("a statement prepared in a failed transaction exists after it, also for other clients", async () => {
  const [one, other] = [connect(), connect()]
  const ask = (own: Sql) => own`select name from thing where id = ${3} limit 1`
  const failing = one.begin(async (tx) => {
    await ask(tx as never)
    await tx`select 1 / ${0}::int`
  })
  expect(await codeOf(failing)).toBe("22012")
  for (const own of [other, one]) expect(await ask(own)).toMatchObject([{ name: "thing 3" }])
  expect(await kept("select name from thing where id = $1 limit 1")).toBe(1)
  await Promise.all([one.end(), other.end()])
})

test.each(["discard all", "deallocate all"])(
  "after %s by one client, every statement is prepared again",
  async (clear) => {
    const [one, other] = [connect(), connect()]
    const ask = (own: Sql) => own`select name from thing where id = ${4} limit 2`
    for (const own of [one, other]) await ask(own)
    await one.unsafe(clear)
    for (const own of [other, one, other]) expect(await ask(own)).toMatchObject([{ name: "thing 4" }])
    await Promise.all([one.end(), other.end()])
  },
)

test("the backend keeps the most recently used statements, and others are parsed again at their next use", async () => {
  const [one, other] = [connect(), connect()]
  const ask = async (own: Sql, n: number) => (await own.unsafe(`select $1::int + ${n} as n`, [1], { prepare: true }))[0]
  for (let n = 0; n < 400; n++) expect({ ...(await ask(n % 2 === 0 ? one : other, n)) }).toEqual({ n: n + 1 })
  const [row] = await sql`select count(*)::int as n from pg_prepared_statements`
  expect(row!.n).toBeLessThanOrEqual(258)
  for (let n = 0; n < 400; n++) expect({ ...(await ask(one, n)) }).toEqual({ n: n + 1 })
  await one.begin(async (tx) => {
    for (let n = 0; n < 400; n += 7) expect({ ...(await ask(tx as never, n)) }).toEqual({ n: n + 1 })
    expect(await codeOf(tx.savepoint((sp) => sp`select 1 / ${0}::int`))).toBe("22012")
    expect({ ...(await ask(tx as never, 1)) }).toEqual({ n: 2 })
  })
  await Promise.all([one.end(), other.end()])
})

test("a plan is shared, and renewed once a table that it reads has grown", async () => {
  await sql`create table grown (id int primary key, name text)`
  await sql`analyze grown`
  const ask = (n: number) => sql`select name from grown where id = ${n}`
  const plan = async () => {
    const [kept] = await sql<{ name: string; planned: number }[]>`
      select name, generic_plans as planned
      from pg_prepared_statements
      where statement like 'select name from grown%'`
    const rows = await sql.unsafe(`explain execute "${kept!.name}" (7)`)
    return { planned: kept!.planned, steps: rows.map((row) => row["QUERY PLAN"]).join("\n") }
  }
  for (let n = 0; n < 30; n++) await ask(n)
  const before = await plan()
  expect(before.steps).toContain("Seq Scan")
  expect(before.planned).toBeGreaterThan(20)
  await sql`insert into grown select n, 'grown ' || n from generate_series(1, 5000) n`
  expect(await ask(7)).toMatchObject([{ name: "grown 7" }])
  expect((await plan()).steps).toContain("Index Scan")
})

test("a client's statement names are private: taken once, free once closed, unknown to others", async () => {
  const [one, other] = [speak(), speak()]
  expect(await one(parse("a", "select 1"), ...run("a"), sync())).toBe("1 2 D C Z")
  expect(await one(parse("a", "select 2"), sync())).toBe("E42P05 Z")
  expect(await other(...run("a"), sync())).toBe("E26000 Z")
  expect(await other(parse("a", "select 1"), message("D", text("Sa")), ...run("a"), sync())).toBe("1 t T 2 D C Z")
  expect(await one(closeStatement("a"), parse("a", "select 3"), ...run("a"), sync())).toBe("3 1 2 D C Z")
  expect(await other(closeStatement("a"), sync())).toBe("3 Z")
  expect(await other(...run("a"), sync())).toBe("E26000 Z")
  expect(await one(...run("a"), closeStatement(""), sync())).toBe("2 D C 3 Z")
})

test("messages after a failed one are skipped until the sequence ends, and later ones are processed", async () => {
  const [one, other] = [speak(), speak()]
  await other(parse("b", "select 5"), sync())
  expect(await one(parse("x", "select wrong"), parse("b", "select 5"), sync())).toBe("E42703 Z")
  expect(await one(...run("b"), sync())).toBe("E26000 Z")
  expect(await one(parse("b", "select 5"), parse("x", "select 6"), ...run("x"), ...run("b"), sync())).toBe(
    "1 1 2 D C 2 D C Z",
  )
  expect(await one(parse("y", "select 1 / 0"), ...run("y"), query("select 7"))).toBe("1 E22012")
  expect(await one(sync(), parse("z", "select 5"), ...run("z"), sync())).toBe("Z 1 2 D C Z")
  expect(await one(query("begin"), query("select 1 / 0"))).toBe("C Z E22012 Z")
  expect(await one(parse("c", "select 5"), ...run("c"), sync())).toMatch(/E25P02 Z$/)
  expect(await one(query("rollback"), parse("d", "select 5"), ...run("d"), sync())).toBe("C Z 1 2 D C Z")
})

const parse = (name: string, statement: string) => parseStatement(name, `${statement}\0\0\0`)

const run = (name: string) => [
  message("B", Buffer.concat([text(""), text(name), Buffer.alloc(6)])),
  message("E", Buffer.from([0, 0, 0, 0, 0])),
]

function connect(): Sql {
  return openPool(embeddedOptions(database.bridge!.socket, 1))
}

async function kept(statement: string): Promise<number> {
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
    const wanted = messages.filter((bytes) => bytes[0] === 0x53 || bytes[0] === 0x51).length
    const until = performance.now() + 500
    let types = typesOf(Buffer.concat(chunks))
    while (types.filter((type) => type === "Z").length < wanted && performance.now() < until) {
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
