import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { listed } from "../measuring/record/listed.ts"
import { reviewed } from "../measuring/record/reviewed.ts"
import { record } from "../record.ts"
import { openService, type Service } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"

setDefaultTimeout(30_000)

const NOW = new Date("2026-04-01T12:00:00Z")
const MONEY = ["adRevenue", "subscriptionRevenue", "adSpend"]

let sql: Sql
let service: Service
let workspaceId: number
let key: string
let appId: string
const call = (path: string, callerKey = key) => service.call(`/v1/${path}`, { key: callerKey })

/** Times just before and at each end of the days in Berlin on which clocks go back (25 hours) and forward (23). */
const EDGES = [
  "2025-10-25T21:59:59Z",
  "2025-10-25T22:00:00Z",
  "2025-10-26T00:30:00Z",
  "2025-10-26T01:30:00Z",
  "2025-10-26T22:59:59Z",
  "2025-10-26T23:00:00Z",
  "2026-03-28T22:59:59Z",
  "2026-03-28T23:00:00Z",
  "2026-03-29T00:59:59Z",
  "2026-03-29T21:59:59Z",
  "2026-03-29T22:00:00Z",
]

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql, now: () => NOW })
  workspaceId = await service.workspace({ plan: "studio" })
  key = await service.key(workspaceId)
  const input = { workspaceId, iosId: "10001", countries: ["us"], keywords: ["tea"], origin: "own" }
  appId = await trackOwn(sql, input)
  const reviews = EDGES.map((at, i) => ({ id: `${i}`, at: new Date(at) }))
  const pages = EDGES.map((at, i) => listed(at, { version: `${i}.0` }, { id: "10001" }))
  const end = { end: { pages: 1, complete: true, empty: false } }
  const { refused } = await record(sql, [reviewed("2026-03-31T10:00:00Z", reviews, end), ...pages], () => NOW)
  expect(refused).toEqual([])
})

describe("a day on which clocks change", () => {
  test.each([
    ["2025-10-26", "2025-10-25T22:00:00.000Z", "2025-10-26T23:00:00.000Z", ["4.0", "3.0", "2.0", "1.0"]],
    ["2026-03-29", "2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z", ["9.0", "8.0", "7.0"]],
  ])(
    "the day %s in Berlin has exactly the reviews and changes between its two midnights",
    async (day, from, to, versions) => {
      const query = `tz=Europe/Berlin&day=${day}`
      const { status, body } = await call(`apps/${appId}/today?${query}`)
      expect(status).toBe(200)
      expect(body).toMatchObject({ today: day, from, to, past: true, realToday: "2026-04-01" })
      const reviews = body.figures.find((figure: { key: string }) => figure.key === "newReviews")
      expect([reviews.state, reviews.value]).toEqual(["measured", versions.length])
      expect(body.changes.map(({ after }: { after: string }) => after)).toEqual(versions)
      const { body: overview } = await call(`portfolio?${query}`)
      expect(overview).toMatchObject({ today: day, from, to, totals: { newReviews: versions.length } })
    },
  )

  test("a day in Berlin, in UTC and in New York covers different hours", async () => {
    const countReviews = async (tz: string) => (await call(`portfolio?tz=${tz}&day=2026-03-29`)).body.totals.newReviews
    // Berlin's first hour is on the 28th in UTC; New York's day begins at 04:00 UTC
    expect([
      await countReviews("Europe/Berlin"),
      await countReviews("UTC"),
      await countReviews("America/New_York"),
    ]).toEqual([3, 3, 2])
  })
})

describe("the portfolio over HTTP", () => {
  test("the portfolio has every field of the specification and lists the sources that are not connected", async () => {
    const { status, body } = await call("portfolio")
    expect(status).toBe(200)
    const required = [
      "tz",
      "today",
      "past",
      "realToday",
      "at",
      "apps",
      "totals",
      "pending",
      "cards",
      "feed",
      "conns",
      "hiddenMoney",
    ]
    expect(Object.keys(body)).toEqual(expect.arrayContaining(required))
    expect(body).toMatchObject({
      tz: "UTC",
      today: "2026-04-01",
      past: false,
      at: NOW.toISOString(),
      hiddenMoney: false,
    })
    expect(body.conns.map(({ id, connected }: { id: string; connected: boolean }) => [id, connected])).toEqual([
      ["analytics", false],
      ["ads", false],
      ["subscriptions", false],
      ["apple_ads", false],
    ])
    const figures = body.conns.flatMap(({ gives }: { gives: string[] }) => gives)
    expect(figures.toSorted()).toEqual([
      "adRevenue",
      "adSpend",
      "liveUsers",
      "newUsers",
      "subscriptionRevenue",
      "trials",
      "users",
    ])
    for (const figure of figures)
      expect([figure, body.totals[figure], body.apps[0][figure]]).toEqual([figure, null, null])
  })

  test("a key without revenue:read gets no money figures in the portfolio's rows, totals and cards", async () => {
    const { body } = await call("portfolio", await service.key(workspaceId, { scopes: ["apps:read"] }))
    expect(body.hiddenMoney).toBe(true)
    for (const row of [body.totals, ...body.apps]) for (const name of MONEY) expect(row[name]).toBeNull()
    expect(body.cards.map(({ state, rows }: { state: string; rows: unknown[] }) => [state, rows])).toEqual([
      ["hidden", []],
      ["hidden", []],
    ])
    expect(body.feed).toEqual([])
  })

  test("a key limited to one app gets only that app in the portfolio's rows and totals", async () => {
    const input = { workspaceId, iosId: "10002", countries: ["us"], keywords: ["a", "b"], origin: "own" }
    const second = await trackOwn(sql, input)
    const { body, text } = await call("portfolio", await service.key(workspaceId, { appList: [second] }))
    expect(body.apps.map((app: { appId: string }) => app.appId)).toEqual([second])
    expect(body.totals).toMatchObject({ apps: 1, keywordsTracked: 2, newReviews: null })
    expect(text).not.toContain(appId)
  })
})

describe.each([
  ["portfolio", () => "portfolio"],
  ["today", () => `apps/${appId}/today`],
])("%s", (_, path) => {
  test.each([
    ["tz=Mars/Olympus", "invalid_arguments", "tz"],
    ["tz=%2B01:00", "invalid_arguments", "tz"],
    ["day=2026-04-02", "bad_day", "day"],
    ["day=2026-04-01", "bad_day", "day"],
    ["day=2026-02-29", "bad_day", "day"],
    ["day=20260331", "bad_day", "day"],
    // at 02:00 of the 2nd in this zone, the 1st is over and the 2nd is not
    ["tz=Pacific/Kiritimati&day=2026-04-02", "bad_day", "day"],
    // still the 31st in this zone
    ["tz=Pacific/Pago_Pago&day=2026-04-01", "bad_day", "day"],
  ])("a request with ?%s is refused with %s", async (query, error, field) => {
    const { status, body } = await call(`${path()}?${query}`)
    expect([status, body.error, body.field]).toEqual([400, error, field])
  })

  test.each([
    ["day=2026-03-31", "2026-03-31"],
    ["tz=Pacific/Kiritimati&day=2026-04-01", "2026-04-01"],
    ["tz=Pacific/Kiritimati", "2026-04-02"],
    ["tz=Pacific/Pago_Pago", "2026-04-01"],
  ])("a request with ?%s returns the day %s", async (query, today) => {
    const { status, body } = await call(`${path()}?${query}`)
    expect([status, body.today]).toEqual([200, today])
  })
})
