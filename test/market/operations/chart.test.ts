import { describe, expect, test } from "bun:test"
import type { ChartObservation } from "../../../src/charts/kinds/chart-shape.ts"
import { slow } from "../../long.ts"
import { charted } from "../../measuring/record/charted.ts"
import { record } from "../../record.ts"
import { fixture } from "../../stores/parsing/parsed.ts"
import { dayAgo, daysAgo } from "../../world/clock.ts"
import { marketWorld } from "../../world/market.ts"

const scene = marketWorld({ forget: ["charts"] })

const ask = (query: string, by = scene.key) => scene.get(`/v1/hive/${query}`, by)
const FINANCE = (rest: Partial<ChartObservation>) => ({ source: "apple-charts", ...rest }) as const
const recordChart = (days: number, ids: readonly (string | number)[], rest: Partial<ChartObservation> = {}) =>
  record(scene.sql, [charted(daysAgo(days), ids, FINANCE(rest))])
/** The store answers with a recorded response. */
const answers = () =>
  scene.stores.on("itunes.apple.com", "/us/rss/", () => new Response(fixture("apple-charts-us-free-finance.json")))

describe("hive_get_chart", () => {
  slow("concurrent calls for a chart share one reading, which is then stored", async () => {
    answers()
    const before = await scene.creditsUsed()
    const all = await Promise.all(Array.from({ length: 20 }, () => ask("charts?genre=6015")))
    const first = all[0]!
    const { day, source, origin } = first.body
    expect([first.status, day, source, origin]).toEqual([200, dayAgo(0), "apple-charts", "own"])
    const recorded = JSON.parse(fixture("apple-charts-us-free-finance.json")).feed.entry
    // an app that occurs twice keeps its first place
    const distinct = new Set(
      recorded.map((entry: { id: { attributes: object } }) => JSON.stringify(entry.id.attributes)),
    )
    expect(first.body.apps.length).toBe(distinct.size)
    expect(first.body.apps[0]).toMatchObject({
      rank: 1,
      name: recorded[0]["im:name"].label,
      publisher: expect.any(String),
    })
    expect(new Set(all.map(({ text }) => text)).size).toBe(1)
    expect(await scene.creditsUsed()).toBe(before + 20 * 10)
    await ask("charts?genre=6015")
    expect(scene.stores.requests.length).toBe(1)
  })

  slow("a stored chart is returned up to the limit, without a request to the store", async () => {
    await recordChart(0, [10_003, 10_001, 10_002])
    const { body } = await ask("charts?genre=6015&limit=2")
    expect(body).toMatchObject({ country: "us", kind: "free", genre: { id: "6015" }, day: dayAgo(0), depth: 3 })
    expect(body.apps.map(({ rank, id }: { rank: number; id: string }) => [rank, id])).toEqual([
      [1, "10003"],
      [2, "10001"],
    ])
    expect(body).not.toHaveProperty("thresholds")
    expect(scene.stores.requests.length).toBe(0)
  })

  slow("an older chart is returned with its day if the store cannot be read", async () => {
    await recordChart(3, [10_001])
    scene.stores.on("itunes.apple.com", "/", () => new Response("no", { status: 503 }))
    const { status, body } = await ask("charts?genre=6015")
    expect([status, body.day]).toEqual([200, dayAgo(3)])
  })

  slow("a call for an unread chart fails with measure_busy and is free if the store fails", async () => {
    scene.stores.on("itunes.apple.com", "/", () => new Response("no", { status: 503 }))
    const busy = await ask("charts?genre=6015")
    expect([busy.status, busy.body.error, await scene.creditsUsed()]).toEqual([503, "measure_busy", 0])
  })

  test("on an instance that reads no store, an unread chart fails with not_measured for 1 credit", async () => {
    const service = (await import("../../service.ts")).openService({ sql: scene.sql })
    const { status, body, credits } = await service.call("/v1/hive/charts?genre=6015", { key: scene.key })
    expect([status, body.error, credits.used]).toEqual([404, "not_measured", 1])
    expect(body.detail).toContain("does not read")
  })

  test("an unknown estimate is null, and its row adds no cost", async () => {
    await recordChart(0, [10_001, 10_002])
    const { body } = await ask("charts?genre=6015&estimates=true")
    expect(body.apps.map(({ estimate }: { estimate: null }) => estimate)).toEqual([null, null])
    expect([body.thresholds, await scene.creditsUsed()]).toEqual([null, 10])
  })

  test("a chart is refused without Explorer or a pack, and allowed with a pack", async () => {
    await recordChart(0, [10_001])
    const plain = await scene.service.key(await scene.service.workspace({ plan: "pro" }))
    expect((await ask("charts?genre=6015", plain)).body.error).toBe("explorer_required")
    const packed = await scene.service.key(await scene.service.workspace({ plan: "pro", pack: 100 }))
    expect((await ask("charts?genre=6015", packed)).status).toBe(200)
  })

  test("a genre that the store does not have fails with bad_genre and costs nothing", async () => {
    await scene.sql`
      insert into genre (platform, storefront, genre, name, place, seen_at, source, parser, origin, sha256)
      values ('ios', 'us', '6015', 'Finance', 1, now(), 'apple-genres', 1, 'own', '\\x00')
      on conflict do nothing`
    const { status, body } = await ask("charts?genre=999")
    expect([status, body.error, await scene.creditsUsed()]).toEqual([400, "bad_genre", 0])
    await scene.sql`delete from genre`
  })
})

describe("hive_get_chart_movers", () => {
  slow("movers compares the latest day with the last measured day on or before the requested one", async () => {
    await recordChart(9, [10_001, 10_002, 10_003])
    await recordChart(8, [10_001, 10_002, 10_003, 10_004])
    await recordChart(0, [10_002, 10_005, 10_001, 10_004])
    const { body } = await ask("movers?genre=6015")
    expect(body).toMatchObject({ measured: true, days: 7, latest: { day: dayAgo(0) }, against: { day: dayAgo(8) } })
    const ids = (rows: { id: string }[]) => rows.map(({ id }) => id)
    expect([ids(body.climbed), ids(body.fell), ids(body.entered), ids(body.left)]).toEqual([
      ["10002"],
      ["10001"],
      ["10005"],
      ["10003"],
    ])
    expect(body.left[0].was).toBe(3)
    expect([body.latest.origin, body.against.origin]).toEqual(["own", "own"])
    expect([body.counts, await scene.creditsUsed()]).toEqual([{ climbed: 1, fell: 1, entered: 1, left: 1 }, 10])
  })

  test("on the first day of a chart, movers have measured: false at the price of an empty answer", async () => {
    await recordChart(0, [10_001])
    const { status, body } = await ask("movers?genre=6015")
    expect([status, body.measured, body.against, body.climbed, body.counts]).toEqual([200, false, null, null, null])
    expect([body.measuredSince, await scene.creditsUsed()]).toEqual([dayAgo(0), 1])
  })

  test("readings of the demo have the origin demo", async () => {
    await recordChart(0, [10_001, 10_002], { origin: "demo" })
    const [chart, movers] = [(await ask("charts?genre=6015")).body, (await ask("movers?genre=6015")).body]
    expect([chart.origin, movers.latest.origin]).toEqual(["demo", "demo"])
    const { body } = await ask("find?genre=6015")
    expect(body.apps.map(({ origin }: { origin: string }) => origin)).toEqual(["demo", "demo"])
  })

  test("readings of two sources are not compared", async () => {
    await recordChart(8, [10_001], { source: "import" })
    await recordChart(0, [10_002])
    const { body } = await ask("movers?genre=6015")
    expect([body.measured, body.against.source, body.entered]).toEqual([false, "import", null])
  })

  test("the kind ipad returns the chart of free apps for the iPad", async () => {
    await recordChart(1, [10_001], { device: "ipad" })
    await recordChart(0, [10_002, 10_001], { device: "ipad" })
    await recordChart(0, [10_009])
    const { body } = await ask("movers?genre=6015&kind=ipad&days=1")
    expect([body.kind, body.fell[0].id]).toEqual(["ipad", "10001"])
  })
})
