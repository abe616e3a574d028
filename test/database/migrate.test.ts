import { beforeAll, beforeEach, expect, test } from "bun:test"
import { join } from "node:path"
import { readTree } from "../../src/database/assets.ts"
import { DatabaseProblem } from "../../src/database/connect.ts"
import { migrate, stepsOf } from "../../src/database/migrate.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { freshDatabase } from "../database.ts"
import { until } from "../jobs/platform.ts"
import { slow } from "../long.ts"
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
const run = (entries: Record<string, string>) => migrate(sql, files(entries), silentLog)
const refusal = (entries: Record<string, string>): Promise<unknown> => run(entries).catch((error) => error)

const baseline = {
  "schema/01-a.sql": "-- the first\ncreate table a (id int); insert into a select generate_series(1, 500)",
  "schema/02-b.sql": ";\n  -- the second\ncreate table b (id int)",
}
const later = { ...baseline, "migrations/0001_add_c.sql": "create table c (id int);\ncreate index c_id on c (id)" }

slow("an empty database gets the baseline as one step and then each migration once, in order", async () => {
  expect(await run({ ...baseline, "README.md": "nonsense", "other.sql": "nonsense" })).toEqual(["baseline"])
  expect(await run(baseline)).toEqual([])
  expect(await run(later)).toEqual(["0001_add_c.sql"])
  expect(await sql`select name from schema_migration order by applied_at`).toMatchObject([
    { name: "baseline" },
    { name: "0001_add_c.sql" },
  ])
})

slow("a start on an up-to-date database takes no lock and opens no transaction", async () => {
  await run(later)
  expect(await migrate(withoutTransactions(sql), files(later), silentLog)).toEqual([])
  const withStep = files({ ...later, "migrations/0002_add_d.sql": "" })
  expect(await migrate(withoutTransactions(sql), withStep, silentLog).catch(String)).toBe(
    "Error: a transaction was opened",
  )
})

test("the planner knows the size of tables that a migration filled", async () => {
  await run(baseline)
  expect([...(await sql`select reltuples::int as n from pg_class where relname = 'a'`)]).toEqual([{ n: 500 }])
})

test("a baseline that fails in its second file is rolled back, and the next start applies it completely", async () => {
  expect(await refusal({ ...baseline, "schema/02-b.sql": "; select 1 / 0" })).toMatchObject({ code: "22012" })
  expect([...(await sql`select to_regclass('a')::text as a, to_regclass('schema_migration')::text as m`)]).toEqual([
    { a: null, m: null },
  ])
  expect(await run(baseline)).toEqual(["baseline"])
})

test("a failed migration leaves no changes, and the steps before it remain", async () => {
  const broken = { ...baseline, "migrations/0001_add_c.sql": "create table c (id int); select 1 / 0" }
  expect(await refusal(broken)).toMatchObject({ code: "22012" })
  expect([...(await sql`select to_regclass('c')::text as c, (select count(*) from schema_migration) as n`)]).toEqual([
    { c: null, n: 1 },
  ])
  expect(await run(later)).toEqual(["0001_add_c.sql"])
})

test("a database with a migration that the program does not know is refused as newer", async () => {
  await run(later)
  const error = await refusal(baseline)
  expect(error).toBeInstanceOf(DatabaseProblem)
  expect((error as Error).message).toBe(
    "the database is newer than this program: it has migration 0001_add_c.sql; start a newer version",
  )
})

test("a database that was created by a version before 0.1.0 is refused with the reason", async () => {
  await run(baseline)
  await sql`update schema_migration set name = '0001_house.sql'`
  await sql`insert into schema_migration (name, sha256) values ('0002_writes.sql', '')`
  expect(await refusal(later)).toEqual(
    new DatabaseProblem(
      "the database was made by a version before 0.1.0-alpha, which has no upgrade; " +
        "use an empty database (DATA_DIR or DATABASE_URL), or the version that made this one",
    ),
  )
})

test("a database that was created from another baseline is refused with advice", async () => {
  await run(baseline)
  expect(await refusal({ ...later, "schema/01-a.sql": "create table a (id bigint)" })).toEqual(
    new DatabaseProblem(
      "the database was made by a development version with another baseline schema; " +
        "use an empty database (DATA_DIR or DATABASE_URL), or the version that made this one",
    ),
  )
})

test("a database is refused if the text of an applied migration has changed", async () => {
  await run(later)
  const error = await refusal({ ...later, "migrations/0001_add_c.sql": "create table c (id bigint)" })
  expect((error as Error).message).toStartWith(
    "the database has another migration 0001_add_c.sql than this program; restore the file",
  )
})

test("changed comments and Windows line ends do not count as a change of an applied migration", async () => {
  await run(later)
  const rewritten = {
    "schema/01-a.sql": baseline["schema/01-a.sql"].replace("the first", "another comment"),
    "schema/02-b.sql": ";\n  -- the second\ncreate table b (id int)",
    "migrations/0001_add_c.sql": later["migrations/0001_add_c.sql"].replace("\n", "\r\n"),
  }
  expect(await run(rewritten)).toEqual([])
})

/** Returns the code of a process that applies sql/ and one more file, and prints the steps that it applied. */
const migrateScript = (fileName: string, text: string) => `
  import { readTree } from "${join(import.meta.dirname, "../../src/database/assets.ts")}"
  import { openDatabase } from "${join(import.meta.dirname, "../../src/database/connect.ts")}"
  import { migrate } from "${join(import.meta.dirname, "../../src/database/migrate.ts")}"
  const log = () => {}
  const { sql, close } = await openDatabase({ databaseUrl: process.argv[1], dataDir: "", as: "server", log })
  const files = [...readTree("sql", ".sql"), ["${fileName}", "${text}"]]
  const applied = await migrate(sql, new Map(files), log)
  await close()
  console.log(JSON.stringify(applied))`

const start = (program: string, url: string) =>
  Bun.spawn([process.execPath, "-e", program, url], { stdout: "pipe", stderr: "pipe", cwd: "/" })

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: four processes that start at once apply every step once",
  async () => {
    await using database = await scratchDatabase("migrate")
    const program = migrateScript("migrations/9998_add_slow.sql", "create table slow (id int); select pg_sleep(0.3)")
    const runs = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const child = start(program, database.url)
        return [await new Response(child.stdout).text(), await new Response(child.stderr).text(), await child.exited]
      }),
    )
    expect(runs.map(([, errors, status]) => [errors, status])).toEqual(Array(4).fill(["", 0]))
    const applied = runs.flatMap(([out]) => JSON.parse(out as string) as string[])
    const stepNames = stepsOf(readTree("sql", ".sql")).map(({ name }) => name)
    expect(applied.toSorted()).toEqual([...stepNames, "9998_add_slow.sql"].toSorted())
  },
  20_000,
)

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: if a process is killed during its first migration, the next process completes the database",
  async () => {
    await using database = await scratchDatabase("migrate_killed")
    const child = start(migrateScript("schema/99-slow.sql", "select pg_sleep(1)"), database.url)
    await until(async () => {
      const [row] = await sql<{ sleeps: boolean }[]>`
        select exists (
          select
          from pg_stat_activity
          where datname = ${new URL(database.url).pathname.slice(1)} and wait_event = 'PgSleep'
        ) as sleeps`
      return row!.sleeps
    })
    child.kill("SIGKILL")
    await child.exited
    const next = start(migrateScript("migrations/9998_add_more.sql", "create table more (id int)"), database.url)
    expect([await new Response(next.stderr).text(), await next.exited]).toEqual(["", 0])
    const applied = JSON.parse(await new Response(next.stdout).text())
    expect([applied[0], applied.at(-1)]).toEqual(["baseline", "9998_add_more.sql"])
  },
  20_000,
)

test("the migrations are numbered without gaps", () => {
  const names = [...readTree("sql", ".sql").keys()].filter((path) => path.startsWith("migrations/"))
  const numbers = names.map((path) => /^migrations\/(\d{4})_\w+\.sql$/.exec(path)?.[1])
  expect(numbers).toEqual(numbers.map((_, i) => String(i + 1).padStart(4, "0")))
})
