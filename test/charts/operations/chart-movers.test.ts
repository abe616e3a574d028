import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { getChartMovers } from "../../../src/charts/operations/chart-movers.ts"
import type { Sql } from "../../../src/database/types.ts"
import { addDays } from "../../../src/lib/days.ts"
import { freshDatabase } from "../../database.ts"
import { LONG, slow } from "../../long.ts"
import { ALL, daysOf, isAllHere, linesOf, rowsOf, SOME } from "../../measuring/record/chart-rows.ts"
import { charted } from "../../measuring/record/charted.ts"
import { ask, contextOf, NOW, newWorkspace, rename } from "../../measuring/record/measured.ts"
import { importLines, record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"

setDefaultTimeout(120_000)

let sql: Sql
let workspaceId: number
const now = () => NOW

beforeEach(async () => {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
})

const track = (rest: object = {}) => trackOwn(sql, { workspaceId, iosId: "10001", ...rest })
const movers = (appId: string, input: object = {}) =>
  ask(getChartMovers, contextOf(sql, workspaceId), { appId, ...input })
const setCategory = (storeId: string, genre: string) => sql`
  update store_app
  set genre = ${genre}
  where (platform, store_id) = ('ios', ${storeId})`
const addGenres = (storefront: string, genres: Record<string, string>) => sql`
  insert into genre (platform, storefront, genre, name, place, seen_at, source, parser, origin, sha256)
  select 'ios', ${storefront}, key, value, 1, ${NOW}, 'apple-genres', 1, 'own', '\\x00'
  from jsonb_each_text(${sql.json(genres)})`
const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

const NOTHING = { risers: null, fallers: null, entrants: null, dropouts: null, counts: null }

interface Moved {
  id: string
  rank: number
  was: number
}

describe.each([["12 days", SOME, 12], ...(LONG && isAllHere ? [["247 days", ALL, 247] as const] : [])])(
  "%s of the finance chart of Japan",
  (_, path, dayCount) => {
    slow("risers, fallers, entrants and drop-outs equal those of the source table", async () => {
      const rows = rowsOf(path)
      const days = daysOf(rows)
      expect(days.size).toBe(dayCount)
      const lines = Map.groupBy(linesOf(rows), (line) => JSON.parse(line).seenAt.slice(0, 10) as string)
      const [first] = days.keys()
      const ownId = rows[0]!.id
      const appId = await track({ iosId: ownId, countries: ["jp"], manualRivals: [`ios:${rows[1]!.id}`] })
      await setCategory(ownId, "6015")
      let compared = 0
      let cutLists = 0
      for (const [day, later] of days) {
        await importLines(sql, each(lines.get(day)!), { now, pause: async () => {} })
        for (const [daysBack, limit] of [
          [1, 2],
          [7, 100],
        ] as const) {
          const found = await movers(appId, { country: "jp", days: daysBack, limit })
          expect(found.day).toMatchObject({ day, depth: 100, source: "import" })
          expect(found.app).toMatchObject({ id: ownId, rank: later.get(ownId) ?? null })
          const earlier = lastBy(days, addDays(day, -daysBack))
          if (!earlier) {
            expect(found).toMatchObject({ state: "nothing_before", against: null, measuredSince: first, ...NOTHING })
            continue
          }
          expect(found).toMatchObject({ state: "compared", against: { day: earlier[0] } })
          expect(idsIn(found)).toEqual(fromTable(earlier[1], later, limit))
          expect(found.rivals.map(({ rank, was }: Moved) => [rank, was])).toEqual([
            [later.get(rows[1]!.id) ?? null, earlier[1].get(rows[1]!.id) ?? null],
          ])
          cutLists += found.counts.risers > found.risers.length ? 1 : 0
          compared++
        }
      }
      expect(compared).toBeGreaterThan(dayCount)
      expect(cutLists).toBeGreaterThan(0)
    })
  },
)

async function* each(lines: readonly string[]) {
  yield* lines
}

/** Returns the last of the days up to this one. */
function lastBy(days: Map<string, Map<string, number>>, until: string) {
  return [...days].filter(([day]) => day <= until).at(-1)
}

function fromTable(earlier: Map<string, number>, later: Map<string, number>, limit: number) {
  const stayed = [...later].flatMap(([id, rank]) => (earlier.has(id) ? [{ id, rank, was: earlier.get(id)! }] : []))
  const far = stayed
    .filter(({ rank, was }) => Math.abs(rank - was) >= 3)
    .sort((a, b) => Math.abs(b.rank - b.was) - Math.abs(a.rank - a.was) || a.rank - b.rank)
  const all = {
    risers: far.filter(({ rank, was }) => rank < was),
    fallers: far.filter(({ rank, was }) => rank > was),
    entrants: [...later]
      .filter(([id]) => !earlier.has(id))
      .sort((a, b) => a[1] - b[1])
      .map(([id, rank]) => ({ id, rank })),
    dropouts: [...earlier]
      .filter(([id]) => !later.has(id))
      .sort((a, b) => a[1] - b[1])
      .map(([id, was]) => ({ id, was })),
  }
  return {
    risers: all.risers.slice(0, limit),
    fallers: all.fallers.slice(0, limit),
    entrants: all.entrants.slice(0, limit),
    dropouts: all.dropouts.slice(0, limit),
    counts: Object.fromEntries(Object.entries(all).map(([name, rows]) => [name, rows.length])),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: an answer of the operation
function idsIn({ risers, fallers, entrants, dropouts, counts }: any) {
  const bare = (rows: { name: string }[]) => rows.map(({ name: _, ...row }) => row)
  return { risers: bare(risers), fallers: bare(fallers), entrants: bare(entrants), dropouts: bare(dropouts), counts }
}

describe("the compared days", () => {
  slow("a move of three ranks is listed and a move of two is not; an app without a name shows its id", async () => {
    const appId = await track()
    await setCategory("10001", "6015")
    const addChart = (day: string, order: number[]) =>
      charted(`${day}T09:00:00Z`, [], {
        depth: 10,
        apps: order.map((id) => (id === 10004 ? { id: "10004", name: "Four" } : { id: String(id) })),
      })
    // 10004 climbs by three, 10006 by two; 10003 falls by three, 10001 and 10002 by one; 10005 stays
    await record(
      sql,
      [
        addChart("2025-11-18", [10001, 10002, 10003, 10004, 10005, 10006]),
        addChart("2025-11-19", [10004, 10001, 10002, 10006, 10005, 10003]),
      ],
      now,
    )
    await addGenres("us", { 6015: "Finance" })
    expect(await movers(appId)).toEqual({
      country: "us",
      platform: "ios",
      device: "iphone",
      kind: "free",
      genre: { id: "6015", name: "Finance" },
      days: 1,
      state: "compared",
      day: { day: "2025-11-19", measuredAt: "2025-11-19T09:00:00.000Z", depth: 10, source: "import" },
      against: { day: "2025-11-18", measuredAt: "2025-11-18T09:00:00.000Z", depth: 10, source: "import" },
      measuredSince: "2025-11-18",
      risers: [{ id: "10004", name: "Four", rank: 1, was: 4 }],
      fallers: [{ id: "10003", name: "10003", rank: 6, was: 3 }],
      entrants: [],
      dropouts: [],
      counts: { risers: 1, fallers: 1, entrants: 0, dropouts: 0 },
      app: { id: "10001", name: "10001", rank: 2, was: 1 },
      rivals: [],
      rivalsTruncated: false,
    })
  })

  test("the first day of a chart has no movers, but has the ranks of the app and its rivals", async () => {
    const appId = await track({ manualRivals: ["ios:10002", "ios:10009"] })
    await setCategory("10001", "6015")
    await record(sql, [charted("2025-11-19T09:00:00Z", [10003, 10001, 10002])], now)
    const found = await movers(appId)
    expect(found).toMatchObject({
      state: "nothing_before",
      day: { day: "2025-11-19" },
      against: null,
      measuredSince: "2025-11-19",
      ...NOTHING,
    })
    expect(found.app).toEqual({ id: "10001", name: "10001", rank: 2, was: null })
    expect(found.rivals).toEqual([
      { id: "10002", name: "10002", manual: true, rank: 3, was: null },
      { id: "10009", name: "10009", manual: true, rank: null, was: null },
    ])
  })

  test("two days are compared only if they have the same source; days between them are ignored", async () => {
    const appId = await track()
    await setCategory("10001", "6015")
    await record(sql, [charted("2025-11-17T09:00:00Z", [10001, 10002], { source: "apple-charts" })], now)
    await record(sql, [charted("2025-11-18T09:00:00Z", ids(10002, 10009))], now)
    await record(sql, [charted("2025-11-19T09:00:00Z", ids(10001, 10009), { source: "apple-charts" })], now)
    expect(await movers(appId)).toMatchObject({
      state: "source_changed",
      day: { day: "2025-11-19", source: "apple-charts" },
      against: { day: "2025-11-18", source: "import" },
      app: { rank: 1, was: null },
      ...NOTHING,
    })
    expect(await movers(appId, { days: 2 })).toMatchObject({
      state: "compared",
      against: { day: "2025-11-17", source: "apple-charts" },
      app: { rank: 1, was: 1 },
      // only two places were read then, so it is unknown whether the others are new
      entrants: [],
      counts: { entrants: 0 },
    })
  })

  test("an app that may be below the depth of a reading is neither an entrant nor a drop-out", async () => {
    const appId = await track()
    await setCategory("10001", "6015")
    await record(
      sql,
      [charted("2025-11-18T09:00:00Z", ids(10001, 10010)), charted("2025-11-19T09:00:00Z", [10020, 10001, 10002])],
      now,
    )
    const { entrants, dropouts } = await movers(appId)
    expect(entrants).toEqual([{ id: "10020", name: "10020", rank: 1 }])
    expect(dropouts).toEqual([{ id: "10003", name: "10003", was: 3 }])
  })

  test("each kind and genre has a separate chart, and iPad charts are not used", async () => {
    const appId = await track()
    await setCategory("10001", "6015")
    const at = "2025-11-19T09:00:00Z"
    await record(
      sql,
      [
        charted(at, [10001], { chart: "paid" }),
        charted(at, [10002, 10001], { genre: "36" }),
        charted(at, [10001], { device: "ipad" }),
      ],
      now,
    )
    expect(await movers(appId)).toMatchObject({
      kind: "free",
      genre: { id: "6015", name: null },
      state: "not_measured",
      day: null,
    })
    expect(await movers(appId, { kind: "paid" })).toMatchObject({
      kind: "paid",
      state: "nothing_before",
      app: { rank: 1 },
    })
    expect(await movers(appId, { genre: "36" })).toMatchObject({ genre: { id: "36" }, app: { rank: 2 } })
    expect(await movers(appId, { kind: "grossing" })).toMatchObject({ state: "not_measured" })
  })

  test("the state shows an unknown category, an untracked storefront or a missing iOS app", async () => {
    const appId = await track()
    await record(
      sql,
      [charted("2025-11-19T09:00:00Z", [10001]), charted("2025-11-19T09:00:00Z", [10001], { storefront: "jp" })],
      now,
    )
    const unmeasured = { day: null, against: null, measuredSince: null, ...NOTHING }
    expect(await movers(appId)).toMatchObject({
      state: "category_unknown",
      genre: null,
      app: { rank: null, was: null },
      ...unmeasured,
    })
    expect(await movers(appId, { genre: "6015" })).toMatchObject({ state: "nothing_before", app: { rank: 1 } })
    expect(await movers(appId, { genre: "6015", country: "jp" })).toMatchObject({
      state: "not_tracked",
      app: { id: "10001", rank: null },
      rivals: [],
      ...unmeasured,
    })
    const android = await track({ iosId: undefined, androidPkg: "com.example.tea" })
    expect(await movers(android, { genre: "6015" })).toMatchObject({
      state: "no_ios_app",
      app: null,
      rivals: [],
      ...unmeasured,
    })
  })
})

slow("rivals added by hand come first, then followed rivals with the most keywords", async () => {
  const appId = await track({ manualRivals: ["ios:10005", "android:com.example.rival"] })
  await setCategory("10001", "6015")
  await record(
    sql,
    [
      charted("2025-11-18T09:00:00Z", ids(10001, 10005)),
      charted("2025-11-19T09:00:00Z", [10005, 10003, 10001, 10002, 10004]),
    ],
    now,
  )
  const follow = (storeId: string, terms: number, manual = false, storefront = "us") => sql`
    insert into app_rival (app_id, platform, storefront, rival, manual, terms, day)
    select ${appId}, 'ios', ${storefront}, id, ${manual}, ${terms}, '2025-11-19'
    from store_app
    where store_id = ${storeId}`
  const rivals = async () =>
    (await movers(appId)).rivals.map((row: Moved & { manual: boolean }) => [row.id, row.manual, row.rank, row.was])
  expect(await rivals()).toEqual([["10005", true, 1, 5]])
  for (const storeId of ["10003", "10005"]) await rename(sql, storeId, `App ${storeId}`)
  await follow("10002", 1)
  await follow("10003", 4)
  // a rival that is no longer added by hand, and a rival of another storefront
  await follow("10004", 0, true)
  await follow("10004", 9, false, "gb")
  expect(await rivals()).toEqual([
    ["10005", true, 1, 5],
    ["10003", false, 2, 3],
    ["10002", false, 4, 2],
  ])
  const { rivals: rows } = await movers(appId)
  expect(rows.map(({ name }: { name: string }) => name)).toEqual(["App 10005", "App 10003", "10002"])
  const many = ids(20_001, 20_048)
  await record(sql, [charted("2025-11-19T10:00:00Z", [10_001, ...many], { genre: "36" })], now)
  for (const id of many) await follow(String(id), 1)
  const cutAnswer = await movers(appId)
  expect([cutAnswer.rivals.length, cutAnswer.rivalsTruncated]).toEqual([50, true])
})

describe("chart movers over HTTP", () => {
  let service: Service
  let key: string
  let path: string

  beforeEach(async () => {
    service = openService({ sql, now })
    workspaceId = await service.workspace()
    key = await service.key(workspaceId)
    path = `/v1/apps/${await track()}/chart-movers`
  })

  const outcome = async (query: string) => {
    const { status, body } = await service.call(`${path}?${query}`, { key })
    return status === 200 ? "taken" : `${body.error} ${body.field}`
  }

  slow("a parameter at its bound is accepted, and beyond its bound it is refused with its error code", async () => {
    await addGenres("us", { 36: "App Store", 6015: "Finance" })
    const cases: [string, string][] = [
      ["kind=free", "taken"],
      ["kind=paid", "taken"],
      ["kind=grossing", "taken"],
      ["kind=ipad", "bad_kind kind"],
      ["kind=Free", "bad_kind kind"],
      ["genre=36", "taken"],
      ["genre=6015", "taken"],
      ["genre=6014", "bad_genre genre"],
      ["genre=finance", "bad_genre genre"],
      ["genre=0", "bad_genre genre"],
      ["genre=1234567", "bad_genre genre"],
      ["days=0", "bad_days days"],
      ["days=1", "taken"],
      ["days=90", "taken"],
      ["days=91", "bad_days days"],
      ["days=1.5", "bad_days days"],
      ["limit=0", "invalid_arguments limit"],
      ["limit=1", "taken"],
      ["limit=100", "taken"],
      ["limit=101", "invalid_arguments limit"],
      ["country=zz", "bad_country country"],
      ["platform=ios", "invalid_arguments platform"],
    ]
    for (const [query, expected] of cases) expect([query, await outcome(query)]).toEqual([query, expected])
    // the genre names of this storefront were not read, so any number may be valid
    expect(await outcome("genre=6014&country=jp")).toBe("taken")
    // a measured list is valid, whatever the genre names are
    await record(sql, [charted("2025-11-19T09:00:00Z", [10001], { genre: "6014" })], now)
    expect(await outcome("genre=6014")).toBe("taken")
  })

  test("chart movers cost one credit and need apps:read and the Pro plan; a refused call is free", async () => {
    expect((await service.call(path, { key })).credits.used).toBe(1)
    expect((await service.call(`${path}?days=91`, { key })).credits.used).toBe(1)
    const reviews = await service.key(workspaceId, { scopes: ["reviews:read"] })
    expect((await service.call(path, { key: reviews })).body).toMatchObject({
      error: "scope_required",
      scope: "apps:read",
    })
    workspaceId = await service.workspace({ plan: "free" })
    const free = await service.key(workspaceId)
    const refused = await service.tool("get_chart_movers", { appId: await track() }, { key: free })
    expect(refused.body.error).toBe("plan_required")
  })
})
