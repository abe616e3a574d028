import { beforeAll, expect, test } from "bun:test"
import { freshDatabase } from "../database.ts"
import { openService } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"
import { listOf, OWN } from "./derived-alerts.ts"
import { importAll } from "./import-world.ts"

const TODAY = new Date("2025-11-20T12:00:00Z")
const DAYS = ["13", "14", "15", "16", "17", "18", "19", "20"]
let service: ReturnType<typeof openService>
let token: string
let app: string
let other: string

beforeAll(async () => {
  const sql = await freshDatabase()
  service = openService({ sql, now: () => TODAY })
  const workspaceId = await service.workspace()
  token = await service.key(workspaceId)
  app = await trackOwn(sql, { workspaceId, iosId: OWN, keywords: ["tea", "mate"] })
  other = await trackOwn(sql, { workspaceId, iosId: "20050", keywords: ["tea"] })
  const lines = DAYS.flatMap((day, at) =>
    ["tea", "mate"].map((term) => {
      const results = listOf(at % 2 === 0 ? 15 : 40, 60).map((id) => ({ id }))
      const place = { platform: "ios", storefront: "us", term, seenAt: `2025-11-${day}T08:00:00Z` }
      return JSON.stringify({ kind: "search", source: "import", ...place, depth: results.length, results })
    }),
  )
  await importAll(sql, lines, TODAY)
}, 60_000)

interface Feed {
  unread: number
  alerts: { id: number; type: string; day: string; appId: string; read: boolean }[]
  omitted: number
  nextCursor: string | null
}

async function readFeed(query: string): Promise<Feed> {
  const { status, body } = await service.call(`/v1/alerts?${query}`, { key: token })
  expect([status, body.detail]).toEqual([200, undefined])
  return body as Feed
}

const code = async (query: string) => {
  const { status, body } = await service.call(`/v1/alerts?${query}`, { key: token })
  return [status, body.error]
}

test("reading the feed to its end by nextCursor returns each alert once and in order", async () => {
  const whole = await readFeed("limit=500")
  expect(whole.alerts).toHaveLength(14)
  expect([whole.omitted, whole.nextCursor]).toEqual([0, null])
  const ids: number[] = []
  let cursor = ""
  for (let pages = 1; ; pages++) {
    const page = await readFeed(`limit=4${cursor}`)
    ids.push(...page.alerts.map(({ id }) => id))
    expect(page.omitted).toBe(14 - ids.length)
    expect(page.unread).toBe(whole.unread)
    if (page.nextCursor === null) break
    cursor = `&cursor=${page.nextCursor}`
    expect(pages).toBeLessThan(5)
  }
  expect(ids).toEqual(whole.alerts.map(({ id }) => id))
})

test("the feed can be filtered by app, type, day, time and read state", async () => {
  const lines = async (query: string) =>
    (await readFeed(query)).alerts.map(({ day, type }) => `${day.slice(8)} ${type}`)
  expect(await lines("type=rank_drop&from=2025-11-18")).toEqual([
    "20 rank_drop",
    "20 rank_drop",
    "18 rank_drop",
    "18 rank_drop",
  ])
  expect(await lines("type=rank_rise,chart_drop&to=2025-11-15")).toEqual(["15 rank_rise", "15 rank_rise"])
  expect(await lines("since=2025-11-20T08:00:01Z")).toEqual([])
  expect(await lines("since=2025-11-20")).toHaveLength(2)
  expect(await lines(`appId=${other}`)).toEqual([])
  expect(await lines(`appId=${app}&limit=500`)).toHaveLength(14)
  expect(await lines("since=2025-11-15&until=2025-11-16&type=rank_drop")).toEqual(["16 rank_drop", "16 rank_drop"])
  expect(await lines("until=2025-11-14T08:00:00Z&limit=500")).toHaveLength(2)
  expect(await lines("until=2025-11-14T07:59:59.999Z")).toEqual([])
  expect(new Set((await readFeed("read=false")).alerts.map(({ read }) => read))).toEqual(new Set([false]))
  expect(await lines("unread=true")).toEqual(await lines("read=false"))
  expect(await lines("unread=false")).toEqual(await lines("read=true"))
  expect((await readFeed("type=rank_drop&limit=1")).omitted).toBe(7)
})

test("the feed refuses an unknown app, a reversed range of days and the cursor of a different call", async () => {
  expect(await code("appId=app_none")).toEqual([404, "not_found"])
  expect(await code("from=2025-11-20&to=2025-11-19")).toEqual([400, "bad_range"])
  const { nextCursor } = await readFeed("limit=1&type=rank_drop")
  expect(await code(`limit=1&type=rank_rise&cursor=${nextCursor}`)).toEqual([400, "bad_cursor"])
  expect(await code("cursor=x")).toEqual([400, "bad_cursor"])
})

test("the error for an invalid feed filter lists the allowed values", async () => {
  const detail = async (query: string) => (await service.call(`/v1/alerts?${query}`, { key: token })).body.detail
  expect(await detail("type=rank_drops")).toContain("dropped_out, rank_drop, rank_rise")
  expect(await detail("since=yesterday")).toContain("YYYY-MM-DD (UTC), or an ISO 8601 time with its zone")
  expect(await detail("until=2025-02-30")).toContain("written like `since`. A day includes its end")
  expect(await detail("since=2025-11-21&until=2025-11-20")).toBe("since (2025-11-21) is after until (2025-11-20).")
  expect(await detail("unread=true&read=false")).toBe("unread replaces read: send one or the other.")
  expect(await detail("after=2025-11-20")).toContain("This call takes limit, appId, type")
})
