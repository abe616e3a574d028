import { afterAll, beforeAll, expect, test } from "bun:test"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { EmbeddedDatabase } from "../../src/database/embedded/open.ts"
import type { Sql } from "../../src/database/types.ts"
import { openInMemory } from "../database.ts"
import { slow } from "../long.ts"

let database: EmbeddedDatabase
let sql: Sql

beforeAll(async () => {
  database = await openInMemory()
  sql = database.sql
  await sql`create table word (id int primary key, text text not null)`
  await sql`insert into word select n, 'word ' || n from generate_series(1, 1000) n`
})

afterAll(async () => {
  await database.close()
})

test("400 concurrent prepared and unprepared queries each get their own answer", async () => {
  const answers = await Promise.all(
    Array.from({ length: 400 }, async (_, i) => {
      const id = (i * 7) % 1000 || 1
      const rows =
        i % 2 === 0
          ? await sql`select text from word where id = ${id}`
          : await sql.unsafe("select text, $2::int as n from word where id = $1", [id, i])
      return [rows[0]?.text, `word ${id}`]
    }),
  )
  for (const [actual, expected] of answers) expect(actual).toBe(expected)
})

test("an error in a pipeline affects only its own query", async () => {
  const results = await Promise.allSettled(
    Array.from({ length: 60 }, (_, i) => (i % 3 === 0 ? sql`select 1 / ${0}::int` : sql`select ${i}::int as i`)),
  )
  results.forEach((result, i) => {
    if (i % 3 === 0) expect(result).toMatchObject({ status: "rejected", reason: { code: "22012" } })
    else expect(result).toMatchObject({ status: "fulfilled", value: [{ i }] })
  })
})

test("a bad parameter fails its query and leaves the connection usable", async () => {
  for (let i = 0; i < 20; i++) {
    const bad = sql`select ${"x"}::int`.then(
      () => "passed",
      (error) => error.code,
    )
    const good = sql`select ${i}::int as i`
    expect(await bad).toBe("22P02")
    expect([...(await good)]).toEqual([{ i }])
  }
})

test("the bridge returns bigint as number, date as text, timestamptz as Date, others unchanged", async () => {
  const [row] = await sql`
    select 9007199254740991::bigint as big, count(*) as n, '2026-02-28'::date as day, ${"2024-02-29"}::date as leap,
      '2026-01-02T03:04:05Z'::timestamptz as at, ${[1, 2, 3]}::int[] as ids,
      ${sql.json({ a: [1, null] })}::jsonb as json,
      ${Buffer.from([0, 255, 10])}::bytea as bytes, array['2026-01-01'::date] as days, array[5::bigint] as bigs
    from word`
  expect(row).toEqual({
    big: 9007199254740991,
    n: 1000,
    day: "2026-02-28",
    leap: "2024-02-29",
    at: new Date("2026-01-02T03:04:05Z"),
    ids: [1, 2, 3],
    json: { a: [1, null] },
    bytes: Buffer.from([0, 255, 10]),
    days: ["2026-01-01"],
    bigs: [5],
  })
})

test("a transaction runs alone until its end, and is rolled back if it fails", async () => {
  await sql`create table counter (n int not null)`
  await sql`insert into counter values (0)`
  const add = async (fail: boolean) => {
    await sql.begin(async (tx) => {
      const [row] = await tx`select n from counter`
      await tx`update counter set n = ${row!.n + 1}`
      if (fail) throw new Error("undo")
    })
  }
  await Promise.allSettled(Array.from({ length: 40 }, (_, i) => add(i % 4 === 0)))
  expect([...(await sql`select n from counter`)]).toEqual([{ n: 30 }])
})

test("a savepoint can be rolled back without its transaction", async () => {
  await sql.begin(async (tx) => {
    await tx`insert into word values (2001, 'outer')`
    await tx.savepoint((sp) => sp`insert into word values (2001, 'again')`).catch(() => {})
    await tx.savepoint((sp) => sp`insert into word values (2002, 'inner')`)
  })
  expect(await sql`select text from word where id > 2000 order by id`).toMatchObject([
    { text: "outer" },
    { text: "inner" },
  ])
})

test("a cursor reads its rows while other clients work", async () => {
  const ids: number[] = []
  const queries: Promise<unknown>[] = []
  for await (const rows of sql`select id from word where id <= 1000 order by id`.cursor(100)) {
    for (const row of rows) ids.push(row.id)
    queries.push(sql`select ${ids.length}::int as n`)
  }
  expect(ids).toEqual(Array.from({ length: 1000 }, (_, i) => i + 1))
  expect((await Promise.all(queries)).flatMap((rows) => [...(rows as { n: number }[])].map(({ n }) => n))).toHaveLength(
    10,
  )
})

test("a notification reaches every current listener of its channel, and no former listener", async () => {
  const notifications: string[] = []
  const first = await sql.listen("news", (payload) => notifications.push(`a:${payload}`))
  const second = await sql.listen("news", (payload) => notifications.push(`b:${payload}`))
  await sql.listen("other", (payload) => notifications.push(`c:${payload}`))
  await sql.notify("news", "1")
  await first.unlisten()
  await sql.notify("news", "2")
  await second.unlisten()
  await sql.notify("news", "3")
  await sql.notify("other", "4")
  await Bun.sleep(20)
  expect(notifications.sort()).toEqual(["a:1", "b:1", "b:2", "c:4"])
  expect(await sql`select pg_listening_channels() as channel`).toMatchObject([{ channel: "other" }])
})

test("COPY transfers data in both directions, and a failed COPY has an error message", async () => {
  let out = ""
  for await (const chunk of await sql`
    copy (select id, text from word where id <= 500 order by id) to stdout`.readable()) {
    out += chunk
  }
  expect(out.split("\n")).toHaveLength(501)
  await sql`create table copied (id int primary key, text text)`
  await pipeline(Readable.from([out]), await sql`copy copied from stdin`.writable())
  expect([...(await sql`select count(*) as n, max(text) as last from copied`)]).toEqual([{ n: 500, last: "word 99" }])
  const secondCopy = pipeline(Readable.from([out]), await sql`copy copied from stdin`.writable())
  expect(await secondCopy.catch((error) => error.code)).toBe("23505")
  expect([...(await sql`select count(*) as n from copied`)]).toEqual([{ n: 500 }])
})

slow("a response of 20 MB and a parameter of 5 MB are transferred", async () => {
  const [row] = await sql`select repeat('x', 20000000) as big`
  expect(row!.big).toHaveLength(20_000_000)
  const [length] = await sql`select length(${"y".repeat(5_000_000)}) as n`
  expect(length).toEqual({ n: 5_000_000 })
})

test("a reserved connection keeps its session", async () => {
  const reserved = await sql.reserve()
  await reserved`prepare kept as select 42 as n`
  expect([...(await reserved`execute kept`)]).toEqual([{ n: 42 }])
  reserved.release()
})

slow("a query of one second does not block the process", async () => {
  let worst = 0
  let last = performance.now()
  const timer = setInterval(() => {
    worst = Math.max(worst, performance.now() - last)
    last = performance.now()
  }, 5)
  const startedAt = performance.now()
  await sql`select count(*) from generate_series(1, 3000000)`
  const tookMs = performance.now() - startedAt
  clearInterval(timer)
  process.stdout.write(`query ${Math.round(tookMs)} ms, longest pause of the event loop ${Math.round(worst)} ms\n`)
  expect(worst).toBeLessThan(tookMs / 3)
})
