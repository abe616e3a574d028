import { expect } from "bun:test"
import { readTree } from "../../src/database/assets.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/log.ts"
import { rebuildReviews } from "../../src/observations/derived/rebuild-reviews.ts"
import { freshDatabase } from "../database.ts"
import { afterLong, beforeLong, long } from "../long.ts"
import { daysByTruth, daysKept } from "../observations/review-days.ts"

let sql: Sql
beforeLong(async () => {
  sql = await freshDatabase()
  await sql`drop schema public cascade`
  await sql`create schema public`
  const files = [...readTree("sql", ".sql")].sort(([a], [b]) => (a < b ? -1 : 1))
  const at = files.findIndex(([name]) => /_review_days\.sql$/.test(name))
  await migrate(sql, new Map(files.slice(0, at)), silentLog)
  await sql`insert into store_app (platform, store_id) values ('ios', '10001'), ('android', 'com.example.tea')`
  await sql`
    insert into review_version (
      app_id, feed, review_id, digest, current, stars, text, version, at, first_seen_at, seen_at, source, parser, origin, sha256
    )
    select app_id, feed, review_id, substr(sha256(at::text::bytea), 1, 16), current, stars, '', version, at, first_seen_at,
      seen_at, 'apple-reviews', 1, 'own', ''
    from (
      values
        (1, 'us', '1', true, 5, '1.10', '2025-11-01 23:59Z'::timestamptz, '2025-11-02Z'::timestamptz, '2025-11-02Z'::timestamptz),
        (1, 'us', '2', true, 5, '1.9', '2025-11-01 10:00Z', '2025-11-02Z', '2025-11-02Z'),
        (1, 'us', '3', true, 1, '1.9', '2025-11-02 00:00Z', '2025-11-05Z', '2025-11-05Z'),
        (1, 'us', '4', false, 1, null, '2025-11-02 10:00Z', '2025-11-05Z', '2025-11-05Z'),
        (1, 'us', '4', true, 2, null, '2025-11-02 12:00Z', '2025-11-06Z', '2025-11-06Z'),
        (1, 'gb', '9', true, 3, null, '2025-11-02 12:00Z', '2025-11-06Z', '2025-11-06Z'),
        (2, 'en', 'a', true, 3, null, '2025-11-02 12:00Z', '2025-11-06Z', '2025-11-06Z')
    ) v (app_id, feed, review_id, current, stars, version, at, first_seen_at, seen_at)`
  await sql`
    insert into review_read (app_id, feed, source, complete, seen_at, pages, empty, parser, origin, sha256)
    values (1, 'us', 'apple-reviews', true, '2025-11-02Z', 1, false, 1, 'own', ''),
      (1, 'us', 'apple-reviews', false, '2025-11-06Z', 1, false, 1, 'own', ''),
      (1, 'de', 'apple-reviews', true, '2025-11-06Z', 1, true, 1, 'own', ''),
      (2, 'en', 'play-reviews', true, '2025-11-07Z', 1, false, 1, 'own', '')`
  await migrate(sql, new Map(files), silentLog)
})
afterLong(async () => {
  await freshDatabase()
})

long("what stands now of reviews is there for all that were stored before, as deriving it anew has it", async () => {
  const kept = await daysKept(sql)
  expect(kept).toEqual(await daysByTruth(sql))
  expect(kept).toMatchObject([
    { name: "1 gb 2025-11-02" },
    { name: "1 us 2025-11-01", reviews: 2, gap: null, tallies: ["1.10 5: 1", "1.9 5: 1"] },
    { name: "1 us 2025-11-02", reviews: 2, gap: new Date("2025-11-06Z"), tallies: ["1.9 1: 1", "null 2: 1"] },
    { name: "2 en 2025-11-02" },
  ])
  const feeds = await sql`
    select feed, read_at as "readAt", complete, empty, complete_at as "completeAt"
    from review_feed
    order by app_id, feed`
  const [second, sixth, seventh] = ["02", "06", "07"].map((day) => new Date(`2025-11-${day}Z`))
  expect([...feeds]).toEqual([
    { feed: "de", readAt: sixth, complete: true, empty: true, completeAt: sixth },
    { feed: "gb", readAt: null, complete: false, empty: false, completeAt: null },
    { feed: "us", readAt: sixth, complete: false, empty: false, completeAt: second },
    // it showed nothing of what was held before
    { feed: "en", readAt: seventh, complete: false, empty: false, completeAt: seventh },
  ])
  expect(await rebuildReviews(sql, async () => {})).toBe(0)
})
