import { expect } from "bun:test"
import { readTree } from "../../src/database/assets.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/log.ts"
import { rebuildNow } from "../../src/observations/derived/now.ts"
import { freshDatabase } from "../database.ts"
import { afterLong, beforeLong, long } from "../long.ts"
import { nowByTruth, nowKept } from "../observations/now-truth.ts"

let sql: Sql
beforeLong(async () => {
  sql = await freshDatabase()
  await sql`drop schema public cascade`
  await sql`create schema public`
  const files = [...readTree("sql", ".sql")].sort(([a], [b]) => (a < b ? -1 : 1))
  const at = files.findIndex(([name]) => /_now\.sql$/.test(name))
  await migrate(sql, new Map(files.slice(0, at)), silentLog)
  for (const month of ["2025-10-01", "2025-11-01"]) await sql`select open_month(${month})`
  await sql`
    insert into list (platform, storefront, term, first_day, last_day)
    values ('ios', 'us', 'tea', '2025-10-31', '2025-11-02'), ('ios', 'us', 'mate', '2025-10-31', '2025-10-31'),
      ('ios', 'us', 'broken off', null, null), ('ios', 'us', 'never read', null, null)`
  await sql`
    insert into search_results (list_id, day, source, seen_at, depth, complete, parser, origin, sha256, app_ids)
    values (1, '2025-10-31', 10, '2025-10-31 10:00Z', 200, true, 1, 'own', '', '{1,2}'),
      (1, '2025-11-02', 10, '2025-11-02 10:00Z', 50, true, 1, 'own', '', '{2,1}'),
      (1, '2025-11-02', 10, '2025-11-02 11:00Z', 100, true, 1, 'elsewhere', '', '{3,2,1}'),
      (1, '2025-11-02', 10, '2025-11-02 12:00Z', 200, false, 1, 'own', '', '{1}'),
      (1, '2025-11-02', 30, '2025-11-02 13:00Z', 200, true, 1, 'own', '', '{4}'),
      (2, '2025-10-31', 30, '2025-10-31 10:00Z', 200, true, 1, 'demo', '', '{}'),
      (3, '2025-11-02', 10, '2025-11-02 12:00Z', 200, false, 1, 'own', '', '{1}')`
  await sql`
    insert into keyword_metric (list_id, metric, day, source, seen_at, score, formula, parts)
    values (1, 'demand', '2025-10-31', 'calculated', '2025-10-31 10:00Z', 40, 1, '{}'),
      (1, 'demand', '2025-11-02', 'calculated', '2025-11-02 10:00Z', 50, 2, '{}'),
      (1, 'difficulty', '2025-11-02', 'calculated', '2025-11-02 10:00Z', null, 1, '{}'),
      (1, 'popularity', '2025-09-01', 'apple-ads-report', '2025-11-02 10:00Z', 71, 0, '{}'),
      (1, 'popularity', '2025-10-01', 'apple-ads-report', '2025-11-01 10:00Z', 72, 0, '{}'),
      (1, 'popularity', '2025-11-01', 'estimate', '2025-11-01 10:00Z', 30, 3, '{}'),
      (2, 'popularity', '2025-10-31', 'estimate', '2025-10-31 10:00Z', 30.6, 3, '{}'),
      (3, 'hints', '2025-08-01', 'calculated', '2025-08-01 10:00Z', 7, 1, '{}'),
      (4, 'popularity', '2025-09-01', 'apple-ads-report', '2025-10-02 10:00Z', 5, 0, '{}')`
  await migrate(sql, new Map(files), silentLog)
})
afterLong(async () => {
  await freshDatabase()
})

long("what stands now is there for all that was stored before, as deriving it anew has it", async () => {
  const kept = await nowKept(sql)
  expect(kept).toEqual(await nowByTruth(sql))
  expect(kept.ranks).toMatchObject([
    { list: 1, ids: [3, 2, 1], depth: 100, origin: "elsewhere", popularity: 72, until: null },
    { list: 2, ids: [], source: 30, origin: "demo", popularity: 7, until: "2026-01-29", term: "mate" },
  ])
  expect(kept.figures).toMatchObject([
    { list: 1, demand: { score: 50 }, difficulty: { score: null, day: "2025-11-02" }, published: { score: 72 } },
    { list: 2, estimate: { day: "2025-10-31" } },
    { list: 3, hints: { score: 7 } },
    { list: 4, published: { score: 5, source: "apple-ads-report" } },
  ])
  expect(await rebuildNow(sql, async () => {})).toMatchObject({ ranks: 0, figures: 0 })
})
