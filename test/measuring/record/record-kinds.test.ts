import { beforeEach, describe, expect, test } from "bun:test"
import type { Attempt } from "../../../src/core/observation/attempt.ts"
import type { Sql, Tx } from "../../../src/database/types.ts"
import type { HintsObservation } from "../../../src/keywords/kinds/hints.ts"
import type { PopularityObservation } from "../../../src/keywords/kinds/popularity.ts"
import { freshDatabase } from "../../database.ts"
import { record, recordAttempt } from "../../record.ts"
import { appsReading, hintsReading, NOW, popularityReading, reading, stored } from "./measured.ts"

let sql: Sql
const now = () => NOW

beforeEach(async () => {
  sql = await freshDatabase()
})

describe("hints", () => {
  const storedHints = async () =>
    (await sql`select day, terms from hint_answer order by platform, storefront, prefix, day, source`).map(
      ({ day, terms }) => `${day} ${terms.join(",")}`,
    )

  test("the last response of each day is stored with its hints in order, even if it has no hints", async () => {
    const answers = [
      hintsReading("te", "2025-11-18T09:00:00Z", ["tea", "tennis"]),
      hintsReading("te", "2025-11-18T08:00:00Z", ["earlier"]),
      hintsReading("te", "2025-11-19T00:00:00Z", []),
    ]
    for (const order of [answers, answers.toReversed()]) {
      await sql`delete from hint_answer`
      for (const single of order) await record(sql, [single], now)
      expect(await storedHints()).toEqual(["2025-11-18 tea,tennis", "2025-11-19 "])
    }
    const before = await stored(sql)
    expect(await record(sql, [...answers, ...answers], now)).toEqual({ recorded: 0, alreadyStored: 6, refused: [] })
    expect(await stored(sql)).toBe(before)
  })

  test("hints read by a newer parser replace the older reading", async () => {
    const at = "2025-11-19T10:00:00Z"
    await record(sql, [hintsReading("te", at, ["tea"])], now)
    expect((await record(sql, [hintsReading("te", at, ["tea room"], { parser: 2 })], now)).recorded).toBe(1)
    expect((await record(sql, [hintsReading("te", at, ["old"])], now)).recorded).toBe(0)
    expect(await storedHints()).toEqual(["2025-11-19 tea room"])
  })

  test("recording hints adds no term and no app", async () => {
    await record(sql, [hintsReading("te", "2025-11-18T09:00:00Z", ["tea"])], now)
    const [counts] = await sql`select (select count(*) from list) as lists, (select count(*) from store_app) as apps`
    expect(counts).toEqual({ lists: 0, apps: 0 })
  })

  test("a suggestion that breaks an invariant is refused", async () => {
    const at = "2025-11-18T09:00:00Z"
    const wrong: [HintsObservation, string][] = [
      [hintsReading("te", at, [], { source: "itunes-lookup" }), "bad_source"],
      [hintsReading("te", at, [], { source: "play-suggest" }), "bad_platform"],
      [hintsReading("Te", at, []), "bad_term"],
      [hintsReading("", at, []), "bad_term"],
      [hintsReading("te", "2026-11-18T09:00:00Z", []), "bad_time"],
      [hintsReading("te", at, ["tea", " "]), "bad_term"],
      [hintsReading("te", at, ["Tea"]), "bad_term"],
      [hintsReading("te", at, ["t\0ea"]), "bad_term"],
      [hintsReading("te", at, ["\ud83c"]), "bad_term"],
      [hintsReading("te", at, ["tea", "tea"]), "duplicate_term"],
      [hintsReading("te", at, Array(101).fill("tea")), "too_many_results"],
      [hintsReading("te", at, [], { parser: -1 }), "bad_provenance"],
    ]
    const { refused } = await record(
      sql,
      wrong.map(([single]) => single),
      now,
    )
    expect(refused.map(({ problem }) => problem.code as string)).toEqual(wrong.map(([, code]) => code))
    expect(await sql`select 1 from hint_answer`).toHaveLength(0)
  })
})

describe("a published popularity", () => {
  const storedFigures = async () => [
    ...(await sql`
      select l.term, m.day, m.score, m.formula, m.source, m.parts
      from keyword_metric m
      join list l on l.id = m.list_id
      where m.metric = 'popularity'
      order by l.term, m.day`),
  ]

  test("a published popularity is stored by month with its genres and source", async () => {
    const genres = [{ genre: "Photo & Video", rank: 3, popularity: 97 }]
    const figure = popularityReading("tea", "2025-09-01", 71, { genres })
    await record(sql, [figure, popularityReading("tea", "2025-08-01", 70)], now)
    const [august, september] = await storedFigures()
    expect(september).toEqual({
      term: "tea",
      day: "2025-09-01",
      score: 71,
      formula: 0,
      source: "apple-ads-report",
      parts: {
        month: "2025-09-01",
        genres,
        sha256: Buffer.from(figure.sha256).toString("hex"),
        parser: 1,
        origin: "own",
      },
    })
    expect(august).toMatchObject({ day: "2025-08-01", score: 70, parts: { genres: [] } })
  })

  test("a repeated popularity changes nothing, and only a later report replaces it", async () => {
    const later = { seenAt: new Date("2025-11-01T00:00:00Z") }
    const figures = [
      popularityReading("tea", "2025-09-01", 2),
      popularityReading("tea", "2025-09-01", 3, later),
      popularityReading("tea", "2025-09-01", 4, { ...later, parser: 2 }),
    ]
    for (const order of [figures, figures.toReversed(), [1, 0, 2].map((place) => figures[place]!)]) {
      await sql`delete from keyword_metric`
      for (const single of order) await record(sql, [single], now)
      expect((await storedFigures()).map(({ score }) => score)).toEqual([4])
    }
    const before = await stored(sql)
    expect(await record(sql, [...figures, ...figures], now)).toMatchObject({ recorded: 0, alreadyStored: 6 })
    expect(await stored(sql)).toBe(before)
  })

  test("a published popularity does not replace the metric calculated for the same day", async () => {
    await record(sql, [popularityReading("tea", "2025-09-01", 71)], now)
    await sql`
      insert into keyword_metric (list_id, metric, day, source, seen_at, score, formula, parts)
      select id, 'popularity', '2025-09-01', 'estimate', now(), 40, 1, '{}'
      from list`
    await record(sql, [popularityReading("tea", "2025-09-01", 72, { parser: 2 })], now)
    expect((await sql`select score from keyword_metric order by source`).map(({ score }) => score)).toEqual([72, 40])
  })

  test("a published popularity that breaks an invariant is refused", async () => {
    const of = (rest: object) => popularityReading("tea", "2025-09-01", 71, rest)
    const wrong: [PopularityObservation, string][] = [
      [of({ platform: "android" }), "bad_platform"],
      [of({ source: "import" }), "bad_source"],
      [of({ term: "Tea" }), "bad_term"],
      [of({ month: "2025-09-02" }), "bad_month"],
      [of({ month: "2025-13-01" }), "bad_month"],
      [of({ month: "2025-10-01" }), "bad_month"],
      [of({ popularity: 0 }), "bad_figure"],
      [of({ popularity: 101 }), "bad_figure"],
      [of({ popularity: 7.5 }), "bad_figure"],
      [of({ genres: [{ genre: "", rank: 1, popularity: 5 }] }), "bad_text"],
      [of({ genres: Array(2).fill({ genre: "Games", rank: 1, popularity: 5 }) }), "bad_text"],
      [of({ genres: [{ genre: "Games", rank: 0, popularity: 5 }] }), "bad_figure"],
      [of({ genres: [{ genre: "Games", rank: 1, popularity: 500 }] }), "bad_figure"],
      [of({ seenAt: new Date("2031-01-01") }), "bad_time"],
      [{ ...of({}), kind: "hearsay" as never }, "bad_kind"],
    ]
    const { refused } = await record(
      sql,
      wrong.map(([single]) => single),
      now,
    )
    expect(refused.map(({ problem }) => problem.code as string)).toEqual(wrong.map(([, code]) => code))
    expect(await sql`select 1 from list`).toHaveLength(0)
  })
})

describe("the finish step of a recording transaction", () => {
  const all = [
    reading("tea", "2025-11-19T10:00:00Z", [10001]),
    appsReading("2025-11-19T10:00:00Z", [{ id: "10002", name: "Mate", ratings: 5 }]),
    hintsReading("te", "2025-11-18T09:00:00Z", ["tea"]),
    popularityReading("mate", "2025-09-01", 5),
  ]
  const marked = async () => (await sql`select value from instance where key = 'mark' order by key`).length

  test("the finish step runs in the recording transaction, even if no observation was new or valid", async () => {
    let rowsAtFinish: unknown
    const finish = async (tx: Tx) => {
      const [row] = await tx`
        select (select count(*) from search_results) + (select count(*) from app_storefront)
          + (select count(*) from hint_answer) + (select count(*) from keyword_metric) as rows`
      rowsAtFinish = row!.rows
      await tx`insert into instance (key, value) values (${crypto.randomUUID()}, 'done')`
    }
    expect(await record(sql, all, now, { finish })).toEqual({ recorded: 4, alreadyStored: 0, refused: [] })
    expect(rowsAtFinish).toBe(4)
    await record(sql, all, now, { finish })
    await record(sql, [], now, { finish })
    await record(sql, [reading("", "2025-11-19T10:00:00Z", [10001])], now, { finish })
    expect(await sql`select 1 from instance where value = 'done'`).toHaveLength(4)
  })

  test("a finish step that throws rolls back the recording transaction", async () => {
    const before = await stored(sql)
    const finish = async (tx: Tx) => {
      await tx`insert into instance (key, value) values ('mark', 'x')`
      throw new Error("lost its lease")
    }
    const failure = await record(sql, all, now, { finish }).catch(String)
    expect(failure).toContain("lost its lease")
    expect(await stored(sql)).toBe(before)
    expect(await marked()).toBe(0)
  })

  test("the finish step runs again when the transaction is retried", async () => {
    let times = 0
    const finish = async (tx: Tx) => {
      await tx`insert into instance (key, value) values ('mark', 'x')`
      if (++times === 1) await tx`do $$ begin raise exception 'stand-in' using errcode = '40P01'; end $$`
    }
    expect((await record(sql, all, now, { finish })).recorded).toBe(4)
    expect([times, await marked()]).toEqual([2, 1])
    expect(await sql`select 1 from hint_answer`).toHaveLength(1)
  })
})

describe("a failed read", () => {
  const attempt = (rest: Partial<Attempt> = {}): Attempt => ({
    kind: "apps",
    at: new Date("2025-11-19T10:00:00Z"),
    subject: "10001,10002",
    storefront: "us",
    platform: "ios",
    source: "itunes-lookup",
    outcome: "changed",
    ...rest,
  })

  test("a failed read of every kind is logged once, with the hash of the unreadable body", async () => {
    const attempts = [
      attempt({ sha256: new Uint8Array(32).fill(7) }),
      attempt({ kind: "hints", source: "apple-hints", subject: "te" }),
      attempt({ kind: "search", source: "play-search", platform: "android", subject: "tea" }),
      attempt({ kind: "listing", source: "apple-app-page", subject: "10001" }),
      attempt({ kind: "chart", source: "apple-charts", subject: "iphone free 6013" }),
      attempt({ kind: "genres", source: "apple-genres", subject: "36" }),
      attempt({ kind: "developer", source: "itunes-developer", subject: "1500000011" }),
      attempt({ kind: "app_ads", source: "app-ads-txt", subject: "com.example.tea", platform: "android" }),
    ]
    for (const entry of attempts) expect(await recordAttempt(sql, entry, now)).toBe(true)
    for (const entry of attempts) expect(await recordAttempt(sql, entry, now)).toBe(false)
    const rows = await sql`select kind, subject, encode(sha256, 'hex') as sha256 from attempt order by id`
    expect([...rows]).toEqual([
      { kind: "apps", subject: "10001,10002", sha256: "07".repeat(32) },
      { kind: "hints", subject: "te", sha256: null },
      { kind: "search", subject: "tea", sha256: null },
      { kind: "listing", subject: "10001", sha256: null },
      { kind: "chart", subject: "iphone free 6013", sha256: null },
      { kind: "genres", subject: "36", sha256: null },
      { kind: "developer", subject: "1500000011", sha256: null },
      { kind: "app_ads", subject: "com.example.tea", sha256: null },
    ])
  })

  test("a failed read that breaks an invariant is refused", async () => {
    const wrong: [Attempt, string][] = [
      [attempt({ kind: "guess" as never }), "bad_kind"],
      [attempt({ kind: "toString" as never }), "bad_kind"],
      [attempt({ kind: "search", subject: "tea" }), "bad_source"],
      [attempt({ kind: "listing", subject: "10001" }), "bad_source"],
      [attempt({ kind: "listing", source: "apple-app-page", subject: "10001,10002" }), "bad_app_id"],
      [attempt({ kind: "chart", source: "apple-charts", subject: "watch free 6013" }), "bad_text"],
      [attempt({ kind: "chart", source: "apple-charts", subject: "ipad best 6013" }), "bad_text"],
      [attempt({ kind: "chart", source: "apple-charts", subject: "ipad free games" }), "bad_text"],
      [attempt({ kind: "chart", source: "apple-charts", subject: "ipad free 6013 us" }), "bad_text"],
      [attempt({ kind: "genres", source: "apple-genres", subject: "games" }), "bad_text"],
      [attempt({ kind: "developer", source: "itunes-developer", subject: "Leaves" }), "bad_text"],
      [attempt({ kind: "app_ads", source: "app-ads-txt", subject: "com.example.tea" }), "bad_app_id"],
      [attempt({ kind: "hints", subject: "te" }), "bad_source"],
      [attempt({ subject: "10001,tea" }), "bad_app_id"],
      [attempt({ platform: "android" }), "bad_platform"],
      [attempt({ kind: "hints", source: "apple-hints", subject: "Te" }), "bad_term"],
      [attempt({ outcome: "bored" as never }), "bad_provenance"],
      [attempt({ sha256: new Uint8Array(2) }), "bad_provenance"],
    ]
    const codes = []
    for (const [entry] of wrong) codes.push(await recordAttempt(sql, entry, now).catch((error) => error.code))
    expect(codes).toEqual(wrong.map(([, code]) => code))
    expect(await sql`select 1 from attempt`).toHaveLength(0)
  })
})
