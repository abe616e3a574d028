import { expect } from "bun:test"
import { readTree } from "../../src/database/assets.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/log.ts"
import { rebuildMarketApps } from "../../src/observations/derived/market-apps.ts"
import { freshDatabase } from "../database.ts"
import { afterLong, beforeLong, long } from "../long.ts"

let sql: Sql
beforeLong(async () => {
  sql = await freshDatabase()
  await sql`discard temp`
  await sql`drop schema public cascade`
  await sql`create schema public`
  const files = [...readTree("sql", ".sql")].sort(([a], [b]) => (a < b ? -1 : 1))
  const at = files.findIndex(([name]) => name.endsWith("_market_app.sql"))
  await migrate(sql, new Map(files.slice(0, at)), silentLog)
  await sql`insert into store_app (platform, store_id) values ('ios', '10001'), ('ios', '10002'), ('android', 'com.tea')`
  await sql`
    insert into chart (platform, storefront, device, chart, genre, first_day, last_day)
    values ('ios', 'us', 'iphone', 'free', '36', '2025-11-01', '2025-11-02'),
      ('ios', 'us', 'iphone', 'grossing', '36', '2025-11-01', '2025-11-02'),
      ('ios', 'us', 'ipad', 'paid', '6015', '2025-11-01', '2025-11-02'),
      ('ios', 'de', 'ipad', 'free', '36', '2025-11-01', '2025-11-02'),
      ('android', 'us', 'iphone', 'free', '36', '2025-11-01', '2025-11-02')`
  await sql`
    insert into chart_place (app_id, chart_id, rank, day)
    values (1, 1, 7, '2025-11-02'), (1, 2, 9, '2025-11-02'), (1, 3, 2, '2025-11-02'), (2, 1, 8, '2025-11-02'),
      (1, 4, 5, '2025-11-02'), (3, 5, 1, '2025-11-02')`
  await sql`
    insert into app_first_seen (app_id, storefront, day, baseline, chart_id)
    values (1, 'us', '2025-11-02', false, 1), (2, 'us', '2025-11-01', true, 1), (1, 'de', '2025-11-01', true, 4)`
  await sql`
    insert into app_estimate (app_id, version, made_at, formula, basis, downloads, downloads_low, downloads_high,
      revenue_under, revenue_by, growth, growth_low, growth_high, genre)
    values (1, 1, now(), 1, 'prior', 100, 50, 200, 400, 'place', -3, -9, 3, '6015')`
  await sql`insert into instance (key, value) values ('app_texts', '3 shown')`
  await migrate(sql, new Map(files), silentLog)
})
afterLong(async () => {
  await freshDatabase()
})

long("stored charts and estimates are in the table of the finder, as deriving them again has them", async () => {
  const rows = await sql`
    select app_id, storefront, store_id, first_day, rank, free, paid, grossing, ipad, downloads, revenue_under
    from market_app
    order by storefront, app_id`
  expect(rows.map((row) => Object.values(row))).toEqual([
    [1, "de", 10001, null, 5, null, null, null, 5, 100, 400],
    [1, "us", 10001, "2025-11-02", 2, 7, null, 9, null, 100, 400],
    [2, "us", 10002, null, 8, 8, null, null, null, null, null],
  ])
  expect(await rebuildMarketApps(sql, async () => {})).toBe(0)
  expect(await sql`select value from instance where key = 'app_texts'`).toEqual([{ value: "3" }] as never)
})
