import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import type { ListingObservation } from "../../../src/stores/kinds/listing-shape.ts"
import { deleteRows, freshDatabase } from "../../database.ts"
import { cases, slow } from "../../long.ts"
import { listed, PAGE, randomOf, shuffled } from "../../measuring/record/listed.ts"
import { stored } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"

// The tests run many transactions each, so they need more time.
setDefaultTimeout(60_000)

let sql: Sql
const now = () => new Date("2026-08-01T00:00:00Z")
const count = async (...pages: ListingObservation[]) => (await record(sql, pages, now)).recorded
const day = (n: number, hour = 6) => new Date(Date.UTC(2026, 5, n, hour))

beforeEach(async () => {
  sql = await freshDatabase()
})

const runs = async (section = "page") =>
  (
    await sql`
      select r.first_seen_at, r.seen_at, cardinality(r.moments) as readings, c.content, r.parser, r.origin
      from listing_run r
      join listing_content c using (app_id, storefront, source, section, digest)
      where section = ${section}
      order by app_id, storefront, source, first_seen_at`
  ).map(({ first_seen_at, seen_at, readings, content }) =>
    [first_seen_at.getUTCDate(), seen_at.getUTCDate(), readings, content.name ?? content.join(",")].join(" "),
  )

describe("stored listings", () => {
  test("a listing is stored completely, and each part is stored in its table", async () => {
    expect(await count(listed(day(1)))).toBe(1)
    const { rating: _, ratings: __, ratingsByStar: ___, versions: ____, similar, moreByDeveloper, ...page } = PAGE
    const contents = await sql`select section, content from listing_content order by section`
    expect(Object.fromEntries(contents.map(({ section, content }) => [section, content]))).toEqual({
      page: JSON.parse(JSON.stringify(page)),
      similar: similar!.map(({ id }) => id),
      developer: moreByDeveloper!.map(({ id }) => id),
    })
    const [run] = await sql`select * from listing_run where section = 'page'`
    expect(run).toMatchObject({ storefront: "us", source: "apple-app-page", parser: 1, origin: "own", seen_at: day(1) })
    expect([...run!.sha256s[0]]).toEqual([...listed(day(1)).sha256])
    expect([...(await sql`select day, ratings, rating, stars from rating_count`)]).toEqual([
      { day: "2026-06-01", ratings: 5_000, rating: 4.6, stars: PAGE.ratingsByStar },
    ])
    expect([
      ...(await sql`select version, released_at, notes, language from listing_version order by version`),
    ]).toEqual([
      { version: "4.0", released_at: new Date("2026-03-01"), notes: "New.", language: "en-US" },
      { version: "4.1", released_at: new Date("2026-05-01"), notes: "Faster.", language: "en-US" },
    ])
    const apps = await sql`
        select store_id, name, icon_url, developer, bundle_id from store_app join store_app_name on app_id = id
        order by store_id`
    expect(apps[0]).toEqual({
      store_id: "1600000101",
      name: "Tea Timer",
      icon_url: PAGE.icon,
      developer: "Leaves",
      bundle_id: "com.example.tea",
    })
    expect(apps.map(({ name }) => name)).toEqual(["Tea Timer", "Coffee Timer", "Mate Timer", "Cup"])
  })

  test("consecutive readings with equal content are one run, even if their rating counts differ", async () => {
    for (let n = 1; n <= 5; n++) expect(await count(listed(day(n), { ratings: 5_000 + n }))).toBe(1)
    expect(await runs()).toEqual(["1 5 5 Tea Timer"])
    await count(listed(day(6), { name: "Tea Clock" }), listed(day(7), { name: "Tea Clock" }), listed(day(8)))
    expect(await runs()).toEqual(["1 5 5 Tea Timer", "6 7 2 Tea Clock", "8 8 1 Tea Timer"])
    // The content that equals the previous one is not stored again.
    expect(await sql`select from listing_content where section = 'page'`).toHaveLength(2)
    expect(await sql`select from rating_count`).toHaveLength(8)
  })

  test("recording a listing twice changes nothing", async () => {
    const pages = [
      listed(day(1)),
      listed(day(2), { name: "Tea Clock", events: [] }),
      listed(day(3), { ratings: 9_000 }),
    ]
    expect(await record(sql, [...pages, ...pages], now)).toMatchObject({ recorded: 3, alreadyStored: 3 })
    const before = await stored(sql)
    for (const page of pages) expect(await record(sql, [page], now)).toMatchObject({ recorded: 0, alreadyStored: 1 })
    expect(await stored(sql)).toBe(before)
  })

  test("an older reading recorded late splits the run around it and never replaces newer facts", async () => {
    await count(...[1, 2, 4, 5].map((n) => listed(day(n))))
    expect(await runs()).toEqual(["1 5 4 Tea Timer"])
    expect(await count(listed(day(3), { name: "Tea Clock" }))).toBe(1)
    expect(await runs()).toEqual(["1 2 2 Tea Timer", "3 3 1 Tea Clock", "4 5 2 Tea Timer"])
    expect(
      (await sql`select name from store_app join store_app_name on app_id = id where store_id = '1600000101'`)[0]?.name,
    ).toBe("Tea Timer")
  })

  test("a newer parser's reading replaces the reading of the same time, and unused content is deleted", async () => {
    for (const n of [1, 2, 3]) await count(listed(day(n)))
    expect(await count(listed(day(2), { name: "Read anew" }, { parser: 2 }))).toBe(1)
    expect(await count(listed(day(2), { name: "Read of old" }))).toBe(0)
    expect(await runs()).toEqual(["1 1 1 Tea Timer", "2 2 1 Read anew", "3 3 1 Tea Timer"])
    for (const n of [1, 3]) await count(listed(day(n), { name: "Read anew" }, { parser: 2 }))
    expect(await runs()).toEqual(["1 3 3 Read anew"])
    expect(await sql`select from listing_content where section = 'page'`).toHaveLength(1)
  })

  test("listings are stored separately by storefront", async () => {
    await count(listed(day(1)), listed(day(1), { name: "Minuteur" }, { storefront: "fr" }))
    await count(listed(day(2)))
    expect(await runs()).toEqual(["1 1 1 Minuteur", "1 2 2 Tea Timer"])
  })

  test("similar apps are stored with their period, and a page that omits them does not end the period", async () => {
    const similarTo = (...ids: number[]) => ({ similar: ids.map((id) => ({ id: String(id) })) })
    await count(listed(day(1), similarTo(10_001, 10_002)), listed(day(2), { similar: undefined }))
    await count(
      listed(day(3), similarTo(10_001, 10_002)),
      listed(day(4), similarTo(10_002, 10_001)),
      listed(day(5), similarTo()),
    )
    expect(await runs("similar")).toEqual(["1 3 2 10001,10002", "4 4 1 10002,10001", "5 5 1 "])
    expect(await runs()).toEqual(["1 5 5 Tea Timer"])
  })
})

test("events and cards are stored with first and last time on a page, and with their latest content", async () => {
  const event = (title: string) => ({ events: [{ id: "6000001", title }], editorial: PAGE.editorial })
  const pages = [
    listed(day(3), event("Later")),
    listed(day(1), event("First")),
    listed(day(2), { events: [], editorial: undefined }),
  ]
  for (const order of [pages, pages.toReversed()]) {
    await deleteRows(sql, "listing_run", "listing_content", "listing_item", "listing_version", "listing_change")
    for (const page of order) await count(page)
    expect([
      ...(await sql`select kind, item_id, title, first_seen_at, seen_at from listing_item order by kind`),
    ]).toEqual([
      { kind: "event", item_id: "6000001", title: "Later", first_seen_at: day(1), seen_at: day(3) },
      { kind: "story", item_id: "1400000001", title: "Slow mornings", first_seen_at: day(1), seen_at: day(3) },
    ])
  }
})

slow("the stored rows are the same for any order, grouping and concurrency of the readings", async () => {
  const random = randomOf(7)
  const pick = <T>(...from: T[]) => from[Math.floor(random() * from.length)] as T
  const pages = Array.from({ length: 40 }, (_, i) =>
    listed(
      day(1 + Math.floor(i / 2), pick(6, 6, 7)),
      {
        name: pick("Tea Timer", "Tea Timer", "Tea Clock"),
        version: pick("4.1", "4.2"),
        versions: [{ version: pick("4.1", "4.2"), notes: pick("One", "Two") }],
        events: pick(undefined, [], PAGE.events),
        editorial: pick(undefined, [], PAGE.editorial),
        similar: pick(undefined, [{ id: "10001" }], [{ id: "10002" }]),
        ratings: pick(5_000, 6_000),
      },
      { parser: pick(1, 1, 1, 2), storefront: pick("us", "us", "fr"), origin: pick("own", "own", "elsewhere") },
    ),
  )
  const tables = async () =>
    JSON.stringify([
      await sql`
        select storefront, section, first_seen_at, moments, sha256s, digest, parser, origin from listing_run
        order by 1, 2, 3`,
      await sql`select storefront, section, digest, content from listing_content order by 1, 2, 3`,
      await sql`select storefront, kind, item_id, first_seen_at, seen_at, title from listing_item order by 1, 2, 3`,
      await sql`
        select storefront, version, digest, notes, first_seen_at, parser, origin from listing_version order by 1, 2, 3`,
      await sql`
        select storefront, at, kind, subject, before, after, before_seen_at, origin from listing_change
        order by 1, 2, 3, 4`,
    ])
  // A reading that another reading of the same moment replaces still leaves its events and versions, so each moment
  // occurs once in this test.
  const moments = Map.groupBy(pages, ({ seenAt, storefront }) => `${seenAt.getTime()} ${storefront}`)
  const distinct = [...moments.values()].map(([page]) => page as ListingObservation)
  await record(sql, distinct, now)
  const expected = await tables()
  expect(JSON.parse(expected).every((rows: unknown[]) => rows.length > 3)).toBe(true)
  for (let round = 0; round < cases(1, 4); round++) {
    await freshDatabase()
    const order = shuffled(distinct, random)
    const size = pick(1, 3, 10)
    const parts = Array.from({ length: Math.ceil(order.length / size) }, (_, i) =>
      order.slice(i * size, (i + 1) * size),
    )
    if (round % 2 === 0) for (const part of parts) await record(sql, part, now)
    else await Promise.all(parts.map((part) => record(sql, part, now)))
    expect(await tables()).toBe(expected)
  }
})
