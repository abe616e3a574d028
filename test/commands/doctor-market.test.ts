import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Finding } from "../../src/commands/doctor/finding.ts"
import { openEmbedded } from "../../src/database/embedded/open.ts"
import type { Database, Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { CHART_GENRES } from "../../src/lib/storefronts.ts"
import { followMarket } from "../../src/market/followed-storefronts.ts"
import { marketPlanOf } from "../../src/market/market-plan.ts"
import { slow } from "../long.ts"
import { charted } from "../measuring/record/charted.ts"
import { record } from "../record.ts"
import { type ReplayServer, replayServer } from "../stores/parsing/replay.ts"
import { appmeter, dataFolder, removeFolders } from "./child.ts"
import { emptyTables, standingIn } from "./measured-scene.ts"

setDefaultTimeout(60_000)

let database: Database
let sql: Sql
let DATA_DIR: string
let stores: ReplayServer

beforeAll(async () => {
  ;({ DATA_DIR } = await dataFolder())
  database = await openEmbedded({ dataDir: DATA_DIR, as: "server", log: silentLog })
  sql = database.sql
  stores = replayServer()
})
beforeEach(async () => {
  await emptyTables(sql)
  await followMarket(sql, [])
})
afterAll(async () => {
  await stores.stop()
  await database.close()
  removeFolders()
})

async function doctor(env: Record<string, string> = {}) {
  const { out } = await appmeter(["doctor", "--json"], {
    env: { MEASURE: "yes", DATA_DIR, UPSTREAM_URLS: standingIn(stores), ...env },
  })
  const { findings } = JSON.parse(out) as { findings: Finding[] }
  const findingOf = (thing: string) => findings.find((finding) => finding.thing === thing)
  return { market: findingOf("market"), things: findings.map(({ thing }) => thing) }
}

const whole = (...storefronts: string[]) => storefronts.map((storefront) => ({ storefront, genres: CHART_GENRES }))

describe("doctor checks MARKET", () => {
  test("without MARKET, doctor reports that no storefront is followed", async () => {
    const { market, things } = await doctor()
    expect(market).toMatchObject({ state: "ok", says: "MARKET is empty, so no storefront is followed" })
    expect(things).not.toContain("itunes.apple.com")
  })

  slow("doctor estimates the requests for unread charts, and counts the apps of charts that were read", async () => {
    const MARKET = "us:36+6015"
    expect((await doctor({ MARKET })).market).toMatchObject({
      state: "ok",
      says:
        "us: 8 lists and 16 look-ups of 800 apps a day, assuming 100 apps on each of 8 lists that were not read yet; " +
        "25 requests a day (41 if each of these lists has 200 apps), 0.1 % of the 28800 possible at itunes.apple.com",
    })
    await followMarket(sql, [{ storefront: "us", genres: ["36", "6015"] }])
    const ids = (from: number) => Array.from({ length: 60 }, (_, at) => String(700_000 + from + at))
    const lists = ["free", "paid", "grossing"].flatMap((chart) => ["36", "6015"].map((genre) => ({ chart, genre })))
    const all = [...lists, ...["36", "6015"].map((genre) => ({ chart: "free", genre, device: "ipad" as const }))]
    const readings = all.map((rest, at) => charted(new Date().toISOString(), ids(at * 20), rest as object))
    expect((await record(sql, readings)).recorded).toBe(8)
    const { market, things } = await doctor({ MARKET, UPSTREAM_GAPS_MS: "itunes.apple.com=86400" })
    expect(market).toMatchObject({
      state: "ok",
      says:
        "us: 8 lists and 4 look-ups of 200 apps a day; " +
        "13 requests a day, 1.3 % of the 1000 possible at itunes.apple.com",
    })
    // the market is read only from this host
    expect(things.filter((thing) => thing.endsWith(".com"))).toEqual(["itunes.apple.com"])
  })

  test("doctor warns if charts of 200 apps would need more requests than are possible", async () => {
    const gap = (ms: number) => ({ MARKET: "fr:36+6015", UPSTREAM_GAPS_MS: `itunes.apple.com=${ms}` })
    // at most 41 requests a day, usually 25
    expect((await doctor(gap(2_107_300))).market).toMatchObject({ state: "ok" })
    expect((await doctor(gap(2_160_000))).market).toMatchObject({
      state: "warning",
      says: expect.stringContaining(
        "25 requests a day (41 if each of these lists has 200 apps), 62.5 % of the 40 possible",
      ),
      fix: expect.stringContaining("MARKET=us:36"),
    })
  })

  test("doctor warns about too many requests, a disabled source, and a MARKET unlike the server's", async () => {
    const slow = { MARKET: "us,gb", UPSTREAM_GAPS_MS: "itunes.apple.com=3600000" }
    expect((await doctor(slow)).market).toMatchObject({
      state: "warning",
      fix: expect.stringContaining("MARKET=us:36"),
    })
    expect((await doctor({ MARKET: "us", SOURCES_OFF: "apple-charts" })).market).toMatchObject({
      state: "warning",
      says: expect.stringMatching(/; apple-charts is off$/),
    })
    await followMarket(sql, whole("gb", "de"))
    expect((await doctor({ MARKET: "us" })).market).toMatchObject({
      state: "warning",
      says: "the process that started last follows de, gb with 673 requests a day, but MARKET here is us",
    })
    expect((await doctor({ MARKET: "gb,de" })).market).toMatchObject({ state: "ok" })
  })
})

describe("ten storefronts", () => {
  const ten = (figures: { read: number; apps: number }) =>
    marketPlanOf(Array.from({ length: 10 }, (_, at) => ({ storefront: String(at), lists: 112, ...figures })))

  test("ten storefronts need at most 4,200 requests a day, for assumed and for recorded charts", () => {
    expect(ten({ read: 0, apps: 0 })).toMatchObject({
      lists: 1_120,
      unread: 1_120,
      requests: 3_361,
      mostRequests: 5_601,
    })
    // in the recordings, 50 lists of a storefront with 100 places each had 4,655 to 4,867 apps together
    expect(ten({ read: 50, apps: 4_867 }).requests).toBeLessThanOrEqual(4_200)
    // about three times as many apps in all 112 lists of a storefront
    expect(ten({ read: 112, apps: 15_000 })).toEqual({
      lists: 1_120,
      unread: 0,
      apps: 150_000,
      lookUps: 3_000,
      requests: 4_121,
      mostRequests: 4_121,
    })
  })

  test("ten storefronts with charts of 200 apps need at most 5,401 requests a day", () => {
    expect(ten({ read: 112, apps: 20_000 })).toMatchObject({ requests: 5_121, mostRequests: 5_121 })
    expect(ten({ read: 50, apps: 9_000 })).toMatchObject({ requests: 4_161, mostRequests: 5_401 })
  })
})
