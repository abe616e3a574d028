import { beforeEach, describe, expect, test } from "bun:test"
import { join } from "node:path"
import type { Sql } from "../../../src/database/types.ts"
import type { Observation } from "../../../src/kinds.ts"
import { removeOld } from "../../../src/measuring/retention/remove-old.ts"
import { RETENTION } from "../../../src/recording.ts"
import { foldRatings } from "../../../src/stores/store/rating-quarters.ts"
import { rebuildRatings } from "../../../src/stores/store/rebuild-ratings.ts"
import { freshDatabase, scratchUrl } from "../../database.ts"
import { cases, long, longOnServer, slow } from "../../long.ts"
import { shuffled } from "../../market/formulas/play-apps.ts"
import { counted, foldAll, LAST, readCounts } from "../../measuring/record/counted.ts"
import { appsReading, NOW } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"

const FOR_EVER = { ledgerDays: 0, attemptDays: 0, jobDays: 0, auditDays: 0, alertDays: 0 }
const MONTHS = ["2025-07-01", "2025-08-01", "2025-09-01", "2025-10-01", "2025-11-01"]
/** Readings per call. */
const AT_ONCE = cases(60, 20)
let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
})

async function store(...observations: Observation[]): Promise<number> {
  const { recorded, refused } = await record(sql, observations, () => NOW)
  expect(refused).toEqual([])
  return recorded
}

const sizes = async () =>
  (
    await sql<{ whole: number; quarters: number }[]>`
    select (select count(*)::int from rating_count) as whole, (select count(*)::int from rating_quarter) as quarters`
  )[0]!

describe("rating counts that are packed into quarters", () => {
  slow("packed rating counts give the same answers as unpacked counts, in any order of arrival", async () => {
    const readings = counted(17)
    await store(...readings)
    const whole = await readCounts(sql)
    expect(whole.days.length).toBeGreaterThan(150)
    expect(whole.changes.length).toBeGreaterThan(20)
    expect(whole.gains.flat().length).toBeGreaterThan(2)
    expect(await foldAll(sql, "2025-11-01")).toBeGreaterThan(100)
    expect(await readCounts(sql)).toEqual(whole)
    for (let seed = 1; seed <= cases(1, 3); seed++) {
      sql = await freshDatabase()
      const order = shuffled([...readings, ...readings.slice(0, 80)], seed)
      for (let i = 0; i < order.length; i += AT_ONCE) {
        await store(...order.slice(i, i + AT_ONCE))
        if (i % 60 === 0) await foldAll(sql, MONTHS[(i / 20 + seed) % MONTHS.length] as string)
      }
      expect(await readCounts(sql)).toEqual(whole)
      expect((await sizes()).quarters).toBeGreaterThan(8)
    }
  })

  long("recording packed rating counts again changes nothing", async () => {
    const readings = counted(18)
    await store(...readings)
    await foldAll(sql, "2025-11-01")
    const before = await sizes()
    const earlier = await readCounts(sql)
    await store(...readings)
    expect(await readCounts(sql)).toEqual(earlier)
    expect(await sizes()).toEqual(before)
    const duplicates = await sql`
      select app_id, storefront, source, day
      from rating_day
      group by app_id, storefront, source, day
      having count(*) > 1`
    expect([...duplicates]).toEqual([])
    expect(await foldAll(sql, "2025-11-01")).toBe(0)
  })

  test("a packed count is replaced by a later reading of the day, and not by an earlier one", async () => {
    const at = (day: string, hour: string, ratings: number) =>
      appsReading(`${day}T${hour}:00:00Z`, [{ id: "10001", ratings, rating: 4.5 }])
    await store(at("2025-07-05", "10", 100), at("2025-07-06", "10", 101), at(LAST, "10", 200))
    expect(await foldAll(sql, "2025-11-01")).toBe(2)
    expect(await store(at("2025-07-05", "09", 7))).toBe(0)
    expect(await store(at("2025-07-05", "11", 103))).toBe(1)
    const days = async () =>
      (await sql`select day, ratings from rating_day order by day`).map((row) => Object.values(row))
    const all = [
      ["2025-07-05", 103],
      ["2025-07-06", 101],
      [LAST, 200],
    ]
    expect(await days()).toEqual(all)
    expect(await sizes()).toEqual({ whole: 2, quarters: 1 })
    expect(await foldAll(sql, "2025-11-01")).toBe(1)
    expect(await days()).toEqual(all)
    expect(await sizes()).toEqual({ whole: 1, quarters: 1 })
  })

  test("packing continues at an app that has unpacked counts left, and otherwise after that app", async () => {
    await store(
      ...["2025-07-05", "2025-07-06", "2025-07-07", LAST].map((day) =>
        appsReading(`${day}T10:00:00Z`, [{ id: "10001", ratings: 100 }]),
      ),
    )
    const [app] = await sql<[{ id: number }]>`select id from store_app`
    const pack = (chunk: number) => sql.begin((tx) => foldRatings(tx, { before: "2025-11-01", chunk, from: app.id }))
    expect(await pack(2)).toEqual({ packed: 2, next: app.id })
    expect(await pack(2)).toEqual({ packed: 1, next: app.id + 1 })
    expect(await pack(2)).toEqual({ packed: 0, next: app.id + 1 })
  })

  long("doctor --rebuild keeps the later count if a rating count is stored packed and unpacked", async () => {
    await store(...counted(20))
    const before = await readCounts(sql)
    await sql`create table counts_before as select * from rating_count`
    await foldAll(sql, "2025-11-01")
    await sql`
      insert into rating_count
      select app_id, storefront, day, source,
        case when extract(day from day) > 15 then seen_at else day::timestamp at time zone 'utc' end, origin, 1, 1
      from counts_before
      where (app_id, storefront, day, source) in (select app_id, storefront, day, source from rating_day
      where sha256 is null)
      on conflict do nothing`
    await sql`
      update rating_count r
      set ratings = c.ratings, rating = c.rating
      from counts_before c
      where (r.app_id, r.storefront, r.day, r.source) = (c.app_id, c.storefront, c.day, c.source)
        and r.seen_at = c.seen_at`
    expect(await readCounts(sql)).not.toEqual(before)
    expect(await rebuildRatings(sql, async () => {})).toBeGreaterThan(50)
    expect(await readCounts(sql)).toEqual(before)
    expect(await rebuildRatings(sql, async () => {})).toBe(0)
    await sql`drop table counts_before`
  })

  long(
    "a rating count is packed unless it is recent, has counts by star, or is the latest of its publisher",
    async () => {
      const day = (age: number) => new Date(Date.now() - age * 86_400_000).toISOString()
      const readings = [20, 80, 81, 200, 300].map((age) =>
        appsReading(day(age), [{ id: "10001", ratings: 1_000 - age, rating: 4.5 }]),
      )
      const stars = appsReading(day(150), [{ id: "10001", ratings: 850, ratingsByStar: [1, 1, 1, 1, 846] }], {
        source: "play-details",
        platform: "android",
      })
      await record(
        sql,
        [
          ...readings,
          appsReading(day(90), [{ id: "10002", ratings: 5 }]),
          { ...stars, asked: ["com.a"], apps: [{ ...stars.apps[0]!, id: "com.a" }] },
        ],
        () => new Date(),
      )
      await sql`update rating_count set origin = 'demo' where day = ${day(300).slice(0, 10)}`
      expect(await removeOld(sql, RETENTION, FOR_EVER, { pauseMs: 0 })).toMatchObject({ rating_count: 3 })
      const remaining = await sql`select ratings from rating_count order by ratings`
      expect(remaining.map(({ ratings }) => ratings)).toEqual([5, 700, 850, 980])
      expect(await removeOld(sql, RETENTION, FOR_EVER, { pauseMs: 0 })).toMatchObject({ rating_count: 0 })
    },
  )
})

longOnServer(
  "postgres: 4 processes that record the same counts in their own orders while they pack them leave the same rows " +
    "as one process",
  async () => {
    const children = Array.from({ length: 4 }, (_, seed) =>
      Bun.spawn(
        [
          process.execPath,
          join(import.meta.dirname, "../../measuring/record/rating-recorder.ts"),
          scratchUrl(sql),
          String(seed),
        ],
        {
          stderr: "pipe",
        },
      ),
    )
    for (const child of children) expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""])
    const concurrent = await readCounts(sql)
    sql = await freshDatabase()
    await store(...counted(19))
    expect(concurrent).toEqual(await readCounts(sql))
  },
  60_000,
)
