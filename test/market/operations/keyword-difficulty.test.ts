import { describe, expect, test } from "bun:test"
import { difficultyOf } from "../../../src/keywords/formulas/difficulty.ts"
import { readFirstTen } from "../../../src/keywords/read/first-ten.ts"
import { deriveKeywordMetrics } from "../../../src/keywords/store/keyword-metrics.ts"
import { explaining, type Work } from "../../core/explained.ts"
import { until } from "../../jobs/platform.ts"
import { long } from "../../long.ts"
import { hinted, reading, said } from "../../measuring/record/measured.ts"
import { answerSearches, type ShownApp, someApps } from "../../measuring/store-pages.ts"
import { record } from "../../record.ts"
import { openService } from "../../service.ts"
import { daysAgo } from "../../world/clock.ts"
import { marketWorld } from "../../world/market.ts"
import { trackOwn } from "../../world/tracked.ts"

const on = marketWorld({ forget: ["searches", "names"] })

const ask = (query = "?term=tide%20table", by = on.key) => on.get(`/v1/keyword-difficulty${query}`, by)
const asked = () =>
  on.stores.requests
    .map(({ url }) => (url.host === "search.itunes.apple.com" ? "hints" : url.pathname.split("/").at(-1)))
    .sort()

/** Twelve apps. The names of the second and third contain the keyword, the third as a phrase. */
const SHOWN: ShownApp[] = someApps(12).map((app, i) => ({
  ...app,
  name: ["Sea", "Table of Tides", "Tide Table Pro"][i] ?? app.name,
}))

const answers = (shown: { apps?: ShownApp[]; looked?: ShownApp[]; suggests?: string[] } = {}) =>
  answerSearches(on.stores, { apps: SHOWN, suggests: ["tide table", "tide tables usa"], ...shown })

describe("an untracked keyword", () => {
  test("concurrent calls for an untracked keyword share its search, suggestions and look-up", async () => {
    answers()
    const all = await Promise.all(Array.from({ length: 20 }, () => ask()))
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200))
    expect(asked()).toEqual(["hints", "lookup", "search"])
    const lookUp = on.stores.requests.find(({ url }) => url.pathname === "/lookup")!
    expect(lookUp.url.searchParams.get("id")!.split(",")).toEqual(SHOWN.slice(0, 10).map(({ id }) => id))
    expect(await on.creditsUsed()).toBe(200)
    await ask()
    expect([on.stores.requests.length, await on.creditsUsed()]).toEqual([3, 210])
    await until(async () => (await on.sql`select from due where subject = 'tide table'`).length === 0)
  })

  test("an untracked keyword has difficulty with parts, demand, related keywords and the first ten apps", async () => {
    answers()
    const { body } = await ask("?term=Tide%20Table&cc=GB")
    const updatedAt = new Date("2026-01-01T08:00:00Z")
    const slots = SHOWN.map(({ name, ratings }) => ({ title: name, ratings, updatedAt }))
    const { score, parts } = difficultyOf("tide table", slots, new Date())!
    const { results: _, ...three } = parts
    expect(body).toMatchObject({
      term: "tide table",
      country: "gb",
      platform: "ios",
      source: "apple-web-search",
      origin: "own",
      depth: 200,
      results: 12,
      difficulty: score,
      difficultyNone: false,
      parts: three,
      demand: expect.any(Number),
      thin: false,
      zayifEslesme: false,
      rated: 10,
      strongest: 100_000,
      median: 99_995.5,
      related: ["tide table", "tide tables usa"],
    })
    const { parts: shown, difficulty } = body
    expect(Math.round(0.3 * shown.titles + 0.6 * shown.weakest + 0.1 * shown.freshness)).toBe(difficulty)
    for (const at of [body.difficultyAt, body.demandAt, body.relatedAt])
      expect(Date.parse(at)).toBeGreaterThan(Date.now() - 60_000)
    expect(body.top.map(({ rank, id, inTitle }: Record<string, unknown>) => [rank, id, inTitle])).toEqual(
      SHOWN.slice(0, 10).map(({ id }, i) => [i + 1, id, i === 2]),
    )
    expect(body.top[0]).toMatchObject({
      name: "Sea",
      publisher: "Maker of Sea",
      ratings: 100_000,
      ratingsSource: "itunes-lookup",
    })
  })

  test("a keyword that no top ten name contains is loosely matched, and unknown if a name is unknown", async () => {
    answers({ apps: someApps(12) })
    expect((await ask()).body.zayifEslesme).toBe(true)
    await on.forget("searches")
    await record(on.sql, [
      reading(
        "low tide",
        daysAgo(0),
        SHOWN.slice(3, 12)
          .map(({ id }) => id)
          .concat("10099"),
        { source: "apple-web-search" },
      ),
    ])
    const ten = await readFirstTen(on.sql, { platform: "ios", storefront: "us", term: "low tide" }, new Date())
    expect(ten?.apps.at(-1)?.name).toBeNull()
    expect((await ask("?term=low%20tide")).body.zayifEslesme).toBeNull()
  })

  test("a keyword with few results is thin, and below five it has no difficulty, at the full price", async () => {
    for (const [count, none] of [
      [7, false],
      [4, true],
      [0, true],
    ] as const) {
      await on.forget("searches")
      answers({ apps: SHOWN.slice(0, count) })
      const before = await on.creditsUsed()
      const { status, body } = await ask()
      expect([status, body.thin, body.results, body.top.length]).toEqual([200, true, count, count])
      expect([body.difficultyNone, body.difficulty === null, body.parts === null]).toEqual([none, none, none])
      if (count === 0)
        expect([body.median, body.strongest, body.demand, body.zayifEslesme, body.rated]).toEqual([
          null,
          null,
          null,
          null,
          0,
        ])
      expect(await on.creditsUsed()).toBe(before + 10)
    }
  })

  test("a keyword whose apps lack ratings has a null difficulty, which is an answer", async () => {
    answers({ looked: SHOWN.slice(0, 7) })
    const { status, body } = await ask()
    expect([status, body.difficulty, body.difficultyNone, body.parts, body.rated]).toEqual([200, null, false, null, 7])
    expect([body.top[8].ratings, await on.creditsUsed()]).toEqual([null, 10])
  })

  test("related keywords are empty without suggestions, and null if suggestions cannot be read", async () => {
    answers({ suggests: [] })
    expect((await ask("?term=other")).body.related).toEqual([])
    on.stores.on("search.itunes.apple.com", "/", () => new Response("no", { status: 503 }))
    const { status, body } = await ask()
    expect([status, body.related, body.relatedAt, body.difficulty === null]).toEqual([200, null, null, false])
  })

  test("a keyword whose results or apps cannot be read is measure_busy for free", async () => {
    answers()
    on.stores.on("itunes.apple.com", "/lookup", () => new Response("no", { status: 503 }))
    const { status, body } = await ask()
    expect([status, body.error, await on.creditsUsed()]).toEqual([503, "measure_busy", 0])
    for (const upstream of ["apps.apple.com", "itunes.apple.com"] as const)
      on.stores.on(upstream, "/", () => new Response("no", { status: 503 }))
    expect((await ask("?term=other")).body.error).toBe("measure_busy")
  })

  test("a keyword is not_measured for 1 credit, with the reason, if this instance reads nothing", async () => {
    const { status, body, credits } = await openService({ sql: on.sql }).call("/v1/keyword-difficulty?term=tide", {
      key: on.key,
    })
    expect([status, body.error, credits.used]).toEqual([404, "not_measured", 1])
    expect(body.detail).toContain("does not read")
  })
})

describe("a stored difficulty", () => {
  const ids = SHOWN.slice(0, 10).map(({ id }) => id)
  const store = async (days: number) => {
    await record(on.sql, [
      reading("tide table", daysAgo(days), ids),
      said(
        daysAgo(days),
        SHOWN.slice(0, 10).map(({ id, name, ratings }) => ({ id, name, ratings, updatedAt: new Date(daysAgo(90)) })),
      ),
      hinted("tide table", daysAgo(days), ["tide table app"]),
    ])
    const list = { platform: "ios", storefront: "us", term: "tide table" } as const
    await on.sql.begin((tx) => deriveKeywordMetrics(tx, [list], new Date(daysAgo(days))))
  }

  test("a stored difficulty answers for seven days without a request, also from an import", async () => {
    await store(6)
    const { status, body } = await ask()
    expect([status, body.source, body.day, body.related]).toEqual([
      200,
      "import",
      daysAgo(6).slice(0, 10),
      ["tide table app"],
    ])
    expect([body.difficulty === null, on.stores.requests.length]).toEqual([false, 0])
  })

  test("a stored difficulty is read again after seven days", async () => {
    await store(8)
    answers()
    const { body } = await ask()
    expect([body.day, body.related]).toEqual([daysAgo(0).slice(0, 10), ["tide table", "tide tables usa"]])
    expect(asked()).toEqual(["hints", "lookup", "search"])
  })

  long("a stored difficulty is read by its keys, without other keywords and apps", async () => {
    await record(
      on.sql,
      Array.from({ length: 400 }, (_, i) => reading(`other ${i}`, daysAgo(i % 20), [String(20_000 + i)])),
    )
    for (const days of [25, 12, 6]) await store(days)
    await on.sql`analyze`
    const works: Work[] = []
    const found = await readFirstTen(
      explaining(on.sql, works),
      { platform: "ios", storefront: "us", term: "tide table" },
      new Date(),
    )
    expect(found?.apps.length).toBe(10)
    // ten apps, each with a name and up to three counts
    expect(works.map(({ rows }) => rows < 200)).toEqual([true])
  })
})

test("on Free a tool answers only for keywords tracked in that storefront, and refusals cost nothing", async () => {
  answers()
  const workspaceId = await on.service.workspace({
    explorer: true,
    plan: "free",
    overrides: { liveKeys: 2, ratePerSecond: 1_000 },
  })
  const free = await on.service.key(workspaceId)
  const app = { workspaceId, iosId: "10001", countries: ["us", "de"], keywords: [], origin: "own" }
  const appId = await trackOwn(on.sql, app)
  await on.sql`insert into tracked_term (app_id, country, term, position) values (${appId}, 'us', 'tide table', 1)`
  const tool = (term: string, cc: string) => on.service.tool("get_keyword_difficulty", { term, cc }, { key: free })
  const own = await tool(" Tide Table ", "US")
  expect([own.isError, own.body.term, own.credits.used]).toEqual([false, "tide table", 10])
  for (const [term, cc] of [
    ["tide table", "de"],
    ["tides", "us"],
  ] as const) {
    const { isError, body, credits } = await tool(term, cc)
    expect([isError, body.error, credits.used]).toEqual([true, "plan_required", 10])
    expect(body.detail).toContain("tracked in that storefront")
  }
  // a key that may not see the app learns nothing about its keywords
  const other = await trackOwn(on.sql, { ...app, iosId: "10002" })
  const limited = await on.service.key(workspaceId, { appList: [other as string] })
  const hidden = await on.service.tool("get_keyword_difficulty", { term: "tide table" }, { key: limited })
  expect([hidden.isError, hidden.body.error]).toEqual([true, "plan_required"])
})
