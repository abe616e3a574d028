import { beforeEach, describe, expect, test } from "bun:test"
import type { StoreApp } from "../../../src/core/observation/line-parts.ts"
import type { Sql } from "../../../src/database/types.ts"
import type { AppsObservation } from "../../../src/stores/kinds/apps-shape.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { record } from "../../record.ts"
import { appsReading, NOW, reading, readStoredNames, stored } from "./measured.ts"

let sql: Sql
const now = () => NOW
const count = async (...observations: AppsObservation[]) => (await record(sql, observations, now)).recorded

beforeEach(async () => {
  sql = await freshDatabase()
})

const states = async () =>
  (
    await sql`
      select a.store_id, s.storefront, s.source, s.available, s.name
      from app_storefront s
      join store_app a on a.id = s.app_id
      order by a.store_id, s.storefront, s.source`
  ).map(({ store_id, storefront, source, available, name }) =>
    [store_id, storefront, source, available ? "there" : "gone", name].join(" ").trim(),
  )

const TEA: StoreApp = {
  id: "10001",
  name: "Tea",
  icon: "https://example.com/tea.png",
  developer: "Leaves",
  bundleId: "com.example.tea",
  version: "4.1",
  price: 2.99,
  currency: "USD",
  genre: "6008",
  ratings: 640,
  rating: 4.5,
  releasedAt: new Date("2019-01-02T03:04:05Z"),
  updatedAt: new Date("2025-11-01T00:00:00Z"),
  languages: ["en", "ja"],
  sizeBytes: 5_000_000_000,
}

describe("a store's reading of an app", () => {
  test("a reading of an app is stored completely, with its facts and ratings", async () => {
    expect(await count(appsReading("2025-11-19T10:00:00Z", [TEA]))).toBe(1)
    const [row] = await sql`select * from app_storefront`
    expect(row).toMatchObject({
      storefront: "us",
      source: "itunes-lookup",
      seen_at: new Date("2025-11-19T10:00:00Z"),
      available: true,
      name: "Tea",
      version: "4.1",
      price: "2.99",
      currency: "USD",
      genre: "6008",
      released_at: TEA.releasedAt,
      updated_at: TEA.updatedAt,
      languages: TEA.languages,
      size_bytes: TEA.sizeBytes,
      parser: 1,
      origin: "own",
    })
    expect(
      (
        await sql`select name, icon_url, developer, bundle_id, source from store_app join store_app_name on app_id = id`
      )[0],
    ).toEqual({
      name: "Tea",
      icon_url: TEA.icon,
      developer: "Leaves",
      bundle_id: "com.example.tea",
      source: "itunes-lookup",
    })
    expect([...(await sql`select day, source, ratings, rating from rating_count`)]).toEqual([
      { day: "2025-11-19", source: "itunes-lookup", ratings: 640, rating: 4.5 },
    ])
  })

  test("a fact that a store did not show is null, never zero", async () => {
    await count(appsReading("2025-11-19T10:00:00Z", [{ id: "10001" }]))
    const [row] = await sql`
      select name, version, price, currency, genre, released_at, updated_at, languages, size_bytes
      from app_storefront`
    expect(Object.values(row!)).toEqual(Array(9).fill(null))
    expect(await sql`select 1 from rating_count`).toHaveLength(0)
    expect((await sql`select seen_at from store_app`)[0]).toEqual({ seen_at: null })
    expect(await readStoredNames(sql)).toEqual([])
  })

  test("an app missing in a look-up becomes unavailable, but an app missing in a search does not", async () => {
    const ids = ["10001", "10002"]
    await count(appsReading("2025-11-19T10:00:00Z", [{ id: "10001", name: "Tea" }], { asked: ids }))
    await count(
      appsReading("2025-11-19T10:00:00Z", [{ id: "10003", name: "Found" }], { asked: ids, source: "itunes-search" }),
    )
    const play = { platform: "android", source: "play-details", storefront: "de" } as const
    await count(appsReading("2025-11-19T10:00:00Z", [], { ...play, asked: ["com.example.tea"] }))
    expect(await states()).toEqual([
      "10001 us itunes-lookup there Tea",
      "10002 us itunes-lookup gone",
      "10003 us itunes-search there Found",
      "com.example.tea de play-details gone",
    ])
  })

  test("an app that becomes unavailable keeps its name and ratings, and can become available again", async () => {
    const missing = { asked: ["10001"] }
    await count(appsReading("2025-11-17T10:00:00Z", [TEA]))
    expect(await count(appsReading("2025-11-18T10:00:00Z", [], missing))).toBe(1)
    expect(await states()).toEqual(["10001 us itunes-lookup gone"])
    expect((await sql`select version, price, released_at from app_storefront`)[0]).toEqual({
      version: null,
      price: null,
      released_at: null,
    })
    expect((await sql`select name from store_app_name`)[0]).toEqual({ name: "Tea" })
    expect(await sql`select 1 from rating_count`).toHaveLength(1)
    await count(appsReading("2025-11-19T10:00:00Z", [TEA]))
    expect(await states()).toEqual(["10001 us itunes-lookup there Tea"])
  })

  test("a repeated reading of an app changes nothing, in one call and in the next", async () => {
    const batch = [
      appsReading("2025-11-19T10:00:00Z", [TEA, { id: "10002", ratings: 3 }], { asked: ["10001", "10002", "10003"] }),
      appsReading("2025-11-19T11:00:00Z", [{ id: "10004", name: "Mate" }]),
    ]
    expect(await record(sql, [...batch, ...batch], now)).toMatchObject({ recorded: 2, alreadyStored: 2 })
    const before = await stored(sql)
    const places = await sql`select ctid::text from rating_count`
    expect(await record(sql, batch, now)).toEqual({ recorded: 0, alreadyStored: 2, refused: [] })
    expect(await stored(sql)).toBe(before)
    // the rows are not even rewritten
    expect([...(await sql`select ctid::text from rating_count`)]).toEqual([...places])
  })

  slow("readings of an app give the same rows in any order and parts", async () => {
    const sha = (byte: number) => new Uint8Array(32).fill(byte)
    const worstFirst = [
      appsReading("2025-11-18T12:00:00Z", [{ ...TEA, name: "Day before", ratings: 2 }], { parser: 9, sha256: sha(9) }),
      appsReading("2025-11-19T08:00:00Z", [{ ...TEA, name: "Morning", ratings: 3 }], { parser: 9, sha256: sha(9) }),
      appsReading("2025-11-19T11:00:00Z", [{ ...TEA, name: "Old parser", ratings: 4 }], { sha256: sha(9) }),
      appsReading("2025-11-19T11:00:00Z", [{ ...TEA, name: "New parser", ratings: 5 }], { parser: 2, sha256: sha(1) }),
      appsReading("2025-11-19T11:00:00Z", [{ ...TEA, name: "The other body", ratings: 6 }], {
        parser: 2,
        sha256: sha(2),
      }),
    ]
    const orders = [worstFirst, worstFirst.toReversed(), [3, 4, 2, 0, 1].map((i) => worstFirst[i]!)]
    const forms = new Set<string>()
    for (const order of orders) {
      for (const parts of [order.map((single) => [single]), [order.slice(0, 2), order.slice(2)], [order]]) {
        await sql`delete from app_storefront`
        await sql`delete from rating_count`
        await sql`delete from store_app`
        for (const part of parts) await record(sql, part, now)
        expect(await states()).toEqual(["10001 us itunes-lookup there The other body"])
        expect((await sql`select name, source, seen_at from store_app join store_app_name on app_id = id`)[0]).toEqual({
          name: "The other body",
          source: "itunes-lookup",
          seen_at: new Date("2025-11-19T11:00:00Z"),
        })
        const ratings = await sql`select day, ratings, origin from rating_count order by day`
        forms.add(JSON.stringify(ratings))
        const before = await stored(sql)
        expect((await record(sql, order, now)).recorded).toBe(0)
        expect(await stored(sql)).toBe(before)
      }
    }
    expect([...forms].map((text) => JSON.parse(text))).toEqual([
      [
        { day: "2025-11-18", ratings: 2, origin: "own" },
        { day: "2025-11-19", ratings: 6, origin: "own" },
      ],
    ])
  })

  test("a look-up replaces the app facts of an older search, and fills gaps of a newer search", async () => {
    await record(
      sql,
      [reading("tea", "2025-11-18T10:00:00Z", [], { depth: 5, results: [{ id: "10001", name: "As found" }] })],
      now,
    )
    const names = async () =>
      (await sql`select name, developer, source from store_app join store_app_name on app_id = id`)[0]
    await count(appsReading("2025-11-17T10:00:00Z", [TEA]))
    expect(await names()).toEqual({ name: "As found", developer: "Leaves", source: "import" })
    await count(appsReading("2025-11-19T10:00:00Z", [TEA]))
    expect(await names()).toEqual({ name: "Tea", developer: "Leaves", source: "itunes-lookup" })
  })
})

test("an app that breaks an invariant is refused by index and reason, and nothing of it is stored", async () => {
  const at = "2025-11-19T10:00:00Z"
  const app = (rest: object) => appsReading(at, [{ id: "10001", ...rest }])
  const wrong: [AppsObservation, string][] = [
    [appsReading(at, [], { source: "apple-hints" as never }), "bad_source"],
    [appsReading(at, [], { source: "play-details" }), "bad_platform"],
    [appsReading(at, [], { platform: "android" }), "bad_platform"],
    [appsReading(at, [], { storefront: "xx" }), "bad_storefront"],
    [appsReading("2025-11-20T12:00:00.001Z", [TEA]), "bad_time"],
    [appsReading(at, [TEA], { asked: ["com.example.tea"] }), "bad_app_id"],
    [appsReading(at, [{ ...TEA, id: "12" }], { asked: [] }), "bad_app_id"],
    [appsReading(at, [TEA, TEA], { asked: [] }), "duplicate_app"],
    [appsReading(at, [], { asked: ["10001", "10001"] }), "duplicate_app"],
    [appsReading(at, [], { asked: Array.from({ length: 1_001 }, (_, i) => String(10_000 + i)) }), "too_many_results"],
    [app({ ratings: 1.5 }), "bad_figure"],
    [app({ rating: Number.NaN }), "bad_figure"],
    [app({ price: -1 }), "bad_figure"],
    [app({ price: Number.POSITIVE_INFINITY }), "bad_figure"],
    [app({ currency: "usd" }), "bad_figure"],
    [app({ genre: " " }), "bad_text"],
    [app({ genre: "Finance" }), "bad_text"],
    [app({ genre: "6015", genres: ["6015", "Finance"] }), "bad_text"],
    [app({ genre: "6015", genres: ["6015", "6015"] }), "bad_text"],
    [app({ genre: "6015", genres: ["6002", "6015"] }), "bad_text"],
    [app({ genre: "6015", genres: [] }), "bad_text"],
    [app({ genres: ["6015"] }), "bad_text"],
    [app({ genre: "6015", genres: Array.from({ length: 21 }, (_, i) => String(6_015 + i)) }), "too_many_results"],
    [app({ updatedAt: new Date("nonsense") }), "bad_time"],
    [app({ languages: [] }), "bad_text"],
    [app({ languages: ["fr", "en"] }), "bad_text"],
    [app({ languages: ["en", "en"] }), "bad_text"],
    [app({ languages: ["EN"] }), "bad_text"],
    [app({ sizeBytes: 0 }), "bad_figure"],
    [app({ sizeBytes: 1e15 }), "bad_figure"],
    [appsReading(at, [TEA], { origin: "" }), "bad_provenance"],
    [{ ...appsReading(at, [TEA]), sha256: new Uint8Array(5) }, "bad_provenance"],
  ]
  const { refused, recorded } = await record(
    sql,
    [...wrong.map(([single]) => single), appsReading(at, [{ id: "10009" }])],
    now,
  )
  expect(refused.map(({ index, problem }) => [index, problem.code as string])).toEqual(
    wrong.map(([, code], place) => [place, code]),
  )
  expect(recorded).toBe(1)
  expect((await sql`select store_id from store_app`).map(({ store_id }) => store_id)).toEqual(["10009"])
})

describe("a name search", () => {
  const found = (hour: number, ids: string[], rest: object = {}) =>
    appsReading(
      `2025-11-19T0${hour}:00:00Z`,
      ids.map((id) => ({ id, name: `App ${id}` })),
      { source: "itunes-search", text: "tea", ...rest },
    )
  const storedMetrics = async () =>
    (
      await sql`
      select n.text, n.seen_at, array(select store_id from store_app where id = any(n.app_ids) order by 1) as ids
      from name_search n
      order by n.storefront, n.text`
    ).map(({ text, seen_at, ids }) => [text, seen_at.getUTCHours(), ...ids].join(" "))

  test("the latest result of a name search is stored in any order of readings, even if it is empty", async () => {
    await count(found(2, ["10009", "10001"]), found(1, ["10002"]))
    expect(await storedMetrics()).toEqual(["tea 2 10001 10009"])
    expect(await sql`select from name_search where app_ids <> array(select unnest(app_ids) order by 1)`).toHaveLength(0)
    expect(await count(found(1, ["10002"]), found(2, ["10009", "10001"]))).toBe(0)
    expect(await count(found(3, []))).toBe(1)
    expect(await storedMetrics()).toEqual(["tea 3"])
    await count(found(3, ["10001"], { text: "green tea" }), found(3, ["10001"], { text: undefined }))
    expect(await storedMetrics()).toEqual(["green tea 3 10001", "tea 3"])
  })

  test("a name search is refused from a look-up source, and for a text that is not in normal form", async () => {
    const refused = async (rest: object) =>
      (await record(sql, [found(1, ["10001"], rest)], now)).refused.map(({ problem }) => problem.code)
    expect(await refused({ source: "itunes-lookup" })).toEqual(["bad_source"])
    for (const text of ["Tea", " tea", "", "x".repeat(151)]) expect(await refused({ text })).toEqual(["bad_term"])
    expect(await storedMetrics()).toEqual([])
  })
})
