import { expect } from "bun:test"
import { readTree } from "../../src/database/assets.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/log.ts"
import { nameIn } from "../../src/observations/app-names.ts"
import { freshDatabase } from "../database.ts"
import { afterLong, beforeLong, long } from "../long.ts"

const NAMES = /_names_of_storefronts\.sql$/

let sql: Sql
beforeLong(async () => {
  sql = await freshDatabase()
  await sql`drop schema public cascade`
  await sql`create schema public`
  const files = [...readTree("sql", ".sql")].sort(([a], [b]) => (a < b ? -1 : 1))
  const at = files.findIndex(([name]) => NAMES.test(name))
  await migrate(sql, new Map(files.slice(0, at)), silentLog)
  await sql`
    insert into store_app (platform, store_id, name, icon_url, seen_at, source, origin)
    values ('ios', '1', 'お茶', 'https://a.example/jp.png', '2025-11-19', 'apple-charts', 'own'),
      ('ios', '2', 'Seen somewhere', 'https://a.example/2.png', '2025-11-19', 'apple-web-search', 'own'),
      ('ios', '3', 'Demo', null, '2025-11-19', 'import', 'demo'),
      ('ios', '4', null, null, null, null, null)`
  await sql`
    insert into app_storefront (app_id, storefront, source, seen_at, available, name, parser, origin, sha256)
    values (1, 'us', 'itunes-lookup', '2025-11-17', true, 'Tea', 1, 'own', ''),
      (1, 'us', 'itunes-search', '2025-11-17', true, 'Tea found', 1, 'own', ''),
      (1, 'de', 'itunes-lookup', '2025-11-16', true, 'Tee der Demo', 1, 'demo', ''),
      (1, 'de', 'itunes-search', '2025-11-15', true, 'Tee', 1, 'own', ''),
      (4, 'us', 'itunes-lookup', '2025-11-15', false, null, 1, 'own', '')`
  await sql`
    insert into listing_content (app_id, storefront, source, section, digest, content)
    values (1, 'us', 'apple-app-page', 'page', decode(repeat('0a', 16), 'hex'), '{"name": "Tea before", "icon": "https://a.example/before.png"}'),
      (1, 'us', 'apple-app-page', 'page', decode(repeat('0b', 16), 'hex'), '{"name": "Tea Page", "icon": "https://a.example/us.png"}')`
  await sql`
    insert into listing_run (app_id, storefront, source, section, first_seen_at, seen_at, moments, sha256s, digest, parser, origin)
    select 1, 'us', 'apple-app-page', 'page', at, at, array[at], array[''::bytea], decode(repeat(digit, 16), 'hex'), 1, 'own'
    from (values ('2025-11-10'::timestamptz, '0a'), ('2025-11-18', '0b')) r (at, digit)`
  await migrate(sql, new Map(files), silentLog)
})
afterLong(async () => {
  await freshDatabase()
})

long(
  "names whose storefront is known go there, and all others stay what is shown where nothing better is known",
  async () => {
    const rows = await sql`
    select app_id, storefront, origin, name, icon_url
    from store_app_name
    order by app_id, storefront`
    expect(rows.map((row) => Object.values(row))).toEqual([
      [1, "de", "own", "Tee", null],
      [1, "us", "own", "Tea Page", "https://a.example/us.png"],
      [2, "zz", "own", "Seen somewhere", "https://a.example/2.png"],
      [3, "zz", "demo", "Demo", null],
    ])
    const shown = await sql`
    select ${nameIn(sql, sql`a.id`, { storefront: "jp", countries: ["fr"] })} as name
    from store_app a
    order by id`
    expect(shown.map(({ name }) => name)).toEqual(["Tea Page", "Seen somewhere", "Demo", null])
  },
)
