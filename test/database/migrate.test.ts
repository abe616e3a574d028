import { beforeAll, beforeEach, expect, test } from "bun:test"
import { join } from "node:path"
import { readTree } from "../../src/database/assets.ts"
import { DatabaseProblem } from "../../src/database/connect.ts"
import { frozenSha256, migrate } from "../../src/database/migrate.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/log.ts"
import { freshDatabase } from "../database.ts"
import { long } from "../long.ts"
import { withoutTransactions } from "../without-transactions.ts"
import { scratchDatabase } from "./server.ts"

let sql: Sql

beforeAll(async () => {
  sql = await freshDatabase()
})

beforeEach(async () => {
  await sql`drop schema public cascade`
  await sql`create schema public`
})

const files = (entries: Record<string, string>) => new Map(Object.entries(entries))

const first = { "0001_a.sql": "create table a (id int); insert into a select generate_series(1, 500)" }
const second = { ...first, "0002_b.sql": "create table b (id int);\ncreate index b_id on b (id)" }

test("each file is applied once, in order; the generated schema is no migration", async () => {
  expect(await migrate(sql, files({ ...first, "schema.sql": "nonsense" }), silentLog)).toEqual(["0001_a.sql"])
  expect(await migrate(sql, files(first), silentLog)).toEqual([])
  expect(await migrate(sql, files(second), silentLog)).toEqual(["0002_b.sql"])
  expect(await sql`select name from schema_migration order by applied_at`).toMatchObject([
    { name: "0001_a.sql" },
    { name: "0002_b.sql" },
  ])
})

test("a start that finds all of them landed takes no lock and opens no transaction", async () => {
  await migrate(sql, files(second), silentLog)
  expect(await migrate(withoutTransactions(sql), files(second), silentLog)).toEqual([])
  expect(await migrate(withoutTransactions(sql), files({ ...second, "0003_c.sql": "" }), silentLog).catch(String)).toBe(
    "Error: a transaction was opened",
  )
})

test("the planner knows the size of what a migration filled", async () => {
  await migrate(sql, files(first), silentLog)
  expect([...(await sql`select reltuples::int as n from pg_class where relname = 'a'`)]).toEqual([{ n: 500 }])
})

test("a file that fails leaves nothing of itself, the ones before stay", async () => {
  const broken = { ...first, "0002_b.sql": "create table b (id int); select 1 / 0" }
  expect(await migrate(sql, files(broken), silentLog).catch((error) => error.code)).toBe("22012")
  expect([...(await sql`select to_regclass('b')::text as b, (select count(*) from schema_migration) as n`)]).toEqual([
    { b: null, n: 1 },
  ])
  expect(await migrate(sql, files(second), silentLog)).toEqual(["0002_b.sql"])
})

test("a database newer than the code is refused, and so is a landed file that changed; line ends are no change", async () => {
  await migrate(sql, files(second), silentLog)
  const refusal = (entries: Record<string, string>) => migrate(sql, files(entries), silentLog).catch((error) => error)
  const newer = await refusal(first)
  expect(newer).toBeInstanceOf(DatabaseProblem)
  expect(newer.message).toBe(
    "the database is newer than the code: it holds migration 0002_b.sql; start a newer version",
  )
  const changed = await refusal({ ...second, "0001_a.sql": "create table a (id bigint)" })
  expect(changed.message).toContain("migration 0001_a.sql was changed after it was applied")
  expect(
    await migrate(sql, files({ ...first, "0002_b.sql": second["0002_b.sql"].replace("\n", "\r\n") }), silentLog),
  ).toEqual([])
})

long("a database made while two landed files had another comment starts as well", async () => {
  const all = readTree("sql", ".sql")
  await migrate(sql, all, silentLog)
  const held = await sql<{ name: string; sha256: string }[]>`select name, sha256 from schema_migration`
  for (const [name, once] of [
    ["0006_listings.sql", "5afd5ed8708d5e195321451fa31e449a2206fc65efca066541e4fc827c52cf7a"],
    ["0013_audits.sql", "0a96a35ccb38cc4c3400fd6187143e17951ad4159fda883aa976cbbb38dd49d5"],
  ] as const) {
    expect(held.find((row) => row.name === name)?.sha256).toBe(frozenSha256(once))
    await sql`update schema_migration set sha256 = ${once} where name = ${name}`
  }
  expect(await migrate(sql, all, silentLog)).toEqual([])
})

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: four processes that start at once apply every migration once",
  async () => {
    await using database = await scratchDatabase("migrate")
    const script = `
      import { readTree } from "${join(import.meta.dirname, "../../src/database/assets.ts")}"
      import { openDatabase } from "${join(import.meta.dirname, "../../src/database/connect.ts")}"
      import { frozenSha256, migrate } from "${join(import.meta.dirname, "../../src/database/migrate.ts")}"
      const log = () => {}
      const { sql, close } = await openDatabase({ databaseUrl: process.argv[1], dataDir: "", as: "server", log })
      const files = [...readTree("sql", ".sql"), ["9998_slow.sql", "create table slow (id int); select pg_sleep(0.3)"]]
      const applied = await migrate(sql, new Map(files), log)
      await close()
      console.log(JSON.stringify(applied))`
    const runs = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const child = Bun.spawn([process.execPath, "-e", script, database.url], {
          stdout: "pipe",
          stderr: "pipe",
          cwd: "/",
        })
        return [await new Response(child.stdout).text(), await new Response(child.stderr).text(), await child.exited]
      }),
    )
    expect(runs.map(([, errors, status]) => [errors, status])).toEqual(Array(4).fill(["", 0]))
    const applied = runs.flatMap(([out]) => JSON.parse(out as string) as string[])
    expect(applied).toHaveLength(new Set(applied).size)
    expect(applied).toContain("9998_slow.sql")
  },
  20_000,
)

test("no two of ours have one number", () => {
  const numbers = [...readTree("sql", ".sql").keys()].flatMap((name) => /^\d{4}(?=_)/.exec(name) ?? [])
  expect(numbers).toEqual(numbers.map((_, i) => String(i + 1).padStart(4, "0")))
})
