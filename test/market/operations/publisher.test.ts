import { beforeEach, expect, test } from "bun:test"
import type { ChartObservation } from "../../../src/charts/kinds/chart-shape.ts"
import { readChartedApps } from "../../../src/market/read/publishers.ts"
import { explainEach, type Work } from "../../core/explained.ts"
import { long, slow } from "../../long.ts"
import { charted } from "../../measuring/record/charted.ts"
import { record } from "../../record.ts"
import { openService } from "../../service.ts"
import { fixture } from "../../stores/parsing/parsed.ts"
import { dayAgo, daysAgo } from "../../world/clock.ts"
import { marketWorld } from "../../world/market.ts"

/** The publisher of the recorded response, which contains five of the publisher's apps. */
const PUBLISHER = "1500000011"
const APPS = ["1600000101", "1600000102", "1600000103"]
const scene = marketWorld({ forget: ["charts"] })

beforeEach(async () => {
  await scene.sql`update store_app set developer = null, developer_id = null`
})

const ask = (id = PUBLISHER, query = "") => scene.get(`/v1/hive/publisher/${id}${query}`)
/**
 * Stores a chart, by default the free finance apps for iPhone in the US. The publisher's apps have the publisher id.
 */
const recordChart = (days: number, ids: readonly string[], rest: Partial<ChartObservation> = {}) => {
  const apps = ids.map((id) => ({ id, name: `App ${id}`, ...(APPS.includes(id) && { developerId: PUBLISHER }) }))
  const at = daysAgo(days)
  return record(scene.sql, [charted(at, ids, { source: "apple-charts", apps, ...rest })])
}
const shelf = () =>
  scene.stores.on("itunes.apple.com", "/lookup", () => new Response(fixture("itunes-developer-us.json")))

slow("a publisher lists every charted app with its best rank, its storefronts and its first day", async () => {
  shelf()
  // the first day is unknown for apps on the first day of a chart, and known for apps that appear a day later
  await recordChart(5, ["10009", APPS[0]!])
  await recordChart(4, ["10009", APPS[0]!, APPS[1]!])
  await recordChart(0, [APPS[1]!, "10009", "10008", APPS[0]!])
  await recordChart(0, ["10008", APPS[0]!], { chart: "paid" })
  await recordChart(2, ["10009"], { storefront: "de", genre: "36" })
  await recordChart(0, ["10009", "10008", "10007", APPS[1]!], { storefront: "de", genre: "36" })
  const { status, body } = await ask()
  expect([status, body.publisherId, body.name, body.platform]).toEqual([200, PUBLISHER, "Northlight Apps LLC", "ios"])
  expect(body.searched).toEqual(["de", "us"])
  const us = { country: "us", rank: 1, day: dayAgo(0), firstSeen: dayAgo(4) }
  const de = { country: "de", rank: 4, day: dayAgo(0), firstSeen: dayAgo(0) }
  const reading = {
    day: dayAgo(0),
    measuredAt: expect.stringContaining(dayAgo(0)),
    source: "apple-charts",
    origin: "own",
  }
  const chart = { device: "iphone", kind: "free", genre: "6015", ...reading }
  expect(body.apps).toMatchObject([
    { id: APPS[1], rank: 1, country: "us", ...chart, firstSeen: dayAgo(4), storefronts: [us, de] },
    { id: APPS[0], rank: 2, country: "us", kind: "paid", firstSeen: null, storefronts: [{ rank: 2, firstSeen: null }] },
  ])
  expect(body.shelf).toMatchObject({ country: "us", count: 3, complete: true })
  await ask()
  expect([scene.stores.requests.length, await scene.creditsUsed()]).toEqual([1, 20])
})

slow("an app that left the charts is not listed, and has its old first day when it returns", async () => {
  await recordChart(5, ["10009"])
  await recordChart(4, [APPS[0]!])
  await recordChart(1, ["10009"])
  shelf()
  const afterLeaving = await ask()
  expect([
    afterLeaving.status,
    afterLeaving.body.apps,
    afterLeaving.body.shelf.count,
    await scene.creditsUsed(),
  ]).toEqual([200, [], 3, 1])
  await recordChart(0, [APPS[0]!])
  expect((await ask()).body.apps).toMatchObject([{ id: APPS[0], firstSeen: dayAgo(4) }])
})

slow("if the store cannot be read, shelf is null and the apps on charts are still listed", async () => {
  await recordChart(1, [APPS[0]!])
  scene.stores.on("itunes.apple.com", "/", () => new Response("no", { status: 503 }))
  const { status, body } = await ask()
  expect([status, body.shelf, body.apps.length, await scene.creditsUsed()]).toEqual([200, null, 1, 10])
})

slow("an unknown publisher fails with not_measured for 1 credit, with or without a store reading", async () => {
  scene.stores.on("itunes.apple.com", "/lookup", () => Response.json({ resultCount: 0, results: [] }))
  const unknown = await ask("1599999999")
  expect([unknown.status, unknown.body.error, await scene.creditsUsed()]).toEqual([404, "not_measured", 1])
  expect(unknown.body.detail).toContain("does not list it there")
  const service = openService({ sql: scene.sql })
  const off = await service.call("/v1/hive/publisher/1599999999", { key: scene.key })
  expect([off.body.error, off.body.detail, await scene.creditsUsed()]).toEqual([
    "not_measured",
    expect.stringContaining("does not read"),
    2,
  ])
})

slow("charts without publisher ids are not searched, and the error for an unknown publisher states this", async () => {
  const service = openService({ sql: scene.sql })
  await recordChart(1, ["10009"], { storefront: "jp", origin: "demo", source: "import" })
  const { status, body } = await service.call("/v1/hive/publisher/1599999999", { key: scene.key })
  expect([status, body.error]).toEqual([404, "not_measured"])
  expect(body.detail).toContain("Charts of jp list publishers without ids")
  await recordChart(0, [APPS[0]!])
  expect((await service.call(`/v1/hive/publisher/${PUBLISHER}`, { key: scene.key })).body.searched).toEqual(["us"])
  // a reading with publisher ids adds the storefront to `searched`
  await recordChart(0, [APPS[1]!], { storefront: "jp" })
  expect((await service.call(`/v1/hive/publisher/${PUBLISHER}`, { key: scene.key })).body.searched).toEqual([
    "jp",
    "us",
  ])
  expect((await service.call("/v1/hive/publisher/1599999999", { key: scene.key })).body.detail).not.toContain(
    "without ids",
  )
})

test("a Google Play publisher fails with not_measured for 1 credit, without a request to the store", async () => {
  const { status, body } = await ask("Northlight+Apps")
  expect([status, body.error, await scene.creditsUsed(), scene.stores.requests.length]).toEqual([
    404,
    "not_measured",
    1,
    0,
  ])
  expect(body.detail).toContain("Google Play")
})

test("an unknown publisher fails with measure_busy for free if the store is unavailable", async () => {
  scene.stores.on("itunes.apple.com", "/", () => new Response("no", { status: 503 }))
  const { status, body } = await ask("1599999998")
  expect([status, body.error, await scene.creditsUsed()]).toEqual([503, "measure_busy", 0])
})

long("a publisher's apps and ranks are read by index among 30,000 other apps", async () => {
  await recordChart(1, ["10009"])
  await recordChart(0, [APPS[0]!])
  await scene.sql`
    insert into store_app (platform, store_id, developer_id)
    select 'ios', (2000000000 + n)::text, (1700000000 + n % 9000)::text
    from generate_series(1, 30000) n`
  await scene.sql`
    insert into chart_place (app_id, chart_id, rank, day)
    select s.id, c.id, 7, current_date
    from store_app s
    cross join chart c
    where s.store_id like '20000%'`
  await scene.sql`
    insert into chart_first_seen (app_id, chart_id, day) select app_id, chart_id, day from chart_place
      on conflict do nothing`
  for (const isKnown of [false, true]) {
    if (isKnown) await scene.sql`analyze`
    const works: Work[] = []
    expect(await readChartedApps(explainEach(scene.sql, works), PUBLISHER)).toMatchObject([
      { rank: 1, firstSeen: dayAgo(0) },
    ])
    expect(works.filter(({ rows }) => rows >= 60).map(({ plan }) => plan)).toEqual([])
    expect(works).toHaveLength(1)
  }
})
