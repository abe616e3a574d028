import { beforeEach, describe, expect, test } from "bun:test"
import type { Attempt } from "../../../src/core/observation/attempt.ts"
import type { Sql } from "../../../src/database/types.ts"
import type { ReviewsObservation } from "../../../src/reviews/kinds/review-shape.ts"
import { readFeed, readStoredIds } from "../../../src/reviews/read/feeds.ts"
import { freshDatabase } from "../../database.ts"
import { long } from "../../long.ts"
import { NOW, reading, stored } from "../../measuring/record/measured.ts"
import { reviewed, reviewedOnPlay, written } from "../../measuring/record/reviewed.ts"
import { record, recordAttempt } from "../../record.ts"

let sql: Sql
const now = () => NOW
const count = async (...observations: ReviewsObservation[]) => (await record(sql, observations, now)).recorded

beforeEach(async () => {
  sql = await freshDatabase()
})

/** Returns "feed id: text" for each current review. */
const currentTexts = async () =>
  (await sql`select feed, review_id, text from review order by app_id, feed, review_id`).map(
    ({ feed, review_id, text }) => `${feed} ${review_id}: ${text}`,
  )

/** Returns the texts of a review's forms in the order of their first reading, with a mark at the current form. */
const forms = async (id: string) =>
  (await sql`select text, current from review_version where review_id = ${id} order by first_seen_at, text`).map(
    ({ text, current }) => `${text}${current ? " *" : ""}`,
  )

describe("stored reviews", () => {
  test("a review is stored with all its facts and without its author", async () => {
    const whole = written({
      id: "901",
      stars: 2,
      title: "Leaks",
      text: "All over\nthe table \u3000",
      version: "4.1",
      at: new Date("2025-11-18T06:23:00.077Z"),
    })
    const page = reviewed("2025-11-19T10:00:00Z", [whole, { id: "900", text: "" }])
    expect(await count({ ...page, reviews: [{ ...whole, name: "Ann" } as never, page.reviews[1]!] })).toBe(1)
    const rows = await sql`select * from review order by review_id desc`
    expect(rows[0]).toEqual({
      app_id: rows[0]!.app_id,
      feed: "us",
      review_id: "901",
      stars: 2,
      title: "Leaks",
      text: "All over\nthe table \u3000",
      version: "4.1",
      at: whole.at,
      first_seen_at: page.seenAt,
      seen_at: page.seenAt,
      source: "apple-reviews",
      parser: 1,
      origin: "own",
      sha256: Buffer.from(page.sha256),
    })
    expect(rows[1]).toMatchObject({ title: null, text: "", version: null })
    expect(await stored(sql)).not.toContain("Ann")
  })

  test("App Store reviews are stored by storefront, and Google Play reviews by language", async () => {
    await count(
      reviewed("2025-11-19T10:00:00Z", [{ id: "1" }]),
      reviewed("2025-11-19T10:00:00Z", [{ id: "2" }], { storefront: "gb" }),
      reviewedOnPlay("2025-11-19T10:00:00Z", [{ id: "gp:1" }], { storefront: "at", language: "de" }),
      reviewedOnPlay("2025-11-19T11:00:00Z", [{ id: "gp:1" }], { storefront: "ch", language: "de" }),
      reviewedOnPlay("2025-11-19T11:00:00Z", [{ id: "gp:2" }], { language: "pt-BR" }),
    )
    expect((await currentTexts()).sort()).toEqual([
      "de gp:1: Text of gp:1",
      "gb 2: Text of 2",
      "pt-BR gp:2: Text of gp:2",
      "us 1: Text of 1",
    ])
  })

  test("recording the same reviews twice, in one call or in two calls, changes no row", async () => {
    const end = { pages: 2, complete: true, empty: false }
    const batch = [
      reviewed("2025-11-19T10:00:00Z", [{ id: "1" }, { id: "2" }]),
      reviewed("2025-11-19T10:00:01Z", [{ id: "2" }, { id: "3", text: "third" }], { end }),
      reviewed("2025-11-19T10:00:02Z", [{ id: "3", text: "edited" }]),
    ]
    expect(await record(sql, [...batch, ...batch], now)).toMatchObject({ recorded: 3, alreadyStored: 3 })
    const before = await stored(sql)
    const places = await sql`select ctid::text from review_version order by ctid`
    expect(await record(sql, batch, now)).toEqual({ recorded: 0, alreadyStored: 3, refused: [] })
    expect(await stored(sql)).toBe(before)
    // The rows are not even rewritten in place.
    expect([...(await sql`select ctid::text from review_version order by ctid`)]).toEqual([...places])
  })

  test("the latest revision of an edited review is current, and earlier revisions stay stored", async () => {
    const first = { id: "1", stars: 1, title: "Bad", text: "It leaks", at: new Date("2025-11-01T00:00:00Z") }
    await count(reviewed("2025-11-10T10:00:00Z", [first, { id: "2" }]))
    for (const [day, edit] of [
      ["11", { text: "It does not leak any more" }],
      ["12", { stars: 5 }],
      ["13", { title: "Good" }],
      ["14", { at: new Date("2025-11-14T00:00:00Z") }],
    ] as const) {
      Object.assign(first, edit)
      expect(await count(reviewed(`2025-11-${day}T10:00:00Z`, [first, { id: "2" }]))).toBe(1)
    }
    expect(await forms("1")).toHaveLength(5)
    const [now_] = await sql`select stars, title, text, at, first_seen_at from review where review_id = '1'`
    expect(now_).toEqual({
      stars: 5,
      title: "Good",
      text: "It does not leak any more",
      at: new Date("2025-11-14T00:00:00Z"),
      first_seen_at: new Date("2025-11-14T10:00:00Z"),
    })
    const [before] =
      await sql`select stars, title, text from review_version where review_id = '1' order by first_seen_at limit 1`
    expect(before).toEqual({ stars: 1, title: "Bad", text: "It leaks" })
    expect(await forms("2")).toEqual(["Text of 2 *"])
    expect((await sql`select first_seen_at, seen_at from review where review_id = '2'`)[0]).toEqual({
      first_seen_at: new Date("2025-11-10T10:00:00Z"),
      seen_at: new Date("2025-11-14T10:00:00Z"),
    })
  })

  test("an older reading never replaces the current revision and is stored as an earlier revision", async () => {
    await count(reviewed("2025-11-12T10:00:00Z", [{ id: "1", text: "now" }]))
    expect(await count(reviewed("2025-11-10T10:00:00Z", [{ id: "1", text: "before" }]))).toBe(1)
    expect(await forms("1")).toEqual(["before", "now *"])
    expect(await count(reviewed("2025-11-09T10:00:00Z", [{ id: "1", text: "now" }]))).toBe(1)
    expect(await forms("1")).toEqual(["now *", "before"])
    expect((await sql`select seen_at from review`)[0]!.seen_at).toEqual(new Date("2025-11-12T10:00:00Z"))
    // A form that was replaced becomes current again when the store shows it again.
    await count(reviewed("2025-11-13T10:00:00Z", [{ id: "1", text: "before" }]))
    expect(await forms("1")).toEqual(["now", "before *"])
  })

  long("the stored revisions of reviews are the same for any order and grouping of the readings", async () => {
    const sha = (byte: number) => new Uint8Array(32).fill(byte)
    const at = (day: number) => `2025-11-${String(day).padStart(2, "0")}T10:00:00Z`
    const readings = [
      reviewed(at(10), [{ id: "1", text: "a" }, { id: "2" }]),
      reviewed(at(11), [{ id: "1", text: "b" }, { id: "3" }]),
      reviewed(at(12), [{ id: "1", text: "a", version: "2" }]),
      reviewed(at(9), [{ id: "4", text: "before" }, { id: "5" }]),
      reviewed(at(12), [{ id: "1", text: "c" }], { parser: 2, sha256: sha(1) }),
      reviewed(at(12), [{ id: "1", text: "d" }], { parser: 2, sha256: sha(2) }),
      reviewed(at(11), [{ id: "4", text: "before" }], { end: { pages: 1, complete: false, empty: false } }),
      reviewed(at(12), [{ id: "4", text: "now" }], { end: { pages: 3, complete: true, empty: false } }),
      reviewed(at(10), [], { end: { pages: 1, complete: true, empty: true } }),
    ]
    const found = new Set<string>()
    const shuffled = [7, 2, 0, 5, 3, 8, 6, 1, 4].map((i) => readings[i]!)
    for (const order of [readings, readings.toReversed(), shuffled]) {
      for (const parts of [order.map((single) => [single]), [order.slice(0, 4), order.slice(4)], [order]]) {
        await sql`delete from review_version`
        await sql`delete from review_read`
        for (const part of parts) await record(sql, part, now)
        const rows = await sql`select * from review_version order by review_id, digest`
        found.add(JSON.stringify([rows, await sql`select * from review_read order by complete`]))
        const before = await stored(sql)
        expect((await record(sql, order, now)).recorded).toBe(0)
        expect(await stored(sql)).toBe(before)
      }
    }
    expect(found.size).toBe(1)
    expect(await currentTexts()).toEqual([
      "us 1: d",
      "us 2: Text of 2",
      "us 3: Text of 3",
      "us 4: now",
      "us 5: Text of 5",
    ])
    const [before] =
      await sql`select first_seen_at, seen_at from review_version where review_id = '4' and text = 'before'`
    expect(before).toEqual({ first_seen_at: new Date(at(9)), seen_at: new Date(at(11)) })
    expect([...(await sql`select complete, pages, empty from review_read order by complete`)]).toEqual([
      { complete: false, pages: 1, empty: false },
      { complete: true, pages: 3, empty: false },
    ])
  })

  long("reviews are found newest first, by stars and by version through an index", async () => {
    const page = Array.from({ length: 400 }, (_, i) => ({ id: String(i), stars: 1 + (i % 5), version: `1.${i % 3}` }))
    await count(reviewed("2025-11-19T10:00:00Z", page))
    await sql`analyze review_version`
    const plans = await Promise.all([
      sql`explain select * from review where app_id = 1 and feed = 'us' order by at desc, review_id limit 20`,
      sql`
        explain select * from review where app_id = 1 and feed = 'us' and stars = 1 order by at desc, review_id
          limit 20`,
      sql`
        explain select * from review where app_id = 1 and feed = 'us' and version = '1.1' order by at desc, review_id
          limit 20`,
    ])
    const texts = plans.map((rows) => rows.map((row) => row["QUERY PLAN"]).join("\n"))
    for (const text of texts) expect(text).not.toContain("Sort")
    expect(texts[0]).toContain("review_newest")
    expect(texts[1]).toContain("review_stars")
    expect(texts[2]).toContain("review_app_version")
  })
})

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: two concurrent revisions of a review are both stored, and the later is current",
  async () => {
    const [older, newer] = [
      reviewed("2025-11-10T10:00:00Z", [{ id: "1", text: "before" }]),
      reviewed("2025-11-12T10:00:00Z", [{ id: "1", text: "now" }]),
    ]
    await count(reviewed("2025-11-01T10:00:00Z", [{ id: "0" }]))
    const { promise: released, resolve: letGo } = Promise.withResolvers<void>()
    const { promise: stored, resolve: isStored } = Promise.withResolvers<void>()
    const finish = async () => {
      isStored()
      await released
    }
    const first = record(sql, [newer], now, { finish })
    await stored
    const second = record(sql, [older], now)
    const waits = async () => (await sql`select 1 from pg_locks where not granted`).length > 0
    for (let tries = 0; tries < 200 && !(await waits()); tries++) await Bun.sleep(10)
    letGo()
    expect([(await first).recorded, (await second).recorded]).toEqual([1, 1])
    expect(await forms("1")).toEqual(["before", "now *"])
  },
)

describe("progress of reading a feed", () => {
  const feed = { platform: "ios", storeId: "10001", feed: "us", source: "apple-reviews" } as const
  const appId = async () => (await sql<{ id: number }[]>`select id from store_app where store_id = '10001'`)[0]!.id
  const readState = async () => await readFeed(sql, { appId: await appId(), feed: "us" })
  const end = (complete: boolean, empty = false) => ({ end: { pages: 1, complete, empty } })

  test("a feed never read, a feed without reviews, and reviews without a reading are distinguished", async () => {
    await record(sql, [reading("tea", "2025-11-01T10:00:00Z", ["10001"])], now)
    expect(await readState()).toBeNull()
    await count(reviewed("2025-11-02T10:00:00Z", []))
    await count(reviewed("2025-11-02T10:00:00Z", [{ id: "1" }]))
    expect(await readState()).toEqual({ readAt: null, complete: false, empty: false, completeAt: null })
    await count(reviewed("2025-11-03T10:00:00Z", [], end(true, true)))
    const at = new Date("2025-11-03T10:00:00Z")
    expect(await readState()).toEqual({ readAt: at, complete: true, empty: true, completeAt: at })
  })

  test("the time of the latest complete reading is returned, even if later readings were incomplete", async () => {
    await count(reviewed("2025-11-02T10:00:00Z", [{ id: "1" }], end(true)))
    await count(reviewed("2025-11-04T10:00:00Z", [{ id: "2" }], end(false)))
    await count(reviewed("2025-11-03T10:00:00Z", [{ id: "3" }], end(false)))
    expect(await readState()).toEqual({
      readAt: new Date("2025-11-04T10:00:00Z"),
      complete: false,
      empty: false,
      completeAt: new Date("2025-11-02T10:00:00Z"),
    })
  })

  test("an empty page that does not end a reading is not stored as a reading", async () => {
    expect(await record(sql, [reviewed("2025-11-02T10:00:00Z", [], { more: true })], now)).toMatchObject({
      recorded: 0,
      alreadyStored: 1,
      refused: [],
    })
    expect(await sql`select 1 from review_read`).toHaveLength(0)
  })

  test("a review counts as stored only if it is unchanged since a complete reading", async () => {
    const isKnown = async (id: string, at = "2025-11-01T00:00:00Z") =>
      (await readStoredIds(sql, feed))(written({ id, at: new Date(at) }))
    expect(await isKnown("1")).toBe(false)
    await count(reviewed("2025-11-02T10:00:00Z", [{ id: "1" }, { id: "2" }], end(false)))
    expect(await isKnown("1")).toBe(false)
    await count(reviewed("2025-11-03T10:00:00Z", [{ id: "1" }, { id: "3" }], end(true)))
    await count(reviewed("2025-11-04T10:00:00Z", [{ id: "4" }, { id: "2", text: "edited" }], end(false)))
    expect(await Promise.all(["1", "2", "3", "4", "5"].map((id) => isKnown(id)))).toEqual([
      true,
      false,
      true,
      false,
      false,
    ])
    expect(await isKnown("1", "2025-11-02T00:00:00Z")).toBe(false)
    await count(reviewed("2025-11-03T10:00:00Z", [{ id: "1" }], { ...end(true), storefront: "gb" }))
    expect((await readStoredIds(sql, { ...feed, feed: "gb" }))(written({ id: "3" }))).toBe(false)
  })
})

test("reviews that break an invariant are not stored; the error has the position and the reason", async () => {
  const at = "2025-11-19T10:00:00Z"
  const review = (rest: object) => reviewed(at, [{ id: "1", ...rest }])
  const ended = (rest: object, reviews = [{ id: "1" }]) =>
    reviewed(at, reviews, { end: { pages: 1, complete: true, empty: false, ...rest } })
  const wrong: [ReviewsObservation, string][] = [
    [reviewed(at, [], { source: "itunes-lookup" as never }), "bad_source"],
    [reviewed(at, [], { source: "play-reviews" }), "bad_platform"],
    [reviewed(at, [], { storefront: "xx" }), "bad_storefront"],
    [reviewed("2025-11-20T12:00:00.001Z", []), "bad_time"],
    [reviewed(at, [], { storeId: "com.example.tea" }), "bad_app_id"],
    [reviewed(at, [], { language: "en" }), "bad_language"],
    [reviewedOnPlay(at, [], { language: undefined as never }), "bad_language"],
    [reviewedOnPlay(at, [], { language: "English" }), "bad_language"],
    [reviewed(at, [], { page: 0 }), "bad_depth"],
    [reviewedOnPlay(at, [], { next: "" }), "bad_text"],
    [reviewed(at, [{ id: "1" }, { id: "1" }]), "duplicate_review"],
    [
      reviewed(
        at,
        Array.from({ length: 1_001 }, (_, i) => ({ id: String(i) })),
      ),
      "too_many_results",
    ],
    [review({ id: "" }), "bad_review_id"],
    [review({ id: "a b" }), "bad_review_id"],
    [review({ stars: 0 }), "bad_figure"],
    [review({ stars: 4.5 }), "bad_figure"],
    [review({ title: " " }), "bad_text"],
    [review({ text: undefined }), "bad_text"],
    [review({ text: "a\0" }), "bad_text"],
    [review({ text: "\ud83c" }), "bad_text"],
    [review({ text: "a".repeat(20_001) }), "bad_text"],
    [review({ version: "" }), "bad_text"],
    [review({ at: new Date("nonsense") }), "bad_time"],
    [review({ at: new Date("2025-11-20T10:00:00.001Z") }), "bad_time"],
    [review({ at: new Date("2008-07-09T23:59:59Z") }), "bad_time"],
    [ended({ pages: 0 }), "bad_depth"],
    [ended({ complete: "yes" }), "bad_depth"],
    [ended({ empty: true }), "bad_depth"],
    [ended({}, []), "bad_depth"],
    [ended({ empty: true, complete: false }, []), "bad_depth"],
    [reviewed(at, [], { origin: "" }), "bad_provenance"],
    [{ ...reviewed(at, []), sha256: new Uint8Array(5) }, "bad_provenance"],
  ]
  const { refused, recorded } = await record(
    sql,
    [...wrong.map(([single]) => single), reviewed(at, [{ id: "9" }])],
    now,
  )
  expect(refused.map(({ index, problem }) => [index, problem.code as string])).toEqual(
    wrong.map(([, code], place) => [place, code]),
  )
  expect(recorded).toBe(1)
  expect(await currentTexts()).toEqual(["us 9: Text of 9"])
})

test("a failed read of reviews is logged with its app and is not stored as a reading", async () => {
  const attempt: Attempt = {
    kind: "reviews",
    at: new Date("2025-11-19T10:00:00Z"),
    subject: "10001",
    storefront: "us",
    platform: "ios",
    source: "apple-reviews",
    outcome: "rate_limited",
  }
  expect(await recordAttempt(sql, attempt, now)).toBe(true)
  expect(await recordAttempt(sql, attempt, now)).toBe(false)
  for (const wrong of [
    { source: "apple-hints" },
    { subject: "com.example.tea" },
    { subject: "10001,10002" },
  ] as const) {
    const problem = await recordAttempt(sql, { ...attempt, ...wrong }, now).catch((error) => error)
    expect(problem.code).toMatch(/^bad_/)
  }
  expect(await sql`select 1 from review_read`).toHaveLength(0)
})
