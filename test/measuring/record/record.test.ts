import { beforeEach, describe, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import type { SearchObservation } from "../../../src/keywords/kinds/search-shape.ts"
import { listKeywordRanks } from "../../../src/keywords/operations/keywords.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { record, recordAttempt } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"
import { ask, contextOf, NOW, newWorkspace, reading, stored } from "./measured.ts"

let sql: Sql
const now = () => NOW

beforeEach(async () => {
  sql = await freshDatabase()
})

async function tracking(keywords: string[], iosId = "10001") {
  const workspaceId = await newWorkspace(sql)
  const appId = await trackOwn(sql, { workspaceId, iosId, keywords })
  const ctx = contextOf(sql, workspaceId)
  return async () =>
    (await ask(listKeywordRanks, ctx, { appId })).keywords.map(({ rank, measured }: never) =>
      measured ? rank : "unmeasured",
    )
}

describe("recording", () => {
  test("repeated readings change nothing, in the same call and in the next call", async () => {
    const ranks = await tracking(["tea"])
    const batch = [
      reading("tea", "2025-11-19T10:00:00Z", [10001, 10002], {
        results: [{ id: "10001", name: "Tea", ratings: 5, rating: 4.5 }],
      }),
      reading("mate", "2025-11-19T10:00:00Z", [10002]),
    ]
    expect(await record(sql, [...batch, ...batch], now)).toEqual({ recorded: 2, alreadyStored: 2, refused: [] })
    const before = await stored(sql)
    expect(await record(sql, batch, now)).toEqual({ recorded: 0, alreadyStored: 2, refused: [] })
    expect(await stored(sql)).toBe(before)
    expect(await ranks()).toEqual([1])
  })

  test("a deeper reading of the same time replaces the earlier reading and its derived data", async () => {
    const ranks = await tracking(["tea"])
    await record(sql, [reading("tea", "2025-11-19T10:00:00Z", [10001, 10002])], now)
    expect(await ranks()).toEqual([1])
    await record(sql, [reading("tea", "2025-11-19T10:00:00Z", [10002, 10003, 10001])], now)
    expect(await ranks()).toEqual([3])
    await record(sql, [reading("tea", "2025-11-19T10:00:00Z", [10002, 10003], { depth: 9 })], now)
    expect(await ranks()).toEqual([null])
    expect(await sql`select 1 from search_results`).toHaveLength(1)
    expect([...(await sql`select first_day, last_day from list`)]).toEqual([
      { first_day: "2025-11-19", last_day: "2025-11-19" },
    ])
  })

  test("a newer parser's reading replaces an older parser's reading, but not the reverse", async () => {
    const ranks = await tracking(["tea"])
    const body = reading("tea", "2025-11-19T10:00:00Z", [10002, 10001])
    const reparsed = (parser: number, ids: string[]): SearchObservation => ({
      ...body,
      parser,
      results: ids.map((id) => ({ id })),
    })
    await record(sql, [body], now)
    expect((await record(sql, [reparsed(2, ["10001", "10002"])], now)).recorded).toBe(1)
    expect(await ranks()).toEqual([1])
    expect((await record(sql, [reparsed(1, ["10002", "10001"])], now)).recorded).toBe(0)
    expect(await ranks()).toEqual([1])
  })

  slow("the best of several readings of the same time is stored, in any order and in parts", async () => {
    const ranks = await tracking(["tea"])
    const body = (ids: number[], rest: Partial<SearchObservation>) => reading("tea", "2025-11-19T10:00:00Z", ids, rest)
    const sha = (byte: number) => ({ sha256: new Uint8Array(32).fill(byte) })
    const worstFirst = [
      { ...body([10001], { depth: 200, parser: 9, origin: "demo" }), ...sha(9) },
      { ...body([10001], { depth: 100, complete: false }), ...sha(9) },
      { ...body([10002, 10001], { depth: 20 }), ...sha(9) },
      { ...body([10002, 10003, 10001], { depth: 50 }), ...sha(1) },
      { ...body([10002, 10003, 10004, 10001], { depth: 50 }), ...sha(2) },
    ]
    for (const order of [worstFirst, worstFirst.toReversed(), [4, 0, 3, 1, 2].map((i) => worstFirst[i] as never)]) {
      await sql`delete from search_results`
      for (const single of order) await record(sql, [single], now)
      expect(await ranks()).toEqual([4])
      const before = await stored(sql)
      expect((await record(sql, order, now)).recorded).toBe(0)
      expect(await stored(sql)).toBe(before)
    }
  })

  test("an incomplete reading never replaces a complete reading of the same time and parser", async () => {
    const ranks = await tracking(["tea"])
    const at = "2025-11-19T10:00:00Z"
    await record(sql, [reading("tea", at, [10001])], now)
    expect((await record(sql, [reading("tea", at, [10002], { complete: false, depth: 50 })], now)).recorded).toBe(0)
    expect(await ranks()).toEqual([1])
  })

  test("an incomplete reading is stored but is not the reading of its day", async () => {
    const ranks = await tracking(["tea"])
    await record(sql, [reading("tea", "2025-11-19T10:00:00Z", [10001], { complete: false, depth: 50 })], now)
    expect(await ranks()).toEqual(["unmeasured"])
    expect(await sql`select 1 from search_results`).toHaveLength(1)
    expect(await sql`select 1 from rank_month`).toHaveLength(0)
  })

  test("a complete reading that a newer parser finds incomplete makes its day unmeasured", async () => {
    const ranks = await tracking(["tea"])
    await record(sql, [reading("tea", "2025-11-19T10:00:00Z", [10001])], now)
    await record(sql, [reading("tea", "2025-11-19T10:00:00Z", [10001], { complete: false, parser: 2 })], now)
    expect(await ranks()).toEqual(["unmeasured"])
    expect(await sql`select 1 from rank_month`).toHaveLength(0)
    expect(await sql`select 1 from list_month`).toHaveLength(0)
    expect([...(await sql`select first_day, last_day from list`)]).toEqual([{ first_day: null, last_day: null }])
  })

  test("the reading of a day is that of the preferred source, then the deepest, then the latest", async () => {
    const ranks = await tracking(["tea"])
    const place = (rank: number) => [...Array.from({ length: rank - 1 }, (_, i) => 20_000 + i), 10001]
    const steps: [string, Partial<SearchObservation>, number, number][] = [
      ["08", { source: "foreign", depth: 250 }, 9, 9],
      ["07", { source: "import", depth: 20 }, 8, 8],
      ["06", { source: "import", depth: 50 }, 7, 7],
      ["09", { source: "import", depth: 20 }, 6, 7],
      ["05", { source: "apple-store-search", depth: 10 }, 5, 5],
      ["04", { source: "apple-web-search", depth: 10 }, 4, 4],
      ["10", { source: "apple-web-search", depth: 10 }, 3, 3],
      ["11", { source: "apple-web-search", depth: 200, complete: false }, 2, 3],
    ]
    for (const [hour, rest, rank, expected] of steps) {
      await record(sql, [reading("tea", `2025-11-19T${hour}:00:00Z`, place(rank), rest)], now)
      expect(await ranks()).toEqual([expected])
    }
    expect(await sql`select 1 from search_results`).toHaveLength(steps.length)
  })

  test("the day of a reading is the UTC day of its time, also in months long past", async () => {
    const ranks = await tracking(["tea"])
    await record(sql, [reading("tea", "2024-02-29T23:30:00-02:00", [10001])], now)
    await record(sql, [reading("tea", "2019-12-31T23:59:59.999Z", [10002])], now)
    const days = await sql`select day from search_results order by day`
    expect(days.map(({ day }) => day)).toEqual(["2019-12-31", "2024-03-01"])
    expect([...(await sql`select first_day, last_day from list`)]).toEqual([
      { first_day: "2019-12-31", last_day: "2024-03-01" },
    ])
    expect(await ranks()).toEqual([1])
  })

  slow("recording existing apps and terms again uses up no ids", async () => {
    for (let i = 0; i < 20; i++) {
      await record(sql, [reading("tea", `2025-11-19T10:00:${10 + i}Z`, [10001, 10002, 10003])], now)
    }
    await record(sql, [reading("mate", "2025-11-19T10:00:00Z", [10004])], now)
    const apps = await sql`select id from store_app order by id`
    const lists = await sql`select id from list order by id`
    expect(apps.map(({ id }) => id)).toEqual([1, 2, 3, 4])
    expect(lists.map(({ id }) => id)).toEqual([1, 2])
  })

  test("a reading that breaks an invariant is refused by index and reason, and the others are stored", async () => {
    const at = "2025-11-19T10:00:00Z"
    const sound = reading("tea", at, [10001])
    const wrong: [SearchObservation, string][] = [
      [reading("tea", at, [10001, 10002, 10001]), "duplicate_app"],
      [reading("tea", at, [10001, 10002], { depth: 1 }), "too_many_results"],
      [reading("tea", at, [], { depth: 0 }), "bad_depth"],
      [reading("tea", at, [10001], { depth: 251 }), "bad_depth"],
      [reading("tea", "2025-11-20T12:00:00.001Z", [10001]), "bad_time"],
      [reading("tea", "1999-01-01T00:00:00Z", [10001]), "bad_time"],
      [reading("tea", "nonsense", [10001]), "bad_time"],
      [reading("tea", at, [10001], { source: "itunes-search" as never }), "bad_source"],
      [reading("tea", at, [10001], { source: "play-search" }), "bad_platform"],
      [reading("tea", at, [10001], { storefront: "xx" }), "bad_storefront"],
      [reading("Tea ", at, [10001]), "bad_term"],
      [reading("t\0ea", at, [10001]), "bad_term"],
      [reading("", at, [10001]), "bad_term"],
      [reading("tea", at, ["com.example.app"]), "bad_app_id"],
      [reading("tea", at, ["1234"]), "bad_app_id"],
      [reading("tea", at, [], { depth: 5, results: [{ id: "10001", ratings: -1 }] }), "bad_figure"],
      [reading("tea", at, [], { depth: 5, results: [{ id: "10001", rating: 5.1 }] }), "bad_figure"],
      [reading("tea", at, [10001], { origin: "" }), "bad_provenance"],
      [{ ...sound, sha256: new Uint8Array(31) }, "bad_provenance"],
    ]
    const result = await record(sql, [...wrong.map(([observation]) => observation), sound], now)
    expect(result.refused.map(({ index, problem }) => [index, problem.code as string])).toEqual(
      wrong.map(([, code], i) => [i, code]),
    )
    expect(result.recorded).toBe(1)
    expect(await sql`select 1 from list`).toHaveLength(1)
    expect(await sql`select 1 from store_app`).toHaveLength(1)
  })

  test("a database failure in the middle of a call leaves nothing of the call stored", async () => {
    await record(sql, [reading("tea", "2025-11-18T10:00:00Z", [10001])], now)
    const before = await stored(sql)
    await sql`alter table rating_count add constraint broken check (ratings < 100) not valid`
    const results = [{ id: "10009", name: "New", ratings: 100 }]
    // not `.rejects`, which blocks the embedded database's thread
    const failure = await record(sql, [reading("mate", "2025-11-19T10:00:00Z", [], { depth: 1, results })], now).catch(
      String,
    )
    expect(failure).toContain("broken")
    expect(await stored(sql)).toBe(before)
    await sql`alter table rating_count drop constraint broken`
  })
})

describe("app facts in a reading", () => {
  const facts = () =>
    sql`
      select n.name, icon_url, developer, seen_at, a.origin
      from store_app a
      left join store_app_name n on n.app_id = a.id
      order by id`.then((rows) => [...rows])
  const recordApp = (at: string, app: object, rest: Partial<SearchObservation> = {}) =>
    record(sql, [reading("tea", at, [], { depth: 5, results: [{ id: "10001", ...app }], ...rest })], now)

  test("newer facts replace older facts, and facts of older readings only fill gaps", async () => {
    await recordApp("2025-11-10T00:00:00Z", { name: "B", icon: "https://example.com/b.png" })
    await recordApp("2025-11-12T00:00:00Z", { name: "C" })
    await recordApp("2025-11-11T00:00:00Z", { name: "Late", developer: "Dev" })
    await recordApp("2025-11-13T00:00:00Z", {})
    const seen_at = new Date("2025-11-12T00:00:00Z")
    expect(await facts()).toEqual([
      { name: "C", icon_url: "https://example.com/b.png", developer: "Dev", seen_at, origin: "own" },
    ])
  })

  test("another publisher's facts and ratings never replace those of this instance", async () => {
    await recordApp("2025-11-12T00:00:00Z", { name: "Demo", developer: "Demo", ratings: 7 }, { origin: "demo" })
    await recordApp("2025-11-12T00:00:00Z", { name: "Own", ratings: 3 }, { term: "mate" })
    await recordApp("2025-11-12T05:00:00Z", { name: "Demo again", ratings: 9 }, { origin: "demo" })
    expect(await facts()).toEqual([
      { name: "Own", icon_url: null, developer: null, seen_at: new Date("2025-11-12T00:00:00Z"), origin: "own" },
    ])
    expect([...(await sql`select ratings, origin from rating_count`)]).toEqual([{ ratings: 3, origin: "own" }])
  })

  test("an app's facts come from one of two other publishers until this instance reads the app", async () => {
    const older = () => recordApp("2025-11-11T00:00:00Z", { name: "First", developer: "First" }, { origin: "a" })
    const newer = () =>
      recordApp("2025-11-12T00:00:00Z", { name: "Second", icon: "https://example.com/2.png" }, { origin: "b" })
    const first = { name: "First", icon_url: null, developer: "First", seen_at: new Date("2025-11-11T00:00:00Z") }
    await older()
    await newer()
    expect(await facts()).toEqual([{ ...first, origin: "a" }])
    sql = await freshDatabase()
    await newer()
    await older()
    expect(await facts()).toEqual([{ ...first, origin: "a" }])
    await recordApp("2025-11-10T00:00:00Z", { name: "Own" })
    const seen_at = new Date("2025-11-10T00:00:00Z")
    expect(await facts()).toEqual([{ name: "Own", icon_url: null, developer: null, seen_at, origin: "own" }])
  })

  test("a reading is stored even if an app name contains unstorable characters", async () => {
    await recordApp("2025-11-12T00:00:00Z", { name: "Tea \ud83c\0" })
    expect((await facts())[0]).toMatchObject({ name: "Tea \ufffd" })
  })

  test("a storefront has one rating count per day and source: the latest", async () => {
    await recordApp("2025-11-12T09:00:00Z", { ratings: 10, rating: 4.5 })
    await recordApp("2025-11-12T08:00:00Z", { ratings: 9 })
    await recordApp("2025-11-13T08:00:00Z", { ratings: 11 })
    const rows = await sql`select day, ratings, rating from rating_count order by day`
    expect([...rows]).toEqual([
      { day: "2025-11-12", ratings: 10, rating: 4.5 },
      { day: "2025-11-13", ratings: 11, rating: null },
    ])
  })
})

test("a failed read is logged once and stores no reading", async () => {
  const ranks = await tracking(["tea"])
  const attempt = {
    kind: "search" as const,
    at: new Date("2025-11-19T10:00:00Z"),
    subject: "tea",
    storefront: "us",
    platform: "ios" as const,
    source: "import" as const,
    outcome: "blocked" as const,
  }
  expect(await recordAttempt(sql, attempt, now)).toBe(true)
  expect(await recordAttempt(sql, attempt, now)).toBe(false)
  expect(await sql`select 1 from attempt`).toHaveLength(1)
  expect(await ranks()).toEqual(["unmeasured"])
  const failure = await recordAttempt(sql, { ...attempt, at: new Date("2031-01-01") }, now).catch(String)
  expect(failure).toContain("future")
})
