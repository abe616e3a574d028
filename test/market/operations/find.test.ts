import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { deriveMarketFigures } from "../../../src/charts/store/market-apps.ts"
import type { Sql } from "../../../src/database/types.ts"
import { hiveFindApps } from "../../../src/market/operations/find.ts"
import { deriveAppTexts } from "../../../src/stores/store/app-texts.ts"
import { freshDatabase } from "../../database.ts"
import { cases, LONG, slow } from "../../long.ts"
import { charted } from "../../measuring/record/charted.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { answerTo, type PlainFigures, type Question } from "./find-script.ts"
import { ALL, isAllHere, observed, type Reading, readingsOf, SOME } from "./market-rows.ts"

setDefaultTimeout(120_000)

const TODAY = "2025-08-31"
const NOW = new Date(`${TODAY}T12:00:00Z`)
const QUESTIONS = Number(process.env.QUESTIONS ?? cases(25, 200))

let sql: Sql
let service: Service
let workspace: number
let key: string

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql, now: () => NOW })
})

beforeEach(async () => {
  workspace = await service.workspace({
    explorer: true,
    plan: "enterprise",
    overrides: { credits: 1e9, ratePerSecond: 1e6 },
  })
  key = await service.key(workspace)
})

const ask = async (question: Question | string) => {
  const rest = Object.entries(question as object).map(([name, value]) => [name, String(value)])
  const query = typeof question === "string" ? question : String(new URLSearchParams(rest))
  return await service.call(`/v1/hive/find?${query}`, { key })
}
const used = async () => (await service.call("/v1/account", { key })).body.credits.used
// biome-ignore lint/suspicious/noExplicitAny: an answer
const idsOf = (body: any): string[] => body.apps.map(({ id }: { id: string }) => id)

async function forget(): Promise<void> {
  for (const table of [
    "market_app",
    "chart_now",
    "app_first_seen",
    "chart_first_seen",
    "chart_place",
    "chart_results",
    "chart",
    "genre",
  ])
    await sql`delete from ${sql(table)}`
}

/**
 * Stores figures for two apps in three, with gaps: a value, only an upper bound, or nothing. Whole numbers, as
 * displayed.
 */
async function estimateSome(ids: readonly string[], any: (below: number) => number) {
  const amount = () =>
    [null, { value: 1 + any(10 ** (2 + any(5))) }, { value: 1 + any(5_000) }, { under: 10 ** (2 + any(4)) }][any(4)]!
  const some = ids.filter(() => any(3) > 0)
  const figures = new Map<string, PlainFigures>(
    some.map((id) => [
      id,
      { downloads: amount(), revenue: amount(), growth: any(2) ? { value: any(100) - 50 } : null },
    ]),
  )
  const columns = (name: string, figure: { value: number } | { under: number } | null) =>
    figure === null ? {} : "under" in figure ? { [`${name}_under`]: figure.under } : { [name]: figure.value }
  const rows = [...figures].map(([id, { downloads, revenue, growth }]) => {
    return { id, ...columns("downloads", downloads), ...columns("revenue", revenue), growth: growth?.value ?? null }
  })
  await sql`
    insert into app_estimate (app_id, version, made_at, formula, markets, basis, downloads, downloads_low,
      downloads_high,
      downloads_under, revenue, revenue_low, revenue_high, revenue_under, growth, growth_low, growth_high)
    select s.id, row_number() over (order by s.id), now(), 1, 1, 'prior', r.downloads, r.downloads / 4, r.downloads * 4,
      r.downloads_under, r.revenue, r.revenue / 6, r.revenue * 6, r.revenue_under, r.growth, r.growth - 9, r.growth + 9
    from jsonb_to_recordset(${sql.json(rows)}) r (id text, downloads float8, downloads_under float8, revenue float8,
      revenue_under float8, growth float8)
    join store_app s on s.platform = 'ios' and s.store_id = r.id`
  await sql.begin(
    async (tx) =>
      await deriveMarketFigures(
        tx,
        (await tx`select app_id from app_estimate`).map(({ app_id }) => app_id),
      ),
  )
  return figures
}

/** Returns the format of the reference script. Null and undefined stay distinct. */
// biome-ignore lint/suspicious/noExplicitAny: of an answer
function plain(estimates: any): unknown {
  if (!estimates) return estimates ?? null
  const figure = (of: { value?: number | null; under?: number | null } | null) =>
    of && (of.value == null ? { under: of.under } : { value: of.value })
  const { downloads, revenue, growth } = estimates
  if (!downloads && !revenue && growth === null) return null
  const amount = typeof growth === "number" ? { value: growth } : growth
  return { downloads: downloads && figure(downloads), revenue: revenue && figure(revenue), growth: amount }
}

describe("real charts", () => {
  let readings: Reading[]

  beforeAll(async () => {
    await forget()
    const days = ["2025-02-27", "2025-06-30", "2025-08-11", TODAY] as const
    readings = readingsOf(LONG && isAllHere ? ALL : SOME, days, cases(60, 100))
    // uses five of ten storefronts, because recording them takes three quarters of this file's time
    const tried = [...new Set(["us", "gb", ...readings.map(({ country }) => country)])].slice(0, 5)
    readings = readings.filter(({ country }) => tried.includes(country))
    const all = readings.map(observed)
    for (let i = 0; i < all.length; i += 100) {
      const { refused } = await record(sql, all.slice(i, i + 100), () => NOW)
      expect(refused).toEqual([])
    }
  })

  slow(`${QUESTIONS} queries with random filters return the same rows as an independent script`, async () => {
    const any = randomFrom(20_251_101)
    const pick = <T>(of: readonly T[]): T => of[any(of.length)]!
    const some = (of: readonly string[], most: number) => [
      ...new Set(Array.from({ length: 1 + any(most) }, () => pick(of))),
    ]
    const countries = [...new Set(readings.map(({ country }) => country)), "de"]
    const genres = [...new Set(readings.map(({ genre }) => genre))]
    const apps = [...new Map(readings.flatMap((list) => list.apps).map((app) => [app.id, app])).values()]
    const wordIn = (text: string) => text.toLowerCase().match(/[a-z]{3,}/)?.[0] ?? "app"
    const textOf = () => {
      const app = pick(apps)
      return pick([
        wordIn(app.name),
        wordIn(app.developer),
        `${wordIn(app.developer)} ${wordIn(app.name)}`,
        "the",
        "pro",
      ])
    }
    const makers: Record<string, () => Partial<Question>> = {
      genre: () => ({ genre: some(genres, 3) }),
      country: () => ({ country: some(countries, 5) }),
      kind: () => ({ kind: pick(["free", "paid", "grossing", "ipad"] as const) }),
      released: () => ({ released: pick([1, 2, 3, 6, 7, 24]) }),
      rankMin: () => ({ rankMin: 1 + any(40) }),
      rankMax: () => ({ rankMax: 40 + any(80) }),
      figure: () =>
        pick([
          { revenueMin: 10 ** any(6) },
          { revenueMax: 10 ** any(6), downloadsMin: 10 ** any(4) },
          { downloadsMax: 1_000 * any(9) },
          { downloadsMin: 500 * any(3), downloadsMax: 1_000 + 10 ** any(6) },
          { growthMin: any(60) - 30 },
          { growthMax: any(60) - 30, revenueMin: 50 },
        ]),
      text: () => ({ text: textOf() }),
      publisher: () => ({ publisher: pick(apps).developerId }),
    }
    const figures = await estimateSome(
      apps.map(({ id }) => id),
      any,
    )
    let rowCount = 0
    const counted = { unknown: 0, noEstimate: 0, text: 0, byFigure: 0, withFigure: 0 }
    for (let questionCount = 0; questionCount < QUESTIONS; ) {
      const names = Object.keys(makers).filter((name) => any(name === "text" || name === "publisher" ? 5 : 3) === 0)
      if (names.length === 0) continue
      const question: Question = Object.assign({}, ...names.map((name) => makers[name]!()))
      if (Object.keys(question).join() === "country" && question.country!.join() === "us") continue
      questionCount++
      if (any(2)) question.limit = pick([1, 7, 50, 200])
      if (any(3) === 0) question.page = 1 + any(4)
      if (any(3) === 0) question.estimates = true
      const { body, status } = await ask(question)
      const expected = answerTo(readings, question, TODAY, figures)
      const isByFigure = Object.keys(question).some((name) => /^(revenue|downloads|growth)M/.test(name))
      for (const { id, estimates } of body.apps) {
        const of = isByFigure || question.estimates ? plain(figures.get(id)) : null
        expect([question, id, plain(estimates)]).toEqual([question, id, of])
        if (of) counted.withFigure++
      }
      if (isByFigure) counted.byFigure += body.apps.length
      // biome-ignore lint/suspicious/noExplicitAny: a row of an answer
      const rows = body.apps.map((row: any) =>
        [row.id, row.name, row.rank, row.country, row.device, row.kind, row.genre, row.day, row.firstSeen].join(" "),
      )
      expect([question, status, rows]).toEqual([question, 200, expected.apps])
      const { firstSeenUnknown } = body.coverage
      expect([question, body.total, body.noEstimate, firstSeenUnknown]).toEqual([
        question,
        expected.total,
        expected.noEstimate,
        expected.firstSeenUnknown,
      ])
      rowCount += rows.length
      counted.unknown += firstSeenUnknown
      counted.noEstimate += body.noEstimate
      if (question.text && rows.length > 0) counted.text++
    }
    expect(rowCount).toBeGreaterThan(6 * QUESTIONS)
    for (const [what, count] of Object.entries(counted)) expect([what, count > QUESTIONS / 50]).toEqual([what, true])
  })

  slow("a frequent text and a rare text both find the matching apps on the charts", async () => {
    await sql`
      insert into store_app (platform, store_id)
      select 'ios', (300000000 + n)::text
      from generate_series(1, 10010) n`
    await sql`
      insert into app_text (app_id, formula, folded, grams)
      select s.id, t.formula, t.folded, t.grams
      from store_app s
      cross join (select * from app_text where folded like '%pro%' order by length(folded), app_id limit 1) t
      where s.store_id like '3000%' and length(s.store_id) = 9
      on conflict do nothing`
    const question = { text: "pro", country: ["us", "gb"], limit: 200 }
    expect(idsOf((await ask(question)).body)).toEqual(
      answerTo(readings, question, TODAY).apps.map((row) => row.split(" ")[0]!),
    )
  })

  slow("twenty pages have every app once; while charts are recorded, pages of one state repeat no app", async () => {
    const ids: string[] = []
    const still = await ask("country=us,gb&kind=free&limit=20")
    for (let page = 1; page <= 20; page++)
      ids.push(...idsOf((await ask(`country=us,gb&kind=free&limit=20&page=${page}`)).body))
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBe(Math.min(400, still.body.total))
    const byState = new Map<string, string[]>()
    const list = readings.findLast(
      ({ country, kind, device, genre }) =>
        country === "us" && kind === "free" && device === "iphone" && genre !== "36",
    )!
    for (let page = 1; page <= 20; page++) {
      const { body } = await ask(`country=us,gb&kind=free&limit=20&page=${page}`)
      byState.set(body.state, [...(byState.get(body.state) ?? []), ...idsOf(body)])
      if (page % 4 !== 0) continue
      const moved = [...list.apps.slice(page), ...list.apps.slice(0, page)]
      const { refused } = await record(
        sql,
        [{ ...observed({ ...list, apps: moved }), seenAt: new Date(`${TODAY}T07:${10 + page}:00Z`) }],
        () => NOW,
      )
      expect(refused).toEqual([])
    }
    expect(byState.size).toBe(5)
    for (const [state, stateIds] of byState) expect([state, new Set(stateIds).size]).toEqual([state, stateIds.length])
  })
})

describe("queries of the finder", () => {
  beforeAll(async () => {
    await forget()
    await sql`delete from app_text`
    const apps = ["10005", "10003", "10004"].map((id) => ({
      id,
      name: `Tea ${id}`,
      developer: "Tea Co",
      developerId: "77",
    }))
    await record(sql, [charted("2025-08-30T06:00:00Z", [], { apps, depth: 3, source: "apple-charts" })], () => NOW)
    await sql`
      insert into genre (platform, storefront, genre, name, parent, place, seen_at, source, origin, sha256, parser)
        values ('ios', 'us', '6015', 'Finance', '36', 1, now(), 'apple-genres', 'own', '', 1)`
  })

  test("an answer has the day of each chart, the coverage and the number of unknown apps", async () => {
    await sql`
      insert into market_storefront (storefront, genres, since) values ('us', '{36}', '2025-08-29')
        on conflict do nothing`
    const { body } = await ask("country=us,de&rankMax=2&estimates=true")
    expect(body).toMatchObject({ countries: ["us", "de"], kind: null, genres: null, page: 1, total: 2, noEstimate: 0 })
    expect(body.coverage).toEqual({
      storefronts: [
        { country: "de", lists: 0, oldestDay: null, newestDay: null, genres: 0, missing: null, followedSince: null },
        {
          country: "us",
          lists: 1,
          oldestDay: "2025-08-30",
          newestDay: "2025-08-30",
          genres: 1,
          // the chart of all apps is followed and was never read
          missing: 4,
          followedSince: "2025-08-29",
        },
      ],
      firstSeenUnknown: 0,
    })
    expect(body.apps).toEqual([
      {
        id: "10005",
        name: "Tea 10005",
        publisher: "Tea Co",
        publisherId: "77",
        rank: 1,
        country: "us",
        device: "iphone",
        kind: "free",
        genre: "6015",
        day: "2025-08-30",
        measuredAt: "2025-08-30T06:00:00.000Z",
        ageDays: 1,
        source: "apple-charts",
        origin: "own",
        firstSeen: null,
        estimates: null,
      },
      expect.objectContaining({ id: "10003", rank: 2 }),
    ])
    await sql`update market_storefront set genres = '{6015,6016}'`
    for (const [question, missing] of [
      ["rankMax=2", 7],
      ["genre=6015", 3],
      ["genre=6015&kind=free", 0],
      ["kind=ipad", 2],
    ] as const)
      expect([question, (await ask(question)).body.coverage.storefronts[0].missing]).toEqual([question, missing])
    await sql`delete from market_storefront`
  })

  test("newly recorded charts and names are in the next call, without a notification", async () => {
    const recordChart = (hour: number, ids: string[], name: string) =>
      record(
        sql,
        [
          charted(`2025-08-30T0${hour}:00:00Z`, [], {
            apps: ids.map((id) => ({ id, name: `${name} ${id}` })),
            depth: 3,
            source: "apple-charts",
          }),
        ],
        () => NOW,
      )
    const foundNames = async () => (await ask("rankMax=2")).body.apps.map(({ name }: { name: string }) => name)
    expect(await foundNames()).toEqual(["Tea 10005", "Tea 10003"])
    await recordChart(7, ["10004", "10003", "10005"], "Green")
    expect(await foundNames()).toEqual(["Green 10004", "Green 10003"])
    await recordChart(8, ["10005", "10003", "10004"], "Tea")
    expect(await foundNames()).toEqual(["Tea 10005", "Tea 10003"])
  })

  slow("a repeated text search uses the current names after names are added, changed or removed", async () => {
    const called = (hour: string, names: Record<string, string>) => {
      const apps = Object.entries(names).map(([id, name]) => ({ id, name }))
      return record(
        sql,
        [charted(`2025-08-30T${hour}:00:00Z`, [], { apps, depth: 3, source: "apple-charts" })],
        () => NOW,
      )
    }
    const found = async (text: string) => idsOf((await ask({ text })).body).toSorted()
    const texts = ["mint", "tea", "mi tea", "mi"]
    const all = async () => Object.fromEntries(await Promise.all(texts.map(async (text) => [text, await found(text)])))
    await called("09", { "10003": "Tea", "10004": "Mint tea", "10005": "Cocoa" })
    const [three, of] = [["10003", "10004", "10005"], ["10004"]]
    // all three match by their publisher, Tea Co
    expect(await all()).toEqual({ mint: of, tea: three, "mi tea": of, mi: of })
    await called("10", { "10003": "Tea", "10004": "Tea", "10005": "Mint" })
    expect(await all()).toEqual({ mint: ["10005"], tea: three, "mi tea": ["10005"], mi: ["10005"] })
    const [{ id }] = await sql<[{ id: number }]>`select id from store_app where store_id = '10005'`
    await sql`delete from store_app_name where app_id = ${id}`
    await sql.begin(async (tx) => await deriveAppTexts(tx, [id]))
    expect(await all()).toEqual({ mint: [], tea: three, "mi tea": [], mi: [] })
    await called("11", { "10005": "Tea 10005", "10003": "Tea 10003", "10004": "Tea 10004" })
  })

  test("a call costs 20 credits with rows and 1 credit without rows, and a refused call is free", async () => {
    const cost = async (query: string) => {
      const before = await used()
      const { status } = await ask(query)
      return [status, (await used()) - before]
    }
    expect(await cost("rankMax=3")).toEqual([200, 20])
    expect(await cost("rankMax=3&estimates=true")).toEqual([200, 20])
    for (const empty of ["publisher=1", "text=coffee", "country=fr", "released=3", "revenueMin=1", "rankMax=3&page=2"])
      expect([empty, ...(await cost(empty))]).toEqual([empty, 200, 1])
    expect(await cost("country=us")).toEqual([400, 0])
    expect((await ask("revenueMin=1&growthMax=5")).body).toMatchObject({ noEstimate: 3, total: 0, apps: [] })
    expect((await ask("released=3")).body.coverage.firstSeenUnknown).toBe(3)
  })

  test("a row with an estimate costs 50 more credits, and a row without an estimate adds no cost", () => {
    const { price } = hiveFindApps as unknown as {
      price: { atMost: number; of(input: object, answer: object): number }
    }
    const figure = { value: 5, low: 2, high: 9, under: null }
    const upperBound = { value: null, low: null, high: null, under: 1_000 }
    const none = { value: null, low: null, high: null, under: null }
    const rows = [
      { downloads: figure, revenue: null, growth: null },
      { downloads: null, revenue: upperBound, growth: null },
      { downloads: none, revenue: null, growth: 3 },
      null,
      undefined,
    ]
    expect(price.of({}, { apps: rows.map((estimates) => ({ estimates })) })).toBe(20 + 3 * 50)
    expect(price.atMost).toBe(20 + 200 * 50)
  })

  test("a call whose rows cost more than the remaining credits is refused and costs nothing", async () => {
    await ask("rankMax=3")
    await sql`update account set quota = 39 where workspace_id = ${workspace}`
    const before = await used()
    const { status, body } = await ask("rankMax=3")
    expect([status, body.error, body.apps, await used()]).toEqual([402, "credits_exhausted", undefined, before])
  })

  test.each([
    ["", "no_filters", undefined],
    ["country=us&estimates=true&limit=5&page=2", "no_filters", undefined],
    ["rankMin=5&rankMax=4", "bad_filter", "rankMin"],
    ["revenueMin=5&revenueMax=4", "bad_filter", "revenueMin"],
    ["growthMin=5&growthMax=-4", "bad_filter", "growthMin"],
    ["released=0", "bad_filter", "released"],
    ["rankMax=x", "bad_filter", "rankMax"],
    ["text=!!!", "bad_filter", "text"],
    ["publisher=", "bad_filter", "publisher"],
    ["genre=1,2,3,4", "bad_genre", "genre"],
    ["genre=tea", "bad_genre", "genre"],
    ["genre=6014", "bad_genre", "genre"],
    ["country=us,de,fr,gb,jp,es", "bad_country", "country"],
    ["country=us,zz", "bad_country", "country"],
    ["kind=best", "bad_kind", "kind"],
    ["rankMax=5&limit=201", "invalid_arguments", "limit"],
    ["rankMax=5&limit=200&page=51", "invalid_arguments", "page"],
  ])("the query %j fails with %s at the field %s", async (query, code, field) => {
    const { body } = await ask(query)
    expect([body.error, body.field]).toEqual([code, field])
    if (code === "no_filters") expect(body.filters).toContain("released")
  })

  test("a genre is accepted if it is known in at least one of the storefronts", async () => {
    for (const query of ["genre=6015", "genre=36", "genre=6014&country=us,de"])
      expect([query, (await ask(query)).status]).toEqual([query, 200])
  })

  test("the fiftieth page of 200 rows can be requested", async () => {
    expect((await ask("rankMax=5&limit=200&page=50")).status).toBe(200)
  })
})

/** Returns pseudo-random numbers below a bound, the same ones for the same seed. */
function randomFrom(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
