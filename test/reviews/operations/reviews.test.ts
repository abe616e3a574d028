import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { ENTITLEMENTS } from "../../../src/access/plans.ts"
import type { Sql } from "../../../src/database/types.ts"
import { listReviews } from "../../../src/reviews/operations/list-reviews.ts"
import { searchReviews } from "../../../src/reviews/operations/search-reviews.ts"
import { freshDatabase } from "../../database.ts"
import { cases } from "../../long.ts"
import { randomFrom } from "../../market/formulas/calibration.ts"
import { ask, contextOf, NOW, newWorkspace } from "../../measuring/record/measured.ts"
import { ALL, isAllHere, SOME } from "../../measuring/record/review-rows.ts"
import { reviewed, reviewedOnPlay } from "../../measuring/record/reviewed.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"
import { AFTER, type Expected, realReviews } from "../real-reviews.ts"

setDefaultTimeout(60_000)

/** Returns a context that may read all reviews, or the reviews of the last `reviewDays` days. */
function reader(sql: Sql, workspaceId: number, now: Date, reviewDays = ENTITLEMENTS.enterprise.reviewDays) {
  const ctx = contextOf(sql, workspaceId, now)
  return { ...ctx, caller: { ...ctx.caller, entitlements: { ...ENTITLEMENTS.pro, reviewDays } } }
}

const SETS: [name: string, path: string][] = [["203 real reviews", SOME]]
if (isAllHere) SETS.push(["the 8,820 real reviews", ALL])

describe.each(SETS)("search among %s", (_, path) => {
  let sql: Sql
  let workspaceId: number
  let real: Awaited<ReturnType<typeof realReviews>>

  beforeAll(async () => {
    sql = await freshDatabase()
    workspaceId = await newWorkspace(sql)
    real = await realReviews(sql, workspaceId, path)
    // Simulates that half of the reviews were stored before folded texts existed.
    await sql`update review_version set folded = null where review_id::bigint % 2 = 0`
  })

  const search = async (game: string, country: string, input: object) =>
    await ask(searchReviews, reader(sql, workspaceId, AFTER), { appId: real.apps[game], country, ...input })

  const singleFilters: [game: string, country: string, filters: Filters][] = [
    ["Royal Match", "us", {}],
    ["Royal Match", "us", { q: "ads" }],
    ["Candy Crush Saga", "tr", { q: "oyun" }],
    ["Candy Crush Saga", "tr", { q: "BIR" }],
    ["Gardenscapes", "jp", { q: "広告" }],
    ["Gardenscapes", "de", { q: "werbung" }],
    ["Gardenscapes", "us", { rating: [1, 2] }],
    ["Royal Match", "gb", { version: "33201" }],
    ["Candy Crush Saga", "ca", { from: "2025-12-01" }],
    ["Candy Crush Saga", "ca", { to: "2025-12-31" }],
    ["Candy Crush Saga", "us", { from: "2026-01-01", to: "2026-01-08" }],
    ["Candy Crush Saga", "us", { limit: 1 }],
  ]

  test("each filter alone finds the same reviews as a filter over the rows", async () => {
    for (const [game, country, filters] of singleFilters) {
      const { total, truncated, reviews } = await search(game, country, filters)
      const found = plain(real.feeds.get(`${game} ${country}`)!, filters)
      expect([game, country, filters, total]).toEqual([game, country, filters, found.length])
      expect(withoutSeenAt(reviews)).toEqual(found.slice(0, filters.limit ?? 100))
      expect(truncated).toBe(found.length > (filters.limit ?? 100))
    }
  })

  test("random combinations of filters find the same reviews as a filter over the rows", async () => {
    const random = randomFrom(20_260_112)
    const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T
    let matches = 0
    for (let round = 0; round < cases(20, 60); round++) {
      const feed = pick([...real.feeds.keys()])
      const rows = real.feeds.get(feed)!
      const filters: Filters = {}
      if (random() < 0.5)
        filters.q = pick(["e", "ads", "game", "level", "oyun", "reklam", "spiel", "ゲーム", "、", "bu"])
      if (random() < 0.4) filters.rating = pick([[1], [5], [1, 2], [5, 1], [2, 3, 4], [1, 2, 3, 4, 5]])
      if (random() < 0.3) filters.version = pick(rows).version
      if (random() < 0.3) filters.from = pick(rows).date.slice(0, 10)
      if (random() < 0.3) filters.to = pick(rows).date.slice(0, 10)
      if (random() < 0.5) filters.limit = 1 + Math.floor(random() * 120)
      if (filters.from && filters.to && filters.from > filters.to) delete filters.to
      const cut = feed.lastIndexOf(" ")
      const { total, truncated, reviews } = await search(feed.slice(0, cut), feed.slice(cut + 1), filters)
      const found = plain(rows, filters)
      expect([filters, total, truncated]).toEqual([filters, found.length, found.length > (filters.limit ?? 100)])
      expect(withoutSeenAt(reviews)).toEqual(found.slice(0, filters.limit ?? 100))
      matches += found.length
    }
    expect(matches).toBeGreaterThan(cases(20, 60))
  })

  test("the list has the newest App Store reviews, and is null for Google Play", async () => {
    const ctx = reader(sql, workspaceId, AFTER)
    const listed = await ask(listReviews, ctx, { appId: real.apps["Royal Match"], country: "jp" })
    const rows = real.feeds.get("Royal Match jp")!
    expect(withoutSeenAt(listed.list)).toEqual(rows.slice(0, 100))
    expect(listed).toMatchObject({ country: "jp", newCount: null, android: null })
    expect(listed.feeds.ios).toMatchObject({ feed: "jp", state: "read", complete: true, total: rows.length })
    expect(listed.feeds.android).toMatchObject({ feed: null, state: "no_app", readAt: null, total: null })
  })
})

interface Filters {
  q?: string
  rating?: number[]
  version?: string
  from?: string
  to?: string
  limit?: number
}

/**
 * Filters in another way than the SQL does. Use it for texts without white space, quotes and letters that fold to
 * several.
 */
function plain(rows: readonly Expected[], { q, rating, version, from, to }: Filters): Expected[] {
  const holds = new RegExp((q ?? "").normalize("NFKC").replaceAll(/[iıİI]/g, "[iıİI]"), "iu")
  return rows.filter(
    (row) =>
      (holds.test((row.title ?? "").normalize("NFKC")) || holds.test(row.text.normalize("NFKC"))) &&
      (!rating || rating.includes(row.rating)) &&
      (version === undefined || row.version === version) &&
      (from === undefined || row.date.slice(0, 10) >= from) &&
      (to === undefined || row.date.slice(0, 10) <= to),
  )
}

function withoutSeenAt(reviews: (Expected & { seenAt: string })[]): Expected[] {
  return reviews.map(({ seenAt, ...review }) => {
    expect(seenAt).toBe("2026-01-12T00:00:00.000Z")
    return review
  })
}

describe("reviews of an app", () => {
  let sql: Sql
  let workspaceId: number
  let appId: string
  const complete = { end: { pages: 1, complete: true, empty: false } }
  const day = (text: string) => new Date(`${text}:00Z`)
  const store = (...observations: Parameters<typeof record>[1][number][]) => record(sql, observations, () => NOW)
  const search = (input: object = {}, reviewDays?: number, now = NOW) =>
    ask(searchReviews, reader(sql, workspaceId, now, reviewDays), { appId, ...input })
  const list = (input: object = {}, reviewDays?: number, now = NOW) =>
    ask(listReviews, reader(sql, workspaceId, now, reviewDays), { appId, ...input })
  const idsOf = ({ reviews }: { reviews: { id: string }[] }) => reviews.map(({ id }) => id)

  const track = async () => {
    sql = await freshDatabase()
    workspaceId = await newWorkspace(sql)
    const tracked = { workspaceId, countries: ["us", "gb", "br"], keywords: ["tea"], origin: "own" }
    appId = await trackOwn(sql, { ...tracked, iosId: "10001", androidPkg: "com.example.tea" })
  }

  test("the states never_read, some, none and read are distinguished in each store", async () => {
    await track()
    const noReviews = { total: null, truncated: false, reviews: [] }
    const unknown = { readAt: null, complete: false, completeAt: null }
    expect(await search()).toMatchObject({ ...noReviews, feed: { feed: "us", state: "never_read", ...unknown } })
    expect(await list()).toMatchObject({ newCount: null, list: null, android: null })
    await store(reviewed("2025-11-18T10:00:00Z", [{ id: "1" }]))
    expect(await search()).toMatchObject({ total: 1, feed: { feed: "us", state: "some", ...unknown } })
    expect(await search({ platform: "android" })).toMatchObject({
      ...noReviews,
      feed: { feed: "en", state: "never_read" },
    })
    expect(await search({ platform: "android", country: "br" })).toMatchObject({ feed: { feed: "pt-BR" } })
    const none = { end: { pages: 1, complete: true, empty: true } }
    await store(reviewed("2025-11-19T10:00:00Z", [], { ...none, storefront: "gb" }))
    await store(reviewedOnPlay("2025-11-19T11:00:00Z", [], none))
    const at = "2025-11-19T10:00:00.000Z"
    const read = { feed: "gb", state: "none", readAt: at, complete: true, completeAt: at }
    expect(await search({ country: "gb" })).toMatchObject({ total: 0, reviews: [], feed: read })
    expect(await list({ country: "gb" })).toMatchObject({
      newCount: 0,
      list: [],
      android: [],
      feeds: { ios: { ...read, total: 0 }, android: { feed: "en", state: "none", total: 0 } },
    })
  })

  test("only the plan's whole UTC days are searched, even across a change to winter time", async () => {
    await track()
    const edges = ["2025-10-21T23:59", "2025-10-22T00:00", "2025-10-26T00:30", "2025-10-26T01:30", "2025-11-20T11:59"]
    await store(
      reviewed(
        "2025-11-20T11:59:30Z",
        edges.map((at, i) => ({ id: `${i}`, at: day(at) })),
        complete,
      ),
    )
    const window = { from: "2025-10-22", to: "2025-11-20", reviewsFrom: "2025-10-22" }
    const planned = await search({}, 30)
    expect(planned).toMatchObject({ ...window, total: 4 })
    expect(idsOf(planned)).toEqual(["4", "3", "2", "1"])
    expect(await search({ from: "2025-01-01" }, 30)).toMatchObject({ ...window, total: 4 })
    expect(await search({ from: "2025-01-01", to: "2025-10-22" }, 30)).toMatchObject({ total: 1, to: "2025-10-22" })
    expect(idsOf(await search({ from: "2025-10-26", to: "2025-10-26" }))).toEqual(["3", "2"])
    expect(await search({ to: "2099-01-01" }, 30)).toMatchObject(window)
    const later = { from: "2025-11-21", to: "2025-11-22" }
    expect(await search(later, 30).catch(({ code }) => code)).toBe("bad_range")
    expect(await search()).toMatchObject({ from: "2008-07-10", total: 5 })
    const { list: listed, feeds } = await list({}, 30)
    expect(idsOf({ reviews: listed })).toEqual(["4", "3", "2", "1"])
    expect(feeds).toMatchObject({ ios: { from: "2025-10-22", total: 4 }, android: { from: "2025-10-22" } })
    expect((await list()).feeds).toMatchObject({ ios: { from: "2008-07-10" }, android: { from: "2025-10-22" } })
    expect((await list({}, 7)).feeds).toMatchObject({ ios: { from: "2025-11-14" }, android: { from: "2025-11-14" } })
  })

  test("Turkish, German, Japanese, Korean and Chinese texts are found in all their spellings", async () => {
    await track()
    const texts: [id: string, title: string, text: string][] = [
      ["tr", "IŞIK", "İNANILMAZ güzel, ısrarla öneririm"],
      ["de", "Große Freude", "Macht Spaß auf der Straße"],
      ["ja", "ガチャ", "アプリが落ちる。ＡＰＰ最高"],
      ["ko", "좋아요".normalize("NFD"), "광고가 많아요ㅋㅋㅠㅠ"],
      ["zh", "很好", "广告太多（真的）"],
      ["en", "It’s fine", "100% _safe_ \\o/ don’t\nworry"],
    ]
    await store(
      reviewed(
        "2025-11-19T10:00:00Z",
        texts.map(([id, title, text]) => ({ id, title, text })),
        complete,
      ),
    )
    const queries: [q: string, ids: string[]][] = [
      ["ışık", ["tr"]],
      ["inanılmaz", ["tr"]],
      ["INANILMAZ", ["tr"]],
      ["isik", []],
      ["ISRARLA", ["tr"]],
      ["GROSSE", ["de"]],
      ["spass", ["de"]],
      ["strasse", ["de"]],
      ["grose", []],
      ["ｶﾞﾁｬ", ["ja"]],
      ["app", ["ja"]],
      ["落ち", ["ja"]],
      ["かちゃ", []],
      ["좋아", ["ko"]],
      ["좋아".normalize("NFD"), ["ko"]],
      ["ㅠㅠ", ["ko"]],
      ["광고", ["ko"]],
      ["(真的)", ["zh"]],
      ["廣告", []],
      ["it's", ["en"]],
      ["don't worry", ["en"]],
      ["0% _", ["en"]],
      ["\\o", ["en"]],
      ["%%", []],
      ["fine 100", []],
      ["r", ["de", "en", "tr"]],
    ]
    for (const folded of [true, false]) {
      if (!folded) await sql`update review_version set folded = null`
      for (const [q, ids] of queries) expect([q, idsOf(await search({ q })).sort()]).toEqual([q, ids])
    }
  })

  test("reviews of the same moment are sorted by id, and each is counted once", async () => {
    await track()
    const ids = ["b", "B", "a", "10", "9", "_"]
    await store(
      reviewed(
        "2025-11-18T10:00:00Z",
        ids.map((id) => ({ id })),
        complete,
      ),
    )
    await store(reviewed("2025-11-19T10:00:00Z", [{ id: "9", text: "edited", at: day("2025-11-18T12:00") }], complete))
    const all = await search()
    expect(all.total).toBe(6)
    expect(idsOf(all)).toEqual(["9", "10", "B", "_", "a", "b"])
    expect(idsOf(await search({ q: "text of 9" }))).toEqual([])
    for (let limit = 1; limit <= 7; limit++) {
      const { reviews, truncated } = await search({ limit })
      expect([idsOf({ reviews }), truncated]).toEqual([idsOf(all).slice(0, limit), limit < 6])
    }
  })

  test("a review is new if it was first read on the latest day and is newer than reviews stored before", async () => {
    await track()
    const from = (...ids: number[]) => ids.map((id) => ({ id: `${id}`, at: day(`2025-11-${10 + id}T00:00`) }))
    await store(reviewed("2025-11-17T10:00:00Z", from(2, 3, 4), complete))
    expect((await list()).newCount).toBeNull()
    // A review that first appears below a stored review is not new.
    await store(reviewed("2025-11-18T08:00:00Z", from(1, 3, 4), complete))
    expect((await list()).newCount).toBe(0)
    await store(reviewed("2025-11-18T09:00:00Z", from(4, 5), complete))
    await store(reviewed("2025-11-18T20:00:00Z", from(5, 6), complete))
    expect((await list()).newCount).toBe(2)
    // The edited review is at the top of the feed again.
    const edited = { id: "2", text: "edited", at: day("2025-11-18T21:00") }
    await store(reviewed("2025-11-18T22:00:00Z", [edited, ...from(6)], complete))
    expect((await list()).newCount).toBe(2)
    await store(reviewed("2025-11-18T23:00:00Z", from(7), { end: { pages: 1, complete: false, empty: false } }))
    expect((await list()).newCount).toBeNull()
  })
})
