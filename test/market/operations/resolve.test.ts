import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { StoreApp } from "../../../src/core/observation/line-parts.ts"
import type { Sql } from "../../../src/database/types.ts"
import { MAX_COMPARED } from "../../../src/market/read/texts.ts"
import { rebuildAppTexts } from "../../../src/stores/store/app-texts.ts"
import { answersLookUps, answersSearches, type LiveStores, liveStores } from "../../core/live.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { appsReading } from "../../measuring/record/measured.ts"
import { importLines, record } from "../../record.ts"
import { slowness } from "../../unit.ts"

setDefaultTimeout(60_000)

let sql: Sql
let scene: LiveStores
let key: string

beforeEach(async () => {
  sql = await freshDatabase()
  scene = await liveStores(sql)
  key = await scene.service.key(await scene.service.workspace({ explorer: true, plan: "pro" }))
})

afterEach(() => scene[Symbol.asyncDispose]())

const ask = (q: string, rest = "") => scene.service.call(`/v1/hive/resolve?q=${encodeURIComponent(q)}${rest}`, { key })
const used = async () => (await scene.service.call("/v1/account", { key })).body.credits.used
const searches = () => scene.stores.requests.filter(({ url }) => url.pathname === "/search")
const know = (apps: StoreApp[], rest: object = {}) =>
  record(sql, [appsReading(new Date(Date.now() - 60_000).toISOString(), apps, rest)])
const matched = async (q: string, rest = "") => {
  const { body } = await ask(q, rest)
  return body.apps.map(({ id, matchedBy }: { id: string; matchedBy: string }) => `${id} ${matchedBy}`)
}

const GARDENS: StoreApp[] = [
  { id: "20001", name: "Garden", ratings: 5, rating: 4 },
  { id: "20002", name: "Garden Ledger", ratings: 10, rating: 4 },
  { id: "20003", name: "Gardening", ratings: 900, rating: 4 },
  { id: "20004", name: "Garden Planner" },
  { id: "20005", name: "Daybook Garden", ratings: 7, rating: 4, developer: "Slow Letters", developerId: "77" },
  { id: "20006", name: "Kind Words", ratings: 9_999, rating: 4, developer: "Garden Path Studio", developerId: "78" },
  { id: "20007", name: "Secret gardens", ratings: 7, rating: 4 },
  { id: "20008", name: "Knot Guide", ratings: 1, rating: 4 },
]

describe("search by the index", () => {
  test("a query finds exact names first, then prefixes, words and publishers, by ratings and id", async () => {
    await know(GARDENS)
    answersSearches(scene.stores, {})
    const { status, body } = await ask("garden", "&limit=7")
    expect([status, body.complete, body.storeAsked, body.storeAskedAt, body.why]).toEqual([200, true, null, null, null])
    expect(body.apps.map(({ id, matchedBy }: { id: string; matchedBy: string }) => `${id} ${matchedBy}`)).toEqual([
      ...[
        "20001 name",
        "20003 prefix",
        "20002 prefix",
        "20004 prefix",
        "20005 words",
        "20007 words",
        "20006 publisher",
      ],
    ])
    const [exact, , , unrated, , , published] = body.apps
    expect(exact).toMatchObject({
      name: "Garden",
      platform: "ios",
      ratings: 5,
      source: "itunes-lookup",
      origin: "own",
      publisher: null,
    })
    expect([exact.ratingsAt, exact.seenAt].every((at: string) => Date.parse(at) < Date.now() - 59_000)).toBe(true)
    expect([unrated.ratings, unrated.ratingsAt]).toEqual([null, null])
    expect(published).toMatchObject({ publisher: "Garden Path Studio", publisherId: "78" })
    expect([searches().length, await used()]).toEqual([0, 10])
    // without ratings in that storefront, apps are ordered by id alone
    expect(await matched("garden", "&limit=4&country=de")).toEqual([
      ...["20001 name", "20002 prefix", "20003 prefix", "20004 prefix"],
    ])
  })

  slow("a query matches names in any script, ignores accents, case and punctuation, and has no wildcards", async () => {
    await know([
      { id: "20001", name: "Café Décor: Pro!" },
      { id: "20002", name: "100% Focus_Time" },
      { id: "20003", name: "Очаг и дом" },
    ])
    await know(
      [
        { id: "20001", name: "カフェの飾り" },
        { id: "20004", name: "家計簿" },
      ],
      { storefront: "jp" },
    )
    await know([{ id: "com.example.talk", name: "카카오톡", developer: "Ünïcorn" }], {
      platform: "android",
      source: "play-details",
      origin: "own",
      storefront: "us",
    })
    answersSearches(scene.stores, {})
    const expected = {
      "cafe decor pro": "20001 name",
      "CAFÉ, dÉcor — PRO": "20001 name",
      ca: "20001 prefix",
      "pro ca": "20001 words",
      カフェ: "20001 prefix",
      飾: "20001 words",
      計簿: "20004 words",
      家計簿: "20004 name",
      카카오: "com.example.talk prefix",
      오톡: "com.example.talk words",
      unicorn: "com.example.talk publisher",
      "ОЧАГ И ДОМ": "20003 name",
      оча: "20003 prefix",
      дом: "20003 words",
      "100%": "20002 prefix",
      focus_time: "20002 words",
      "100% focus time": "20002 name",
    }
    for (const [q, app] of Object.entries(expected)) expect([q, await matched(q)]).toEqual([q, [app]])
    for (const q of ["%", "_", "%%%", "c%r", "c_fe", "x_cus", "\\", "'; drop table app_text; --", "🍵", "re"])
      expect([q, (await ask(q)).body.apps]).toEqual([q, []])
  })

  slow("an answer is marked incomplete if a query has too many equal matches to compare all of them", async () => {
    await sql`
      insert into store_app (platform, store_id) select 'ios', (30000 + i)::text
        from generate_series(1, ${MAX_COMPARED + 5}::int) i`
    await sql`
      insert into store_app_name (app_id, storefront, origin, name, name_at, name_weight)
      select id, 'us', 'own', 'Puzzle ' || store_id, now(), 1 from store_app where store_id like '3%'`
    await rebuildAppTexts(sql, async () => {})
    const { body } = await ask("puzzle", "&limit=25")
    expect([body.apps.length, body.complete, body.storeAsked]).toEqual([25, false, null])
    expect((await ask("puzzle 30001", "&limit=1")).body.complete).toBe(true)
  })
})

describe("search by the store", () => {
  slow("matches missing in the index come from one request to the store, are stored, and have no rank", async () => {
    await know(GARDENS.slice(4))
    const found = {
      30003: { trackName: "Plant Calendar", userRatingCount: 50 },
      30001: { trackName: "Fern", userRatingCount: 700 },
    }
    answersSearches(scene.stores, {
      ...found,
      30002: { trackName: "Garden Diary", userRatingCount: 3 },
      20005: { trackName: "Daybook Garden" },
    })
    const first = await ask("Garden")
    expect([first.status, first.body.storeAsked, first.body.why]).toEqual([200, true, null])
    const order = ["30002 prefix", "20005 words", "20007 words", "20006 publisher", "30001 store", "30003 store"]
    expect(first.body.apps.map(({ id, matchedBy }: { id: string; matchedBy: string }) => `${id} ${matchedBy}`)).toEqual(
      order,
    )
    expect(first.body.apps[5]).toMatchObject({
      name: "Plant Calendar",
      publisher: "Maker",
      ratings: 50,
      source: "itunes-search",
      origin: "own",
    })
    expect(first.body.apps[5].seenAt).toBe(first.body.storeAskedAt)
    expect(searches().map(({ url }) => [url.searchParams.get("term"), url.searchParams.get("country")])).toEqual([
      ["garden", "us"],
    ])
    for (const q of ["garden", " GARDEN "]) expect(await matched(q)).toEqual(order)
    expect([searches().length, await used()]).toEqual([1, 30])
    for (const table of ["search_results", "list", "rank_month"])
      expect(await sql`select from ${sql(table)}`).toHaveLength(0)
    const [row] = await sql<{ sorted: boolean }[]>`
      select app_ids = array(select unnest(app_ids) order by 1) as sorted from name_search where text = 'garden'`
    expect(row!.sorted).toBe(true)
    expect(await sql`select from due where kind = 'app_names'`).toHaveLength(0)
  })

  slow("an empty result of the store's search costs 1 credit and is stored", async () => {
    answersSearches(scene.stores, {})
    for (const _ of [1, 2])
      expect((await ask("zzgarden")).body).toMatchObject({ apps: [], storeAsked: true, why: null })
    expect([searches().length, await used()]).toEqual([1, 2])
    await sql`update name_search set seen_at = seen_at - interval '8 days'`
    await ask("zzgarden")
    expect(searches()).toHaveLength(2)
  })

  slow("two hundred concurrent calls for a name share one request to the store", async () => {
    // a call that waits ten seconds for the database is refused, so slow machines use fewer callers
    const callers = Math.ceil(200 / (await slowness()))
    answersSearches(scene.stores, { 30002: { trackName: "Garden Diary" } }, 300)
    const answers = await Promise.all(Array.from({ length: callers }, () => ask("garden diary")))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.apps.length} ${body.storeAsked}`))).toEqual(
      new Set(["200 1 true"]),
    )
    expect(searches()).toHaveLength(1)
  })

  slow("if the store fails, stored matches are returned with the reason; a call without matches is free", async () => {
    await know(GARDENS.slice(0, 1))
    scene.stores.on("itunes.apple.com", "/search", () => new Response("no", { status: 503 }))
    const unknown = await ask("nobody")
    expect([unknown.status, unknown.body.error, await used()]).toEqual([503, "measure_busy", 0])
    const stored = await ask("garden")
    expect([stored.status, stored.body.storeAsked, stored.body.storeAskedAt]).toEqual([200, false, null])
    expect(stored.body.apps.map(({ id }: { id: string }) => id)).toEqual(["20001"])
    expect([typeof stored.body.why, await used()]).toEqual(["string", 10])
  })

  test("a query of more than 120 characters is refused, and hostile queries find nothing", async () => {
    answersSearches(scene.stores, {})
    for (const q of ["", " ", "x".repeat(121), "👩".repeat(121)])
      expect((await ask(q)).body).toMatchObject({ error: "bad_query", field: "q" })
    for (const rest of ["&limit=0", "&limit=26", "&limit=x"])
      expect((await ask("tea", rest)).body.error).toBe("invalid_arguments")
    expect((await ask("tea", "&country=zz")).body.error).toBe("bad_country")
    expect(await used()).toBe(0)
  })
})

describe("search by link or id", () => {
  slow("a link or an id of a known app is answered without a request", async () => {
    await know(GARDENS)
    const answers = [
      await matched("https://apps.apple.com/de/app/garden/id20001?l=en"),
      await matched("20001"),
      await matched("id20001"),
    ]
    expect(answers).toEqual([["20001 link"], ["20001 id"], ["20001 id"]])
    expect([scene.stores.requests.length, await used()]).toEqual([0, 30])
  })

  slow("an app without a name is looked up once", async () => {
    answersLookUps(scene.stores, { 40001: { trackName: "Tea" } })
    for (const q of ["https://apps.apple.com/us/app/tea/id40001", "40001"])
      expect((await ask(q)).body.apps).toMatchObject([
        { id: "40001", name: "Tea", publisher: "Maker", source: "itunes-lookup" },
      ])
    expect(scene.stores.requests.map(({ url }) => url.pathname)).toEqual(["/lookup"])
    const missing = await ask("https://apps.apple.com/us/app/tea/id40002")
    expect([missing.status, missing.body.error, await used()]).toEqual([404, "not_measured", 21])
  })

  slow("a name that looks like a package is found by name if no store has that package", async () => {
    await know([{ id: "20001", name: "Booking.com: Hotels", ratings: 5, rating: 4 }])
    answersSearches(scene.stores, {})
    scene.stores.on("play.google.com", "/", () => new Response("gone", { status: 404 }))
    expect(await matched("booking.com")).toEqual(["20001 prefix"])
  })

  slow("a bundle id finds the App Store app in addition to the Android app of that package", async () => {
    scene.stores.on("play.google.com", "/", () => new Response("gone", { status: 404 }))
    const line = await Bun.file(new URL("../../cases/stores/bundle-id.jsonl", import.meta.url)).text()
    const options = { now: () => new Date("2026-11-28T00:00:00Z"), pause: async () => {} }
    await importLines(sql, lines(line.trim()), options)
    expect(await matched("com.example.tidy")).toEqual(["6744000012 package"])
    const droid = { id: "com.example.tidy", name: "Tidy for Android", developer: "B" }
    const look = { kind: "apps", source: "play-details", platform: "android", storefront: "us", asked: [droid.id] }
    const lookupLine = JSON.stringify({ ...look, seenAt: "2026-11-20T03:25:01Z", apps: [droid] })
    expect((await importLines(sql, lines(lookupLine), options)).bad).toEqual([])
    expect((await matched(droid.id)).toSorted()).toEqual(["6744000012 package", "com.example.tidy package"])
  })

  test("a link to a developer, a story or a book is refused with its kind and costs nothing", async () => {
    const before = await used()
    for (const [link, leadsTo] of [
      ["https://apps.apple.com/us/developer/example-inc/id310634000", "a developer"],
      ["https://apps.apple.com/us/story/id1545451513", "an editorial story"],
      ["https://play.google.com/store/books/details?id=abc.def", "a book"],
    ] as const) {
      const { status, body } = await ask(link)
      expect([status, body.error, body.field]).toEqual([400, "bad_query", "q"])
      expect(body.detail).toContain(`leads to ${leadsTo}, not to an app`)
    }
    expect([await used(), scene.stores.requests.length]).toEqual([before, 0])
  })

  test("an app id is returned without facts, at the price of an empty answer, if the store fails", async () => {
    scene.stores.on("itunes.apple.com", "/", () => new Response("no", { status: 503 }))
    const { status, body } = await ask("https://apps.apple.com/us/app/tea/id40009")
    expect([status, await used()]).toEqual([200, 1])
    const unknown = {
      name: "40009",
      publisher: null,
      publisherId: null,
      ratings: null,
      source: null,
      origin: null,
      seenAt: null,
    }
    expect(body.apps).toEqual([{ id: "40009", platform: "ios", matchedBy: "link", ratingsAt: null, ...unknown }])
  })
})

async function* lines(...all: string[]): AsyncGenerator<string> {
  yield* all
}
