import { afterEach, expect, test } from "bun:test"
import type { Attempt } from "../../../src/core/observation/attempt.ts"
import { bandOf } from "../../../src/keywords/formulas/difficulty.ts"
import { CHECKED, POPULARITY_FORMULA, popularityBand } from "../../../src/keywords/formulas/popularity.ts"
import { readAttempts, readFigures } from "../../../src/keywords/read/keyword-standing.ts"
import { deriveKeywordMetrics } from "../../../src/keywords/store/keyword-metrics.ts"
import { explainEach, type Work } from "../../core/explained.ts"
import { long, slow } from "../../long.ts"
import { appsReading, hintsReading, popularityReading, reading } from "../../measuring/record/measured.ts"
import { record, recordAttempt } from "../../record.ts"
import { DAY_MS, daysAgo } from "../../world/clock.ts"
import { marketWorld } from "../../world/market.ts"

const scene = marketWorld({ forget: ["searches"] })

// no test here may send a request to a store
afterEach(() => expect(scene.stores.requests.length).toBe(0))

const ask = (query = "", term = "tide%20table") => scene.get(`/v1/hive/keywords/${term}/metrics${query}`)
const webSearch = { source: "apple-web-search" } as const
const LIST = { platform: "ios", storefront: "us", term: "tide table" } as const
const IDS = Array.from({ length: 10 }, (_, i) => String(20_001 + i))

/** Stores results, ratings and suggestions of the given number of days ago, and the figures calculated from them. */
async function measure(days: number, ids = IDS, suggested = ["tide table", "tide table usa"]): Promise<void> {
  const at = daysAgo(days)
  const apps = ids.map((id, i) => ({ id, name: `Tide Table ${i}`, ratings: 1_000 * (i + 1) }))
  await record(scene.sql, [
    reading(LIST.term, at, ids, { ...webSearch, depth: 200 }),
    ...(apps.length > 0 ? [appsReading(at, apps)] : []),
    ...[LIST.term, "tide tabl"].map((prefix) => hintsReading(prefix, at, prefix === LIST.term ? suggested : [])),
  ])
  await scene.sql.begin((tx) => deriveKeywordMetrics(tx, [LIST], new Date(at)))
}

function failed(days: number, rest: Partial<Attempt> = {}) {
  const at = new Date(Date.now() - days * DAY_MS)
  const about = { subject: LIST.term, storefront: "us", platform: "ios" } as const
  return recordAttempt(scene.sql, {
    kind: "search",
    source: "apple-web-search",
    outcome: "blocked",
    at,
    ...about,
    ...rest,
  })
}

slow(
  "a keyword that was never measured fails with not_measured for 1 credit, and no reading is requested",
  async () => {
    const { status, body } = await ask()
    expect([status, body.error, await scene.creditsUsed()]).toEqual([404, "not_measured", 1])
    expect(
      (await scene.sql`select from due`).count + (await scene.sql`select from list where term = 'tide table'`).count,
    ).toBe(0)
  },
)

test("a keyword with only failed readings is unmeasured for 1 credit, and has its last outcome", async () => {
  await failed(1)
  const { status, body } = await ask()
  expect([status, body.popularity, body.difficulty, await scene.creditsUsed()]).toEqual([200, null, null, 1])
  const lastAttempt = { at: expect.any(String), of: "results", outcome: "blocked" }
  const unmeasured = { state: "unmeasured", measuredAt: null, stale: null, staleAt: null, lastAttempt }
  expect(body.popularityStanding).toEqual({ ...unmeasured, basis: null, band: null, month: null, evidence: null })
  expect(body.difficultyStanding).toEqual({ ...unmeasured, band: null, evidence: null })
})

test("a measured keyword has both figures with their readings, formula and error", async () => {
  await measure(1)
  const { status, body } = await ask("?country=US", "%20Tide%20TABLE")
  expect([status, body.term, body.country, body.platform, await scene.creditsUsed()]).toEqual([
    200,
    "tide table",
    "us",
    "ios",
    10,
  ])
  const figures = await readFigures(scene.sql, LIST, daysAgo(0).slice(0, 10))
  const stored = (metric: string) => figures.find((row) => row.metric === metric)!
  expect([body.popularity, body.difficulty]).toEqual([null, stored("difficulty").score])
  expect(body.popularityStanding.band).toEqual(popularityBand("ios", stored("popularity").score as number))
  const { popularityStanding: popularity, difficultyStanding: difficulty } = body
  for (const { state, stale, measuredAt, staleAt } of [popularity, difficulty]) {
    expect([state, stale]).toEqual(["measured", false])
    expect(Date.parse(staleAt) - Date.parse(measuredAt)).toBe(7 * DAY_MS)
  }
  expect([popularity.basis, popularity.month, difficulty.band]).toEqual(["estimate", null, bandOf(body.difficulty)])
  expect(popularity.evidence).toMatchObject({
    formula: POPULARITY_FORMULA,
    error: {
      terms: CHECKED.terms,
      correlation: CHECKED.correlation,
      held: CHECKED.held,
      points: CHECKED.line.error,
      constant: CHECKED.constant.error,
    },
    parts: { demand: expect.any(Number), prefixDepth: expect.any(Number), hintCount: 20 },
    genres: null,
  })
  // the readings of the results, and of the suggestions for both prefixes
  const read = popularity.evidence.readings
  expect(read.map((source: { source: string; prefix?: string }) => [source.source, source.prefix ?? null])).toEqual([
    ["apple-web-search", null],
    ["apple-hints", "tide table"],
    ["apple-hints", "tide tabl"],
  ])
  expect(difficulty.evidence.readings).toEqual([read[0]])
  expect(difficulty.evidence.ratings).toMatchObject({ sources: ["itunes-lookup"] })
  const { titles, weakest } = difficulty.evidence.parts
  expect([difficulty.evidence.parts.results, difficulty.evidence.parts.freshness]).toEqual([10, null])
  expect(Math.round((0.3 * titles + 0.6 * weakest) / 0.9)).toBe(body.difficulty)
})

test("a keyword that was read without results has null metrics, the state absent and the full price", async () => {
  await measure(1, [], [])
  const { body } = await ask()
  expect([body.popularity, body.difficulty, await scene.creditsUsed()]).toEqual([null, null, 10])
  expect([body.popularityStanding.state, body.difficultyStanding.state]).toEqual(["absent", "absent"])
  expect(body.popularityStanding.evidence.readings.length).toBe(2)
  expect([body.difficultyStanding.band, body.difficultyStanding.evidence.parts.results]).toEqual([null, 0])
})

test("popularity can be unmeasured while difficulty has a state from a reading", async () => {
  await record(scene.sql, [reading(LIST.term, daysAgo(0), ["20001", "20002"], { ...webSearch, depth: 200 })])
  await scene.sql.begin((tx) => deriveKeywordMetrics(tx, [LIST], new Date()))
  const { body } = await ask()
  expect([body.difficultyStanding.state, body.popularityStanding.state]).toEqual(["absent", "unmeasured"])
  expect(await scene.creditsUsed()).toBe(10)
})

test("a published popularity replaces an estimate, has month and genres, and goes stale with its month", async () => {
  await measure(1)
  const genres = [{ genre: "Weather", rank: 3, popularity: 66 }]
  const month = (back: number) => {
    const now = new Date()
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 10)
  }
  await record(scene.sql, [popularityReading(LIST.term, month(4), 40)])
  const old = (await ask()).body
  expect([old.popularity, old.popularityStanding.stale]).toEqual([40, true])
  await record(scene.sql, [
    popularityReading(LIST.term, month(1), 61, { genres, seenAt: new Date(Date.now() - 5 * DAY_MS) }),
  ])
  const { body } = await ask()
  expect([body.popularity, body.popularityStanding.state]).toEqual([61, "measured"])
  expect(body.popularityStanding).toMatchObject({
    basis: "published",
    month: month(1).slice(0, 7),
    stale: false,
    staleAt: new Date(Date.parse(month(1)) + 63 * DAY_MS).toISOString(),
    evidence: { formula: null, error: null, parts: null, ratings: null, genres },
  })
  expect(body.popularityStanding.evidence.readings).toMatchObject([{ source: "apple-ads-report" }])
})

slow("a metric older than seven days is stale, and a metric older than ninety days is unmeasured", async () => {
  await measure(8)
  const stale = (await ask()).body
  expect([stale.popularityStanding.stale, stale.difficultyStanding.stale]).toEqual([true, true])
  expect([typeof stale.popularityStanding.band?.low, typeof stale.difficulty]).toEqual(["number", "number"])
  await scene.forget("searches")
  await measure(92)
  const { body } = await ask()
  expect([body.popularity, body.difficultyStanding.state, await scene.creditsUsed()]).toEqual([null, "unmeasured", 11])
})

test("each metric has the latest attempt of the readings that it needs, successful or not", async () => {
  await failed(3, { kind: "hints", source: "apple-hints", subject: "tide", outcome: "rate_limited" })
  await failed(4)
  await failed(1, { subject: "another term" })
  await failed(1, { storefront: "gb" })
  const first = (await ask()).body
  expect(first.popularityStanding.lastAttempt).toMatchObject({ of: "suggestions", outcome: "rate_limited" })
  expect(first.difficultyStanding.lastAttempt).toMatchObject({ of: "results", outcome: "blocked" })
  const at = new Date(Date.now() - 2 * DAY_MS)
  await record(scene.sql, [reading(LIST.term, at.toISOString(), IDS.slice(0, 2), { ...webSearch, complete: false })])
  const second = (await ask()).body
  for (const { lastAttempt } of [second.popularityStanding, second.difficultyStanding])
    expect(lastAttempt).toEqual({ at: at.toISOString(), of: "results", outcome: "incomplete" })
  await record(scene.sql, [reading(LIST.term, daysAgo(1), IDS, { origin: "elsewhere", source: "foreign" })])
  expect((await ask()).body.difficultyStanding.lastAttempt.outcome).toBe("incomplete")
  await scene.sql`
    insert into due (kind, platform, storefront, subject, measured_at, failures, failure, failed_at, next_at)
    values (
      'difficulty', 'ios', 'us', 'tide table', now() - interval '9 hours', 1, 'changed', now() - interval '2 hours',
      now() + interval '1 hour'
    )`
  const third = (await ask()).body
  expect(third.difficultyStanding.lastAttempt).toMatchObject({ of: "ratings", outcome: "changed" })
  await measure(0)
  expect((await ask()).body.popularityStanding.lastAttempt).toMatchObject({ outcome: "read" })
})

test("wrong stores, storefronts and keywords are refused for free, and Explorer is required", async () => {
  for (const [query, code] of [
    ["?platform=android", "unsupported_platform"],
    ["?country=zz", "bad_country"],
  ])
    expect((await ask(query)).body.error).toBe(code)
  expect((await ask("", "x".repeat(151))).body.error).toBe("bad_term")
  const pack = await scene.service.key(await scene.service.workspace({ plan: "pro", pack: 1_000 }))
  const { status, body } = await scene.service.call("/v1/hive/keywords/tide/metrics", { key: pack })
  expect([status, body.error, await scene.creditsUsed()]).toEqual([403, "explorer_required", 0])
})

long("a keyword is read by index among thousands of keywords and a long history", async () => {
  for (const days of [3, 2, 1]) await measure(days)
  await scene.sql`
    insert into list (platform, storefront, term)
    select 'ios', 'us', 'other ' || i
    from generate_series(1, 3000) i`
  await scene.sql`
    insert into keyword_metric (list_id, metric, day, source, seen_at, score, formula, parts)
    select l.id, m.metric, current_date - d, 'calculated', now(), 50, 1, '{}'
    from list l, unnest(array['difficulty', 'demand', 'hints']) m (metric), generate_series(1, 4) d
    where l.term like 'other %' or d > 3`
  await scene.sql`
    insert into keyword_now (list_id, difficulty, difficulty_day, difficulty_at)
    select id, 50, current_date - 1, now()
    from list
    on conflict do nothing`
  await scene.sql`
    insert into attempt (at, kind, subject, storefront, platform, source, outcome)
    select now() - i * interval '1 minute', 'search', 'other ' || i, 'us', 'ios', 'apple-web-search', 'failed'
    from generate_series(1, 3000) i`
  await scene.sql`analyze`
  const works: Work[] = []
  const explained = explainEach(scene.sql, works)
  expect((await readFigures(explained, LIST, daysAgo(0).slice(0, 10))).length).toBe(4)
  expect((await readAttempts(explained, LIST)).length).toBe(2)
  expect(works.map(({ rows }) => rows < 120)).toEqual([true, true])
})
