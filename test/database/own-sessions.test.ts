import { afterAll, describe, expect, test } from "bun:test"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { openPool } from "../../src/database/driver/pool.ts"
import { serverOptions } from "../../src/database/options.ts"
import type { Sql } from "../../src/database/types.ts"
import {
  askAfterEnd,
  askMany,
  askOwn,
  askTransaction,
  CONNECTIONS,
  check,
  expectRows,
  failure,
  OWN,
  openAdmin,
  server,
  trial,
  turn,
  WrongAnswer,
} from "./own-answers.ts"

const admin = server ? openAdmin() : null

afterAll(() => admin?.end())

describe.skipIf(!server)(`postgres: ${OWN}`, () => {
  test("every answer is right, and no query fails, while pooled and reserved connections expire", async () => {
    const disturb = async (sql: Sql, token: number) => {
      if (token % 40) return await askTransaction(sql, 2 * token)
      const reserved = await sql.reserve()
      await askOwn(reserved as unknown as Sql, token)
      reserved.release()
    }
    await trial({ questions: 2_000, disturb, every: 20 }, { options: { max_lifetime: 0.05, idle_timeout: 0.02 } })
  })

  test("every answer is right while transactions of other clients fail", async () => {
    await trial({ disturb: askTransaction }, { allowed: ["22012"] })
  })

  test("every answer is right while other clients send statements after the end of their transaction", async () => {
    await trial({ disturb: askAfterEnd }, { allowed: ["TRANSACTION_ENDED"] })
  })

  test("every answer is right while transactions begin on connections whose pipeline is full", async () => {
    const disturb = (sql: Sql, token: number) => sql.begin((tx) => askOwn(tx as unknown as Sql, token))
    await trial({ callers: 100, disturb, every: 4 }, { options: { max_pipeline: 3 } })
  })

  test("every answer is right while other clients send statements larger than the socket buffer", async () => {
    const large = "x".repeat(2_000_000)
    const disturb = async (sql: Sql, token: number) => {
      const text = large + token
      await sql.begin(async (tx) => {
        expectRows(await tx`select length(${text})::int as length`, [{ length: text.length }])
        await Bun.sleep(1)
        const [row] = await tx`select pg_current_xact_id_if_assigned()::text as id`
        if (row!.id !== null) throw new WrongAnswer("another's write came into the transaction")
      })
    }
    await trial({ questions: 500, disturb, every: 10 })
  })

  test("every answer is right while other clients reserve connections and use them after their release", async () => {
    const disturb = async (sql: Sql, token: number) => {
      const reserved = await sql.reserve()
      const connection = reserved as unknown as Sql
      await Promise.all([askOwn(connection, token), askOwn(connection, token + 1)])
      reserved.release()
      if (token % 2) await askOwn(connection, token)
    }
    await trial({ disturb, every: 5 }, { allowed: ["CONNECTION_RELEASED"] })
  })

  test("every answer is right, and no write is lost, while other clients leave transactions open", async () => {
    const disturb = async (sql: Sql, token: number) => {
      if (token % 2) return await sql.unsafe(turn(token, 2) ? "begin" : "start transaction; select 1")
      const reserved = await sql.reserve()
      await reserved.unsafe("start transaction")
      reserved.release()
    }
    const allowed = ["UNSAFE_TRANSACTION", "CONNECTION_CLOSED", "ECONNRESET", "EPIPE"]
    const sql = openPool(serverOptions("server", CONNECTIONS), server)
    await sql`drop table if exists written`
    await sql`create table written (token int)`
    let written = 0
    const disturbAndWrite = async (connection: Sql, token: number) => {
      if (token % 5 === 0) return await disturb(connection, token)
      await connection`insert into written values (${token})`
      written++
    }
    check(await askMany({ sql, questions: 1_000, disturb: disturbAndWrite, every: 1 }), allowed)
    const [row] = await sql`select count(*)::int as rows from written`
    expect(row!.rows).toBe(written)
    await sql`drop table written`
    await sql.end()
  })

  test("every answer is right while other clients cancel running and waiting statements", async () => {
    const disturb = async (sql: Sql, token: number) => {
      const query = sql`select ${token}::int as token, pg_sleep(0.005)::text as slept`
      const answered = query.then(
        (rows) => ({ rows }),
        (error) => ({ error }),
      )
      await Bun.sleep(token % 4)
      query.cancel()
      const { rows, error } = (await answered) as { rows?: object[]; error?: Error }
      if (error) throw error
      expectRows(rows!, [{ token, slept: "" }])
    }
    await trial({ questions: 1_000, disturb, every: 5 }, { allowed: ["57014"] })
  })

  test("every answer is right while other clients cancel statements that wait in a transaction", async () => {
    const disturb = async (sql: Sql, token: number) => {
      await sql.begin(async (tx) => {
        const first = tx`select ${token}::int as token, pg_sleep(0.002)`
        const second = tx`select ${token}::int as token`
        const answers = Promise.allSettled([first, second])
        await Bun.sleep(0)
        second.cancel()
        await answers
        await first
        await second
      })
    }
    await trial({ questions: 300, disturb, every: 5 }, { allowed: ["57014"] })
  })

  test("every answer is right while cursors of other clients fail or are abandoned", async () => {
    const disturb = async (sql: Sql, token: number) => {
      const rows = () => sql`select i, ${token}::int as token from generate_series(1, 5) i`
      const seen: object[] = []
      switch (turn(token, 4)) {
        case 0:
          for await (const batch of rows().cursor(2)) seen.push(...batch)
          return expectRows(
            seen,
            [1, 2, 3, 4, 5].map((i) => ({ i, token })),
          )
        case 1:
          return await rows().cursor(2, () => {
            throw failure("OWN")
          })
        case 2:
          for await (const batch of rows().cursor(2))
            return expectRows(
              batch,
              [1, 2].map((i) => ({ i, token })),
            )
          return
        default:
          await sql`select 1 / (3 - i) as x, ${token}::int as t from generate_series(1, 5) i`.cursor(1, () =>
            Bun.sleep(1),
          )
      }
    }
    await trial({ disturb, every: 5 }, { allowed: ["OWN", "22012"] })
  })

  test("every answer is right while other clients copy rows in and out", async () => {
    await admin!.unsafe("drop table if exists copied; create table copied (token int)")
    const disturb = async (sql: Sql, token: number) => {
      if (token % 2) {
        const into = await sql`copy copied from stdin`.writable()
        return await pipeline(Readable.from([`${token}\n`, `${token}\n`]), into)
      }
      let text = ""
      for await (const chunk of await sql`copy (select 7 from generate_series(1, 2000)) to stdout`.readable())
        text += chunk
      if (text !== "7\n".repeat(2_000)) throw new WrongAnswer("not all rows were copied")
    }
    await trial({ questions: 900, disturb, every: 9 })
    await admin!`drop table copied`
  })

  test("every answer is right while other clients begin a COPY and send no rows", async () => {
    await admin!.unsafe("drop table if exists copied; create table copied (token int)")
    const allowed = ["57014", "CONNECTION_CLOSED", "ECONNRESET", "EPIPE", "08P01"]
    await trial({ disturb: (sql) => sql.unsafe("copy copied from stdin"), every: 100 }, { allowed })
    await admin!`drop table copied`
  })
})

test.skipIf(!server)("postgres: a connection can be reserved before the pool has opened one", async () => {
  const sql = openPool(serverOptions("server", 1), server)
  const reserved = await sql.reserve()
  expect([...(await reserved`select 1 as one`)]).toEqual([{ one: 1 }])
  reserved.release()
  expect([...(await sql`select 2 as two`)]).toEqual([{ two: 2 }])
  await sql.end()
})
