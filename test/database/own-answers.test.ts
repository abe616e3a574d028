import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { openPool } from "../../src/database/driver/pool.ts"
import type { EmbeddedDatabase } from "../../src/database/embedded/open.ts"
import { serverOptions } from "../../src/database/options.ts"
import type { Sql } from "../../src/database/types.ts"
import { openInMemory } from "../database.ts"
import { slow } from "../long.ts"
import {
  askAfterEnd,
  askMany,
  askTransaction,
  CONNECTIONS,
  check,
  expectRows,
  failure,
  OWN,
  openAdmin,
  server,
  type Trial,
  trial,
  turn,
  WrongAnswer,
} from "./own-answers.ts"

const admin = server ? openAdmin() : null

afterAll(() => admin?.end())

const throwing = {
  toString() {
    throw failure("THROWN")
  },
}

const circular: { self?: object } = {}
circular.self = circular

const UNSERIALIZABLE = [
  (sql: Sql) => sql`select ${undefined as never}::int as x`,
  (sql: Sql) => sql`select ${new Date(Number.NaN)}::timestamptz as x`,
  (sql: Sql) => sql`select ${sql.json(circular as never)}::jsonb as x`,
  (sql: Sql) => sql`select ${Symbol("x") as never}::text as x`,
  (sql: Sql) => sql`select ${[undefined as never]}::text[] as x`,
  (sql: Sql) => sql`insert into nowhere ${sql([{ a: undefined as never }])}`,
  (sql: Sql) => sql.unsafe("select 1", Array(65_534).fill(1)),
]

/**
 * Sends values that cannot be serialized. The first of two statements is new to the connection, later ones are already
 * prepared.
 */
async function askUnserializable(sql: Sql, token: number): Promise<void> {
  if (token % 2 === 0) {
    const text = turn(token, 2) === 0 ? "text" : throwing
    return expectRows(await sql`select ${text as string}::text as x, ${token}::int as token`, [{ x: "text", token }])
  }
  const error = await UNSERIALIZABLE[turn(token, UNSERIALIZABLE.length)]!(sql).then(
    () => new WrongAnswer("it was sent"),
    () => failure("UNSERIALIZABLE"),
  )
  throw error
}

async function askFailing(sql: Sql, token: number): Promise<void> {
  const statements = [
    () => sql`select 1 / (3 - i) as x from generate_series(1, 9) i`,
    () => sql`select ${token}::int / 0 as x`,
    () => sql`selec ${token}`,
    () => sql`select ${"none"}::int as x`,
    () => sql.unsafe("select 1; select 1 / 0; select 2"),
    () => sql.unsafe("selec"),
    () => sql`select ${"nul \0"}::text as x`,
  ]
  await statements[turn(token, statements.length)]!()
}

const FAILURES = ["22012", "42601", "22P02", "22021"]

/**
 * Queries a table in which each question's id occurs in two rows, so that rows of another question and half an answer
 * are both detected.
 */
async function askTable(sql: Sql, token: number): Promise<void> {
  const id = (token % 1_000) + 1
  const ask = [
    () => sql`select * from changing where id = ${id}`,
    () => sql`select again, name, id from changing where id = ${id}`,
    () => sql`select changing as whole, id, again from changing where id = ${id}`,
    () => sql`update changing set again = ${id} where id = ${id} returning *`,
    () => sql`update changing set name = ${String(id)} where id = ${id} returning again, id`,
    () => sql.begin((tx) => tx`select * from changing where id = ${id}`),
  ]
  const rows = [...(await ask[token % ask.length]!())] as { id?: number; again?: number }[]
  if (rows.length !== 1 || rows[0]!.id !== id || rows[0]!.again !== id) {
    throw new WrongAnswer(`${JSON.stringify(rows)} for ${id}`)
  }
}

/**
 * Alternates between two schemas. Each change alters the type of the result, so that every prepared statement becomes
 * stale.
 */
async function alterUntil(isOver: () => boolean, alter: (statement: string) => Promise<unknown>): Promise<void> {
  for (let round = 0; !isOver(); round++) {
    await Bun.sleep(50)
    await alter(
      round % 2
        ? "alter table changing alter name type varchar(300), drop column more"
        : "alter table changing alter name type varchar(400), add column more int",
    )
  }
}

const MAKE_TABLE = `
  drop table if exists changing;
  create table changing (id int primary key, again int, name varchar(300));
  insert into changing select i, i from generate_series(1, 1000) i`

describe(`embedded: ${OWN}`, () => {
  const cases: [string, Trial["disturb"], string[]][] = [
    ["nothing else happens", undefined, []],
    ["other clients send values that cannot be serialized", askUnserializable, ["UNSERIALIZABLE", "THROWN"]],
    ["statements of other clients fail", askFailing, FAILURES],
    ["transactions of other clients fail", askTransaction, ["22012"]],
    ["other clients send statements after the end of their transaction", askAfterEnd, ["TRANSACTION_ENDED"]],
  ]
  let database: EmbeddedDatabase

  beforeAll(async () => {
    database = await openInMemory()
  }, 60_000)

  afterAll(() => database.close())

  slow.each(cases)("every answer is right while %s", async (_, disturb, allowed) => {
    check(await askMany({ sql: database.sql, questions: 600, ...(disturb && { disturb }) }), allowed)
  })

  slow("every answer is right while the schema changes, and no query fails", async () => {
    const { sql } = database
    await sql.unsafe(MAKE_TABLE)
    const background = (isOver: () => boolean) => alterUntil(isOver, (statement) => sql.unsafe(statement))
    check(await askMany({ sql, questions: 1_500, disturb: askTable, every: 1, background }), [])
  })
})

describe.skipIf(!server)(`postgres: ${OWN}`, () => {
  test("every answer is right without disturbances", async () => {
    await trial({})
  })

  test("every answer is right while the schema changes repeatedly, and no query fails", async () => {
    await admin!.unsafe(MAKE_TABLE)
    const background = (isOver: () => boolean) => alterUntil(isOver, (statement) => admin!.unsafe(statement))
    await trial({ questions: 6_000, disturb: askTable, every: 1, background })
    await admin!`drop table changing`
  })

  test("every answer is right, and no query fails, while the type of a parameter's column changes", async () => {
    await admin!.unsafe(MAKE_TABLE)
    const background = async (isOver: () => boolean) => {
      for (let round = 0; !isOver(); round++) {
        await Bun.sleep(100)
        const type = round % 2 ? "int using again::int" : "varchar(20)"
        await admin!.unsafe(`alter table changing alter again type ${type}`)
      }
    }
    const disturb = async (sql: Sql, token: number) => {
      const id = (token % 1_000) + 1
      const ask = [
        () => sql`select id, ${token}::int as token from changing where again = ${id}`,
        () => sql`update changing set again = ${id} where id = ${id} returning id, ${token}::int as token`,
      ]
      expectRows(await ask[token % 2]!(), [{ id, token }])
    }
    await trial({ questions: 3_000, disturb, background })
    await admin!`drop table changing`
  })

  test.each(["deallocate all", "discard all"])(
    "every answer is right, and no query fails, while connections lose prepared statements by %s",
    async (lose) => {
      await trial({ disturb: (sql) => sql.unsafe(lose), every: 50 })
    },
  )

  test("every answer is right while other clients send values that cannot be serialized", async () => {
    const outcomes = await trial({ disturb: askUnserializable }, { allowed: ["UNSERIALIZABLE", "THROWN"] })
    expect(outcomes.errors.UNSERIALIZABLE).toBe(333)
  })

  test("every answer is right while statements of other clients fail", async () => {
    await trial({ disturb: askFailing }, { allowed: FAILURES })
  })

  test("every answer is right while statements of other clients time out after some of their rows", async () => {
    const options = { session: "set statement_timeout = 20" }
    const disturb = (sql: Sql, token: number) => sql`select pg_sleep(0.005) from generate_series(1, ${token + 20}) i`
    const outcomes = await trial({ questions: 600, disturb, every: 20 }, { allowed: ["57014"], options })
    expect(outcomes.errors["57014"]).toBeGreaterThanOrEqual(30)
  })

  test("every answer is right while connections are ended", async () => {
    const disturb = () => admin!`
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where application_name = 'own answers'
      limit 1`
    const connection = { application_name: "own answers" }
    const allowed = ["CONNECTION_CLOSED", "ECONNRESET", "EPIPE", "57P01"]
    await trial({ questions: 4_000, disturb, every: 100 }, { allowed, options: { connection } })
  })

  test("every answer is right while other clients get values that cannot be parsed", async () => {
    const { types } = serverOptions("server", CONNECTIONS)
    const parse = () => {
      throw failure("UNPARSABLE")
    }
    const options = { types: { ...types, regclass: { to: 2205, from: [2205], parse, serialize: String } } }
    const disturb = async (sql: Sql, token: number) => {
      const query = sql`select ${token}::int as token, 'pg_class'::regclass as name from generate_series(1, 5)`
      if (token % 2) await query
      else await query.cursor(2, () => Bun.sleep(1))
    }
    await trial({ disturb, every: 5 }, { allowed: ["UNPARSABLE"], options })
  })

  test("every answer is right while other clients describe statements", async () => {
    const disturb = (sql: Sql, token: number) =>
      (token % 2 ? sql`select ${token}::int as token` : sql`selec ${1}`).describe()
    await trial({ disturb, every: 5 }, { allowed: ["42601"] })
  })

  test.each([100, 0])(
    "every answer is right without prepared statements and with a pipeline of %d",
    async (max_pipeline) => {
      const disturb = async (sql: Sql, token: number) => {
        if (token % 2) return await askUnserializable(sql, token)
        if (turn(token, 2)) return await askFailing(sql, token)
        return await askTransaction(sql, token)
      }
      const allowed = ["UNSERIALIZABLE", "THROWN", ...FAILURES]
      await trial({ disturb }, { allowed, options: { prepare: false, max_pipeline } })
    },
  )
})

test.skipIf(!server)(
  "postgres: a transaction takes effect only once even if its prepared statements are stale",
  async () => {
    await admin!.unsafe(
      "drop table if exists counted; create table counted (id int primary key, name varchar(10), n int)",
    )
    await admin!`insert into counted values (1, 'a', 0)`
    const sql = openPool(serverOptions("server", 1), server)
    const count = () =>
      sql.begin(async (tx) => {
        await tx`update counted set n = n + ${1} where id = ${1}`
        return await tx`select id, name, n, ${true}::boolean as flag, ${sql.json({ a: 1 })}::jsonb as json from counted`
      })
    const row = (n: number) => ({ id: 1, name: "a", n, flag: true, json: { a: 1 } })
    expect([...(await count())]).toEqual([row(1)])
    await admin!`alter table counted alter name type varchar(20)`
    expect([...(await count())]).toEqual([row(2)])
    const ask = () => sql`select name, ${true}::boolean as flag, ${sql.json({ a: 1 })}::jsonb as json from counted`
    await ask()
    await admin!`alter table counted alter name type varchar(30)`
    expect([...(await ask())]).toEqual([{ name: "a", flag: true, json: { a: 1 } }])
    await sql.end()
    await admin!`drop table counted`
  },
)
