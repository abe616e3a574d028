import { beforeAll, expect, test } from "bun:test"
import type { Operation } from "../../src/core/operation.ts"
import type { Sql } from "../../src/database/types.ts"
import { getKeywordCompetition } from "../../src/keywords/operations/competition.ts"
import { listRivals } from "../../src/keywords/operations/list-rivals.ts"
import { getStorePage } from "../../src/listings/operations/store-page.ts"
import { getRival } from "../../src/market/operations/rivals/get-rival.ts"
import { fetchRecord } from "../../src/overview/operations/fetch-record.ts"
import { getToday } from "../../src/overview/operations/today.ts"
import { readRatingDays } from "../../src/stores/read/rating-days.ts"
import { freshDatabase } from "../database.ts"
import { listed } from "../measuring/record/listed.ts"
import { appsReading, ask, contextOf, newWorkspace, reading } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import { trackOwn } from "../world/tracked.ts"

const NOW = new Date("2025-11-20T12:00:00Z")
const [OWN_APP, RIVAL] = ["10001", "20001"] as const
const LOOKED_UP = { [OWN_APP]: { ratings: 1_000, rating: 4.63214 }, [RIVAL]: { ratings: 2_000, rating: 4.51234 } }

let sql: Sql
let appId: string
let workspaceId: number

beforeAll(async () => {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
  const tracked = { workspaceId, iosId: OWN_APP, countries: ["us"], keywords: ["tea"], origin: "own" }
  appId = await trackOwn(sql, tracked)
  const apps = Object.entries(LOOKED_UP).map(([id, counts]) => ({ id, name: `App ${id}`, ...counts }))
  const page = (id: string) => listed("2025-11-20T11:00:00Z", { ratings: 1, rating: 1 }, { id })
  await record(
    sql,
    [
      reading("tea", "2025-11-20T10:00:00Z", [RIVAL, OWN_APP]),
      appsReading("2025-11-20T08:00:00Z", apps),
      page(OWN_APP),
      page(RIVAL),
    ],
    () => NOW,
  )
})

const askOperation = (operation: Operation, input: object = {}) => {
  const ctx = contextOf(sql, workspaceId, NOW)
  return ask(operation, { ...ctx, caller: { ...ctx.caller, scopes: ["apps:read"] } }, { appId, ...input })
}

test("both apps' pages were read after the look-up with other counts", async () => {
  const rows = await sql`
    select s.store_id as id, c.source, c.ratings
    from rating_count c
    join store_app s on s.id = c.app_id
    order by c.seen_at desc, s.store_id, c.source`
  expect(rows.slice(0, 2)).toEqual([OWN_APP, RIVAL].map((id) => ({ id, source: "apple-app-page", ratings: 1 })))
})

test("every operation returns the look-up's rating count of the rival", async () => {
  const { rivals } = await askOperation(listRivals)
  const { ratings, rating, history } = await askOperation(getRival, { rivalId: RIVAL })
  const { keywords } = await askOperation(getKeywordCompetition)
  const ctx = contextOf(sql, workspaceId, NOW)
  const keyword = await ask(fetchRecord, ctx, { id: `kw:${appId}:us:tea` })
  expect([
    rivals[0].ratings,
    ratings,
    history.points.at(-1).ratings,
    keywords[0].top[0].ratings,
    keyword.metadata.current.above[0].ratings,
  ]).toEqual(Array.from({ length: 5 }, () => LOOKED_UP[RIVAL].ratings))
  expect(rating).toBe(LOOKED_UP[RIVAL].rating)
})

test("a rival's history uses this instance's rating count of a day, or else that of another publisher", async () => {
  const results = [
    { id: RIVAL, ratings: 7 },
    { id: "30001", ratings: 8 },
  ]
  const from = { depth: 2, results, source: "foreign", origin: "demo" } as const
  const days = ["2025-11-18T08:00:00Z", "2025-11-20T08:00:00Z"]
  await record(
    sql,
    days.map((day) => reading("mate", day, [], from)),
    () => NOW,
  )
  const { history } = await askOperation(getRival, { rivalId: RIVAL })
  expect(history.points.map(({ day, ratings }: Record<string, unknown>) => [day, ratings])).toEqual([
    ["2025-11-18", 7],
    ["2025-11-20", LOOKED_UP[RIVAL].ratings],
  ])
  const window = { storefront: "us", from: "2025-11-01", to: "2025-11-20" }
  const [app] = await sql<[{ id: number }]>`select id from store_app where store_id = '30001'`
  expect((await readRatingDays(sql, app.id, window)).map(({ ratings }) => ratings)).toEqual([8, 8])
})

test("every operation returns the look-up's rating count and average of the app", async () => {
  const { figures } = await askOperation(getToday)
  const { ios } = await askOperation(getStorePage)
  const { keywords } = await askOperation(getKeywordCompetition)
  const figure = (key: string) => figures.find((row: { key: string }) => row.key === key).value
  const { ratings, rating } = LOOKED_UP[OWN_APP]
  expect([figure("ratings"), ios.ratings, keywords[0].top[1].ratings]).toEqual([ratings, ratings, ratings])
  expect([figure("rating"), ios.rating]).toEqual([rating, rating])
})
