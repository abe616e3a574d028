import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { ListingExtras as ListedBeside, StoreApp } from "../../../src/core/observation/line-parts.ts"
import type { Sql } from "../../../src/database/types.ts"
import { readChanges } from "../../../src/listings/read/changes.ts"
import type { AppsObservation } from "../../../src/stores/kinds/apps-shape.ts"
import { freshDatabase } from "../../database.ts"
import { cases, slow } from "../../long.ts"
import { listed, randomOf, shuffled } from "../../measuring/record/listed.ts"
import { appsReading, stored } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"

// The tests run many transactions each.
setDefaultTimeout(60_000)

let sql: Sql
const now = () => new Date("2026-08-01T00:00:00Z")
const at = (day: number, hour = 12) => new Date(Date.UTC(2026, 5, day, hour))
const recordAll = (...all: Parameters<typeof record>[1]) => record(sql, all, now)
const ALL = { from: "2026-01-01", to: "2026-12-31", limit: 1_000 }

beforeEach(async () => {
  sql = await freshDatabase()
})

const ID = "1600000101"
const TEA: StoreApp = {
  id: ID,
  name: "Tea Timer",
  icon: "https://is1-ssl.mzstatic.com/image/a/AppIcon.png/512x512bb.jpg",
  developer: "Leaves",
  version: "4.1",
  price: 2.99,
  currency: "USD",
  ratings: 5_000,
  rating: 4.6,
  updatedAt: new Date("2026-05-01T00:00:00Z"),
}
const LISTING: ListedBeside = {
  description: "A timer.",
  screenshots: { phone: ["https://is1-ssl.mzstatic.com/p1.png/392x696bb.jpg"] },
  versions: [{ version: "4.1", releasedAt: new Date("2026-05-01T00:00:00Z"), notes: "Faster." }],
}

/** Returns a look-up of the single app with these parts of its page. */
function lookup(
  seenAt: Date,
  app: Partial<StoreApp> = {},
  listing: ListedBeside | undefined = {},
  rest: Partial<AppsObservation> = {},
): AppsObservation {
  return appsReading(seenAt.toISOString(), [{ ...TEA, ...app, listing: { ...LISTING, ...listing } }], rest)
}

/** Returns changes as "06-02 itunes-lookup version", oldest first. */
async function changeLines(): Promise<string[]> {
  const apps = (await sql`select id from store_app order by id`).map(({ id }) => id as number)
  const changes = await readChanges(sql, { ...ALL, apps })
  return changes.toReversed().map(({ day, source, kind }) => `${day.slice(5)} ${source} ${kind}`)
}

describe("store page in a look-up", () => {
  slow("each change between two look-ups of an app is listed as a change of its store page", async () => {
    const edits: [string, Partial<StoreApp>, ListedBeside?][] = [
      ["version", { version: "4.2" }],
      ["name", { name: "Tea Clock" }],
      ["icon", { icon: "https://example.com/icon.png" }],
      ["price", { price: 0 }],
      ["screenshots", {}, { screenshots: { phone: ["https://example.com/p2.png"] } }],
      ["description", {}, { description: "A clock." }],
      ["subtitle", {}, { subtitle: "Steep it" }],
      ["rating_jump", { rating: 4.3 }],
      ["ratings_jump", { ratings: 6_000 }],
    ]
    for (const [kind, app, listing] of edits) {
      await freshDatabase()
      await recordAll(lookup(at(1), {}, { subtitle: "Before" }))
      await recordAll(lookup(at(2), app, { subtitle: "Before", ...listing }))
      expect([kind, await changeLines()]).toEqual([kind, [`06-02 itunes-lookup ${kind}`]])
    }
  })

  test("a Google Play look-up stores page changes and the list of similar apps", async () => {
    const android = { platform: "android", source: "play-details", storefront: "de" } as const
    const id = "com.example.tea"
    const similar = [{ id: "com.example.coffee", name: "Coffee", rating: 4 }]
    const page = (day: number, subtitle: string) =>
      appsReading(at(day).toISOString(), [{ id, name: "Tea", listing: { subtitle, similar } }], android)
    await recordAll(page(1, "Steep"), page(2, "Steep well"))
    expect(await changeLines()).toEqual(["06-02 play-details subtitle"])
    const rows = await sql`
      select section, content from listing_content where section <> 'page' order by section, digest`
    expect([...rows]).toEqual([{ section: "similar", content: ["com.example.coffee"] }])
    expect([
      ...(await sql`select store_id, name from store_app join store_app_name on app_id = id order by store_id`),
    ]).toEqual([
      { store_id: "com.example.coffee", name: "Coffee" },
      { store_id: id, name: "Tea" },
    ])
    // Ratings in a row of other apps are not stored.
    expect(await sql`select 1 from rating_count`).toHaveLength(0)
  })

  test("a look-up stores a version once with its notes, and ratings once per day", async () => {
    await recordAll(lookup(at(1)), lookup(at(2)))
    expect([...(await sql`select version, notes, source from listing_version`)]).toEqual([
      { version: "4.1", notes: "Faster.", source: "itunes-lookup" },
    ])
    const [run, ...more] = await sql`select cardinality(moments) as readings from listing_run`
    expect([run, more.length]).toEqual([{ readings: 2 }, 0])
    expect([...(await sql`select day, ratings, parser from rating_count order by day`)]).toEqual([
      { day: "2026-06-01", ratings: 5_000, parser: 1 },
      { day: "2026-06-02", ratings: 5_000, parser: 1 },
    ])
  })

  test("no store page is stored by a look-up without a listing, of an unavailable app, or by a search", async () => {
    await recordAll(lookup(at(1)))
    await recordAll(appsReading(at(2).toISOString(), [], { asked: [ID] }))
    await recordAll(appsReading(at(3).toISOString(), [{ ...TEA, version: "5.0" }]))
    await recordAll(appsReading(at(4).toISOString(), [{ ...TEA, version: "6.0" }], { source: "itunes-search" }))
    expect(await changeLines()).toEqual([])
    expect(await sql`select 1 from listing_run`).toHaveLength(1)
    const [state] = await sql`select available from app_storefront where source = 'itunes-lookup'`
    expect(state).toEqual({ available: true })
  })

  test("a listing is refused if it comes from a search, has no name, or has an unstorable part", async () => {
    const wrong = [
      lookup(at(1), {}, {}, { source: "itunes-search" }),
      lookup(at(1), { name: " " }),
      lookup(at(1), {}, { description: "\ud83c" }),
      lookup(at(1), {}, { similar: [{ id: "com.example.tea" }] }),
      lookup(at(1), {}, { versions: [{ version: "1", releasedAt: new Date("nonsense") }] }),
    ]
    const { refused } = await recordAll(...wrong)
    expect(refused.map(({ problem }) => problem.code as string)).toEqual([
      "bad_source",
      "bad_text",
      "bad_text",
      "bad_app_id",
      "bad_time",
    ])
    expect(await sql`select 1 from store_app`).toHaveLength(0)
  })

  slow("page changes are the same for any order of readings and when readings are recorded twice", async () => {
    const random = randomOf(11)
    const pick = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T
    const readings = Array.from({ length: 24 }, (_, i) => {
      const app = { version: pick(["4.1", "4.2"]), ratings: pick([5_000, 9_000]), rating: pick([4.6, 4.2]) }
      const page = lookup(at(1 + i, 6), app, { description: pick(["A", "B"]) }, { parser: i > 18 ? 2 : 1 })
      // Some readings have no listing.
      return i % 5 === 0 ? { ...page, apps: page.apps.map(({ listing: _, ...rest }) => rest) } : page
    })
    await recordAll(...readings)
    const rows = async () => JSON.stringify(await sql`select at, kind, before, after from listing_change order by 1, 2`)
    const expected = await rows()
    for (const kind of ["version", "description", "rating_jump", "ratings_jump"]) expect(expected).toContain(kind)
    for (let round = 0; round < cases(1, 4); round++) {
      await freshDatabase()
      const order = shuffled(readings, random)
      const size = 1 + Math.floor(random() * 8)
      for (let i = 0; i < order.length; i += size) await recordAll(...order.slice(i, i + size))
      expect(await rows()).toBe(expected)
    }
    const before = await stored(sql)
    expect(await recordAll(...readings, ...readings)).toEqual({ recorded: 0, alreadyStored: 48, refused: [] })
    expect(await stored(sql)).toBe(before)
  })

  test("a look-up that is older than the stored look-up is counted as recorded only once", async () => {
    expect(await recordAll(lookup(at(5)))).toMatchObject({ recorded: 1, alreadyStored: 0 })
    expect(await recordAll(lookup(at(4)))).toMatchObject({ recorded: 1, alreadyStored: 0 })
    expect(await recordAll(lookup(at(4)))).toMatchObject({ recorded: 0, alreadyStored: 1 })
  })
})

describe("a change that both the app's page and a look-up show", () => {
  const page = (day: number, version: string, hour = 6) => listed(at(day, hour), { version })

  test("a change is listed only from the page, whether the page or the look-up showed it first", async () => {
    await recordAll(page(1, "4.1"), page(2, "4.1"), page(3, "4.2"))
    await recordAll(lookup(at(1)), lookup(at(2), { version: "4.2" }), lookup(at(3), { version: "4.2" }))
    expect(await changeLines()).toEqual(["06-03 apple-app-page version"])
    expect(await sql`select 1 from listing_change`).toHaveLength(2)
  })

  test("a look-up's change is hidden while a page reading of the last two days does not show it", async () => {
    await recordAll(page(1, "4.1"), page(2, "4.1"))
    await recordAll(lookup(at(1)), lookup(at(4, 6), { version: "4.2" }))
    expect(await changeLines()).toEqual([])
    await recordAll(page(5, "4.2"))
    expect(await changeLines()).toEqual(["06-05 apple-app-page version"])
  })

  test("a look-up's change is listed if the page was last read more than two days before the look-up", async () => {
    await recordAll(page(1, "4.1"), page(2, "4.1"))
    await recordAll(lookup(at(1)), lookup(at(4, 7), { version: "4.2" }))
    expect(await changeLines()).toEqual(["06-04 itunes-lookup version"])
    await recordAll(page(9, "4.2"))
    expect(await changeLines()).toEqual(["06-09 apple-app-page version"])
  })

  test("a look-up's change is listed if the page was read only later or in another storefront", async () => {
    await recordAll(lookup(at(1)), lookup(at(3), { version: "4.2" }))
    await recordAll(
      page(2, "4.2"),
      listed(at(1, 5), {}, { storefront: "de" }),
      listed(at(3, 5), {}, { storefront: "de" }),
    )
    expect(await changeLines()).toEqual(["06-03 itunes-lookup version"])
  })

  test("a hidden change hides no other change of the look-up and does not count towards the limit", async () => {
    await recordAll(page(1, "4.1"), page(2, "4.1"), page(3, "4.2"))
    await recordAll(lookup(at(1)), lookup(at(3), { version: "4.2" }), lookup(at(20), { version: "4.3" }))
    const [{ id }] = (await sql`select id from store_app where store_id = ${ID}`) as [{ id: number }]
    const [newest, second, ...more] = await readChanges(sql, { ...ALL, apps: [id], kinds: ["version"], limit: 2 })
    expect([newest?.source, second?.source, more.length]).toEqual(["itunes-lookup", "apple-app-page", 0])
  })

  test("a list of changes skips any number of hidden changes and is ordered by time", async () => {
    const days = Array.from({ length: 55 }, (_, i) => 1 + i)
    await recordAll(...days.map((day) => page(day, String(day))))
    await recordAll(...days.map((day) => lookup(at(day), { version: String(day) })))
    // On these days the page is no longer read.
    await recordAll(...[58, 59, 60].map((day) => lookup(at(day), { version: `later ${day}` })))
    const [{ id }] = (await sql`select id from store_app where store_id = ${ID}`) as [{ id: number }]
    const query = { ...ALL, apps: [id], kinds: ["version" as const] }
    const all = await readChanges(sql, query)
    expect(all.map(({ source }) => source)).toEqual([
      ...Array(3).fill("itunes-lookup"),
      ...Array(54).fill("apple-app-page"),
    ])
    expect(all.map(({ at }) => at.getTime())).toEqual(all.map(({ at }) => at.getTime()).toSorted((a, b) => b - a))
    for (const limit of [1, 2, 3, 4, 49, 50, 51, 56, 57])
      expect(await readChanges(sql, { ...query, limit })).toEqual(all.slice(0, limit))
  })

  test("a change in a look-up is listed if the app's page was never read", async () => {
    await recordAll(lookup(at(1)), lookup(at(2), { version: "4.2", rating: 4.2 }))
    expect(await changeLines()).toEqual(["06-02 itunes-lookup rating_jump", "06-02 itunes-lookup version"])
  })
})
