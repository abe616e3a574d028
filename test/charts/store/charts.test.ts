import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import type { ChartObservation } from "../../../src/charts/kinds/chart-shape.ts"
import { readChart } from "../../../src/charts/read/charts.ts"
import { rebuildCharts } from "../../../src/charts/store/rebuild-charts.ts"
import type { Sql } from "../../../src/database/types.ts"
import { deleteRows, freshDatabase } from "../../database.ts"
import { cases, long, slow } from "../../long.ts"
import {
  charted,
  chartTables,
  FINANCE,
  firstSeen,
  firstSeenFromReadings,
  listsFromReadings,
  listsNow,
  newApps,
  newAppsFromReadings,
  places,
  placesFromReadings,
} from "../../measuring/record/charted.ts"
import { NOW } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"

setDefaultTimeout(60_000)

let sql: Sql
const now = () => NOW

beforeEach(async () => {
  sql = await freshDatabase()
})

const onChart = async () =>
  (
    await sql`
      select a.store_id, p.rank, p.day
      from chart_place p
      join store_app a on a.id = p.app_id
      order by p.chart_id, p.rank`
  ).map(({ store_id, rank, day }) => `${day} ${rank} ${store_id}`)

const measuredDays = async () =>
  (await sql`select first_day, last_day from chart order by id`).map(({ first_day, last_day }) => [first_day, last_day])

describe("a reading of a chart", () => {
  test("a reading is stored with its provenance, and sets the current ranks and measured days", async () => {
    const reading = charted("2025-11-18T09:00:00Z", [10003, 10001], { depth: 5, egress: "de" })
    expect(await record(sql, [reading], now)).toEqual({ recorded: 1, alreadyStored: 0, refused: [] })
    const [row] = await sql`select * from chart_results`
    expect(row).toMatchObject({
      day: "2025-11-18",
      source: 40,
      seen_at: reading.seenAt,
      depth: 5,
      complete: true,
      parser: 1,
      origin: "own",
      egress: "de",
    })
    expect(row!.app_ids).toHaveLength(2)
    expect(await onChart()).toEqual(["2025-11-18 1 10003", "2025-11-18 2 10001"])
    expect(await measuredDays()).toEqual([["2025-11-18", "2025-11-18"]])
  })

  test("a reading that is recorded twice changes nothing and uses no identity value", async () => {
    const all = [
      charted("2025-11-18T09:00:00Z", [10003, 10001]),
      charted("2025-11-19T09:00:00Z", [10001, 10002], { storefront: "de", device: "ipad", chart: "paid", genre: "36" }),
    ]
    await record(sql, all, now)
    const before = await chartTables(sql)
    expect(await record(sql, [...all, ...all], now)).toEqual({ recorded: 0, alreadyStored: 4, refused: [] })
    expect(await chartTables(sql)).toEqual(before)
    const ids = async () => (await sql`select id from chart order by id`).map(({ id }) => id)
    expect(await ids()).toEqual([1, 2])
    await record(sql, [charted("2025-11-19T09:00:00Z", [10001], { storefront: "fr" })], now)
    expect(await ids()).toEqual([1, 2, 3])
  })

  slow("an older reading never changes the current ranks, and a newer reading removes apps that left", async () => {
    await record(sql, [charted("2025-11-18T09:00:00Z", [10001, 10002, 10003])], now)
    await record(sql, [charted("2025-11-17T09:00:00Z", [10009])], now)
    await record(sql, [charted("2025-11-18T08:00:00Z", [10008, 10009, 10007])], now)
    expect(await onChart()).toEqual(["2025-11-18 1 10001", "2025-11-18 2 10002", "2025-11-18 3 10003"])
    expect(await measuredDays()).toEqual([["2025-11-17", "2025-11-18"]])
    await record(sql, [charted("2025-11-19T09:00:00Z", [10003, 10004])], now)
    expect(await onChart()).toEqual(["2025-11-19 1 10003", "2025-11-19 2 10004"])
  })

  test("the day of an incomplete reading is unmeasured, and the day of an empty chart is measured", async () => {
    await record(sql, [charted("2025-11-18T09:00:00Z", [10001], { complete: false, depth: 3 })], now)
    expect(await sql`select 1 from chart_results`).toHaveLength(1)
    expect([await onChart(), await measuredDays(), await readChart(sql, FINANCE)]).toEqual([[], [[null, null]], null])
    await record(sql, [charted("2025-11-17T09:00:00Z", [10001, 10002])], now)
    await record(sql, [charted("2025-11-19T09:00:00Z", [])], now)
    expect(await onChart()).toEqual([])
    expect(await measuredDays()).toEqual([["2025-11-17", "2025-11-19"]])
  })

  test("the readings of a day are preferred by source, then by depth, then by time", async () => {
    const best = charted("2025-11-18T01:00:00Z", [10001], { source: "apple-charts" })
    const otherReadings = [
      charted("2025-11-18T02:00:00Z", [10002, 10003, 10004]),
      charted("2025-11-18T04:00:00Z", [10002, 10003]),
      charted("2025-11-18T03:00:00Z", [10005, 10006], { depth: 3 }),
    ]
    await record(sql, otherReadings, now)
    expect(await onChart()).toEqual(["2025-11-18 1 10005", "2025-11-18 2 10006"])
    await record(sql, [best], now)
    expect(await onChart()).toEqual(["2025-11-18 1 10001"])
  })

  test("a reading is replaced by one of the same time and source from a newer parser", async () => {
    const at = "2025-11-18T09:00:00Z"
    expect((await record(sql, [charted(at, [10002])], now)).recorded).toBe(1)
    expect((await record(sql, [charted(at, [10003], { parser: 2 })], now)).recorded).toBe(1)
    expect((await record(sql, [charted(at, [10002])], now)).recorded).toBe(0)
    expect(await onChart()).toEqual(["2025-11-18 1 10003"])
    // the same time is read again but incomplete: the day is unmeasured again and the chart empty
    expect((await record(sql, [charted(at, [], { parser: 3, complete: false })], now)).recorded).toBe(1)
    expect([await onChart(), await measuredDays()]).toEqual([[], [[null, null]]])
  })

  test("a reading stores the facts of its apps, and their ratings if it has any", async () => {
    const apps = [
      {
        id: "10001",
        name: "Coins",
        icon: "https://is1.example/c.png",
        developer: "Coin Co",
        price: 0,
        currency: "USD",
      },
      { id: "10002", name: "Notes", ratings: 7, rating: 4.5, developerId: "44", genre: "6015" },
    ]
    await record(sql, [charted("2025-11-18T09:00:00Z", [], { depth: 2, apps })], now)
    expect([
      ...(await sql`
        select store_id, name, developer, source from store_app join store_app_name on app_id = id order by store_id`),
    ]).toEqual([
      { store_id: "10001", name: "Coins", developer: "Coin Co", source: "import" },
      { store_id: "10002", name: "Notes", developer: null, source: "import" },
    ])
    expect([...(await sql`select day, ratings from rating_count`)]).toEqual([{ day: "2025-11-18", ratings: 7 }])
  })

  test("a reading that breaks an invariant is refused and stores nothing", async () => {
    const at = "2025-11-18T09:00:00Z"
    const wrong = [
      charted(at, [10001, 10001]),
      charted(at, [10001], { depth: 0 }),
      charted(at, [], { depth: 1_001 }),
      charted(at, [10001], { genre: "finance" }),
      charted(at, [10001], { device: "watch" as never }),
      charted(at, [10001], { chart: "new" as never }),
      charted(at, [10001], { source: "itunes-search" as never }),
      charted("2025-12-18T09:00:00Z", [10001]),
    ]
    const { recorded, refused } = await record(sql, wrong, now)
    expect([recorded, refused.length]).toEqual([0, wrong.length])
    expect(await sql`select 1 from chart union all select 1 from store_app`).toHaveLength(0)
  })
})

// few charts, days and depths, so that readings share a day, tie and replace one another
const anyReading = fc
  .record({
    storefront: fc.constantFrom("us", "de"),
    chart: fc.constantFrom("free", "paid"),
    day: fc.constantFrom("2025-01-31", "2025-02-01", "2025-02-28", "2025-03-01"),
    hour: fc.constantFrom("00:00:00", "12:00:00", "23:59:59.999"),
    source: fc.constantFrom("apple-charts", "import"),
    extra: fc.constantFrom(0, 0, 5),
    complete: fc.boolean(),
    parser: fc.constantFrom(1, 1, 2),
    ids: fc.uniqueArray(fc.integer({ min: 10_001, max: 10_008 }), { maxLength: 6 }),
  })
  .map(({ day, hour, ids, extra, ...rest }) =>
    charted(`${day}T${hour}Z`, ids, { ...rest, depth: ids.length + extra } as Partial<ChartObservation>),
  )

test("an app's first day on a chart is the day of its earliest reading, in any order of recording", async () => {
  const days = async () =>
    (await sql`select store_id, day from chart_first_seen join store_app on id = app_id order by store_id`).map(
      ({ store_id, day }) => `${store_id} ${day}`,
    )
  await record(sql, [charted("2025-11-18T09:00:00Z", [10001, 10002])], now)
  await record(sql, [charted("2025-11-19T09:00:00Z", [10001, 10003])], now)
  await record(sql, [charted("2025-11-20T09:00:00Z", [10002, 10003])], now)
  expect(await days()).toEqual(["10001 2025-11-18", "10002 2025-11-18", "10003 2025-11-19"])
  await record(
    sql,
    [charted("2025-11-10T09:00:00Z", [10003]), charted("2025-11-09T09:00:00Z", [10002], { complete: false })],
    now,
  )
  expect(await days()).toEqual(["10001 2025-11-18", "10002 2025-11-18", "10003 2025-11-10"])
  // a newer parser replaces the first reading: apps missing from it came later, or never
  await record(sql, [charted("2025-11-18T09:00:00Z", [10004], { parser: 2 })], now)
  expect(await days()).toEqual(["10001 2025-11-19", "10002 2025-11-20", "10003 2025-11-10", "10004 2025-11-18"])
})

slow("current ranks and first days depend only on the readings, not on the order of recording", async () => {
  const batches = fc.array(fc.array(anyReading, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 3 })
  const run = fc.asyncProperty(batches, async (parts) => {
    await deleteRows(
      sql,
      "chart_results",
      "chart_place",
      "chart_first_seen",
      "app_first_seen",
      "chart_now",
      "market_app",
    )
    await sql`update chart set first_day = null, last_day = null`
    for (const part of parts) await record(sql, part, now)
    expect(await places(sql)).toEqual(await placesFromReadings(sql))
    expect(await firstSeen(sql)).toEqual(await firstSeenFromReadings(sql))
    expect(await newApps(sql)).toEqual(await newAppsFromReadings(sql))
    expect(await listsNow(sql)).toEqual(await listsFromReadings(sql))
    const before = await chartTables(sql)
    for (const part of parts.toReversed()) await record(sql, part.toReversed(), now)
    expect(await chartTables(sql)).toEqual(before)
  })
  await fc.assert(run, { seed: 20250831, numRuns: cases(2, 12) })
})

long("a rebuild fills emptied derived tables with the same rows as before", async () => {
  await record(sql, fc.sample(anyReading, { seed: 7, numRuns: 60 }), now)
  const before = await chartTables(sql)
  await sql`truncate chart_place, chart_first_seen, app_first_seen, chart_now, market_app`
  await sql`update chart set first_day = null, last_day = null`
  const rebuild = () => rebuildCharts(sql, async () => {})
  expect(await rebuild()).toBeGreaterThan(0)
  expect(await chartTables(sql)).toEqual(before)
  expect(await rebuild()).toBe(0)
  expect(await chartTables(sql)).toEqual(before)
})

slow("wrong derived rows are corrected by a rebuild", async () => {
  await record(sql, fc.sample(anyReading, { seed: 8, numRuns: cases(20, 60) }), now)
  const before = await chartTables(sql)
  const [app] = await sql<{ id: number }[]>`
    insert into store_app (platform, store_id)
    values ('ios', '99999')
    returning id`
  await sql`update app_first_seen set baseline = not baseline, day = day - 1`
  await sql`insert into app_first_seen select ${app!.id}, storefront, '2025-01-01', false, id from chart limit 1`
  await sql`insert into chart_first_seen select ${app!.id}, id, '2024-01-01' from chart limit 1`
  await sql`update chart_place set rank = rank + 1`
  await sql`update chart_now set day = day - 1`
  await sql`update market_app set rank = rank + 1, free = null, first_day = '2024-01-01', growth = 7`
  await sql`
    insert into market_app (app_id, storefront, store_id, rank, by_prior) values (${app!.id}, 'us', 99999, 1, false)`
  await rebuildCharts(sql, async () => {})
  await sql`delete from store_app where id = ${app!.id}`
  expect(await chartTables(sql)).toEqual(before)
})

long("postgres: charts recorded concurrently give the derived rows expected from the readings", async () => {
  const readings = fc.sample(anyReading, { seed: 9, numRuns: 120 }).filter(({ complete }) => complete)
  await record(sql, readings.slice(0, 5), now)
  await Promise.all(readings.slice(5).map((reading) => record(sql, [reading], now)))
  expect(await newApps(sql)).toEqual(await newAppsFromReadings(sql))
  expect(await listsNow(sql)).toEqual(await listsFromReadings(sql))
})

slow("a missing monthly partition is created when a chart of that month is recorded", async () => {
  await record(sql, [charted("2025-11-18T09:00:00Z", [10001])], now)
  await sql`drop table chart_results_2025_11`
  await sql`truncate chart_place`
  await record(sql, [charted("2025-11-18T09:00:00Z", [10001]), charted("2025-10-01T00:00:00Z", [10001])], now)
  expect(await sql`select 1 from chart_results`).toHaveLength(2)
})
