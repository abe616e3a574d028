import { afterEach, expect, test } from "bun:test"
import type { Attempt } from "../../../src/core/observation/attempt.ts"
import { readMetricRecords } from "../../../src/keywords/read/metric-records.ts"
import { listIds } from "../../../src/measuring/record/identities.ts"
import { explainEach, type Work } from "../../core/explained.ts"
import { slow } from "../../long.ts"
import { popularityReading, reading } from "../../measuring/record/measured.ts"
import { record, recordAttempt } from "../../record.ts"
import { DAY_MS } from "../../world/clock.ts"
import { marketWorld } from "../../world/market.ts"

const LIST = { platform: "ios" as const, storefront: "us", term: "tide table" }
const scene = marketWorld({ forget: ["searches"] })

// no test here may send a request to a store
afterEach(() => expect(scene.stores.requests.length).toBe(0))

const ask = (query = "", term = "tide%20table") => scene.get(`/v1/hive/keywords/${term}/metrics/history${query}`)
/** Returns a time on the UTC day that many days ago. */
const at = (days: number, hour = 6) =>
  new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - days * DAY_MS + hour * 3_600_000)
const dayOf = (days: number) => at(days).toISOString().slice(0, 10)

/** Inserts figures into the table. The keys are numbers of days ago. */
async function figures(metric: string, scores: Record<number, number | null>, { term = LIST.term, formula = 1 } = {}) {
  const source = metric === "popularity" ? "estimate" : "calculated"
  await scene.sql.begin(async (tx) => {
    const [list] = await listIds(tx, [{ ...LIST, term }])
    for (const [days, score] of Object.entries(scores))
      await tx`
        insert into keyword_metric (list_id, metric, day, source, seen_at, score, formula, parts)
        values (${list!}, ${metric}, ${dayOf(Number(days))}, ${source}, ${at(Number(days))}, ${score}, ${formula},
          '{}')`
  })
}

function failed(failedAt: Date, rest: Partial<Attempt> = {}) {
  const about = { subject: LIST.term, storefront: "us", platform: "ios" } as const
  return recordAttempt(
    scene.sql,
    { kind: "search", source: "apple-web-search", outcome: "blocked", at: failedAt, ...about, ...rest },
    () => new Date(Date.now() + DAY_MS),
  )
}

type FigureRow = Record<"day" | "state" | "value" | "basis" | "of" | "outcome" | "source", unknown>
const brief = (records: FigureRow[]) => records.map(({ day, state, value }) => [day, state, value])

test("a day without a reading has no row, and a day with a failed or incomplete reading has a row", async () => {
  await figures("difficulty", { 1: 40, 3: null, 8: 0 })
  await figures("popularity", { 1: 22 })
  await failed(at(2), { outcome: "rate_limited" })
  await failed(at(1, 3))
  await failed(at(2), { kind: "hints", source: "apple-hints", subject: "tid", outcome: "changed" })
  await record(scene.sql, [
    reading(LIST.term, at(5).toISOString(), ["10001"], { complete: false, source: "apple-web-search" }),
    reading(LIST.term, at(6).toISOString(), ["10001"], { complete: false, origin: "demo" }),
  ])
  await failed(at(4), { subject: "another term" })
  await failed(at(4), { storefront: "gb" })
  await failed(at(4), { kind: "hints", source: "apple-hints", subject: "another" })
  const { status, body } = await ask("?days=7")
  expect([status, body.days, body.from, body.to, body.pagination]).toEqual([
    200,
    7,
    dayOf(6),
    dayOf(0),
    { nextCursor: null },
  ])
  const results = [
    [dayOf(2), "failed", null],
    [dayOf(5), "incomplete", null],
    [dayOf(6), "incomplete", null],
  ]
  expect(brief(body.difficulty)).toEqual([
    [dayOf(1), "measured", 40],
    [dayOf(1), "failed", null],
    results[0]!,
    [dayOf(3), "absent", null],
    results[1]!,
    results[2]!,
  ])
  expect(brief(body.popularity)).toEqual([
    [dayOf(1), "measured", null],
    [dayOf(1), "failed", null],
    [dayOf(2), "failed", null],
    results[0]!,
    results[1]!,
    results[2]!,
  ])
  expect(body.difficulty[2]).toEqual({
    low: null,
    high: null,
    day: dayOf(2),
    state: "failed",
    value: null,
    basis: null,
    formula: null,
    at: at(2).toISOString(),
    of: "results",
    outcome: "rate_limited",
    source: "apple-web-search",
  })
  expect(body.popularity[0]).toMatchObject({ basis: "estimate", low: 5, high: 9 })
  expect(body.popularity[2]).toMatchObject({ of: "suggestions", outcome: "changed", source: "apple-hints" })
  expect(body.difficulty[4]).toMatchObject({ of: "results", outcome: null, source: "apple-web-search" })
  expect(body.difficulty[0]).toMatchObject({ basis: "calculated", formula: 1, of: null, outcome: null, source: null })
  // zero is a figure and shown as one
  expect(brief((await ask("?days=9")).body.difficulty).at(-1)).toEqual([dayOf(8), "measured", 0])
})

test("a published popularity is returned if any day of its month is requested, next to estimates", async () => {
  const today = new Date()
  const month = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 1, 1))
  const seenAt = new Date(Date.now() - 5 * DAY_MS)
  await record(scene.sql, [popularityReading(LIST.term, month.toISOString().slice(0, 10), 61, { seenAt })])
  const since = (day: Date) => Math.floor((Date.now() - day.getTime()) / DAY_MS) + 1
  await figures("popularity", { 0: 30 })
  const last = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), 0))
  const { body } = await ask(`?days=${since(last)}`)
  expect(brief(body.popularity)).toEqual([
    [dayOf(0), "measured", null],
    [month.toISOString().slice(0, 10), "measured", 61],
  ])
  expect(body.popularity[1]).toMatchObject({ basis: "published", formula: null, source: "apple-ads-report" })
  const after = since(last) - 1
  if (after > 0) expect((await ask(`?days=${after}`)).body.popularity).toHaveLength(1)
})

test("the price depends on the requested days, 30 by default, and an empty history costs 1 credit", async () => {
  const { status, body } = await ask()
  expect([status, body.error, await scene.creditsUsed()]).toEqual([404, "not_measured", 1])
  await failed(at(1))
  const empty = (await ask()).body
  expect([empty.difficulty.length, empty.popularity.length, await scene.creditsUsed()]).toEqual([1, 1, 2])
  await figures("difficulty", { 0: 40 })
  const prices: number[] = []
  for (const query of ["", "?days=1", "?days=7", "?days=8", "?days=30", "?days=31", "?days=90"]) {
    const before = await scene.creditsUsed()
    await ask(query)
    prices.push((await scene.creditsUsed()) - before)
  }
  expect(prices).toEqual([20, 10, 10, 20, 20, 40, 40])
})

slow("a series is paged by 200 records, each record once, even if newer records are added", async () => {
  const scores = Object.fromEntries(Array.from({ length: 90 }, (_, days) => [days, days]))
  await figures("difficulty", scores)
  await figures("popularity", scores)
  await scene.sql`
    insert into attempt (at, kind, subject, storefront, platform, source, outcome)
    select ${at(89)}::timestamptz + i * interval '5 hours', 'search', ${LIST.term}, 'us', 'ios', 'apple-web-search',
      'failed'
    from generate_series(1, 400) i
    union all
    select ${at(89)}::timestamptz + i * interval '5 hours', 'hints', left(${LIST.term}, 1 + i % 9), 'us', 'ios',
      'apple-hints', 'failed'
    from generate_series(1, 400) i`
  const whole = async (metric: "difficulty" | "popularity") =>
    await readMetricRecords(scene.sql, LIST, metric, { from: dayOf(89), to: dayOf(0), after: null, limit: 5_000 })
  const expected = [await whole("difficulty"), await whole("popularity")]
  // if a prefix of the term ends at a space, the space is dropped, so not all of these attempts are distinct steps
  expect([expected[0]!.length, expected[1]!.length > 700]).toEqual([490, true])
  const pages: { difficulty: FigureRow[]; popularity: FigureRow[] }[] = []
  let cursor: string | null = null
  do {
    const { status, body } = await ask(`?days=90${cursor === null ? "" : `&cursor=${cursor}`}`)
    expect(status).toBe(200)
    pages.push(body)
    cursor = body.pagination.nextCursor
    // adds a record that is newer than the records already returned
    if (pages.length === 1) await failed(new Date())
  } while (cursor !== null)
  expect(pages.map((page) => page.difficulty.length)).toEqual(pages.map((_, i) => [200, 200, 90][i] ?? 0))
  expect(pages.length).toBe(Math.ceil(expected[1]!.length / 200))
  for (const [i, metric] of (["difficulty", "popularity"] as const).entries()) {
    const allFigures = pages.flatMap((page) => page[metric]) as (FigureRow & { at: string })[]
    expect(allFigures.map((figure) => `${figure.day} ${figure.at} ${figure.of}`)).toEqual(
      expected[i]!.map(({ day, at, of }) => `${day} ${at.toISOString()} ${of}`),
    )
  }
})

slow("a tampered or invented cursor, or a cursor of other parameters, fails with bad_cursor for free", async () => {
  await figures("difficulty", { 0: 1 })
  await figures("difficulty", { 0: 1 }, { term: "other" })
  await scene.sql`
    insert into attempt (at, kind, subject, storefront, platform, source, outcome)
    select now() - i * interval '1 minute', 'search', ${LIST.term}, 'us', 'ios', 'apple-web-search', 'failed'
    from generate_series(1, 250) i`
  const cursor = (await ask("?days=7")).body.pagination.nextCursor as string
  expect((await ask(`?days=7&cursor=${cursor}`)).status).toBe(200)
  expect((await ask(`?days=7&country=US&cursor=${cursor}&fields=day`, "Tide%20Table")).status).toBe(200)
  const before = await scene.creditsUsed()
  const at = cursor.length >> 1
  const cut = cursor.slice(0, -4)
  const turned = `${cursor.slice(0, at)}${cursor[at] === "A" ? "B" : "A"}${cursor.slice(at + 1)}`
  for (const [query, term] of [
    [`?days=7&cursor=${cursor}`, "other"],
    [`?days=7&country=gb&cursor=${cursor}`],
    [`?days=8&cursor=${cursor}`],
    [`?cursor=${cursor}`],
    [`?days=7&cursor=${cut}`],
    [`?days=7&cursor=${turned}`],
    ["?days=7&cursor=nothing"],
  ] as const) {
    const { status, body } = await ask(query, term)
    expect([query, status, body.error]).toEqual([query, 400, "bad_cursor"])
  }
  expect(await scene.creditsUsed()).toBe(before)
})

test("Google Play, wrong days and unknown storefronts are refused for free, and Explorer is required", async () => {
  for (const [query, code] of [
    ["?platform=android", "unsupported_platform"],
    ["?days=0", "bad_days"],
    ["?days=91", "bad_days"],
    ["?country=zz", "bad_country"],
  ])
    expect((await ask(query)).body.error).toBe(code)
  expect((await ask("", "x".repeat(151))).body.error).toBe("bad_term")
  const pack = await scene.service.key(await scene.service.workspace({ plan: "pro", pack: 1_000 }))
  const { status, body } = await scene.service.call("/v1/hive/keywords/tide/metrics/history", { key: pack })
  expect([status, body.error, await scene.creditsUsed()]).toEqual([403, "explorer_required", 0])
})

slow("records are read by index, without rows of other keywords", async () => {
  await figures("difficulty", { 0: 1, 1: 1 })
  await scene.sql`
    insert into list (platform, storefront, term)
    select 'ios', 'us', 'other ' || i
    from generate_series(1, 2000) i`
  await scene.sql`
    insert into keyword_metric (list_id, metric, day, source, seen_at, score, formula, parts)
    select l.id, 'difficulty', current_date - d, 'calculated', now(), 50, 1, '{}'
    from list l, generate_series(2, 4) d`
  await scene.sql`
    insert into keyword_metric (list_id, metric, day, source, seen_at, score, formula, parts)
    select l.id, 'difficulty', current_date - d, 'calculated', now(), 50, 1, '{}'
    from list l, generate_series(40, 1000) d
    where l.term = ${LIST.term}`
  await scene.sql`
    insert into attempt (at, kind, subject, storefront, platform, source, outcome)
    select now() - i * interval '1 minute', 'search', 'other ' || i, 'us', 'ios', 'apple-web-search', 'failed'
    from generate_series(1, 3000) i`
  await scene.sql`analyze`
  const works: Work[] = []
  const page = { from: dayOf(6), to: dayOf(0), after: null, limit: 201 }
  const read = await readMetricRecords(explainEach(scene.sql, works), LIST, "popularity", page)
  expect(read).toHaveLength(0)
  expect(await readMetricRecords(explainEach(scene.sql, works), LIST, "difficulty", page)).toHaveLength(5)
  expect(works.map(({ rows }) => rows < 150)).toEqual([true, true])
})
