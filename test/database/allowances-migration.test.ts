import { expect } from "bun:test"
import { openTakings } from "../../src/access/allowances.ts"
import type { Caller } from "../../src/access/caller.ts"
import { ENTITLEMENTS } from "../../src/access/plans.ts"
import { readTree } from "../../src/database/assets.ts"
import { openDatabase } from "../../src/database/connect.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Database, Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/log.ts"
import { freshDatabase, scratchUrl } from "../database.ts"
import { openHouse } from "../house.ts"
import { afterLong, beforeLong, long } from "../long.ts"

const ALLOWANCES = /_allowances_once\.sql$/

let sql: Sql
let other: Database | undefined
let workspaceId: number
let key: string

beforeLong(async () => {
  sql = await freshDatabase()
  // functions that a migration makes for its session are still there in a pool that has migrated before
  const databaseUrl = process.env.DATABASE_URL && scratchUrl(sql)
  if (databaseUrl) other = await openDatabase({ databaseUrl, dataDir: "", as: "command", log: silentLog })
  sql = other?.sql ?? sql
  await sql`drop schema public cascade`
  await sql`create schema public`
  const files = [...readTree("sql", ".sql")].sort(([a], [b]) => (a < b ? -1 : 1))
  const at = files.findIndex(([name]) => ALLOWANCES.test(name))
  await migrate(sql, new Map(files.slice(0, at)), silentLog)
  const house = openHouse({ sql })
  workspaceId = await house.workspace({ plan: "pro", explorer: true })
  key = await house.key(workspaceId)
  await sql`
    insert into hive_day (workspace_id, day, used)
    values (${workspaceId}, (now() at time zone 'utc')::date, 7), (${workspaceId}, '2025-01-01', 9)`
  await sql`
    insert into measure_day (workspace_id, day, requests)
    values (${workspaceId}, (now() at time zone 'utc')::date, '{one,two}'), (${workspaceId}, '2025-01-01', '{}')`
  await sql`
    insert into allowance_month (workspace_id, allowance, month, used)
    values (${workspaceId}, 'spy', date_trunc('month', now() at time zone 'utc')::date, 3),
      (${workspaceId}, 'spy', '2025-01-01', 5)`
  await migrate(sql, new Map(files), silentLog)
})
afterLong(async () => {
  await other?.close()
  await freshDatabase()
})

long("what was used of monthly and daily allowances before they had one table still counts", async () => {
  const { body } = await openHouse({ sql }).call("/v1/usage", { key })
  const used = (name: string) => body.quotas.find((quota: { key: string }) => quota.key === name).used
  expect([body.hive.usedToday, used("spy")]).toEqual([7, 3])
  const caller = { workspaceId, entitlements: { ...ENTITLEMENTS.pro, measurements: 3 } } as Caller
  const measure = (requestId: string) => openTakings({ sql, log: silentLog, requestId }, caller).takeMeasurement()
  expect(await measure("three")).toMatchObject({ granted: true, used: 3 })
  expect(await measure("four")).toMatchObject({ granted: false, used: 3 })
})
