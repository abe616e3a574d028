import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { ENTITLEMENTS } from "../../../src/access/plans.ts"
import type { Sql } from "../../../src/database/types.ts"
import { listReviews } from "../../../src/reviews/operations/list-reviews.ts"
import { freshDatabase } from "../../database.ts"
import { cases, slow } from "../../long.ts"
import { randomFrom } from "../../market/formulas/calibration.ts"
import { ask, contextOf, NOW, newWorkspace } from "../../measuring/record/measured.ts"
import { reviewed, reviewedOnPlay } from "../../measuring/record/reviewed.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"

setDefaultTimeout(60_000)

interface Written {
  id: string
  stars: number
  at: Date
  version: string
  text: string
}

interface Listed {
  list: { id: string; rating: number; text: string; date: string }[] | null
  android: Listed["list"]
  feeds: Record<"ios" | "android", { total: number | null; from: string }>
  nextCursor?: string | null
}

const complete = { end: { pages: 1, complete: true, empty: false } }

describe("pages of reviews", () => {
  let sql: Sql
  let appId: string
  let workspaceId: number
  const random = randomFrom(20_261_130)
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T

  const list = async (input: object = {}): Promise<Listed> => {
    const ctx = contextOf(sql, workspaceId, NOW)
    const caller = { ...ctx.caller, entitlements: { ...ENTITLEMENTS.pro, reviewDays: 10_000 } }
    return await ask(listReviews, { ...ctx, caller }, { appId, ...input })
  }

  /** Reads every page. `between` runs after each page. */
  const readAll = async (input: object, between: () => Promise<void> = async () => {}) => {
    const found: NonNullable<Listed["list"]> = []
    let cursor: string | null | undefined
    do {
      const page: Listed = await list({ ...input, ...(cursor && { cursor }) })
      found.push(...(page.list ?? []))
      cursor = page.nextCursor
      if (cursor) await between()
    } while (cursor)
    return found
  }

  /** Returns a review at one of a few moments, so that many reviews have the same time. */
  const writtenReview = (number: number): Written => ({
    id: `${number % 7 === 0 ? "B" : "a"}${number}`,
    stars: 1 + Math.floor(random() * 5),
    at: new Date(Date.UTC(2025, 9, 1 + Math.floor(random() * 20), Math.floor(random() * 3))),
    version: pick(["1.0", "1.1", "2.0"]),
    text: pick(["Great tea", "Too many ads", "Crashes a lot"]),
  })
  let reviews: Written[]

  beforeAll(async () => {
    sql = await freshDatabase()
    workspaceId = await newWorkspace(sql)
    const app = { workspaceId, countries: ["us"], keywords: [], origin: "own" }
    appId = await trackOwn(sql, { ...app, iosId: "10001", androidPkg: "com.example.tea" })
    reviews = Array.from({ length: 180 }, (_, number) => writtenReview(number))
    await record(sql, [reviewed("2025-11-01T00:00:00Z", reviews, complete)], () => NOW)
    const play = [
      { id: "gp:1", stars: 5, at: new Date("2025-11-10T00:00:00Z") },
      { id: "gp:2", stars: 1, at: new Date("2025-01-10T00:00:00Z") },
    ]
    await record(sql, [reviewedOnPlay("2025-11-11T00:00:00Z", play, complete)], () => NOW)
  })

  interface Filters {
    q?: string
    rating?: number[]
    version?: string
    from?: string
    to?: string
    sort?: "newest" | "oldest" | "lowest" | "highest"
  }

  /** Sorts and filters in another way than the SQL does. */
  const expectedIds = (rows: readonly Written[], { q, rating, version, from, to, sort = "newest" }: Filters) => {
    const dayOf = ({ at }: Written) => at.toISOString().slice(0, 10)
    const newest = sort === "oldest" ? -1 : 1
    const byStars = { newest: 0, oldest: 0, lowest: 1, highest: -1 }[sort]
    return rows
      .filter((row) => !q || row.text.toLowerCase().includes(q))
      .filter((row) => !rating || rating.includes(row.stars))
      .filter((row) => !version || row.version === version)
      .filter((row) => (!from || dayOf(row) >= from) && (!to || dayOf(row) <= to))
      .toSorted(
        (a, b) => byStars * (a.stars - b.stars) || newest * (b.at.getTime() - a.at.getTime()) || (a.id < b.id ? -1 : 1),
      )
      .map(({ id }) => id)
  }

  slow("for every sort and filter, the pages together list each matching review once, in order", async () => {
    for (let round = 0; round < cases(24, 200); round++) {
      const filters: Filters = { sort: pick(["newest", "oldest", "lowest", "highest"] as const) }
      if (random() < 0.4) filters.rating = pick([[1], [5, 1], [2, 3, 4]])
      if (random() < 0.3) filters.version = pick(["1.0", "2.0"])
      if (random() < 0.3) filters.q = pick(["ads", "a"])
      if (random() < 0.3) filters.from = "2025-10-06"
      if (random() < 0.3) filters.to = "2025-10-14"
      const limit = pick([7, 40, 180])
      const expected = expectedIds(reviews, filters)
      const { feeds } = await list({ ...filters, limit })
      expect([filters, feeds.ios.total]).toEqual([filters, expected.length])
      const found = await readAll({ platform: "ios", ...filters, limit })
      expect([filters, limit, found.map(({ id }) => id)]).toEqual([filters, limit, expected])
    }
  })

  slow("reviews that are written or edited between two pages neither repeat nor hide a review", async () => {
    let [read, number] = [0, 1_000]
    let current = reviews
    for (const sort of ["newest", "oldest", "lowest", "highest"] as const) {
      const before = current
      const change = async () => {
        // the first edited review is very likely a review that no page has listed yet
        const edited = pick(current)
        const at = new Date(Date.UTC(2025, 10, 2, 0, ++read))
        const changed = { ...edited, stars: 6 - edited.stars, text: "Edited", at }
        const fresh = { ...writtenReview(++number), at }
        current = [...current.filter(({ id }) => id !== edited.id), changed, fresh]
        const seenAt = new Date(Date.UTC(2025, 10, 2, 1, read)).toISOString()
        await record(sql, [reviewed(seenAt, [changed, fresh], complete)], () => NOW)
      }
      const found = await readAll({ platform: "ios", sort, limit: 20 }, change)
      expect([sort, found.map(({ id }) => id)]).toEqual([sort, expectedIds(before, { sort })])
      expect(found.filter(({ text }) => text === "Edited")).toHaveLength(
        before.filter(({ text }) => text === "Edited").length,
      )
      expect((await readAll({ platform: "ios", sort, limit: 60 })).map(({ id }) => id)).toEqual(
        expectedIds(current, { sort }),
      )
    }
  })

  test("a cursor is refused with other filters, and the error lists the parameters that may differ", async () => {
    const { nextCursor } = await list({ sort: "oldest", limit: 5 })
    const refused = async (input: object) =>
      await list(input).catch(({ code, extra }) => ({ code, field: extra.field, detail: extra.detail }))
    const fault = { code: "bad_cursor", field: "cursor", detail: expect.stringContaining("only limit and fields may") }
    for (const input of [{}, { sort: "newest" }, { sort: "oldest", rating: [1] }, { sort: "oldest", country: "gb" }])
      expect(await refused({ ...input, cursor: nextCursor })).toEqual(fault)
    expect(await refused({ cursor: "made-up" })).toEqual(fault)
    expect((await list({ sort: "oldest", limit: 9, cursor: nextCursor })).list).toHaveLength(9)
  })

  test("a call without paging parameters returns no cursor, and the two stores are paged separately", async () => {
    expect(Object.keys(await list())).not.toContain("nextCursor")
    const first = await list({ limit: 1, from: "2025-01-01" })
    expect([first.list?.length, first.android?.map(({ id }) => id)]).toEqual([1, ["gp:1"]])
    const second = await list({ limit: 1, from: "2025-01-01", cursor: first.nextCursor })
    expect([second.list?.length, second.android?.map(({ id }) => id)]).toEqual([1, ["gp:2"]])
    const third = await list({ limit: 1, from: "2025-01-01", cursor: second.nextCursor })
    expect([third.list?.length, third.android, third.feeds.android.total]).toEqual([1, [], 2])
  })

  test("with a language, Google Play lists the feed of that language and the App Store lists nothing", async () => {
    const { list: ios, android, feeds } = await list({ language: "en", from: "2025-01-01" })
    expect([ios, feeds.ios.total, android?.length]).toEqual([null, null, 2])
    expect(await list({ language: "de" })).toMatchObject({ android: null, feeds: { android: { feed: "de" } } })
    expect(await list({ platform: "ios", rating: [1] })).toMatchObject({ android: null })
  })
})
