import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import type { Observation } from "../../../src/kinds.ts"
import { readStoredAppAds } from "../../../src/listings/read/app-ads.ts"
import type { MarketDay } from "../../../src/market/read/market-facts.ts"
import { freshDatabase } from "../../database.ts"
import { cases } from "../../long.ts"
import { listed, randomOf, shuffled } from "../../measuring/record/listed.ts"
import { appsReading, stored } from "../../measuring/record/measured.ts"
import { marketed, named, shelved, soldBy } from "../../measuring/record/public-facts.ts"
import { developerShelfOf, genresOf } from "../../measuring/record/stored-market.ts"
import { record } from "../../record.ts"

setDefaultTimeout(60_000)

let sql: Sql
const now = () => new Date("2026-08-01T00:00:00Z")
const recordAll = (...all: Observation[]) => record(sql, all, now)
const day = (n: number, hour = 6) => new Date(Date.UTC(2026, 5, n, hour)).toISOString()
const idOf = async (storeId: string) => (await sql`select id from store_app where store_id = ${storeId}`)[0]!.id
const sha = (byte: number) => ({ sha256: new Uint8Array(32).fill(byte) })

beforeEach(async () => {
  sql = await freshDatabase()
})

/** Records the observations in any order, in parts and twice, and expects the same stored result. */
async function expectStored(
  all: readonly Observation[],
  read: () => Promise<unknown>,
  expected: unknown,
): Promise<void> {
  const random = randomOf(7)
  for (let round = 0; round < cases(1, 4); round++) {
    await freshDatabase()
    const order = shuffled(all, random)
    const size = 1 + (round % 4)
    for (let i = 0; i < order.length; i += size) await recordAll(...order.slice(i, i + size))
    expect(await read()).toEqual(expected as never)
    const before = await stored(sql)
    expect(await recordAll(...order, ...order)).toEqual({ recorded: 0, alreadyStored: 2 * all.length, refused: [] })
    expect(await stored(sql)).toBe(before)
  }
}

describe("genres of a store", () => {
  const GB = { platform: "ios", storefront: "gb" } as const

  test("the genres of the latest reading replace all earlier genres", async () => {
    const tree = (...ids: string[]) => [
      { id: "36", name: "All" },
      ...ids.map((id) => ({ id, name: `Genre ${id}`, parent: "36" })),
    ]
    const readings = [
      named(day(2), { genres: tree("6001", "6002", "6003"), parser: 9 }),
      named(day(3), { genres: tree("6004"), ...sha(9) }),
      named(day(3), { genres: tree("6006", "6005"), parser: 2, ...sha(1) }),
      named(day(1), { storefront: "gb", genres: tree("6007") }),
    ]
    const readGenres = async () => {
      const [us, gb] = [await genresOf(sql, { platform: "ios", storefront: "us" }), await genresOf(sql, GB)]
      return [us, gb].map((genreTree) => [
        genreTree?.seenAt.toISOString(),
        genreTree?.borrowed,
        genreTree?.genres.map(({ id }) => id).join(),
      ])
    }
    await expectStored(readings, readGenres, [
      [day(3), false, "36,6006,6005"],
      [day(1), false, "36,6007"],
    ])
  })

  test("a storefront that was never read has the genres of the United States or any other, and is marked", async () => {
    expect(await genresOf(sql, GB)).toBeNull()
    await recordAll(named(day(1), { storefront: "jp" }), named(day(1), { storefront: "fr" }))
    expect(await genresOf(sql, GB)).toMatchObject({ storefront: "fr", borrowed: true })
    await recordAll(named(day(1)))
    expect(await genresOf(sql, GB)).toEqual({
      storefront: "us",
      borrowed: true,
      seenAt: new Date(day(1)),
      genres: named(day(1)).genres,
    })
    expect(await genresOf(sql, { ...GB, platform: "android" })).toBeNull()
  })
})

describe("apps of a developer", () => {
  const US = { platform: "ios", storefront: "us", developerId: "1500000011" } as const

  test("the latest list of a developer's apps is stored", async () => {
    const readings = [
      shelved(day(3), ["1600000102", "1600000101"], { complete: false }),
      shelved(day(2), ["1600000103"], { parser: 4 }),
      shelved(day(3), [], { storefront: "jp" }),
    ]
    const readDevelopers = async () => {
      const shelf = await developerShelfOf(sql, US)
      const names =
        await sql`select store_id as id from store_app where id = any(${shelf?.apps ?? []}::int[]) order by id`
      const order = await Promise.all(["1600000102", "1600000101"].map(idOf))
      return { ...shelf, apps: names.length, isInOrder: shelf?.apps.join() === order.join() }
    }
    await expectStored(readings, readDevelopers, {
      seenAt: new Date(day(3)),
      source: "itunes-developer",
      complete: false,
      apps: 2,
      isInOrder: true,
    })
    expect((await developerShelfOf(sql, { ...US, storefront: "jp" }))?.apps).toEqual([])
    expect(await developerShelfOf(sql, { ...US, developerId: "1500000012" })).toBeNull()
  })

  test("a developer's apps get their facts but no ratings", async () => {
    await recordAll(shelved(day(1), ["1600000101"]))
    expect([
      ...(await sql`select name, developer_id, source from store_app join store_app_name on app_id = id`),
    ]).toEqual([{ name: "App 1600000101", developer_id: "1500000011", source: "itunes-developer" }])
    expect(await sql`select 1 from rating_count`).toHaveLength(0)
  })
})

describe("records of an app-ads.txt", () => {
  test("one app-ads.txt reading per day is stored: the latest conclusive one, or else the latest one", async () => {
    const none = { records: [], variables: {} }
    const looks = [
      soldBy(day(3, 5), ["a.com"]),
      soldBy(day(3, 6), ["b.com", "c.com"]),
      soldBy(day(3, 9), [], { state: "unreachable", ...none }),
      soldBy(day(2, 9), [], { state: "unreachable", ...none }),
      soldBy(day(1, 9), [], { state: "no_site", domain: null, ...none }),
      soldBy(day(1, 3), ["a.com"]),
    ]
    const readLooks = async () => [
      ...(await sql`select day, state, domain, jsonb_array_length(records) as records from app_ads order by day`),
    ]
    await expectStored(looks, readLooks, [
      { day: "2026-06-01", state: "no_site", domain: null, records: 0 },
      { day: "2026-06-02", state: "unreachable", domain: "example.com", records: 0 },
      { day: "2026-06-03", state: "records", domain: "example.com", records: 2 },
    ])
    const app = await idOf("1600000101")
    const { records, variables } = looks[1]!
    expect(await readStoredAppAds(sql, app)).toEqual({
      day: "2026-06-03",
      seenAt: new Date(day(3, 6)),
      domain: "example.com",
      state: "records",
      records,
      variables,
    })
    expect(await readStoredAppAds(sql, app + 1)).toBeNull()
  })
})

describe("market facts", () => {
  test("the latest market facts of each day and source are stored", async () => {
    const readings = [
      marketed(day(1), { installs: 100, hasInAppPurchases: false }),
      marketed(day(2, 3), { installs: 110 }),
      marketed(day(2, 9), {
        installs: 120,
        hasInAppPurchases: true,
        inAppLeast: 0.99,
        inAppMost: 49.99,
        inAppCurrency: "EUR",
      }),
      marketed(day(3), {}),
    ]
    const readDays = async () => await storedDays(await idOf("com.example.tea"), "de")
    const unsaid = { inAppLeast: null, inAppMost: null, inAppCurrency: null }
    const source = "play-details"
    await expectStored(readings, readDays, [
      {
        day: "2026-06-02",
        seenAt: new Date(day(2, 9)),
        source,
        installs: 120,
        hasInAppPurchases: true,
        inAppLeast: 0.99,
        inAppMost: 49.99,
        inAppCurrency: "EUR",
      },
      {
        day: "2026-06-01",
        seenAt: new Date(day(1)),
        source,
        installs: 100,
        hasInAppPurchases: false,
        ...unsaid,
      },
    ])
    expect(await storedDays(await idOf("com.example.tea"), "us")).toEqual([])
  })

  test("the App Store page gives in-app purchases, and no fact if it does not mention them", async () => {
    await recordAll(
      listed(day(1), { hasInAppPurchases: true }),
      listed(day(2)),
      listed(day(3), { hasInAppPurchases: false }),
    )
    const facts = await storedDays(await idOf("1600000101"), "us")
    expect(facts.map(({ day, hasInAppPurchases, installs }) => [day, hasInAppPurchases, installs])).toEqual([
      ["2026-06-03", false, null],
      ["2026-06-01", true, null],
    ])
  })

  test("invalid market facts are refused, such as prices without purchases or in the wrong order", async () => {
    const wrong = [
      marketed(day(1), { installs: -1 }),
      marketed(day(1), { installs: 1.5 }),
      marketed(day(1), { hasInAppPurchases: false, inAppLeast: 1, inAppMost: 2 }),
      marketed(day(1), { inAppLeast: 2, inAppMost: 1 }),
      marketed(day(1), { inAppLeast: 2 }),
      marketed(day(1), { inAppCurrency: "€" }),
    ]
    const { refused } = await recordAll(...wrong)
    expect(refused.map(({ problem }) => problem.code as string)).toEqual(wrong.map(() => "bad_figure"))
    expect(await sql`select 1 from store_app`).toHaveLength(0)
  })
})

describe("an app's genres, developer and developer's site", () => {
  const facts = async () => [...(await sql`select genre, genres, developer_id, developer_site, source from store_app`)]
  const app = { id: "1600000101", name: "Tea" }

  test("each fact comes from the latest reading that shows it, whatever its source", async () => {
    await recordAll(appsReading(day(2), [{ ...app, genre: "6007", developerSite: "https://example.com" }]))
    await recordAll(
      appsReading(day(1), [{ ...app, genre: "6000", genres: ["6000", "6007"], developerId: "1500000011" }]),
    )
    const row = {
      genre: "6007",
      genres: ["6000", "6007"],
      developer_id: "1500000011",
      developer_site: "https://example.com",
    }
    expect(await facts()).toEqual([{ ...row, source: "itunes-lookup" }])
    const page = listed(day(3), { developerId: "1500000012", similar: [], moreByDeveloper: [] })
    await recordAll(page)
    expect(await facts()).toEqual([{ ...row, developer_id: "1500000012", source: "apple-app-page" }])
  })

  test("an app's genres stay if a later reading has only the main genre, and are replaced by a full list", async () => {
    const genres = async () => (await facts())[0]?.genres
    await recordAll(appsReading(day(1), [{ ...app, genre: "6007", genres: ["6007", "6012"] }]))
    await recordAll(appsReading(day(2), [{ ...app, genre: "6007" }]))
    expect(await genres()).toEqual(["6007", "6012"])
    await recordAll(appsReading(day(3), [{ ...app, genre: "6000", genres: ["6000"] }]))
    await recordAll(appsReading(day(2), [{ ...app, genre: "6014", genres: ["6014", "7001"] }], sha(9)))
    expect(await genres()).toEqual(["6000"])
  })

  test("invalid developers and sites are refused", async () => {
    const wrong = [{ developerId: " " }, { developerSite: "example.com" }, { developerSite: "javascript:alert(1)" }]
    const { refused } = await recordAll(...wrong.map((change) => appsReading(day(1), [{ ...app, ...change }])))
    expect(refused.map(({ problem }) => problem.code as string)).toEqual(["bad_text", "bad_text", "bad_text"])
  })
})

test("an app-ads.txt that breaks an invariant is refused", async () => {
  const at = day(1)
  const record = { system: "a.com", publisherId: "1", relation: "DIRECT" as const }
  const wrong: [Observation, string][] = [
    [soldBy(at, ["a.com"], { source: "import" as never }), "bad_source"],
    [soldBy(at, ["a.com"], { platform: "web" as never }), "bad_platform"],
    [soldBy(at, ["a.com"], { id: "com.example.tea" }), "bad_app_id"],
    [soldBy("2026-09-01T00:00:00Z", ["a.com"]), "bad_time"],
    [soldBy(at, ["a.com"], { state: "maybe" as never }), "bad_kind"],
    [soldBy(at, []), "bad_kind"],
    [soldBy(at, ["a.com"], { state: "no_file" }), "bad_kind"],
    [soldBy(at, [], { state: "no_site" }), "bad_text"],
    [soldBy(at, ["a.com"], { domain: null }), "bad_text"],
    [soldBy(at, [], { records: [{ ...record, relation: "FRIEND" as never }] }), "bad_kind"],
    [soldBy(at, [], { records: [{ ...record, publisherId: " " }] }), "bad_text"],
    [soldBy(at, ["a.com"], { variables: { OTHER: ["x"] } as never }), "bad_kind"],
    [soldBy(at, ["a.com"], { variables: { CONTACT: [""] } }), "bad_text"],
    [soldBy(at, ["a.com"], { parser: -1 }), "bad_provenance"],
  ]
  const { refused } = await recordAll(...wrong.map(([single]) => single))
  expect(refused.map(({ problem }) => problem.code as string)).toEqual(wrong.map(([, code]) => code))
  expect(await sql`select 1 from app_ads`).toHaveLength(0)
})

/** Returns the stored days, newest first. */
async function storedDays(appId: number, storefront: string): Promise<MarketDay[]> {
  const rows = await sql<MarketDay[]>`
    select day, seen_at as "seenAt", source, installs, has_in_app_purchases as "hasInAppPurchases",
      in_app_least::float8 as "inAppLeast", in_app_most::float8 as "inAppMost", in_app_currency as "inAppCurrency"
    from market_fact
    where app_id = ${appId} and storefront = ${storefront}
    order by day desc, source`
  return [...rows]
}
