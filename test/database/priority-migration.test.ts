import { expect, setDefaultTimeout } from "bun:test"
import { createFindings } from "../../src/alerts/findings-worker.ts"
import { readTree } from "../../src/database/assets.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/log.ts"
import { freshDatabase } from "../database.ts"
import { beforeLong, long } from "../long.ts"
import { newWorkspace } from "../observations/measured.ts"
import { trackOwn } from "../world/tracked.ts"

setDefaultTimeout(60_000)

const OWN = "700001"

let sql: Sql
beforeLong(async () => {
  sql = await freshDatabase()
  await sql`drop schema public cascade`
  await sql`create schema public`
  const files = [...readTree("sql", ".sql")].sort(([a], [b]) => (a < b ? -1 : 1))
  const at = files.findIndex(([name]) => /_priority\.sql$/.test(name))
  await migrate(sql, new Map(files.slice(0, at)), silentLog)
  const workspaceId = await newWorkspace(sql)
  await trackOwn(sql, { workspaceId, iosId: OWN })
  await sql`
    update due
    set next_at = '2025-11-19', class = 3, lease = gen_random_uuid(), lease_until = '2025-11-19'
    where kind = 'findings'`
  await sql`insert into pace (upstream, egress, base_gap_ms, gap_ms) values ('here', 'x', 0, 0), ('itunes.apple.com', 'x', 1, 1)`
  await migrate(sql, new Map(files), silentLog)
})

long("what was due stays due with its place in the order, and what nobody asks keeps no pace", async () => {
  expect([...(await sql`select subject, priority from due where kind = 'findings'`)]).toEqual([
    { subject: OWN, priority: 3 },
  ])
  expect([...(await sql`select upstream from pace`)]).toEqual([{ upstream: "itunes.apple.com" }])
})

long("what is tracked from then on is due by the functions that were made again", async () => {
  const workspaceId = await newWorkspace(sql)
  const app = { workspaceId, iosId: "700002", countries: ["us"], origin: "own", keywords: ["tea"] }
  await trackOwn(sql, app)
  expect(await sql`select 1 from due where kind = 'search' and subject = 'tea' and priority > 0`).toHaveLength(1)
  const [row] = await sql<{ left: number }[]>`
    select count(*)::int as left
    from pg_proc
    where pronamespace = 'public'::regnamespace and prosrc ~ ${"\\mclass\\M"}`
  expect(row!.left).toBe(0)
})

long("findings that the version before had under way are looked through by this one", async () => {
  const found: string[] = []
  const find = async (_: unknown, subjects: readonly { subject: string }[]) =>
    void found.push(...subjects.map(({ subject }) => subject))
  const worker = createFindings({ sql, log: silentLog, random: () => 0, find })
  await worker.runOnce()
  expect(found).toContain(OWN)
})
