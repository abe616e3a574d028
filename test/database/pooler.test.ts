import { describe, expect, test } from "bun:test"
import { checkDatabase } from "../../src/commands/doctor/database.ts"
import { readTree } from "../../src/database/assets.ts"
import { DatabaseProblem, openDatabase } from "../../src/database/connect.ts"
import { holdLock } from "../../src/database/locks.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Database, Sql } from "../../src/database/types.ts"
import { vacuumChanged, vacuumTables } from "../../src/database/upkeep.ts"
import { silentLog } from "../../src/lib/log.ts"
import { openService, PUBLIC_URL } from "../service.ts"
import { askMany, askOwn, askTransaction, check, failure } from "./own-answers.ts"
import { hasPooler, startPooler } from "./pgbouncer.ts"
import { scratchDatabase } from "./server.ts"

const open = (databaseUrl: string, as: "server" | "command" = "server") =>
  openDatabase({ databaseUrl, dataDir: "", as, log: silentLog })

const refusal = (databaseUrl: string) =>
  open(databaseUrl).then(
    ({ close }) => close().then(() => "opened"),
    (error) => (error instanceof DatabaseProblem ? error.message : String(error)),
  )

const withoutPrepare = (url: string) => `${url}?prepare=false`

async function readSettings({ sql }: Database) {
  const [row] = await sql`
    select current_setting('statement_timeout') as limit, current_setting('random_page_cost') as cost,
      current_setting('idle_in_transaction_session_timeout') as idle, current_setting('TimeZone') as zone`
  return row
}

async function askBadly(sql: Sql, token: number): Promise<unknown> {
  if (token % 2) return await askTransaction(sql, token)
  if (token % 4) return await sql`select ${token}::int / 0`
  return await sql`select ${undefined as never}::int`.catch(() => {
    throw failure("UNSERIALIZABLE")
  })
}

const ALLOWED = ["22012", "UNSERIALIZABLE"]

const REFUSED = new RegExp(
  "is a transaction pooler, which loses prepared statements; add \\?prepare=false to DATABASE_URL, " +
    "or use a session pooler or the server's own address$",
)

describe.skipIf(!hasPooler())("postgres: through PgBouncer", () => {
  test("a session pooler keeps the settings of every connection, and every caller gets its own answer", async () => {
    await using pooler = await startPooler({ mode: "session", size: 20 })
    const database = await open(pooler.url)
    expect(database.pooling).toBe("session")
    const settings = await Promise.all(Array.from({ length: 30 }, () => readSettings(database)))
    for (const found of settings) expect(found).toEqual({ limit: "4s", cost: "1.1", idle: "10s", zone: "UTC" })
    const options = { sql: database.sql, callers: 30, questions: 1_500, disturb: askBadly }
    check(await askMany(options), ALLOWED)
    await database.close()
  })

  test.each([
    ["with one connection to the server", { size: 1 }],
    ["with 20 connections to the server", { size: 20 }],
    ["that takes the server's connections in turn", { size: 5, settings: { server_round_robin: "1" } }],
    [
      "that ignores settings",
      { size: 5, settings: { ignore_startup_parameters: "random_page_cost,statement_timeout" } },
    ],
  ])("a transaction pooler %s is refused without ?prepare=false, with the remedy", async (_, options) => {
    await using pooler = await startPooler({ mode: "transaction", ...options })
    // Leaves several connections to the server open, as other processes do.
    const other = await open(withoutPrepare(pooler.url))
    await Promise.all(Array.from({ length: options.size - 1 }, () => other.sql`select pg_sleep(0.05)`))
    expect(await refusal(pooler.url)).toMatch(REFUSED)
    await other.close()
  })

  test("a statement pooler is refused with the remedy", async () => {
    await using pooler = await startPooler({ mode: "statement" })
    expect(await refusal(pooler.url)).toMatch(REFUSED)
  })

  test.each([1, 3, 20])(
    "a transaction pooler with ?prepare=false and %d connections gives every caller its own answer",
    async (size) => {
      await using pooler = await startPooler({ mode: "transaction", size })
      const database = await open(withoutPrepare(pooler.url))
      expect(database.pooling).toBe("transaction")
      expect((await readSettings(database))!.zone).toBe("UTC")
      const options = { sql: database.sql, callers: 30, questions: 1_500, disturb: askBadly }
      check(await askMany(options), ALLOWED)
      await database.close()
    },
  )

  test("two processes share connections of a transaction pooler, and every caller gets its own answer", async () => {
    await using pooler = await startPooler({ mode: "transaction", size: 4 })
    const two = await Promise.all([open(withoutPrepare(pooler.url)), open(withoutPrepare(pooler.url))])
    const trials = two.map(({ sql }) => askMany({ sql, callers: 20, questions: 1_000, disturb: askBadly }))
    for (const outcomes of await Promise.all(trials)) check(outcomes, ALLOWED)
    await Promise.all(two.map(({ close }) => close()))
  })

  test("a vacuum leaves the settings of a transaction pooler's connection unchanged", async () => {
    await using scratch = await scratchDatabase("behind")
    await using pooler = await startPooler({ url: scratch.url, mode: "transaction", size: 1 })
    const database = await open(withoutPrepare(pooler.url), "command")
    const { sql } = database
    const before = await readSettings(database)
    await sql`create table load as select generate_series(1, 1000) as id`
    await vacuumTables(sql, [{ schema: "public", name: "load" }])
    await vacuumChanged(sql)
    expect(await readSettings(database)).toEqual(before)
    const [row] = await sql`select reltuples::int as n from pg_class where relname = 'load'`
    expect(row!.n).toBe(1_000)
    await database.close()
  })

  test("only one process at a time holds the lock of a first start through a transaction pooler", async () => {
    await using pooler = await startPooler({ mode: "transaction" })
    const [first, second] = await Promise.all([open(withoutPrepare(pooler.url)), open(withoutPrepare(pooler.url))])
    const release = await holdLock(first.sql, "first start")
    expect(release).not.toBeNull()
    await askOwn(first.sql, 1)
    expect(await holdLock(second.sql, "first start")).toBeNull()
    await release!()
    const releaseOther = await holdLock(second.sql, "first start")
    expect(releaseOther).not.toBeNull()
    await first.close()
    await releaseOther!()
    await second.close()
  })

  test.each(["session", "transaction"] as const)("a valid key is never refused through a %s pooler", async (mode) => {
    await using scratch = await scratchDatabase(`keys_${mode}`)
    await using pooler = await startPooler({ url: scratch.url, mode, size: 12 })
    const database = await open(mode === "session" ? pooler.url : withoutPrepare(pooler.url))
    const { sql } = database
    await migrate(sql, readTree("sql", ".sql"), silentLog)
    const service = openService({ sql })
    const key = await service.key(await service.workspace({ name: "pooled" }))
    const statuses: number[] = []
    const call = async (path: string) => {
      const request = new Request(`${PUBLIC_URL}${path}`, { headers: { authorization: `Bearer ${key}` } })
      statuses.push((await service.app.fetch(request, "127.0.0.1")).status)
    }
    const paths = ["/v1/apps", "/v1/account", "/v1/usage", "/v1/alerts"]
    const caller = async (first: number) => {
      for (let n = 0; n < 15; n++) await call(paths[(first + n) % paths.length]!)
    }
    await Promise.all(Array.from({ length: 16 }, (_, n) => caller(n)))
    expect(statuses.filter((status) => status !== 200)).toEqual([])
    await database.close()
  })

  test("doctor names the kind of pooler, its limits and the remedy", async () => {
    await using pooler = await startPooler({ mode: "transaction" })
    const look = async (databaseUrl: string) => {
      const settings = { databaseUrl } as Parameters<typeof checkDatabase>[0]["settings"]
      let database: Database | undefined
      const reached = { database: async () => (database = await open(databaseUrl, "command")) }
      const found = await checkDatabase({ settings }, reached as never)
      await database?.close()
      return found
    }
    const [refused] = await look(pooler.url)
    expect(refused!.state).toBe("problem")
    expect(refused!.says).toMatch(REFUSED)
    expect(refused!.fix).toBe(
      "set DATABASE_URL=postgres://USER:PASSWORD@HOST:5432/NAME?prepare=false, " +
        "or use the address of a session pooler or of the server itself",
    )
    const [reached, limits] = await look(withoutPrepare(pooler.url))
    expect(reached!.says).toEndWith("through a transaction pooler")
    expect(limits!.fix).toContain("set statement_timeout = '4s'")
  })
})
