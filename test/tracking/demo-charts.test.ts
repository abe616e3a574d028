import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { ChartObservation } from "../../src/charts/kinds/chart-shape.ts"
import { rebuildCharts } from "../../src/charts/store/rebuild-charts.ts"
import { readTree } from "../../src/database/assets.ts"
import type { Sql } from "../../src/database/types.ts"
import { DEMO_CHARTS_FILE, loadDemoCharts } from "../../src/demo/demo.ts"
import { forgetDemo, loadDemoInto, loadDemoOnce, loadRestOnce, removeAllOfDemo } from "../../src/demo/load-at-start.ts"
import { removeDemo } from "../../src/demo/remove-demo.ts"
import { recording } from "../../src/recording.ts"
import { freshDatabase } from "../database.ts"
import { cases, isLeftOut, long, slow } from "../long.ts"
import { charted, chartTables } from "../measuring/record/charted.ts"
import { appsReading, newWorkspace, stored } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import { openService } from "../service.ts"
import { fixture } from "../stores/parsing/parsed.ts"

setDefaultTimeout(60_000)

const file = readTree("fixtures/demo", ".jsonl").get(DEMO_CHARTS_FILE)!
const lines = file
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line))
const NOW = new Date("2026-11-20T12:00:00Z")
const JAPAN = { storefront: "jp", source: "apple-charts" } as const
let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
})

/** Short runs load only the last days, because a day's chart of a hundred places takes as long as most tests. */
const DAYS = cases(3, 30)
const loaded = lines.slice(30 - DAYS)
const READINGS = DAYS + 3
const load = () => loadDemoCharts(recording, sql, loaded.map((line) => `${JSON.stringify(line)}\n`).join(""))
const recordAll = (...readings: Parameters<typeof record>[1]) => record(sql, readings, () => NOW)
const ownChart = (seenAt: string, ids: readonly (string | number)[], rest: Partial<ChartObservation> = {}) =>
  charted(seenAt, ids, { ...JAPAN, ...rest })

describe("the demo's file of charts", () => {
  test("the demo's file is small, has only demo readings, and names each app once per storefront", () => {
    expect(Buffer.byteLength(file)).toBeLessThan(150_000)
    expect(new Set(lines.map(({ origin, source, kind }) => `${origin} ${source} ${kind}`))).toEqual(
      new Set(["demo import chart"]),
    )
    const named = lines.flatMap(({ storefront, apps }) =>
      apps.filter(({ name }: { name?: string }) => name).map(({ id }: { id: string }) => `${storefront} ${id}`),
    )
    const listed = lines.flatMap(({ storefront, apps }) => apps.map(({ id }: { id: string }) => `${storefront} ${id}`))
    expect(named.toSorted()).toEqual([...new Set(listed)].toSorted())
  })

  test("the demo's file has thirty days of 100 ranks for Japan, and the recorded US and German feeds", () => {
    const japan = lines.filter(({ storefront }) => storefront === "jp")
    expect(japan.map(({ seenAt, apps }) => [seenAt.slice(0, 10), apps.length])).toEqual(
      Array.from({ length: 30 }, (_, i) => [`2025-08-${String(i + 2).padStart(2, "0")}`, 100]),
    )
    for (const storefront of ["us", "de"]) {
      const { results } = JSON.parse(fixture(`apple-charts-v2-free-${storefront}-2026-03-20.json`)).feed
      const { apps } = lines.find((line) => line.storefront === storefront)
      expect(apps).toEqual(
        results.map((app: Record<string, string>) => ({ id: app.id, name: app.name, developer: app.artistName })),
      )
    }
  })
})

slow("a key finds the demo's charts, movers and landscape, each with its day, without live reading", async () => {
  // the rest of the demo has no charts and takes twice as long
  const { recorded, bad } = isLeftOut
    ? await loadDemoCharts(recording, sql, file)
    : await loadDemoInto(recording, sql, await newWorkspace(sql), { days: 1, now: () => NOW })
  expect([recorded, bad]).toEqual([isLeftOut ? lines.length : 70 + 30 + 4 + 42, []])
  const service = openService({ sql, now: () => NOW })
  const key = await service.key(await service.workspace({ explorer: true, plan: "pro" }))
  const ask = (path: string) => service.call(`/v1/hive/${path}`, { key })
  const chart = await ask("charts?country=jp&genre=6015")
  const last = lines[29].apps.map(({ id }: { id: string }) => id)
  expect([chart.status, chart.body.day, chart.body.source]).toEqual([200, "2025-08-31", "import"])
  expect(chart.body.measuredSince).toBe("2025-08-02")
  expect(chart.body.apps.map(({ id }: { id: string }) => id)).toEqual(last)
  expect(chart.body.apps[0]).toMatchObject({ rank: 1, publisher: expect.any(String) })
  expect(chart.body.apps.every(({ id, name }: { id: string; name: string }) => name !== id)).toBe(true)
  const movers = await ask("movers?country=jp&genre=6015&days=7")
  expect(movers.body).toMatchObject({ measured: true, latest: { day: "2025-08-31" }, against: { day: "2025-08-24" } })
  expect(movers.body.counts.climbed).toBeGreaterThan(10)
  const [finance] = (await ask("landscape?country=jp&genre=finance")).body.categories
  expect([finance.day, finance.nameLength.n, finance.ratingsWall.median]).toEqual(["2025-08-31", 100, null])
  expect(finance.publishers.count).toBeGreaterThan(3)
  for (const country of ["us", "gb", "de"])
    expect((await ask(`charts?country=${country}`)).body).toMatchObject({ day: "2026-03-20", depth: 10 })
  // feeds do not identify publishers; after a look-up the publisher's apps are found on the demo's chart
  const { id } = lines[29].apps[0]
  await recordAll(
    appsReading(NOW.toISOString(), [{ id, name: "As it is now", developerId: "1500000077" }], { storefront: "jp" }),
  )
  const publisher = await ask("publisher/1500000077")
  expect(publisher.body.apps).toMatchObject([{ id, rank: 1, country: "jp", day: "2025-08-31" }])
})

slow("the demo's charts make nothing due, and loading them again changes nothing", async () => {
  expect(await load()).toMatchObject({ recorded: READINGS, known: 0, bad: [] })
  const before = await stored(sql)
  expect(await load()).toMatchObject({ recorded: 0, known: READINGS })
  expect(await stored(sql)).toBe(before)
  expect(await sql`select 1 from due`).toHaveLength(0)
})

long("removing the demo's charts empties the database, except for charts that this instance read itself", async () => {
  const empty = await stored(sql)
  await loadDemoCharts(recording, sql, file)
  expect(await removeDemo(sql)).toEqual({ apps: 0, readings: 33, kept: [] })
  expect(await stored(sql)).toBe(empty)
  const ownReadings = [
    ownChart("2026-11-18T10:00:00Z", [lines[0].apps[0].id, 10_001]),
    ownChart("2026-11-19T10:00:00Z", [10_002], { storefront: "gb", genre: "6014" }),
  ]
  await recordAll(...ownReadings)
  const before = await chartTables(sql)
  await loadDemoCharts(recording, sql, file)
  await removeDemo(sql)
  expect(await chartTables(sql)).toEqual(before)
})

describe("a chart of the demo that this instance reads too", () => {
  const [first, second] = [lines[29].apps[4].id, lines[29].apps[1].id]
  const reading = ownChart("2026-11-18T10:00:00Z", [first, 10_001, second])

  slow("a demo chart that this instance reads is measured since the instance's reading, in any order", async () => {
    await load()
    await recordAll(reading)
    const after = await chartTables(sql)
    const [chart] = await sql`select first_day, last_day from chart where storefront = 'jp'`
    expect(chart).toEqual({ first_day: "2026-11-18", last_day: "2026-11-18" })
    expect(await sql`select 1 from app_first_seen where storefront = 'jp' and not baseline`).toHaveLength(0)
    expect(await rebuildCharts(sql, async () => {})).toBe(0)
    sql = await freshDatabase()
    await recordAll(reading)
    expect(await load()).toMatchObject({ recorded: READINGS, known: 0 })
    expect(await chartTables(sql)).toEqual(after)
  })

  slow("a demo chart shows this instance's reading of a day, even if the demo's reading is deeper", async () => {
    await load()
    await recordAll(ownChart("2025-08-31T01:00:00Z", [10_001], { source: "import" }))
    const [now] = await sql`
      select n.depth, n.seen_at
      from chart_now n
      join chart c on c.id = n.chart_id
      where c.storefront = 'jp'`
    expect(now).toEqual({ depth: 1, seen_at: new Date("2025-08-31T01:00:00Z") })
    await removeDemo(sql)
    expect(await rebuildCharts(sql, async () => {})).toBe(0)
    expect([...(await sql`select day, origin from chart_results`)]).toEqual([{ day: "2025-08-31", origin: "own" }])
  })
})

long("a demo that is removed before its charts are loaded is not loaded again", async () => {
  const empty = await stored(sql)
  const workspaceId = await newWorkspace(sql)
  expect(await loadDemoOnce(recording, sql, workspaceId)).toBe(true)
  await forgetDemo(sql)
  await removeDemo(sql)
  await loadRestOnce(recording, sql, { days: 1 })
  expect(await sql`select 1 from chart`).toHaveLength(0)
  expect(await loadDemoOnce(recording, sql, workspaceId)).toBe(false)
  expect(await stored(sql)).toBe(empty)
})

long("a demo that was interrupted before its charts is loaded again once", async () => {
  const workspaceId = await newWorkspace(sql)
  await loadDemoOnce(recording, sql, workspaceId)
  expect(await loadDemoOnce(recording, sql, null)).toBe(true)
  await loadRestOnce(recording, sql, { days: 1 })
  expect(await sql`select 1 from chart_results`).toHaveLength(33)
  expect(await loadDemoOnce(recording, sql, null)).toBe(false)
})

long(
  "a second load of the demo adds nothing, and a removal after a failed removal deletes the whole demo",
  async () => {
    const workspaceId = await newWorkspace(sql)
    const empty = await stored(sql)
    const now = () => NOW
    expect((await loadDemoInto(recording, sql, workspaceId, { days: 1, now })).recorded).toBeGreaterThan(0)
    const loaded = await stored(sql)
    expect(await sql`select from review_feed`).toHaveLength(5)
    expect((await loadDemoInto(recording, sql, workspaceId, { days: 1, now })).recorded).toBe(0)
    expect(await stored(sql)).toBe(loaded)
    await sql`create function refuse() returns trigger language plpgsql as 'begin raise exception ''refused''; end'`
    await sql`create trigger refuse before delete on store_app execute function refuse()`
    expect(await removeAllOfDemo(sql).catch(String)).toContain("refused")
    await sql`drop function refuse cascade`
    // the failed removal removed only the accounts; this one removes everything else
    expect(await removeAllOfDemo(sql)).toMatchObject({ apps: 5, accounts: 0, kept: [] })
    expect(await removeAllOfDemo(sql)).toMatchObject({ apps: 0, readings: 0, accounts: 0, kept: [] })
    for (const table of ["review_version", "review_day", "review_read", "review_feed", "store_app"])
      expect([table, (await sql`select from ${sql(table)}`).length]).toEqual([table, 0])
    expect(await stored(sql)).toBe(empty)
  },
)
