import { afterEach, beforeEach, describe, expect, setDefaultTimeout } from "bun:test"
import type { Sql } from "../../../../src/database/types.ts"
import { deriveKeywordMetrics } from "../../../../src/keywords/store/keyword-metrics.ts"
import { addTerms } from "../../../../src/tracking/terms.ts"
import { freshDatabase } from "../../../database.ts"
import { beforeSlow, cases, slow } from "../../../long.ts"
import { appsReading, hintsReading, popularityReading, reading } from "../../../measuring/record/measured.ts"
import { answerSearches, type ShownApp, someApps } from "../../../measuring/store-pages.ts"
import { record } from "../../../record.ts"
import { openService } from "../../../service.ts"
import { slowness } from "../../../unit.ts"
import { forgetSearches } from "../../../world/market.ts"
import { type Live, live } from "../../../world/stores.ts"

setDefaultTimeout(60_000)

let sql: Sql
let scene: Live
let key: string

beforeSlow(async () => {
  sql = await freshDatabase()
})

beforeEach(async () => {
  scene = await live(sql, [])
  await forgetSearches(sql)
  key = await scene.service.key(await scene.service.workspace({ explorer: true, plan: "pro" }))
})

afterEach(() => scene[Symbol.asyncDispose]())

interface Row {
  term: string
  shared: { apps: number; of: number; relatedness: number } | null
  names: number | null
  suggested: boolean
  popularityState: string
  difficultyState: string
  [name: string]: unknown
}

const ask = (query = "", by = key) => scene.service.call(`/v1/hive/research?seed=tide%20table${query}`, { key: by })
const used = async () => (await scene.service.call("/v1/account", { key })).body.credits.used
const now = () => new Date().toISOString()
const webSearch = { source: "apple-web-search", depth: 200 } as const
const idsOf = (from: number, count = 20) => Array.from({ length: count }, (_, i) => String(20_001 + from + i))

const NAMES = ["Tides: Moon Phases", "Surf Forecast, Moon Phases", "Surf Forecast Pro"]
const LISTED: ShownApp[] = someApps(12, 20_001).map((app, i) => ({ ...app, name: NAMES[i] ?? app.name }))

const answers = (suggests: string[], apps = LISTED) => answerSearches(scene.stores, { apps, suggests })

const termsOf = (rows: Row[]) => rows.map(({ term }) => term)

describe("related keywords", () => {
  slow("related keywords are sorted by reason: shared apps, then words of names, then suggestions", async () => {
    answers(["tide table", "tide table usa"])
    await record(sql, [
      reading("far", now(), idsOf(11), webSearch),
      reading("close", now(), idsOf(0), { ...webSearch, origin: "a peer" }),
      reading("nothing shared", now(), idsOf(40), webSearch),
      reading("close", now(), idsOf(0), { ...webSearch, storefront: "gb" }),
    ])
    const { status, body } = await ask()
    const rows = body.keywords as Row[]
    expect(status).toBe(200)
    expect(termsOf(rows).slice(0, 1)).toEqual(["close"])
    expect(rows[0]!.shared).toEqual({ apps: 12, of: 12, relatedness: Math.round(1200 / Math.sqrt(12 * 20)) / 100 })
    expect(rows[0]).toMatchObject({
      names: null,
      suggested: false,
      appCount: 20,
      appCountAtLeast: false,
      origin: "a peer",
    })
    // one shared app of twelve gives a relatedness below the threshold
    expect(termsOf(rows)).not.toContain("far")
    expect(termsOf(rows)).not.toContain("nothing shared")
    expect(rows.find(({ term }) => term === "moon phases")).toMatchObject({
      names: 2,
      shared: null,
      top: null,
      origin: null,
    })
    expect(rows.find(({ term }) => term === "tide table usa")).toMatchObject({ suggested: true, shared: null })
    expect(termsOf(rows)).not.toContain("tide table")
    const kinds = rows.map(({ shared, names }) => (shared ? 0 : names ? 1 : 2))
    expect(kinds).toEqual(kinds.toSorted())
    expect(body.seed).toMatchObject({
      term: "tide table",
      popularityState: "measured",
      appCount: 12,
      brand: false,
      origin: "own",
    })
    expect(body.seed.top.map(({ id }: { id: string }) => id)).toEqual(LISTED.slice(0, 10).map(({ id }) => id))
    expect([body.related, await used()]).toEqual([["tide table", "tide table usa"], 50])
  })

  slow("research starts no reading of related keywords: their metrics are unmeasured or pending", async () => {
    answers(["tide table", "tide clock", "tide chart"])
    await scene.service.call(`/v1/apps/${scene.appId}`, { key: scene.key })
    await ask()
    const before = scene.stores.requests.length
    await sql.begin((tx) => addTerms(tx, scene.appId, ["us"], ["tide clock"]))
    // holds the lease, so that no worker claims it
    await sql`
      update due set lease_until = now() + interval '1 minute', lease = gen_random_uuid() where subject = 'tide clock'`
    const { body } = await ask()
    const stateOf = (term: string) => (body.keywords as Row[]).find((row) => row.term === term)
    expect(stateOf("tide clock")).toMatchObject({ popularityState: "pending", popularity: null })
    expect(stateOf("tide chart")).toMatchObject({ popularityState: "unmeasured", difficultyState: "unmeasured" })
    expect(scene.stores.requests.slice(before).filter(({ url }) => url.search.includes("chart"))).toEqual([])
  })

  slow("a related keyword is absent if its results are empty, and failed if its source is blocked", async () => {
    answers(["tide table", "absent", "broken"])
    await record(sql, [reading("absent", now(), [], webSearch), hintsReading("absent", now(), [])])
    const list = { platform: "ios", storefront: "us", term: "absent" } as const
    await sql.begin((tx) => deriveKeywordMetrics(tx, [list], new Date()))
    await sql`
      insert into due (kind, platform, storefront, subject, priority, next_at, failures, failed_at, failure)
      select kind, 'ios', 'us', 'broken', 3, now() + interval '1 hour', 2, now(), 'blocked'
      from unnest(array['search', 'hints', 'difficulty']) kind`
    const rows = (await ask()).body.keywords as Row[]
    const of = (term: string) => rows.find((row) => row.term === term)
    expect(of("absent")).toMatchObject({ popularityState: "absent", difficultyState: "absent", appCount: 0, top: [] })
    expect(of("broken")).toMatchObject({ popularityState: "failed", difficultyState: "failed", appCount: null })
  })

  slow("related keywords are compared with other storefronts, and an unmeasured metric there is null", async () => {
    answers(["tide table", "tide clock"])
    await record(sql, [popularityReading("tide clock", "2025-09-01", 44, { storefront: "gb" })])
    const { body } = await ask("&compare=gb,de")
    const { compare } = (body.keywords as Row[]).find(({ term }) => term === "tide clock") as Row & { compare: Row[] }
    expect(
      compare.map(({ country, popularity, popularityState, appCount }) => [
        country,
        popularity,
        popularityState,
        appCount,
      ]),
    ).toEqual([
      ["gb", 44, "measured", null],
      ["de", null, "unmeasured", null],
    ])
    const wrong = await ask("&compare=gb,de,fr,it,es,jp")
    expect([wrong.status, wrong.body.error]).toEqual([400, "bad_country"])
  })
})

slow("a seed without suggestions gets a spelling correction", async () => {
  answers([])
  await record(sql, [
    popularityReading("tide tables", "2025-09-01", 60),
    popularityReading("tight cable", "2025-09-01", 90),
  ])
  expect((await ask()).body.spell).toEqual({ term: "tide tables", source: "keywords", popularity: 60 })
  await forgetSearches(sql)
  answers(["tide tables"])
  expect((await ask()).body.spell).toBeNull()
})

slow("a seed that is exactly an app's name is a brand", async () => {
  answers(["tide table"], [{ ...LISTED[0]!, name: "Tide Table - Sea & Sun" }, ...LISTED.slice(1)])
  expect((await ask()).body.seed.brand).toBeTrue()
})

slow("concurrent callers of one seed share one search, one iTunes lookup and one suggestion call", async () => {
  // a call that waits ten seconds for the database is refused, so slow machines use fewer callers
  const callers = Math.ceil(cases(20, 200) / (await slowness()))
  answers(["something else"])
  const key = await scene.service.key(
    await scene.service.workspace({
      explorer: true,
      plan: "pro",
      overrides: { ratePerSecond: 100_000, credits: 100_000 },
    }),
  )
  const all = await Promise.all(Array.from({ length: callers }, () => ask("", key)))
  expect(all.filter(({ status }) => status !== 200)).toEqual([])
  expect(scene.stores.requests.map(({ url }) => url.pathname.split("/").at(-1)).sort()).toEqual([
    "hints",
    "lookup",
    "search",
  ])
})

slow("a seed without readings fails with not_measured for 1 credit, and Explorer is required", async () => {
  const { status, body } = await openService({ sql }).call("/v1/hive/research?seed=tide%20table", { key })
  expect([status, body.error, await used()]).toEqual([404, "not_measured", 1])
  const pack = await scene.service.key(await scene.service.workspace({ plan: "pro", pack: 1_000 }))
  expect((await ask("", pack)).body.error).toBe("explorer_required")
})

slow("an app that is stored only with its ratings and name is listed with this name", async () => {
  answers(["tide table"])
  await record(sql, [appsReading(now(), [{ id: "20001", name: "Tides: Moon Phases", ratings: 5 }])])
  expect((await ask()).body.seed.top[0]).toEqual({ id: "20001", name: "Tides: Moon Phases" })
})
