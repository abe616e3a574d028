import { describe, expect, test } from "bun:test"
import { difficultyOf } from "../../../src/keywords/formulas/difficulty.ts"
import { readFirstTen } from "../../../src/keywords/read/first-ten.ts"
import { deriveKeywordMetrics } from "../../../src/keywords/store/keyword-metrics.ts"
import { explainEach, type Work } from "../../core/explained.ts"
import { until } from "../../jobs/platform.ts"
import { long, slow } from "../../long.ts"
import { appsReading, hintsReading, reading } from "../../measuring/record/measured.ts"
import { answerSearches, type ShownApp, someApps } from "../../measuring/store-pages.ts"
import { record } from "../../record.ts"
import { openService } from "../../service.ts"
import { daysAgo } from "../../world/clock.ts"
import { marketWorld } from "../../world/market.ts"
import { trackOwn } from "../../world/tracked.ts"

const scene = marketWorld({ forget: ["searches", "names"] })

const ask = (query = "?term=tide%20table", by = scene.key) => scene.get(`/v1/keyword-difficulty${query}`, by)
const readKinds = () =>
  scene.stores.requests
    .map(({ url }) => (url.host === "search.itunes.apple.com" ? "hints" : url.pathname.split("/").at(-1)))
    .sort()

/** Twelve apps. The names of the second and third contain the keyword, the third as a phrase. */
const LISTED: ShownApp[] = someApps(12).map((app, i) => ({
  ...app,
  name: ["Sea", "Table of Tides", "Tide Table Pro"][i] ?? app.name,
}))

const answers = (changes: { apps?: ShownApp[]; looked?: ShownApp[]; suggests?: string[] } = {}) =>
  answerSearches(scene.stores, { apps: LISTED, suggests: ["tide table", "tide tables usa"], ...changes })

describe("an untracked keyword", () => {
  slow("concurrent calls for an untracked keyword share its search, suggestions and iTunes lookup", async () => {
    answers()
    const all = await Promise.all(Array.from({ length: 20 }, () => ask()))
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200))
    expect(readKinds()).toEqual(["hints", "lookup", "search"])
    const lookUp = scene.stores.requests.find(({ url }) => url.pathname === "/lookup")!
    expect(lookUp.url.searchParams.get("id")!.split(",")).toEqual(LISTED.slice(0, 10).map(({ id }) => id))
    expect(await scene.creditsUsed()).toBe(200)
    await ask()
    expect([scene.stores.requests.length, await scene.creditsUsed()]).toEqual([3, 210])
    await until(async () => (await scene.sql`select from due where subject = 'tide table'`).length === 0)
  })

  slow("an untracked keyword has difficulty with parts, demand, related keywords and the first ten apps", async () => {
    answers()
    const { body } = await ask("?term=Tide%20Table&cc=GB")
    const updatedAt = new Date("2026-01-01T08:00:00Z")
    const slots = LISTED.map(({ name, ratings }) => ({ title: name, ratings, updatedAt }))
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
    const { parts: ownParts, difficulty } = body
    // the parts are rounded to two places, and the difficulty is computed before that
    const fromParts = 0.3 * ownParts.titles + 0.6 * ownParts.weakest + 0.1 * ownParts.freshness
    expect(Math.abs(fromParts - difficulty)).toBeLessThan(0.506)
    for (const at of [body.difficultyAt, body.demandAt, body.relatedAt])
      expect(Date.parse(at)).toBeGreaterThan(Date.now() - 60_000)
    expect(body.top.map(({ rank, id, inTitle }: Record<string, unknown>) => [rank, id, inTitle])).toEqual(
      LISTED.slice(0, 10).map(({ id }, i) => [i + 1, id, i === 2]),
    )
    expect(body.top[0]).toMatchObject({
      name: "Sea",
      publisher: "Maker of Sea",
      ratings: 100_000,
      ratingsSource: "itunes-lookup",
    })
  })

  slow("a keyword in no top-ten name is a loose match, and its match is null if a name is unknown", async () => {
    answers({ apps: someApps(12) })
    expect((await ask()).body.zayifEslesme).toBe(true)
    await scene.forget("searches")
    await record(scene.sql, [
      reading(
        "low tide",
        daysAgo(0),
        LISTED.slice(3, 12)
          .map(({ id }) => id)
          .concat("10099"),
        { source: "apple-web-search" },
      ),
    ])
    const ten = await readFirstTen(scene.sql, { platform: "ios", storefront: "us", term: "low tide" }, new Date())
    expect(ten?.apps.at(-1)?.name).toBeNull()
    expect((await ask("?term=low%20tide")).body.zayifEslesme).toBeNull()
  })

  slow("a keyword with few results is marked thin, and with fewer than five it has no difficulty", async () => {
    for (const [count, none] of [
      [7, false],
      [4, true],
      [0, true],
    ] as const) {
      await scene.forget("searches")
      answers({ apps: LISTED.slice(0, count) })
      const before = await scene.creditsUsed()
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
      expect(await scene.creditsUsed()).toBe(before + 10)
    }
  })

  slow("a keyword whose apps lack ratings is answered with a null difficulty at the full price", async () => {
    answers({ looked: LISTED.slice(0, 7) })
    const { status, body } = await ask()
    expect([status, body.difficulty, body.difficultyNone, body.parts, body.rated]).toEqual([200, null, false, null, 7])
    expect([body.top[8].ratings, await scene.creditsUsed()]).toEqual([null, 10])
  })

  slow("related keywords are empty without suggestions, and null if suggestions cannot be read", async () => {
    answers({ suggests: [] })
    expect((await ask("?term=other")).body.related).toEqual([])
    scene.stores.on("search.itunes.apple.com", "/", () => new Response("no", { status: 503 }))
    const { status, body } = await ask()
    expect([status, body.related, body.relatedAt, body.difficulty === null]).toEqual([200, null, null, false])
  })

  slow("a keyword whose results or apps cannot be read fails with measure_busy for free", async () => {
    answers()
    scene.stores.on("itunes.apple.com", "/lookup", () => new Response("no", { status: 503 }))
    const { status, body } = await ask()
    expect([status, body.error, await scene.creditsUsed()]).toEqual([503, "measure_busy", 0])
    for (const upstream of ["apps.apple.com", "itunes.apple.com"] as const)
      scene.stores.on(upstream, "/", () => new Response("no", { status: 503 }))
    expect((await ask("?term=other")).body.error).toBe("measure_busy")
  })

  test("on an instance that reads no store, a keyword fails with not_measured for 1 credit", async () => {
    const { status, body, credits } = await openService({ sql: scene.sql }).call("/v1/keyword-difficulty?term=tide", {
      key: scene.key,
    })
    expect([status, body.error, credits.used]).toEqual([404, "not_measured", 1])
    expect(body.detail).toContain("does not read")
  })
})

describe("a stored difficulty", () => {
  const ids = LISTED.slice(0, 10).map(({ id }) => id)
  const store = async (days: number) => {
    await record(scene.sql, [
      reading("tide table", daysAgo(days), ids),
      appsReading(
        daysAgo(days),
        LISTED.slice(0, 10).map(({ id, name, ratings }) => ({ id, name, ratings, updatedAt: new Date(daysAgo(90)) })),
      ),
      hintsReading("tide table", daysAgo(days), ["tide table app"]),
    ])
    const list = { platform: "ios", storefront: "us", term: "tide table" } as const
    await scene.sql.begin((tx) => deriveKeywordMetrics(tx, [list], new Date(daysAgo(days))))
  }

  slow("a stored difficulty, even an imported one, is returned for seven days without a request", async () => {
    await store(6)
    const { status, body } = await ask()
    expect([status, body.source, body.day, body.related]).toEqual([
      200,
      "import",
      daysAgo(6).slice(0, 10),
      ["tide table app"],
    ])
    expect([body.difficulty === null, scene.stores.requests.length]).toEqual([false, 0])
  })

  slow("a stored difficulty is read again after seven days", async () => {
    await store(8)
    answers()
    const { body } = await ask()
    expect([body.day, body.related]).toEqual([daysAgo(0).slice(0, 10), ["tide table", "tide tables usa"]])
    expect(readKinds()).toEqual(["hints", "lookup", "search"])
  })

  long("a stored difficulty is read by index, without rows of other keywords and apps", async () => {
    await record(
      scene.sql,
      Array.from({ length: 400 }, (_, i) => reading(`other ${i}`, daysAgo(i % 20), [String(20_000 + i)])),
    )
    for (const days of [25, 12, 6]) await store(days)
    await scene.sql`analyze`
    const works: Work[] = []
    const found = await readFirstTen(
      explainEach(scene.sql, works),
      { platform: "ios", storefront: "us", term: "tide table" },
      new Date(),
    )
    expect(found?.apps.length).toBe(10)
    // ten apps, each with a name and up to three counts
    expect(works.map(({ rows }) => rows < 200)).toEqual([true])
  })
})

slow("on the Free plan the tool answers only for tracked keywords, and a refused call is free", async () => {
  answers()
  const workspaceId = await scene.service.workspace({
    explorer: true,
    plan: "free",
    overrides: { liveKeys: 2, ratePerSecond: 1_000 },
  })
  const free = await scene.service.key(workspaceId)
  const app = { workspaceId, iosId: "10001", countries: ["us", "de"], keywords: [], origin: "own" }
  const appId = await trackOwn(scene.sql, app)
  await scene.sql`insert into tracked_term (app_id, country, term, position) values (${appId}, 'us', 'tide table', 1)`
  const tool = (term: string, cc: string) => scene.service.tool("get_keyword_difficulty", { term, cc }, { key: free })
  const firstAnswer = await tool(" Tide Table ", "US")
  expect([firstAnswer.isError, firstAnswer.body.term, firstAnswer.credits.used]).toEqual([false, "tide table", 10])
  for (const [term, cc] of [
    ["tide table", "de"],
    ["tides", "us"],
  ] as const) {
    const { isError, body, credits } = await tool(term, cc)
    expect([isError, body.error, credits.used]).toEqual([true, "plan_required", 10])
    expect(body.detail).toContain("tracked in that storefront")
  }
  // a key that may not see the app cannot find out which keywords it tracks
  const other = await trackOwn(scene.sql, { ...app, iosId: "10002" })
  const limited = await scene.service.key(workspaceId, { appList: [other as string] })
  const hidden = await scene.service.tool("get_keyword_difficulty", { term: "tide table" }, { key: limited })
  expect([hidden.isError, hidden.body.error]).toEqual([true, "plan_required"])
})
