import { afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { readOwn } from "../../../src/keywords/read/own-reading.ts"
import { explainEach, type Work } from "../../core/explained.ts"
import { answersLookUps, type LiveStores, liveStores } from "../../core/live.ts"
import { freshDatabase } from "../../database.ts"
import { cases, long, slow } from "../../long.ts"
import { reading } from "../../measuring/record/measured.ts"
import { lookupAnswer, searchPage, someApps } from "../../measuring/store-pages.ts"
import { record } from "../../record.ts"
import { fixture } from "../../stores/parsing/parsed.ts"
import { forgetSearches } from "../../world/market.ts"

setDefaultTimeout(60_000)

/** The store's results for any term: twenty apps, the first of them 1000000000. */
const APPS = someApps(20)
const CALLERS = cases(20, 200)
const OTHER = "1437843273"
let sql: Sql
let scene: LiveStores
let key: string

beforeAll(async () => {
  sql = await freshDatabase()
})

beforeEach(async () => {
  scene = await liveStores(sql)
  await forgetSearches(sql)
  key = await scene.service.key(await scene.service.workspace({ explorer: true, plan: "pro" }))
})

afterEach(() => scene[Symbol.asyncDispose]())

const ask = (app: string, query = "") =>
  scene.service.call(`/v1/rank-check?app=${encodeURIComponent(app)}&term=Tide%20Table${query}`, { key })
const used = async () => (await scene.service.call("/v1/account", { key })).body.credits.used
const requestCount = (path: string) => scene.stores.requests.filter(({ url }) => url.pathname.includes(path)).length
const answers = (holdMs = 0) =>
  scene.stores.on("apps.apple.com", "/", async ({ url }) => {
    if (holdMs > 0) await Bun.sleep(holdMs)
    return searchPage(url.pathname.slice(1, 3), url.searchParams.get("term") as string, APPS)
  })
const ids = (places: { rank: number; id: string }[]) => places.map(({ rank, id }) => [rank, id])
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

slow(`${CALLERS} concurrent callers for an untracked term share one request and get its rank`, async () => {
  answers(200)
  const workspaces = await Promise.all(
    Array.from({ length: 4 }, async () =>
      scene.service.key(await scene.service.workspace({ explorer: true, plan: "pro" })),
    ),
  )
  const all = await Promise.all(
    Array.from({ length: CALLERS }, (_, i) =>
      scene.service.call(`/v1/rank-check?app=${APPS[i % 20]!.id}&term=tide table`, { key: workspaces[i % 4]! }),
    ),
  )
  expect(all.map(({ status }) => status)).toEqual(all.map(() => 200))
  expect(all.map(({ body }) => [body.state, body.rank])).toEqual(all.map((_, i) => ["ranked", (i % 20) + 1]))
  expect([requestCount("/search"), requestCount("/lookup")]).toEqual([1, 0])
  const { body } = all[6]!
  expect(body).toMatchObject({
    app: { id: "1000000006", name: "App 1000000006", publisher: "Maker of App 1000000006" },
    term: "tide table",
    country: "us",
    platform: "ios",
    top: null,
    depth: 20,
    source: "apple-web-search",
    origin: "own",
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(ids(body.above)).toEqual([2, 3, 4, 5, 6].map((rank) => [rank, APPS[rank - 1]!.id]))
  expect(body.above[0].name).toBe("App 1000000001")
  expect(all[0]!.body.above).toEqual([])
})

slow("a reading of this instance is fresh for an hour, and an imported reading is never fresh", async () => {
  answers()
  const webSearch = { source: "apple-web-search" } as const
  await record(sql, [reading("tide table", minutesAgo(50), ["10002", "10001"], webSearch)])
  const cached = (await ask("10001")).body
  expect([cached.rank, ids(cached.above), requestCount("/search")]).toEqual([2, [[1, "10002"]], 0])
  await forgetSearches(sql)
  await record(sql, [
    reading("tide table", minutesAgo(70), ["10001"], webSearch),
    reading("tide table", minutesAgo(1), ["10001"]),
    reading("tide table", minutesAgo(1), ["10001"], { source: "foreign", origin: "elsewhere" }),
    reading("tide table", minutesAgo(1), ["10001"], { ...webSearch, origin: "elsewhere" }),
  ])
  const read = (await ask(APPS[0]!.id)).body
  expect([read.rank, read.source, requestCount("/search")]).toEqual([1, "apple-web-search", 1])
})

slow("an app that is sold but missing in the results has the state absent, at the full price", async () => {
  answers()
  answersLookUps(scene.stores, { [OTHER]: { trackName: "Elsewhere" } })
  const { status, body } = await ask(OTHER)
  expect([status, body.state, body.rank, body.above, body.depth]).toEqual([200, "absent", null, null, 20])
  expect(body.app).toMatchObject({ id: OTHER, name: "Elsewhere", publisher: "Maker" })
  expect(ids(body.top)).toEqual(APPS.slice(0, 10).map(({ id }, i) => [i + 1, id]))
  expect([await used(), requestCount("/lookup")]).toEqual([10, 1])
  await ask(OTHER)
  expect([await used(), requestCount("/search"), requestCount("/lookup")]).toEqual([20, 1, 1])
})

slow("an app that the iTunes lookup does not find has the state not_in_store, at the full price", async () => {
  answers()
  scene.stores.on("itunes.apple.com", "/lookup", () => lookupAnswer([]))
  const { status, body } = await ask(OTHER, "&cc=GB")
  expect([status, body.state, body.rank, body.country]).toEqual([200, "not_in_store", null, "gb"])
  expect([body.app.id, body.top.length, await used()]).toEqual([OTHER, 10, 10])
})

slow("a call for an app of unknown availability fails with measure_busy and costs nothing", async () => {
  answers()
  scene.stores.on("itunes.apple.com", "/lookup", () => new Response("no", { status: 503 }))
  const { status, body } = await ask(OTHER)
  expect([status, body.error, await used()]).toEqual([503, "measure_busy", 0])
})

test("a call that the store refuses fails with measure_busy for free, despite an older reading", async () => {
  await record(sql, [reading("tide table", minutesAgo(70), ["10001"], { source: "apple-web-search" })])
  for (const upstream of ["apps.apple.com", "itunes.apple.com"] as const)
    scene.stores.on(upstream, "/", () => new Response("no", { status: 503 }))
  const { status, body, headers } = await ask("10001")
  expect([status, body.error, await used()]).toEqual([503, "measure_busy", 0])
  expect(body.detail).toMatch(/^apps\.apple\.com has .*(since \d{4}-\d\d-\d\d \d\d:\d\d UTC|so far)\. It is retried/)
  expect(body.message).not.toContain("try again")
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0)
})

test("Google Play in an unsupported country fails with not_measured for 1 credit, without a request", async () => {
  const { status, body } = await ask("com.example.tides", "&cc=de")
  expect([status, body.error, await used(), scene.stores.requests.length]).toEqual([404, "not_measured", 1, 0])
})

slow("a Google Play app is checked on Google Play, by its package name or its link", async () => {
  scene.stores.on("play.google.com", "/store/search", () => html(fixture("play-search-panda.html")))
  const query = (app: string) => scene.service.call(`/v1/rank-check?app=${encodeURIComponent(app)}&term=panda`, { key })
  const link = (id: string) => `https://play.google.com/store/apps/details?id=${id}&hl=en`
  const first = await query("com.example.unknown")
  const candidates = await sql<{ id: string }[]>`
    select s.store_id as id
    from search_results r
    cross join lateral unnest(r.app_ids) with ordinality u (app_id, place)
    join store_app s on s.id = u.app_id
    order by u.place`
  // Google Play answers with 404 for an app that is not available
  expect([first.body.state, candidates.length > 3]).toEqual(["not_in_store", true])
  const { body } = await query(link(candidates[1]!.id))
  expect(body).toMatchObject({
    app: { id: candidates[1]!.id },
    platform: "android",
    state: "ranked",
    rank: 2,
    egress: "us",
  })
})

test("the id in a link is used; an invalid link fails with bad_app_id", async () => {
  answers()
  const link = `https://apps.apple.com/de/app/app-name/id${APPS[2]!.id}?l=en`
  for (const app of [link, ` ${APPS[2]!.id} `, `id${APPS[2]!.id}`]) {
    const { body } = await ask(app, "&platform=ios")
    expect([app, body.app.id, body.country, body.rank]).toEqual([app, APPS[2]!.id, "us", 3])
  }
  for (const app of ["https://example.com/app/id1437843273", "12", "a word", ""])
    expect((await ask(app)).body).toMatchObject({ error: "bad_app_id", field: "app" })
  const developer = await ask("https://apps.apple.com/us/developer/example-inc/id310634000")
  expect(developer.body).toMatchObject({ error: "bad_app_id", field: "app" })
  expect(developer.body.detail).toContain("leads to a developer, not to an app")
  const before = await used()
  for (const [app, platform] of [
    [OTHER, "android"],
    ["com.example.tides", "ios"],
  ] as const) {
    const { status, body } = await ask(app, `&platform=${platform}`)
    expect([status, body.error, body.field]).toEqual([400, "invalid_arguments", "platform"])
  }
  expect(await used()).toBe(before)
})

long("a rank is read by index, without rows of other terms or of other days", async () => {
  const terms = Array.from({ length: 300 }, (_, i) => `other ${i}`)
  const webSearch = { source: "apple-web-search" } as const
  await record(
    sql,
    terms.map((term) => reading(term, minutesAgo(2), ["10001"], webSearch)),
  )
  await record(
    sql,
    Array.from({ length: 25 }, (_, day) => reading("tide table", minutesAgo(1 + day * 1_440), ["10001"], webSearch)),
  )
  await sql`analyze`
  const works: Work[] = []
  const list = { platform: "ios", storefront: "us", term: "tide table" } as const
  expect(await readOwn(explainEach(sql, works), list, new Date(Date.now() - 3_600_000))).toMatchObject({ depth: 1 })
  expect(works.map(({ rows }) => rows < 12)).toEqual([true])
})

const html = (body: string) => new Response(body, { headers: { "content-type": "text/html; charset=utf-8" } })
