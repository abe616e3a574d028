import { expect } from "bun:test"
import { readTree } from "../../src/database/assets.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Sql } from "../../src/database/types.ts"
import { readRatingGains } from "../../src/history/market/gains.ts"
import { readRatingDays } from "../../src/history/rating-days.ts"
import { silentLog } from "../../src/log.ts"
import { removeOld } from "../../src/retention/remove-old.ts"
import { freshDatabase } from "../database.ts"
import { afterLong, beforeLong, long } from "../long.ts"

const APPS = 30
const DAYS = 400
const FOR_EVER = { ledgerDays: 0, attemptDays: 0, jobDays: 0, auditDays: 0, alertDays: 0 }
let sql: Sql
beforeLong(async () => {
  sql = await freshDatabase()
  await sql`drop schema public cascade`
  await sql`create schema public`
  const files = [...readTree("sql", ".sql")].sort(([a], [b]) => (a < b ? -1 : 1))
  const at = files.findIndex(([name]) => /_rating_quarters\.sql$/.test(name))
  await migrate(sql, new Map(files.slice(0, at)), silentLog)
  await sql`
    insert into store_app (platform, store_id)
    select 'ios', g::text
    from generate_series(1, ${APPS}::int) g`
  await sql`
    insert into rating_count (app_id, storefront, day, source, seen_at, origin, ratings, rating, parser, sha256)
    select a.id, 'us', d::date, 'itunes-lookup', d + a.id * interval '61.007 seconds', 'own',
      a.id * 100000 + 400 - (current_date - d::date), 4 + a.id / 100.0, 1, sha256('x')
    from store_app a
    cross join generate_series(current_date - ${DAYS - 1}::int, current_date, interval '1 day') d
    where a.id % 3 > 0 or extract(day from d) % 4 = 0`
  await migrate(sql, new Map(files), silentLog)
})
afterLong(async () => {
  await freshDatabase()
})

const told = async () => {
  const [row] = await sql<{ from: string; to: string }[]>`
    select (current_date - 500)::text as from, current_date::text as to`
  const { from, to } = row!
  const days = await Promise.all([1, 2, 3, APPS].map((app) => readRatingDays(sql, app, { storefront: "us", from, to })))
  return { days, gains: await Promise.all([1, 2, 3].map((app) => readRatingGains(sql, app, to))) }
}

long("counts of more than a year that were stored before are packed in pieces, and say what they said", async () => {
  const before = await told()
  expect(before.days.map(({ length }) => length)).toEqual([DAYS, DAYS, expect.any(Number), expect.any(Number)])
  const whole = async () => (await sql<{ count: number }[]>`select count(*)::int as count from rating_count`)[0]!.count
  const stored = await whole()
  const interrupted = new AbortController()
  setTimeout(() => interrupted.abort(), 30)
  const first = await removeOld(sql, FOR_EVER, { chunk: 20, pauseMs: 5, signal: interrupted.signal })
  expect(await told()).toEqual(before)
  const rest = await removeOld(sql, FOR_EVER, { chunk: 20, pauseMs: 0 })
  expect(await told()).toEqual(before)
  const left = await whole()
  expect((first.rating_count ?? 0) + (rest.rating_count ?? 0)).toBe(stored - left)
  expect(left).toBeLessThan(APPS * 67)
  const [quarters] = await sql<{ count: number }[]>`select count(*)::int as count from rating_quarter`
  expect(quarters?.count).toBeLessThanOrEqual(APPS * 6)
})
