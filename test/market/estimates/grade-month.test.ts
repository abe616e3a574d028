import { beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import type { StoreApp } from "../../../src/core/observation/line-parts.ts"
import { tryLock } from "../../../src/database/locks.ts"
import type { Sql, Tx } from "../../../src/database/types.ts"
import { createEstimates } from "../../../src/market/estimates/estimates.ts"
import { gradeNext } from "../../../src/market/estimates/grade-month.ts"
import { makeEstimate } from "../../../src/market/estimates/make-estimate.ts"
import { readCalibration, readGradedMonth, readStoredFigures } from "../../../src/market/read/grades.ts"
import type { AppsObservation } from "../../../src/stores/kinds/apps-shape.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { appsReading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { openService } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"

setDefaultTimeout(60_000)

const IOS = "1600000101"
/** The last hour in which counts of October may still arrive, and an hour in which none can arrive any more. */
const [SOON, SETTLED] = [new Date("2025-11-03T23:00:00Z"), new Date("2025-11-04T01:00:00Z")]
let sql: Sql

beforeAll(async () => {
  sql = await freshDatabase()
  const read = (day: string, apps: (StoreApp & { id: string })[], rest: Partial<AppsObservation> = {}) =>
    appsReading(`${day}T09:00:00Z`, apps, rest)
  const play = { source: "play-details", platform: "android" } as const
  const readings = Array.from({ length: 25 }, (_, n) => {
    const id = `com.example.app${n}`
    // each app gains ten ratings and 700 to 3,100 installs; the last one gains no rating and 60 installs
    const [ratings, installs] = n === 24 ? [0, 60] : [10, 700 + 100 * n]
    return [
      read("2025-10-02", [{ id, ratings: 100, market: { installs: 50_000 } }], play),
      read("2025-10-30", [{ id, ratings: 100 + ratings, market: { installs: 50_000 + installs } }], play),
    ]
  }).flat()
  const ios = (day: string, ratings: number) => read(day, [{ id: IOS, ratings }], { storefront: "us" })
  const { refused } = await record(
    sql,
    [...readings, ios("2025-10-02", 1_000), ios("2025-10-30", 1_280), ios("2025-11-04", 1_300)],
    () => new Date("2025-11-05T00:00:00Z"),
  )
  expect(refused).toEqual([])
  const workspaceId = await openService({ sql }).workspace()
  await trackOwn(sql, { workspaceId, iosId: IOS })
})

beforeEach(async () => {
  await sql`delete from estimate_grade`
  await sql`delete from estimate_month`
})

async function gradeAll(now: Date): Promise<number> {
  let turns = 1
  while ((await gradeNext(sql, now, { idsAtOnce: 4 })) === "more") turns++
  return turns
}

const stored = async () => [
  ...(await sql`select month, app_id, ratings, value, low, high, under, truth from estimate_grade order by app_id`),
]

slow("a month is graded after its last counts arrive, with estimates that ignore the install counts", async () => {
  await gradeAll(SOON)
  expect([
    (await sql`select from estimate_month where month = '2025-10-01'`).length,
    await readGradedMonth(sql),
  ]).toEqual([0, null])
  expect(await gradeAll(SETTLED)).toBeGreaterThan(5)
  const month = await readGradedMonth(sql)
  // ten ratings in 28 days, at 143 installs each
  const errors = Array.from({ length: 24 }, (_, n) => Math.abs(1_430 - (700 + 100 * n)) / (700 + 100 * n)).toSorted(
    (a, b) => a - b,
  )
  expect(month).toMatchObject({ month: "2025-10", n: 24, under: { n: 1, held: 1 } })
  expect(month!.medianError).toBe(Math.round(50 * (errors[11]! + errors[12]!)))
  expect(month!.withinTwo).toBeCloseTo(21 / 24, 3)
})

test("the newest graded month is shown, and months with too few apps are skipped", async () => {
  await gradeAll(SETTLED)
  await sql`
    insert into estimate_month (month, graded_at, score)
    select m.month, now(), case when m.month < '2025-10-01' then s.score end
    from estimate_month s, unnest(array['2025-08-01', '2025-09-01', '2025-11-01']::date[]) m (month)
    where s.month = '2025-10-01'`
  expect(await readGradedMonth(sql)).toMatchObject({ month: "2025-10", n: 24 })
})

slow("each app is graded only once, even by concurrent processes or after an interrupted grading", async () => {
  await gradeAll(SETTLED)
  const firstRows = await stored()
  expect(firstRows.length).toBe(26)
  await sql`delete from estimate_grade`
  await sql`delete from estimate_month`
  await gradeNext(sql, SETTLED, { idsAtOnce: 7 })
  await Promise.all([gradeAll(SETTLED), gradeAll(SETTLED), gradeAll(SETTLED)])
  await gradeAll(SETTLED)
  expect(await stored()).toEqual(firstRows)
  expect(await gradeNext(sql, SETTLED)).toBe("done")
})

// the embedded database runs one statement at a time
test.skipIf(!process.env.DATABASE_URL)(
  "postgres: a process that finds the estimates locked grades at its next poll, not an hour later",
  async () => {
    let clockReads = 0
    const now = () => {
      clockReads++
      return SETTLED
    }
    const estimates = createEstimates({ sql, log: () => {}, now }, { pollMs: 5 })
    await sql.begin(async (tx) => {
      expect(await tryLock(tx as Tx, "estimates")).toBe(true)
      expect(await gradeNext(sql, SETTLED)).toBe("busy")
      estimates.start()
      // a turn reads the clock three times
      while (clockReads < 7) await Bun.sleep(5)
    })
    for (let tried = 0; tried < 2_000 && (await readGradedMonth(sql)) === null; tried++) await Bun.sleep(10)
    await estimates.stop()
    expect(await readGradedMonth(sql)).toMatchObject({ n: 24 })
  },
)

test("an App Store app gets the intervals of the graded month, widened by the store's uncertainty", async () => {
  const [ios] = await sql<[{ id: number }]>`select id from store_app where store_id = ${IOS}`
  const app = { app: ios.id, platform: "ios", genre: null } as const
  const before = (await makeEstimate(sql, app, { asOf: "2025-11-04", calibration: null })).downloads!
  await gradeAll(SETTLED)
  const calibration = (await readCalibration(sql, "2025-11-04"))!
  const after = (await makeEstimate(sql, app, { asOf: "2025-11-04", calibration })).downloads!
  expect([before.pairs, before.coverage, after.pairs, after.value]).toEqual([0, null, 24, before.value])
  expect(after.coverage).toBeWithin(0.5, 1.01)
  expect(after.high / after.value!).toBeGreaterThan(10 ** (1.28 * 0.3))
  // October's calibration is stale once November and December are over
  expect(await readCalibration(sql, "2025-12-31")).toEqual(calibration)
  expect(await readCalibration(sql, "2026-01-01")).toBeNull()
})

test("the monthly estimate of a tracked App Store app is stored without a true count", async () => {
  await gradeAll(SETTLED)
  const [row] = await sql`
    select g.storefronts, g.value, g.truth
    from estimate_grade g
    join store_app s on s.id = g.app_id
    where s.platform = 'ios'`
  expect(row).toEqual({
    storefronts: ["us"],
    value: expect.closeTo((280 * 30 * Math.sqrt(6_000)) / 28, 6),
    truth: null,
  })
})

test("an app's stored estimates are returned for the requested number of latest months", async () => {
  await gradeAll(SETTLED)
  await sql`
    insert into estimate_grade (month, app_id, formula, ratings, storefronts, value, low, high, under)
    select '2025-09-01', app_id, formula, ratings, storefronts, value, low, high, under
    from estimate_grade`
  const read = async (months: number) => {
    const figures = await readStoredFigures(sql, { platform: "android", ids: ["com.example.app7"] }, months)
    return [...figures].map(([id, rows]) => [id, ...rows.map(({ month }) => month)])
  }
  expect(await read(1)).toEqual([["com.example.app7", "2025-10-01"]])
  expect(await read(3)).toEqual([["com.example.app7", "2025-10-01", "2025-09-01"]])
})

test("a failed estimate is logged and is not retried immediately", async () => {
  const events: string[] = []
  const now = () => {
    throw new Error("no clock")
  }
  const estimates = createEstimates({ sql, log: (_, event) => events.push(event), now }, { pollMs: 50 })
  estimates.start()
  while (events.length === 0) await Bun.sleep(5)
  await Bun.sleep(30)
  await estimates.stop()
  expect(events).toEqual(["estimates_failed"])
})

slow("an Android app without a public count is estimated only if it is tracked, and changes no score", async () => {
  await gradeAll(SETTLED)
  const before = await readGradedMonth(sql)
  const ids = ["com.example.tracked", "com.example.untracked"]
  const play = { source: "play-details", platform: "android", storefront: "us" } as const
  const read = (day: string, ratings: number) =>
    ids.map((id) => appsReading(`${day}T09:00:00Z`, [{ id, ratings }], play))
  const { refused } = await record(sql, [...read("2025-10-02", 100), ...read("2025-10-30", 156)], () => SETTLED)
  expect(refused).toEqual([])
  const workspaceId = await openService({ sql }).workspace()
  await trackOwn(sql, { workspaceId, androidPkg: ids[0]! })
  await sql`delete from estimate_grade`
  await sql`delete from estimate_month`
  await gradeAll(SETTLED)
  const graded = await sql`
    select s.store_id, g.value, g.truth
    from estimate_grade g
    join store_app s on s.id = g.app_id
    where s.store_id = any(${ids}::text[])`
  // 56 ratings in 28 days, at 143 installs each
  expect([...graded]).toEqual([{ store_id: ids[0], value: expect.closeTo(60 * 143, 6), truth: null }])
  expect(await readGradedMonth(sql)).toEqual(before)
})
