import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { getChartPositions } from "../../../src/charts/operations/charts.ts"
import type { Sql } from "../../../src/database/types.ts"
import { addDays } from "../../../src/lib/days.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { daysOf, linesOf, rowsOf, SOME } from "../../measuring/record/chart-rows.ts"
import { charted } from "../../measuring/record/charted.ts"
import { ask, contextOf, NOW, newWorkspace } from "../../measuring/record/measured.ts"
import { importLines, record } from "../../record.ts"
import { openService } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"

setDefaultTimeout(60_000)

let sql: Sql
let workspaceId: number
const now = () => NOW

beforeEach(async () => {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
})

const track = (rest: object = {}) => trackOwn(sql, { workspaceId, iosId: "10001", countries: ["us", "jp"], ...rest })
const positions = (appId: string, input: object = {}, at = NOW) =>
  ask(getChartPositions, contextOf(sql, workspaceId, at), { appId, ...input })
const setCategory = (storeId: string, genre: string) => sql`
  update store_app
  set genre = ${genre}
  where (platform, store_id) = ('ios', ${storeId})`
const addGenre = (storefront: string, genre: string, name: string) => sql`
  insert into genre (platform, storefront, genre, name, place, seen_at, source, parser, origin, sha256)
  values ('ios', ${storefront}, ${genre}, ${name}, 1, ${NOW}, 'apple-genres', 1, 'own', '\\x00')`

interface Row {
  device: string
  kind: string
  scope: string
  genre: { id: string; name: string | null } | null
  measured: boolean
  rank: number | null
  series: [string, number | null, number][]
}

const list = ({ charts }: { charts: Row[] }, device: string, scope: string, kind: string) =>
  charts.find((row) => row.device === device && row.scope === scope && row.kind === kind)!
const NEVER = {
  measured: false,
  day: null,
  measuredAt: null,
  measuredSince: null,
  source: null,
  depth: null,
  rank: null,
  sources: [],
  series: [],
}

describe("the twelve charts of an app", () => {
  test("the twelve charts have a fixed order, and on each the app is ranked, absent or not measured", async () => {
    const appId = await track()
    await setCategory("10001", "6015")
    await record(
      sql,
      [
        charted("2025-11-18T09:00:00Z", [10002, 10001], { depth: 200 }),
        charted("2025-11-19T09:00:00Z", [10002], { chart: "grossing", genre: "36", depth: 100 }),
        charted("2025-11-19T10:00:00Z", [10001], { device: "ipad", complete: false }),
      ],
      now,
    )
    await addGenre("us", "6015", "Finance")
    await addGenre("jp", "36", "App Store (jp)")
    const answer = await positions(appId)
    const { charts, ...top } = answer
    expect(top).toEqual({
      country: "us",
      platform: "ios",
      state: "measured",
      category: { id: "6015", name: "Finance" },
      from: "2025-09-22",
      to: "2025-11-20",
      measuredAt: "2025-11-19T09:00:00.000Z",
    })
    expect(charts.map(({ device, scope, kind }: Row) => `${device} ${scope} ${kind}`)).toEqual(
      ["iphone", "ipad"].flatMap((device) =>
        ["overall", "category"].flatMap((scope) =>
          ["free", "paid", "grossing"].map((kind) => `${device} ${scope} ${kind}`),
        ),
      ),
    )
    expect(list(answer, "iphone", "category", "free")).toEqual({
      device: "iphone",
      kind: "free",
      scope: "category",
      genre: { id: "6015", name: "Finance" },
      measured: true,
      day: "2025-11-18",
      measuredAt: "2025-11-18T09:00:00.000Z",
      measuredSince: "2025-11-18",
      source: "import",
      depth: 200,
      rank: 2,
      sources: [{ source: "import", from: "2025-11-18", to: "2025-11-18" }],
      series: [["2025-11-18", 2, 200]],
    } as never)
    expect(list(answer, "iphone", "overall", "grossing")).toMatchObject({
      genre: { id: "36", name: null },
      measured: true,
      day: "2025-11-19",
      depth: 100,
      rank: null,
      series: [["2025-11-19", null, 100]],
    })
    const rest = charts.filter(({ measured }: Row) => !measured)
    expect(rest).toHaveLength(10)
    for (const row of rest) expect(row).toMatchObject(NEVER)
  })

  test("if the app's category is unknown, overall charts are measured and category charts are not", async () => {
    const appId = await track()
    await record(
      sql,
      [charted("2025-11-19T09:00:00Z", [10001], { genre: "36" }), charted("2025-11-19T09:00:00Z", [10001])],
      now,
    )
    const answer = await positions(appId)
    expect(answer).toMatchObject({ state: "measured", category: null })
    expect(answer.charts).toHaveLength(12)
    expect(list(answer, "iphone", "overall", "free")).toMatchObject({ rank: 1 })
    expect(list(answer, "iphone", "category", "free")).toMatchObject({ genre: null, ...NEVER })
  })

  test("each storefront has separate charts, and charts of an untracked storefront are not measured", async () => {
    const appId = await track()
    const at = "2025-11-19T09:00:00Z"
    const overall = (storefront: string, ids: number[]) => charted(at, ids, { storefront, genre: "36" })
    await record(sql, [overall("us", [10001]), overall("jp", [10002, 10001]), overall("de", [10001])], now)
    expect(list(await positions(appId), "iphone", "overall", "free").rank).toBe(1)
    expect(list(await positions(appId, { country: "jp" }), "iphone", "overall", "free").rank).toBe(2)
    const untracked = await positions(appId, { country: "de" })
    expect(untracked).toMatchObject({ country: "de", state: "not_tracked", measuredAt: null })
    for (const row of untracked.charts) expect(row).toMatchObject(NEVER)
  })

  test("all charts are unmeasured before the first reading, and an app only on Google Play has no charts", async () => {
    const fresh = await positions(await track())
    expect([fresh.state, fresh.measuredAt, fresh.charts.length]).toEqual(["not_measured", null, 12])
    for (const row of fresh.charts) expect(row).toMatchObject(NEVER)
    const android = await positions(await track({ iosId: undefined, androidPkg: "com.example.tea" }))
    expect(android).toMatchObject({
      platform: "ios",
      state: "no_ios_app",
      category: null,
      measuredAt: null,
      charts: [],
    })
  })
})

describe("the history of a chart", () => {
  test("the history covers sixty days and leaves out unmeasured days", async () => {
    const appId = await track()
    const at = (day: string, ids: number[], rest: object = {}) =>
      charted(`${day}T09:00:00Z`, ids, { genre: "36", ...rest })
    await record(
      sql,
      [
        at("2025-09-21", [10001]),
        at("2025-09-22", [10002, 10001]),
        at("2025-10-01", [10002, 10003], { depth: 50 }),
        at("2025-11-20", [10001]),
      ],
      now,
    )
    const free = list(await positions(appId), "iphone", "overall", "free")
    expect(free).toMatchObject({ measuredSince: "2025-09-21", rank: 1 })
    expect(free.series).toEqual([
      ["2025-09-22", 2, 2],
      ["2025-10-01", null, 50],
      ["2025-11-20", 1, 1],
    ])
    const later = list(await positions(appId, {}, new Date("2026-03-01T00:00:00Z")), "iphone", "overall", "free")
    expect(later).toMatchObject({ measured: true, day: "2025-11-20", rank: 1, series: [], sources: [] })
  })

  test("the history lists the source of each range of days", async () => {
    const appId = await track()
    const at = (day: string, source: "import" | "apple-charts") =>
      charted(`${day}T09:00:00Z`, [10001], { genre: "36", source })
    await record(
      sql,
      [
        at("2025-11-15", "import"),
        at("2025-11-16", "import"),
        at("2025-11-18", "apple-charts"),
        at("2025-11-19", "import"),
      ],
      now,
    )
    expect(list(await positions(appId), "iphone", "overall", "free")).toMatchObject({
      source: "import",
      sources: [
        { source: "import", from: "2025-11-15", to: "2025-11-16" },
        { source: "apple-charts", from: "2025-11-18", to: "2025-11-18" },
        { source: "import", from: "2025-11-19", to: "2025-11-19" },
      ],
    })
  })

  slow("the history of each app on a real chart equals the source table", async () => {
    const rows = rowsOf(SOME)
    async function* lines() {
      yield* linesOf(rows)
    }
    await importLines(sql, lines(), { now, pause: async () => {} })
    const days = daysOf(rows)
    const [first, last] = [[...days.keys()][0]!, [...days.keys()].at(-1)!]
    const apps = [...new Set(rows.map(({ id }) => id))].filter((_, at) => at % 9 === 0)
    expect(apps.length).toBeGreaterThan(10)
    let absences = 0
    for (const id of apps) {
      const appId = await track({ iosId: id, countries: ["jp"] })
      await setCategory(id, "6015")
      const free = list(
        await positions(appId, {}, new Date(`${addDays(last, 1)}T00:00:00Z`)),
        "iphone",
        "category",
        "free",
      )
      const window = [...days].filter(([day]) => day >= addDays(last, -88))
      expect(free.series).toEqual(window.map(([day, ranks]) => [day, ranks.get(id) ?? null, 100]))
      expect(free).toMatchObject({ rank: days.get(last)!.get(id) ?? null, day: last, measuredSince: first })
      absences += free.series.filter(([, rank]) => rank === null).length
    }
    expect(absences).toBeGreaterThan(0)
  })
})

test("charts cost one credit and need apps:read; on the Free plan the tool returns thirty days", async () => {
  const service = openService({ sql, now })
  const workspace = await service.workspace({ plan: "studio" })
  workspaceId = workspace
  const appId = await track()
  const path = `/v1/apps/${appId}/charts`
  const key = await service.key(workspace)
  const answer = await service.call(path, { key })
  expect([answer.status, answer.credits.used, answer.body.from]).toEqual([200, 1, "2025-09-22"])
  const reviews = await service.key(workspace, { scopes: ["reviews:read"] })
  expect((await service.call(path, { key: reviews })).body).toMatchObject({
    error: "scope_required",
    scope: "apps:read",
  })
  expect((await service.call(`${path}?country=zz`, { key })).body).toMatchObject({
    error: "bad_country",
    field: "country",
  })
  expect((await service.call(`${path}?platform=android`, { key })).body).toMatchObject({ error: "invalid_arguments" })
  expect((await service.call("/v1/apps/app_unknown/charts", { key })).body.error).toBe("not_found")
  workspaceId = await service.workspace({ plan: "free" })
  const free = { appId: await track() }
  const freeKey = await service.key(workspaceId)
  expect((await service.tool("get_chart_positions", free, { key: freeKey })).body.from).toBe("2025-10-22")
  expect((await service.call(`/v1/apps/${free.appId}/charts`, { key: freeKey })).body.error).toBe("plan_required")
})
