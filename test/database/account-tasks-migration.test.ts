import { expect } from "bun:test"
import { findAccount } from "../../src/accounts/register.ts"
import { readTask } from "../../src/accounts/tasks.ts"
import { readTree } from "../../src/database/assets.ts"
import { openDatabase } from "../../src/database/connect.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Database, Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/log.ts"
import { freshDatabase, scratchUrl } from "../database.ts"
import { openHouse } from "../house.ts"
import { afterLong, beforeLong, long } from "../long.ts"

const TASKS = /_account_tasks\.sql$/

let sql: Sql
let other: Database | undefined
let workspaceId: number

beforeLong(async () => {
  sql = await freshDatabase()
  // functions that a migration makes for its session are still there in a pool that has migrated before
  const databaseUrl = process.env.DATABASE_URL && scratchUrl(sql)
  if (databaseUrl) other = await openDatabase({ databaseUrl, dataDir: "", as: "command", log: silentLog })
  sql = other?.sql ?? sql
  await sql`drop schema public cascade`
  await sql`create schema public`
  const files = [...readTree("sql", ".sql")].sort(([a], [b]) => (a < b ? -1 : 1))
  const at = files.findIndex(([name]) => TASKS.test(name))
  await migrate(sql, new Map(files.slice(0, at)), silentLog)
  workspaceId = await openHouse({ sql }).workspace()
  await sql`
    insert into connected_account (id, workspace_id, kind, shown, part, sealed, state)
    values ('ac_1', ${workspaceId}, 'app-store-connect', 'key', '85012345', 'v1.a.b.c', 'ok'),
      ('ac_2', ${workspaceId}, 'apple-ads', 'key', '1', 'v1.a.b.c', 'ok')`
  await sql`
    insert into report_turn (account_id, report, day, state, read_at, tries, failure, put_aside, next_at)
    values ('ac_1', 'sales', '2026-11-20', 'rows', now(), 0, null, '2 rows', null),
      ('ac_1', 'sales', '2026-11-21', 'none', now(), 0, null, null, now()),
      ('ac_1', 'sales', '2026-09-01', 'unavailable', null, 9, null, null, null),
      ('ac_1', 'subscriptions', '2026-11-20', 'denied', null, 1, 'not for the role', null, now())`
  await sql`
    insert into analytics_instance (account_id, app, report, processed, instance)
    values ('ac_1', '77', 'engagement', '2026-11-22', 'file')`
  await sql`
    insert into console_turn (account_id, task, subject, state, read_at, failure, asked_at)
    values ('ac_1', 'instance', 'file', 'late', null, 'not whole', null), ('ac_1', 'instance', 'earlier', 'due', null, null, null),
      ('ac_1', 'analytics', '77', 'none', null, null, null), ('ac_1', 'prices', '78', 'ok', now(), null, now())`
  await sql`
    insert into ads_turn (account_id, task, subject, read_at, failure)
    values ('ac_2', 'terms', '444', now(), null), ('ac_2', 'popularity', 'us', null, 'not out')`
  await migrate(sql, new Map(files), silentLog)
})
afterLong(async () => {
  await other?.close()
  await freshDatabase()
})

long("the outcome of each question to an account outlasts the move of three tables into one", async () => {
  const rows = await sql<{ key: string; state: string }[]>`
    select concat_ws(' ', task, subject, day) as key, state
    from account_task
    order by 1`
  expect(rows.map(({ key, state }) => [key, state])).toEqual([
    ["analytics 77", "not_requested"],
    ["engagement file 2026-11-22", "late"],
    ["popularity us", "late"],
    ["prices 78", "read"],
    ["sales 2026-09-01 2026-09-01", "late"],
    ["sales 2026-11-20 2026-11-20", "read"],
    ["sales 2026-11-21 2026-11-21", "empty"],
    ["subscriptions 2026-11-20 2026-11-20", "denied"],
    ["terms 444", "read"],
  ])
  expect(await readTask(sql, "ac_1", "prices", "78")).toMatchObject({ readAt: expect.any(Date), isAsked: true })
  const troubles = async (id: string) =>
    (await findAccount(sql, workspaceId, id)).troubles.map(({ what, why }) => `${what}: ${why}`)
  expect(await troubles("ac_1")).toEqual([
    "engagement files of 2026-11-22: not whole",
    "subscriptions of 2026-11-20: not for the role",
    "sales of 2026-11-20: 2 rows",
  ])
  expect(await troubles("ac_2")).toEqual(["search popularity of us: not out"])
})
