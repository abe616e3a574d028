import { describe, expect, test } from "bun:test"
import { catalog } from "../../src/catalog.ts"
import { checkInput } from "../../src/core/check-input.ts"
import type { Operation } from "../../src/core/operation.ts"
import { readTree } from "../../src/database/assets.ts"
import { prepareSandbox } from "../../src/http/sandbox.ts"
import { Fault } from "../../src/lib/faults.ts"
import type { PreparedAnswer } from "../../src/lib/prepared.ts"
import { catalogWithSamples, fixturesWithSamples } from "../samples.ts"

const publicUrl = "https://meter.test"
const fixtures = readTree("fixtures/sandbox", ".json")
const sandbox = prepareSandbox(catalogWithSamples, fixturesWithSamples(), publicUrl)

describe("a wrong fixture stops the start, and the error names the file and the field", () => {
  const broken: [string, string, string | undefined, string][] = [
    ["a missing file", "whoami", undefined, "fixtures/sandbox/whoami.json is missing"],
    ["a file that is not JSON", "whoami", '{"input":', "fixtures/sandbox/whoami.json is not JSON"],
    [
      "a fixture without input",
      "whoami",
      '{"answer":{}}',
      'fixtures/sandbox/whoami.json must hold {"input": {…}, "answer": {…}}',
    ],
    [
      "an answer that is a list",
      "whoami",
      '{"input":{},"answer":[]}',
      'whoami.json must hold {"input": {…}, "answer": {…}}',
    ],
    [
      "a refused argument in the input",
      "hive_sample",
      JSON.stringify({ input: { term: "" }, answer: {} }),
      "input.term: bad_term",
    ],
    [
      "an unknown argument in the input",
      "hive_sample",
      JSON.stringify({ input: { term: "a", x: 1 }, answer: {} }),
      "input.x: invalid_arguments",
    ],
    [
      "an answer with a value of a wrong type",
      "hive_sample",
      JSON.stringify({ input: { term: "tea" }, answer: { rows: ["a", 1] } }),
      "hive_sample.json: answer.rows[1]: ",
    ],
    [
      "an answer with a field that the schema does not have",
      "hive_sample",
      JSON.stringify({ input: { term: "tea" }, answer: { rows: [], odd: 1 } }),
      "hive_sample.json: answer.odd: ",
    ],
  ]
  for (const [what, id, text, message] of broken) {
    test(what, () => {
      const changed = fixturesWithSamples()
      if (text === undefined) changed.delete(`${id}.json`)
      else changed.set(`${id}.json`, text)
      expect(() => prepareSandbox(catalogWithSamples, changed, publicUrl)).toThrow(message)
    })
  }
})

describe("the sandbox", () => {
  test("the sandbox returns the fixture's answer, with this instance's address in its links", () => {
    const { text, body } = answered("whoami", {})
    expect(body).toEqual({ ...fixture("whoami").answer, docs: "https://meter.test/docs" })
    expect(text).not.toContain("{publicUrl}")
  })

  test("valid parameters change no byte, and a market keyword without a sample is refused as not_measured", () => {
    const same = answered("hive_sample", { term: "tea" })
    expect(answered("hive_sample", { term: " TEA ", country: "DE" })).toEqual(same)
    expect(faultOf(() => answered("hive_sample", { term: "coffee" }))).toBe("not_measured")
  })

  test("the map of exact paths has exactly the paths that need no query and no body", () => {
    expect(sandbox.exact.get("/account")).toBe(sandbox.answer(operationOf("whoami"), {}))
    expect(sandbox.exact.has("/hive/samples/tea")).toBe(true)
    expect(sandbox.exact.has("/samples")).toBe(false)
    const operation = { ...operationOf("hive_sample"), path: "/hive/asked" }
    const queried = prepareSandbox([operation], fixturesWithSamples(), publicUrl)
    expect([...queried.exact.keys()]).toEqual([])
    expect(queried.samples.get("hive_sample")).toMatchObject({ path: "/hive/asked", rest: { term: "tea" } })
  })

  test("ids are percent-encoded in paths", () => {
    const changed = fixturesWithSamples()
    changed.set("hive_sample.json", JSON.stringify({ input: { term: "tea & cake/2" }, answer: { rows: [] } }))
    const { samples } = prepareSandbox(catalogWithSamples, changed, publicUrl)
    expect(samples.get("hive_sample")?.path).toBe("/hive/samples/tea%20%26%20cake%2F2")
  })

  test("a sample's ETag is strong, and changes with the bytes of the sample", () => {
    const etags = catalog.map(({ id }) => prepared(id).etag)
    for (const etag of etags) expect(etag).toMatch(/^"[0-9a-f]{32}"$/)
    expect(new Set(etags).size).toBe(catalog.length)
    const moved = prepareSandbox(catalog, fixtures, "https://other.test")
    expect(moved.exact.get("/account")?.etag).not.toBe(prepared("whoami").etag)
    expect(moved.exact.get("/usage")?.etag).toBe(prepared("get_usage").etag)
  })
})

describe("the sample answers agree with each other", () => {
  const [account, usage, { apps }, app] = [
    answer<{ apps: AppRow[]; credits: object; plan: string; hive: { perDay: number }; ratePerSecond: number }>(
      "whoami",
    ),
    answer<{ quotas: QuotaRow[]; plan: string; hive: HiveRow; packs: { explorer: boolean }; ratePerSecond: number }>(
      "get_usage",
    ),
    answer<{ apps: AppRow[] }>("list_apps"),
    answer<AppRow & { snapshot: SnapshotRow[] }>("get_app"),
  ]
  const ranks = answer<RanksAnswer>("list_keyword_ranks")
  const { rivals, ...rivalSide } = answer<RivalsAnswer>("list_rivals")
  const history = answer<HistoryAnswer>("get_rank_history")
  const today = "2026-11-02"

  test("every sample answer and input is about the same app", () => {
    expect(account.apps).toEqual(apps.map(({ id, name, countries }) => ({ id, name, countries })) as AppRow[])
    const { snapshot: _, ...listed } = app
    expect(apps).toEqual([listed])
    for (const { id, subject } of catalog) if (subject) expect(fixture(id).input[subject]).toBe(app.id)
  })

  test("sample keywords belong to the storefronts, each once, and usage counts them per storefront", () => {
    const lists = app.countries.map((country) => app.keywordsByCountry[country] as string[])
    expect(Object.keys(app.keywordsByCountry)).toEqual(app.countries)
    expect(app.keywords).toEqual([...new Set(lists.flat())])
    const quota = (key: string) => usage.quotas.find((row) => row.key === key) as QuotaRow
    expect(quota("trackedKeywords").used).toBe(lists.flat().length)
    expect(quota("trackedKeywords").byApp).toEqual([{ appId: app.id, name: app.name, used: lists.flat().length }])
    expect(quota("apps").used).toBe(apps.length)
    expect(quota("apiCredits")).toMatchObject(withoutReset(account.credits))
    expect(quota("hive")).toMatchObject({ used: usage.hive.usedToday, limit: usage.hive.perDay })
    expect([usage.plan, usage.ratePerSecond, usage.hive.perDay]).toEqual([
      account.plan,
      account.ratePerSecond,
      account.hive.perDay,
    ])
    expect(Date.parse(usage.hive.resetsAt) - Date.parse(today)).toBe(86_400_000)
  })

  test("all three states of a rank occur in the app's first storefront", () => {
    expect(ranks).toMatchObject({ country: app.countries[0], platform: "ios", live: true })
    expect(ranks.measuredAt).toStartWith(today)
    expect(ranks.keywords.map(({ term }) => term)).toEqual(app.keywordsByCountry[ranks.country] as string[])
    const states = ranks.keywords.map(({ measured, rank }) =>
      measured ? (rank === null ? "absent" : "ranked") : "not",
    )
    expect(new Set(states)).toEqual(new Set(["ranked", "absent", "not"]))
    for (const { measured, rank, searchDepth } of ranks.keywords) {
      if (!measured) expect([rank, searchDepth]).toEqual([null, null])
      else expect(searchDepth).toBeGreaterThanOrEqual(rank ?? 1)
    }
  })

  test("the snapshot's counts match the ranks", () => {
    const sides = app.countries.flatMap((country) => [`${country} ios`, `${country} android`])
    expect(app.snapshot.map(({ country, platform }) => `${country} ${platform}`)).toEqual(sides)
    const found = ranks.keywords.flatMap(({ rank }) => rank ?? [])
    expect(app.snapshot[0]).toEqual({
      country: ranks.country,
      platform: ranks.platform,
      day: today,
      measuredAt: ranks.measuredAt,
      tracked: ranks.keywords.length,
      measured: ranks.keywords.filter(({ measured }) => measured).length,
      ranked: found.length,
      top3: found.filter((rank) => rank <= 3).length,
      top10: found.filter((rank) => rank <= 10).length,
      best: Math.min(...found),
    })
    for (const side of app.snapshot) {
      expect(side.tracked).toBe(app.keywordsByCountry[side.country]?.length as number)
      expect(side.measured).toBeLessThanOrEqual(side.tracked)
      expect(side.ranked).toBeLessThanOrEqual(side.measured)
      expect(side.measuredAt?.slice(0, 10) ?? null).toBe(side.day)
      expect(side.best === null).toBe(side.ranked === 0)
    }
  })

  test("each rank above the app belongs to exactly one rival, and every rival shows the app's rank", () => {
    const { country, platform, measuredAt } = ranks
    const sources = [...new Set(ranks.keywords.flatMap(({ source }) => source ?? []))]
    expect(rivalSide).toEqual({ country, platform, day: measuredAt.slice(0, 10), measuredAt, sources, omitted: 0 })
    for (const { term, rank, measured } of ranks.keywords) {
      const rows = rivals.flatMap((rival) => rival.terms.filter((row) => row.term === term))
      for (const { ourRank } of rows) expect([term, ourRank]).toEqual([term, rank])
      const above = rows.map(({ theirRank }) => theirRank).filter((theirRank) => rank === null || theirRank < rank)
      const places = rank === null ? above.length : rank - 1
      expect(above.sort((a, b) => a - b)).toEqual(Array.from({ length: places }, (_, i) => i + 1))
      expect(rows.length > 0).toBe(measured)
    }
    const manual = rivals.filter((rival) => rival.manual).map(({ id }) => `ios:${id}`)
    expect(manual).toEqual(app.manualRivals)
    for (const { terms, manual } of rivals)
      for (const { theirRank, ourRank } of terms) expect(manual || theirRank < (ourRank ?? 1_000)).toBe(true)
  })

  test("rivals are in the order that the operation defines", () => {
    const keys = rivals.map(({ terms, id }) => [
      -terms.length,
      Math.min(...terms.map((row) => row.theirRank)),
      Number(id),
    ])
    expect(keys).toEqual([...keys].sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]! || a[2]! - b[2]!))
  })

  test("a history ends at today's rank, and has no point for an unmeasured day", () => {
    const { keywords, ...side } = history
    expect(side).toEqual({ country: ranks.country, platform: "ios", from: "2025-11-03", to: today })
    expect(keywords.map(({ term }) => term)).toEqual(ranks.keywords.map(({ term }) => term))
    for (const { term, measured, rank } of ranks.keywords) {
      const series = keywords.find((row) => row.term === term)?.series as [string, number | null][]
      const days = series.map(([day]) => day)
      expect(days).toEqual([...new Set(days)].sort())
      if (measured) expect(series.at(-1)).toEqual([today, rank])
      else expect(days).not.toContain(today)
    }
    const points = keywords.flatMap(({ series }) => series)
    expect(points.some(([, rank]) => rank === null)).toBe(true)
    expect(points.length).toBeLessThan(keywords.length * 30)
  })
})

interface AppRow {
  id: string
  name: string
  countries: string[]
  keywords: string[]
  keywordsByCountry: Record<string, string[]>
  manualRivals: string[]
}

interface QuotaRow {
  key: string
  used: number
  limit: number
  byApp?: object[]
}

interface HiveRow {
  perDay: number
  usedToday: number
  resetsAt: string
}

interface SnapshotRow {
  country: string
  platform: string
  day: string | null
  measuredAt: string | null
  tracked: number
  measured: number
  ranked: number
  top3: number
  top10: number
  best: number | null
}

interface RanksAnswer {
  country: string
  platform: string
  measuredAt: string
  keywords: {
    term: string
    measured: boolean
    rank: number | null
    searchDepth: number | null
    source: string | null
  }[]
}

interface RivalsAnswer {
  country: string
  platform: string
  day: string
  measuredAt: string
  sources: string[]
  omitted: number
  rivals: { id: string; manual: boolean; terms: { term: string; theirRank: number; ourRank: number | null }[] }[]
}

interface HistoryAnswer {
  country: string
  platform: string
  from: string
  to: string
  keywords: { term: string; series: [string, number | null][] }[]
}

function answer<T>(id: string): T {
  return fixture(id).answer
}

function withoutReset({ resetsAt: _, ...figures }: { resetsAt?: string }): object {
  return figures
}

function operationOf(id: string): Operation {
  return catalogWithSamples.find((operation) => operation.id === id) as Operation
}

function fixture(id: string) {
  return JSON.parse(fixtures.get(`${id}.json`) as string)
}

function prepared(id: string): PreparedAnswer {
  const operation = operationOf(id)
  return sandbox.answer(operation, checkInput(operation, { ...fixture(id).input }))
}

function answered(id: string, input: Record<string, unknown>) {
  const operation = operationOf(id)
  const text = new TextDecoder().decode(sandbox.answer(operation, checkInput(operation, input)).body)
  return { text, body: JSON.parse(text) }
}

function faultOf(run: () => unknown): string | undefined {
  try {
    run()
  } catch (error) {
    if (error instanceof Fault) return error.code
    throw error
  }
}
