import { expect } from "bun:test"
import { readTree } from "../../src/database/assets.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/log.ts"
import { freshDatabase } from "../database.ts"
import { afterLong, beforeLong, long } from "../long.ts"
import { firstSeen, firstSeenFromReadings, newApps, newAppsFromReadings } from "../observations/charted.ts"

let sql: Sql
beforeLong(async () => {
  sql = await freshDatabase()
  await sql`drop schema public cascade`
  await sql`create schema public`
  const files = [...readTree("sql", ".sql")].sort(([a], [b]) => (a < b ? -1 : 1))
  const at = files.findIndex(([name]) => /_first_seen\.sql$/.test(name))
  await migrate(sql, new Map(files.slice(0, at)), silentLog)
  await sql`insert into store_app (platform, store_id) values ('ios', '10001'), ('ios', '10002'), ('ios', '10003')`
  await sql`
    insert into chart (platform, storefront, device, chart, genre)
    values ('ios', 'us', 'iphone', 'free', '36'), ('ios', 'de', 'iphone', 'free', '36')`
  await sql`update chart set first_day = case id when 1 then '2025-11-02'::date else '2025-11-03' end, last_day = '2025-11-03'`
  await sql`create table chart_results_all partition of chart_results default`
  await sql`
    insert into chart_results (chart_id, day, source, seen_at, depth, complete, parser, origin, sha256, app_ids)
    values (1, '2025-11-01', 40, '2025-11-01Z', 2, false, 1, 'own', '', '{3}'),
      (1, '2025-11-02', 40, '2025-11-02Z', 2, true, 1, 'own', '', '{1,2}'),
      (1, '2025-11-03', 40, '2025-11-03Z', 2, true, 1, 'own', '', '{3,1}'),
      (2, '2025-11-03', 40, '2025-11-03Z', 2, true, 1, 'own', '', '{2}')`
  await migrate(sql, new Map(files), silentLog)
})
afterLong(async () => {
  await freshDatabase()
})

long("since when apps stand on charts is known of all readings that were stored before", async () => {
  const kept = await firstSeen(sql)
  expect(kept).toEqual(["1 1 2025-11-02", "1 2 2025-11-02", "1 3 2025-11-03", "2 2 2025-11-03"])
  expect(kept).toEqual(await firstSeenFromReadings(sql))
})

long("and since when in their storefronts, and whether they are new there", async () => {
  const kept = await newApps(sql)
  expect(kept).toEqual([
    "de 2 2025-11-03 true",
    "us 1 2025-11-02 true",
    "us 2 2025-11-02 true",
    "us 3 2025-11-03 false",
  ])
  expect(kept).toEqual(await newAppsFromReadings(sql))
})
