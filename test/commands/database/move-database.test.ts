import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { readTree } from "../../../src/database/assets.ts"
import { openDatabase } from "../../../src/database/connect.ts"
import { migrate } from "../../../src/database/migrate.ts"
import type { Sql } from "../../../src/database/types.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { describeSchema } from "../../database/describe-schema.ts"
import { scratchDatabase } from "../../database/server.ts"
import { until } from "../../jobs/platform.ts"
import { longOnServer, slow } from "../../long.ts"
import { answer, appmeter, copyOf, dataFolder, removeFolders, scratch, startCommand } from "../child.ts"
import { type Filled, fill, fillUp, inFolder, inServer, livesOn, recorded, sumsOf, TABLES } from "../filled.ts"

setDefaultTimeout(120_000)
const postgres = test.skipIf(!process.env.DATABASE_URL)

let filled: Filled
/** A folder that is never opened; tests copy it. */
let sourceDir: string

beforeAll(async () => {
  const { DATA_DIR } = await dataFolder()
  sourceDir = DATA_DIR
  // without a server database only refused moves are tested, which need no rows
  if (process.env.DATABASE_URL) filled = await inFolder(sourceDir, fill)
})
afterAll(removeFolders)

describe("a move copies everything, and the copy works", () => {
  postgres("postgres: a move copies everything from the embedded database", async () => {
    await using target = await scratchDatabase("to")
    const env = { DATA_DIR: copyOf(sourceDir) }
    const moved = await answer(["move-database", "--to", target.url], { env })
    expect(moved).toMatchObject({ already: false, from: `the embedded database in ${env.DATA_DIR}` })
    expect(moved.next).toContain("DATABASE_URL")
    expect(moved.tables.map(({ name }: { name: string }) => name).sort()).toEqual(TABLES)
    const [before, sourceRows] = await inFolder(env.DATA_DIR, async (sql) => [
      await sumsOf(sql),
      await recorded(sql, filled),
    ])
    await inServer(target.url, async (sql) => {
      expect(await sumsOf(sql)).toEqual(before)
      expect(await recorded(sql, filled)).toEqual(sourceRows)
      expect(withoutPartitions(await describeSchema(sql))).toBe(await schemaOf())
      await livesOn(sql, filled)
    })
    expect(JSON.stringify(moved)).not.toContain("postgres://")
  })

  postgres("postgres: a move between two servers copies all rows and the position of every id sequence", async () => {
    await using source = await scratchDatabase("from")
    await using target = await scratchDatabase("to")
    const filling = await inServer(source.url, async (sql) => {
      await migrate(sql, readTree("sql", ".sql"), silentLog)
      const result = await fill(sql)
      await sql`insert into workspace (name, plan) values ('last', 'free')`
      await sql`delete from workspace where name = 'last'`
      return result
    })
    const env = { DATABASE_URL: source.url }
    const { code, out, err } = await appmeter(["move-database", "--to", "-"], { env, stdin: `${target.url}\n` })
    expect([code, out.split("\n").length]).toEqual([0, TABLES.length + 2])
    expect(err).toContain("Next: start the server with DATABASE_URL set to the new address")
    const [before, sourceRows] = await inServer(source.url, async (sql) => [
      await lastValues(sql),
      await recorded(sql, filling),
    ])
    await inServer(target.url, async (sql) => {
      expect(await lastValues(sql)).toBe(before)
      expect(await recorded(sql, filling)).toEqual(sourceRows)
      await livesOn(sql, filling)
    })
  })
})

describe("a move can be repeated", () => {
  longOnServer(
    "postgres: a killed move leaves no rows; a repeated move succeeds unless the target's data has changed",
    async () => {
      await using target = await scratchDatabase("to")
      const env = { DATA_DIR: copyOf(sourceDir) }
      await inFolder(env.DATA_DIR, (sql) => fillUp(sql, 3_000))
      const child = startCommand(["move-database", "--to", target.url], { env })
      await until(() => inServer(target.url, hasSchema))
      const empty = await sizeOf(target.admin)
      await until(async () => (await sizeOf(target.admin)) > empty + 1_000_000)
      child.kill("SIGKILL")
      await child.exited
      await until(async () => (await sessions(target.admin)) === 0)
      await inServer(target.url, async (sql) => {
        expect(new Set(Object.values(await sumsOf(sql)))).toEqual(new Set(["0 0"]))
      })
      expect(await answer(["move-database", "--to", target.url], { env })).toMatchObject({ already: false })
      expect(await answer(["move-database", "--to", target.url], { env })).toMatchObject({ already: true })
      await inServer(target.url, (sql) => sql`update workspace set name = name || '!'`)
      const { code, err } = await appmeter(["move-database", "--to", target.url], { env })
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/ contains data \(1 row in answered_country, .*\); use an empty database\. /),
      ])
    },
  )
})

describe("a move is refused", () => {
  postgres("postgres: a move to a database with data is refused and leaves the database unchanged", async () => {
    await using target = await scratchDatabase("to")
    const before = await inServer(target.url, async (sql) => {
      await migrate(sql, readTree("sql", ".sql"), silentLog)
      await sql`insert into instance (key, value) values ('mine', 'kept')`
      return await sumsOf(sql)
    })
    const env = { DATA_DIR: copyOf(sourceDir) }
    const { code, out, err } = await appmeter(["move-database", "--to", target.url, "--json"], { env })
    const { host, pathname } = new URL(target.url)
    const place = `the database at ${host}${pathname}`
    expect([code, out, err]).toEqual([
      1,
      "",
      `appmeter: ${place} contains data (1 row in instance); use an empty database. Nothing was written\n`,
    ])
    expect(await inServer(target.url, sumsOf)).toEqual(before)
  })

  postgres("postgres: a move to a database with another program's tables is refused and creates no table", async () => {
    await using target = await scratchDatabase("to")
    await inServer(target.url, (sql) => sql`create table workspace (mine text)`)
    const { code, err } = await appmeter(["move-database", "--to", target.url], {
      env: { DATA_DIR: copyOf(sourceDir) },
    })
    expect([code, err]).toEqual([
      1,
      expect.stringContaining("contains tables of another program (workspace); use an empty database"),
    ])
    await inServer(target.url, async (sql) => {
      expect([...(await sql`select relname from pg_class where relname = 'schema_migration'`)]).toEqual([])
    })
  })

  postgres("postgres: a move is refused while a server uses the source database on PostgreSQL", async () => {
    await using source = await scratchDatabase("from")
    const server = await openDatabase({ databaseUrl: source.url, dataDir: "", as: "server", log: silentLog })
    await migrate(server.sql, readTree("sql", ".sql"), silentLog)
    const { code, err } = await appmeter(["move-database", "--to", source.url], { env: { DATABASE_URL: source.url } })
    await server.close()
    expect([code, err]).toEqual([1, expect.stringContaining("Stop it first, because data that it writes")])
  })

  slow("a move is refused while a server uses the embedded source database", async () => {
    const DATA_DIR = copyOf(sourceDir)
    await inFolder(DATA_DIR, async () => {
      const { code, out, err } = await appmeter(["move-database", "--to", "-"], { env: { DATA_DIR }, stdin: NOWHERE })
      expect([code, out]).toEqual([1, ""])
      expect(err).toBe(
        `appmeter: a server is using the embedded database in ${DATA_DIR}. ` +
          "Stop it first, because data that it writes during the copy would be lost\n",
      )
    })
  })

  test("a move without a source database is refused and creates no database", async () => {
    const DATA_DIR = join(scratch(), "none")
    const { code, err } = await appmeter(["move-database", "--to", "-"], { env: { DATA_DIR }, stdin: NOWHERE })
    expect([code, err]).toEqual([
      1,
      `appmeter: there is no database in ${DATA_DIR}; set DATA_DIR or DATABASE_URL to use another one\n`,
    ])
    expect(existsSync(DATA_DIR)).toBe(false)
  })

  slow("a move to an invalid or unreachable address is refused without showing the password", async () => {
    const env = { DATA_DIR: copyOf(sourceDir) }
    for (const [url, line] of [
      [NOWHERE, "the database at 127.0.0.1:1/name is not reachable: nothing listens there"],
      ["mysql://user:canary@host/x", "--to begins with mysql: but must begin with postgres:"],
    ] as const) {
      const ended = await appmeter(["move-database", "--to", "-"], { env, stdin: url })
      expect(ended).toEqual({ code: 1, out: "", err: `appmeter: ${line}\n` })
    }
    const secret = "postgres://user:canary@127.0.0.1:1/name"
    for (const typed of [secret, "postgres://user@127.0.0.1:1/name?password=canary"]) {
      const warned = await appmeter(["move-database", "--to", typed], { env })
      expect(warned.err).toContain("warning: the address in --to has a password")
      expect(warned.err).toContain("move-database --to - < url.txt")
      expect(warned.err).not.toContain("canary")
    }
    expect((await appmeter(["move-database", "--to", "-"], { env, stdin: secret })).err).not.toContain("warning")
    expect((await appmeter(["move-database", "--to", "-"], { env, stdin: "\n" })).err).toBe("appmeter: --to is empty\n")
    expect(await appmeter(["move-database"], { env })).toEqual({
      code: 2,
      out: "",
      err: "appmeter: --to is missing; run: appmeter move-database --to URL\n",
    })
  })
})

slow("a move copies every table of the schema", async () => {
  await inFolder(copyOf(sourceDir), async (sql) => {
    const rows = await sql<{ name: string }[]>`
      select relname::text as name
      from pg_class
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
      order by 1`
    expect(rows.map(({ name }) => name).filter((name) => name !== "schema_migration")).toEqual(TABLES)
  })
})

const NOWHERE = "postgres://user:canary@127.0.0.1:1/name"

type Admin = Awaited<ReturnType<typeof scratchDatabase>>["admin"]

/** Returns whether the database has Appmeter's tables. */
async function hasSchema(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ hasSchema: boolean }[]>`select to_regclass('schema_migration') is not null as "hasSchema"`
  return row!.hasSchema
}

async function sizeOf(admin: Admin): Promise<number> {
  const [row] = await admin`select pg_database_size(datname)::int as bytes from pg_database where datname = ${MINE}`
  return row!.bytes
}

const MINE = `appmeter_test_${process.pid}_to`

async function sessions(admin: Admin): Promise<number> {
  const [row] = await admin`select count(*)::int as count from pg_stat_activity where datname = ${MINE}`
  return row!.count
}

async function lastValues(sql: Sql): Promise<string> {
  const rows = await sql`select sequencename::text as name, last_value from pg_sequences order by 1`
  return JSON.stringify(rows)
}

const withoutPartitions = (schema: string) =>
  schema.replaceAll(/\n\ncreate table \S+ \(\n\n\) partition of [^;]*;/g, "")

async function schemaOf(): Promise<string> {
  return await inFolder(copyOf(sourceDir), async (sql) => withoutPartitions(await describeSchema(sql)))
}
