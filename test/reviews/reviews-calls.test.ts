import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { ENTITLEMENTS } from "../../src/access/plans.ts"
import { readTree } from "../../src/database/assets.ts"
import type { Sql } from "../../src/database/types.ts"
import { addDays, dayOf } from "../../src/lib/days.ts"
import type { StoreReview } from "../../src/reviews/kinds/review-shape.ts"
import { appleReviews } from "../../src/reviews/sources/apple-reviews.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { NOW } from "../measuring/record/measured.ts"
import { reviewed } from "../measuring/record/reviewed.ts"
import { record } from "../record.ts"
import { openService, type Service } from "../service.ts"
import { xmlFeed } from "../stores/parsing/review-pages.ts"
import { trackOwn } from "../world/tracked.ts"

setDefaultTimeout(60_000)

const PATHS = ["reviews", "reviews/search", "reviews/stats"]
const FAST = { ratePerSecond: 100_000 }

let sql: Sql
let service: Service
let appId: string
let key: string
const get = (path: string, as = key) => service.call(`/v1/apps/${appId}/${path}`, { key: as })

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql, now: () => NOW })
  const workspaceId = await service.workspace()
  key = await service.key(workspaceId)
  const tracked = { workspaceId, iosId: "10001", countries: ["us"], keywords: ["tea"], origin: "own" }
  appId = await trackOwn(sql, tracked)
  const days = ["2025-11-19", "2025-11-18", "2025-10-01", "2024-11-22", "2024-11-21", "2024-11-20"]
  const reviews = days.map((day, i) => ({ id: `${i}`, at: new Date(`${day}T00:00:00Z`), stars: 1 + (i % 5) }))
  const end = { end: { pages: 1, complete: true, empty: false } }
  await record(sql, [reviewed("2025-11-19T10:00:00Z", reviews, end)], () => NOW)
})

describe("parameters of review calls", () => {
  const refused: [path: string, code: string, field: string][] = [
    ["reviews/search?limit=0", "invalid_arguments", "limit"],
    ["reviews/search?limit=1001", "invalid_arguments", "limit"],
    ["reviews/search?limit=1.5", "invalid_arguments", "limit"],
    ["reviews/search?rating=0", "invalid_arguments", "rating"],
    ["reviews/search?rating=6", "invalid_arguments", "rating"],
    ["reviews/search?rating=1,1", "invalid_arguments", "rating"],
    ["reviews/search?rating=1,,2", "invalid_arguments", "rating"],
    ["reviews/search?rating=1.5", "invalid_arguments", "rating"],
    [`reviews/search?q=${"x".repeat(121)}`, "invalid_arguments", "q"],
    ["reviews/search?q=%20%20", "invalid_arguments", "q"],
    ["reviews/search?q=%E2%80%8B", "invalid_arguments", "q"],
    ["reviews/search?q=a&q=b", "invalid_arguments", "q"],
    [`reviews/search?version=${"1".repeat(101)}`, "invalid_arguments", "version"],
    ["reviews/search?from=2025-11-19&to=2025-11-18", "bad_range", "from"],
    ["reviews/search?from=2025-11-21", "bad_range", "from"],
    ["reviews/search?from=2025-02-29", "bad_range", "from"],
    ["reviews/search?to=20251118", "bad_range", "to"],
    ["reviews/search?days=5", "invalid_arguments", "days"],
    ["reviews/search?country=zz", "bad_country", "country"],
    ["reviews/search?platform=web", "invalid_arguments", "platform"],
    ["reviews/stats?days=0", "bad_days", "days"],
    ["reviews/stats?days=366", "bad_days", "days"],
    ["reviews/stats?days=1.5", "bad_days", "days"],
    ["reviews/stats?from=2025-11-19&to=2025-11-18", "bad_range", "from"],
    ["reviews/stats?from=2025-11-21", "bad_range", "from"],
    ["reviews/search?from=2025-11-21&to=2025-12-01", "bad_range", "from"],
    ["reviews/stats?from=2025-11-21&to=2025-12-01", "bad_range", "from"],
    ["reviews/stats?to=2025-13-01", "bad_range", "to"],
    ["reviews?platform=web", "invalid_arguments", "platform"],
    ["reviews?sort=best", "invalid_arguments", "sort"],
    ["reviews?language=English", "invalid_arguments", "language"],
    ["reviews?cursor=made-up", "bad_cursor", "cursor"],
    ["reviews?country=usa", "bad_country", "country"],
  ]
  for (const [path, error, field] of refused) {
    test(`${path.slice(0, 60)} is refused as ${error}, and costs nothing`, async () => {
      const { status, body, credits } = await get(path)
      expect([status, body.error, body.field]).toEqual([400, error, field])
      expect((await get("reviews?country=usa")).credits.used).toBe(credits.used)
    })
  }

  const accepted: [path: string, found: number][] = [
    ["reviews/search?limit=1", 5],
    ["reviews/search?limit=1000", 5],
    ["reviews/search?rating=1,2", 2],
    ["reviews/search?rating=2,%201", 2],
    ["reviews/search?rating=1&rating=2", 2],
    ["reviews/search?rating=5,4,3,2,1", 5],
    [`reviews/search?q=${"x".repeat(120)}`, 0],
    [`reviews/search?q=${encodeURIComponent("😀".repeat(120))}`, 0],
    ["reviews/search?q=%20TEXT%20of%201%20", 1],
    [`reviews/search?version=${"1".repeat(100)}`, 0],
    ["reviews/search?from=2025-11-18&to=2025-11-18", 1],
    ["reviews/search?from=2025-11-20", 0],
    ["reviews/search?from=0001-01-01&to=9999-12-31", 5],
    ["reviews/stats?days=1", 0],
    ["reviews/stats?days=2", 1],
    ["reviews/stats?days=365", 5],
    ["reviews/stats?from=2024-11-21", 5],
    ["reviews/stats?from=2024-11-19&to=2025-11-18", 4],
    ["reviews/stats?from=2020-01-01", 5],
    ["reviews/stats?from=0001-01-01&to=9999-12-31", 5],
    ["reviews/stats?to=2030-01-01", 3],
    ["reviews/stats?to=2030-01-01&days=2", 1],
    ["reviews/search?to=2030-01-01", 5],
    ["reviews/stats?days=1&from=2025-11-18", 2],
    ["reviews/stats?to=2025-11-18&days=1", 1],
    ["reviews/stats?country=US&platform=ios", 3],
  ]
  for (const [path, found] of accepted) {
    test(`${path.slice(0, 60)} finds ${found} reviews, for 1 credit`, async () => {
      const before = (await get("reviews?country=usa")).credits.used
      const { status, body, credits } = await get(path)
      expect([status, body.total ?? body.count]).toEqual([200, found])
      expect(credits.used).toBe(before + 1)
    })
  }
})

describe("range of days", () => {
  const ranges = async (query: string) => {
    const { from, to, count } = (await get(`reviews/stats?${query}`)).body
    const search = (await get(`reviews/search?${query.replace(/&days=\d+/, "")}`)).body
    return { from, to, count, searched: [search.from, search.to, search.total] }
  }

  test("a range that ends in the future is shortened to today, and the response has the shortened range", async () => {
    expect(await ranges("from=2025-11-18&to=2030-01-01")).toEqual({
      from: "2025-11-18",
      to: "2025-11-20",
      count: 2,
      searched: ["2025-11-18", "2025-11-20", 2],
    })
    expect((await get("reviews/stats?to=2030-01-01&days=3")).body.from).toBe("2025-11-18")
  })

  test("a range that lies in the future is refused with an explanation", async () => {
    for (const path of ["reviews/search", "reviews/stats"])
      expect((await get(`${path}?from=2025-12-01&to=2025-12-02`)).body).toMatchObject({
        error: "bad_range",
        field: "from",
        detail: "from (2025-12-01) is after the last available day, 2025-11-20.",
      })
  })

  test("statistics have one row for each day that the plan covers", async () => {
    const { from, to, byDay, reviewsFrom } = (await get("reviews/stats?from=2020-01-01")).body
    expect([from, to, byDay.length]).toEqual([reviewsFrom, "2025-11-20", 365])
  })

  test("a range before the first day of any plan is refused on every plan", async () => {
    const studio = await service.workspace({ plan: "studio", overrides: FAST })
    const tracked = { workspaceId: studio, iosId: "10001", countries: ["us"], keywords: [], origin: "own" }
    const id = await trackOwn(sql, tracked)
    const studioKey = await service.key(studio)
    const ask = async (path: string) => (await service.call(`/v1/apps/${id}/${path}`, { key: studioKey })).body
    expect((await ask("reviews/stats?from=2009-01-01")).byDay).toHaveLength(6_168)
    for (const path of ["reviews/search", "reviews/stats"])
      expect(await ask(`${path}?to=2008-07-09`)).toMatchObject({ error: "bad_range", field: "to" })
  })
})

describe("rights to read reviews", () => {
  test("a key without reviews:read gets no information, not even about whether the app exists", async () => {
    const workspaceId = await service.workspace()
    const other = await service.key(workspaceId, { scopes: ["apps:read", "ai:read"] })
    for (const path of PATHS) {
      const { status, body } = await get(path, other)
      expect([path, status, body.error, body.scope]).toEqual([path, 403, "scope_required", "reviews:read"])
    }
    const stranger = await service.key(workspaceId)
    for (const path of PATHS) expect((await get(path, stranger)).body.error).toBe("not_found")
  })

  slow(
    "each plan can read reviews of as many days as it includes, and the response has the first of them",
    async () => {
      const today = dayOf(NOW)
      const days = Object.values(ENTITLEMENTS).map(({ reviewDays }) => reviewDays)
      expect(days).toEqual([30, 365, 36_500, 36_500])
      const froms = [addDays(today, -29), addDays(today, -364), "2008-07-10", "2008-07-10"]
      for (const [at, plan] of (["free", "pro", "studio", "enterprise"] as const).entries()) {
        const workspaceId = await service.workspace({ plan, overrides: FAST })
        const tracked = { workspaceId, iosId: "10001", countries: ["us"], keywords: [], origin: "own" }
        const id = await trackOwn(sql, tracked)
        const ownKey = await service.key(workspaceId)
        const ask = async (name: string, args: object = {}) =>
          (await service.tool(name, { appId: id, ...args }, { key: ownKey })).body
        const totals = [2, 5, 6, 6]
        expect(await ask("search_reviews")).toMatchObject({
          from: froms[at],
          to: today,
          total: totals[at],
          reviewsFrom: froms[at],
        })
        const listed = await ask("list_reviews")
        expect([listed.list.length, listed.feeds.ios.from]).toEqual([totals[at] as number, froms[at] as string])
        const from = [froms[0], addDays(today, -89)].sort()[at === 0 ? 1 : 0]
        expect(await ask("get_review_stats")).toMatchObject({ from, to: today, count: at === 0 ? 2 : 3 })
        const earlier = { from: "2008-07-01", to: addDays(froms[at]!, -1) }
        const refused = await ask("search_reviews", earlier)
        if (at < 2) expect(refused.error).toBe("plan_required")
        else
          expect(refused).toMatchObject({
            error: "bad_range",
            field: "to",
            detail: expect.stringContaining("2008-07-10"),
          })
      }
    },
  )

  test("a workspace can have a separate limit of review days", async () => {
    const workspaceId = await service.workspace({ overrides: { ...FAST, reviewDays: 2 } })
    const ownKey = await service.key(workspaceId)
    const tracked = { workspaceId, iosId: "10001", countries: ["us"], keywords: [], origin: "own" }
    const id = await trackOwn(sql, tracked)
    const { body } = await service.call(`/v1/apps/${id}/reviews/search`, { key: ownKey })
    expect(body).toMatchObject({ from: "2025-11-19", to: "2025-11-20", total: 1 })
  })
})

test("no response contains the author of a review", async () => {
  const xml = xmlFeed("us", "10009", 1, { reviews: [1, 2, 3], last: 1 })
  const named = xml.replaceAll("A reviewer", "Zebulon Quartz").replaceAll("/id0", "/id998877")
  expect(named).toContain("Zebulon Quartz")
  const seenAt = new Date("2026-02-01T10:00:00Z")
  const about = { seenAt, sha256: new Uint8Array(32), origin: "own" }
  const reading = appleReviews.parse(named, { storefront: "us", storeId: "10009", page: 1 }, about as never)
  await record(sql, [reading], () => seenAt)
  const workspaceId = await service.workspace()
  const ownKey = await service.key(workspaceId)
  const tracked = { workspaceId, iosId: "10009", countries: ["us"], keywords: [], origin: "own" }
  const id = await trackOwn(sql, tracked)
  const later = openService({ sql, now: () => seenAt })
  for (const path of PATHS) {
    const { status, text } = await later.call(`/v1/apps/${id}/${path}`, { key: ownKey })
    expect([path, status]).toEqual([path, 200])
    expect(text).toMatch(/Title 3|"count":3/)
    expect(text).not.toMatch(/Zebulon|Quartz|998877|author|reviewer/i)
  }
})

describe("sandbox responses about reviews", () => {
  const fixtures = readTree("fixtures/sandbox", ".json")
  const answer = (id: string) => JSON.parse(fixtures.get(`${id}.json`) as string).answer
  const [listed, found, stats] = ["list_reviews", "search_reviews", "get_review_stats"].map(answer)

  test("the sandbox's list and search return the same reviews, and name the same feed as its statistics", () => {
    expect(found.reviews).toEqual(listed.list)
    expect([found.total, found.truncated]).toEqual([listed.list.length, false])
    const { from, total, ...feed } = listed.feeds.ios
    expect([found.feed, stats.feed]).toEqual([feed, feed])
    expect([from, total]).toEqual([found.from, found.total])
    expect(listed.feeds.android).toMatchObject({ feed: "en", total: listed.android.length })
    const ids = [...listed.list, ...listed.android].map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test("the sandbox's figures equal those of its reviews", () => {
    const inWindow: { rating: number; date: string; version: string | null }[] = listed.list.filter(
      ({ date }: { date: string }) => date.slice(0, 10) >= stats.from && date.slice(0, 10) <= stats.to,
    )
    expect(inWindow.length).toBeLessThan(listed.list.length)
    expect(stats.count).toBe(inWindow.length)
    const mean = inWindow.reduce((sum, { rating }) => sum + rating, 0) / inWindow.length
    expect(stats.average).toBeCloseTo(mean, 2)
    expect(stats.lowShare).toBeCloseTo(inWindow.filter(({ rating }) => rating < 3).length / inWindow.length, 4)
    expect(stats.byDay).toHaveLength(90)
    for (const { day, count, covered } of stats.byDay) {
      expect(count).toBe(inWindow.filter(({ date }) => date.startsWith(day)).length)
      expect(covered).toBe(day >= stats.coveredFrom && day <= stats.coveredTo)
    }
    for (const { version, count } of stats.byVersion)
      expect(count).toBe(inWindow.filter((review) => review.version === version).length)
    expect(stats.coveredTo < stats.feed.completeAt.slice(0, 10)).toBe(true)
    const today = listed.feeds.ios.readAt.slice(0, 10)
    expect(listed.newCount).toBe(inWindow.filter(({ date }) => date.startsWith(today)).length)
  })
})

test("a stored review without folded text gets the folded text when the review is read again", async () => {
  const review: Partial<StoreReview> & { id: string } = { id: "f", title: "ＡＢＣ", text: "Straße" }
  await record(sql, [reviewed("2025-11-01T10:00:00Z", [review], { storeId: "10005" })], () => NOW)
  const folded = async () => (await sql`select folded from review_version where review_id = 'f'`)[0]!.folded
  expect(await folded()).toBe("abc\nstrasse")
  await sql`update review_version set folded = null where review_id = 'f'`
  await record(sql, [reviewed("2025-11-02T10:00:00Z", [review], { storeId: "10005" })], () => NOW)
  expect(await folded()).toBe("abc\nstrasse")
})
