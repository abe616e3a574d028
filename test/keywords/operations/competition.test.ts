import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Sql } from "../../../src/database/types.ts"
import { DEMO_APPS, DEMO_FILE, loadDemo } from "../../../src/demo/demo.ts"
import { getKeywordCompetition } from "../../../src/keywords/operations/competition.ts"
import { listKeywordRanks } from "../../../src/keywords/operations/keywords.ts"
import { deriveKeywordMetrics } from "../../../src/keywords/store/keyword-metrics.ts"
import { recording } from "../../../src/recording.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { ask, contextOf, NOW, newWorkspace, reading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"

setDefaultTimeout(60_000)

let sql: Sql
let workspaceId: number
const now = () => NOW

beforeEach(async () => {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
})

const track = (rest: object = {}) => trackOwn(sql, { workspaceId, iosId: "10001", keywords: ["tea", "mate"], ...rest })
const competition = (appId: string, input: object = {}) =>
  ask(getKeywordCompetition, contextOf(sql, workspaceId), { appId, ...input })
const termsIn = (rows: { term: string }[]) => rows.map(({ term }) => term)
const many = (count: number, word = "term") => Array.from({ length: count }, (_, i) => `${word} ${i}`)

describe("the competition in the demo's file", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../fixtures/demo", DEMO_FILE), "utf8")
  const lines = text
    .trim()
    .split("\n")
    .map((line): Line => JSON.parse(line))

  slow("the competition figures equal those computed from the demo file", async () => {
    const { apps } = await loadDemo(recording, sql, workspaceId, text)
    for (const [at, { id }] of apps.entries()) {
      const { iosId, keywords } = DEMO_APPS[at] as (typeof DEMO_APPS)[number]
      const answer = await competition(id)
      const read = keywords.flatMap((term) => lines.find((line) => line.term === term) ?? [])
      expect(read.length).toBeGreaterThan(3)
      expect(answer.corpus).toBe(new Set(read.flatMap(({ results }) => results.map((app) => app.id))).size)
      expect(answer.notMeasured).toEqual(keywords.filter((term) => !read.some((line) => line.term === term)))
      const rows = answer.keywords.map((row: Record<string, unknown>) => {
        const { term, apps, rank, named, inTitle, top } = row
        return { term, apps, rank, named, inTitle, top }
      })
      expect(rows).toEqual(read.filter(({ results }) => results.length > 1).map((line) => fromFile(line, iosId)))
    }
  })

  function fromFile({ term, results }: Line, ownId: string) {
    const first = results.slice(0, 10)
    const place = results.findIndex(({ id }) => id === ownId)
    return {
      term,
      apps: results.length,
      rank: place < 0 ? null : place + 1,
      named: first.length,
      inTitle: first.filter(({ name }) => isIn(term, name)).length,
      top: results.slice(0, 3).map(({ id, name, ratings }, at) => ({
        id,
        name,
        rank: at + 1,
        ratings,
        ratingsDay: "2025-10-25",
        ratingsSource: "foreign",
        inTitle: isIn(term, name),
      })),
    }
  }

  /**
   * Returns whether the keyword's letters follow one another in the title, from the start of a word to the end of a
   * word.
   */
  function isIn(term: string, title: string): boolean {
    const plain = (words: string) => words.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase()
    const letters = plain(term).match(/[\p{L}\p{N}]/gu) ?? []
    return new RegExp(`(?<![\\p{L}\\p{N}])${letters.join("[^\\p{L}\\p{N}]*")}(?![\\p{L}\\p{N}])`, "u").test(
      plain(title),
    )
  }
})

interface Line {
  term: string
  results: { id: string; name: string; ratings: number }[]
}

describe("a keyword's competition", () => {
  test("a keyword has figures if two apps rank for it; `fewer` or `notMeasured` lists other keywords", async () => {
    const appId = await track({ keywords: ["two", "one", "none", "never"] })
    await record(
      sql,
      [
        reading("two", "2025-11-18T10:00:00Z", [10002, 10001], { depth: 30 }),
        reading("one", "2025-11-19T10:00:00Z", [10003], { depth: 30 }),
        reading("none", "2025-11-17T10:00:00Z", [], { depth: 30 }),
      ],
      now,
    )
    const unnamed = { name: null, ratings: null, ratingsDay: null, ratingsSource: null, inTitle: null }
    const measuredOn = (day: string) => ({ day, measuredAt: `${day}T10:00:00.000Z`, source: "import", depth: 30 })
    expect(await competition(appId)).toEqual({
      country: "us",
      platform: "ios",
      corpus: 3,
      keywords: [
        {
          term: "two",
          ...measuredOn("2025-11-18"),
          apps: 2,
          rank: 2,
          named: 0,
          inTitle: null,
          difficulty: null,
          difficultyBand: null,
          difficultyNone: false,
          difficultyAt: null,
          top: [
            { id: "10002", rank: 1, ...unnamed },
            { id: "10001", rank: 2, ...unnamed },
          ],
        },
      ],
      fewer: [
        { term: "one", ...measuredOn("2025-11-19"), apps: 1 },
        { term: "none", ...measuredOn("2025-11-17"), apps: 0 },
      ],
      notMeasured: ["never"],
      omitted: 0,
    })
  })

  test("a keyword shows its latest measured day by the preferred source, without incomplete readings", async () => {
    const appId = await track()
    await record(
      sql,
      [
        reading("tea", "2025-11-18T10:00:00Z", [10001, 10002]),
        reading("tea", "2025-11-19T10:00:00Z", [10003, 10004, 10005], { source: "foreign" }),
        reading("tea", "2025-11-19T09:00:00Z", [10006, 10007], { source: "apple-web-search" }),
        reading("tea", "2025-11-19T11:00:00Z", [10008], { source: "apple-web-search", depth: 200, complete: false }),
        reading("tea", "2025-11-20T09:00:00Z", [10008, 10009], { complete: false }),
      ],
      now,
    )
    const { keywords, corpus } = await competition(appId)
    expect(keywords[0]).toMatchObject({ day: "2025-11-19", source: "apple-web-search", apps: 2, rank: null })
    expect([corpus, keywords[0].top.map(({ id }: { id: string }) => id)]).toEqual([2, ["10006", "10007"]])
  })

  test("a keyword has the ratings of its storefront and the difficulty that list_keyword_ranks shows", async () => {
    const appId = await track()
    const results = Array.from({ length: 10 }, (_, i) => ({
      id: String(10_001 + i),
      name: `Tea ${i}`,
      ratings: 900 + i,
    }))
    const first = reading("tea", "2025-11-18T10:00:00Z", [], { depth: 10, results })
    const otherStorefront = reading("tea", "2025-11-19T10:00:00Z", [], {
      storefront: "gb",
      depth: 1,
      results: [{ id: "10001", ratings: 7 }],
    })
    await record(sql, [first, otherStorefront], now)
    await sql.begin((tx) => deriveKeywordMetrics(tx, [{ platform: "ios", storefront: "us", term: "tea" }], NOW))
    const [row] = (await competition(appId)).keywords
    const [keyword] = (await ask(listKeywordRanks, contextOf(sql, workspaceId), { appId })).keywords
    expect(keyword.difficulty).toBeGreaterThan(0)
    const { difficulty, difficultyBand, difficultyNone, difficultyAt } = keyword
    expect(difficultyAt).toBeString()
    expect(row).toMatchObject({ difficulty, difficultyBand, difficultyNone, difficultyAt, named: 10, inTitle: 10 })
    expect(row.top.map(({ ratings }: { ratings: number }) => ratings)).toEqual([900, 901, 902])
  })
})

describe("the requested terms", () => {
  test("requested terms are normalised and listed once in the requested order, tracked or not", async () => {
    const appId = await track()
    await record(
      sql,
      [
        reading("tea", "2025-11-19T10:00:00Z", [10001, 10002]),
        reading("milk tea", "2025-11-01T10:00:00Z", [10002, 10003]),
      ],
      now,
    )
    const selected = await competition(appId, { terms: ["milk tea", "tea", "never", "tea", "never"] })
    expect([termsIn(selected.keywords), selected.notMeasured, selected.corpus]).toEqual([
      ["milk tea", "tea"],
      ["never"],
      3,
    ])
    expect(selected.keywords[0]).toMatchObject({ day: "2025-11-01", rank: null })
    const service = openService({ sql, now })
    workspaceId = await service.workspace()
    const key = await service.key(workspaceId)
    const path = `/v1/apps/${await track()}/competition`
    const spelled = await service.call(`${path}?terms=%20TEA,Milk+Tea%20,milk%20tea&terms=tea`, { key })
    expect(termsIn(spelled.body.keywords)).toEqual(["tea", "milk tea"])
  })

  test("without terms, the first hundred tracked keywords are returned and the others are counted", async () => {
    const appId = await track({ keywords: many(102) })
    await record(
      sql,
      [
        reading("term 99", "2025-11-19T10:00:00Z", [10001, 10002]),
        reading("term 100", "2025-11-19T10:00:00Z", [10001, 10003]),
      ],
      now,
    )
    const all = await competition(appId)
    expect([termsIn(all.keywords), all.notMeasured.length, all.omitted, all.corpus]).toEqual([["term 99"], 99, 2, 2])
    const rest = await competition(appId, { terms: ["term 100", "term 101"] })
    expect([termsIn(rest.keywords), rest.notMeasured, rest.omitted]).toEqual([["term 100"], ["term 101"], 0])
    const none = await competition(await track({ iosId: "10005", keywords: [] }))
    expect(none).toMatchObject({ corpus: null, keywords: [], fewer: [], notMeasured: [], omitted: 0 })
  })

  test("a storefront that is not tracked and a store without the app are not measured", async () => {
    const appId = await track()
    const at = "2025-11-19T10:00:00Z"
    await record(
      sql,
      [
        reading("tea", at, [10001, 10002], { storefront: "de" }),
        reading("tea", at, ["com.a.one", "com.a.two"], { platform: "android", source: "play-search" }),
      ],
      now,
    )
    for (const input of [{ country: "de" }, { platform: "android" }, { country: "de", terms: ["tea"] }]) {
      const { corpus, keywords, notMeasured } = await competition(appId, input)
      expect([corpus, keywords]).toEqual([null, []])
      expect(notMeasured).toContain("tea")
    }
    const android = await track({ iosId: undefined, androidPkg: "com.a.one" })
    expect((await competition(android, { platform: "android" })).keywords[0]).toMatchObject({
      apps: 2,
      rank: 1,
      source: "play-search",
    })
  })
})

describe("competition over HTTP", () => {
  let service: Service
  let key: string
  let path: string

  beforeEach(async () => {
    service = openService({ sql, now })
    workspaceId = await service.workspace()
    key = await service.key(workspaceId)
    path = `/v1/apps/${await track()}/competition`
  })

  test("values at each bound are accepted, and values beyond it are refused with their own code", async () => {
    const outcome = async (query: string) => {
      const { status, body } = await service.call(`${path}?${query}`, { key })
      return status === 200 ? "taken" : `${body.error} ${body.field}`
    }
    const cases: [string, string][] = [
      [`terms=${many(100, "t").join()}`, "taken"],
      [`terms=${many(101, "t").join()}`, "invalid_arguments terms"],
      [`terms=${Array(101).fill("tea").join()}`, "invalid_arguments terms"],
      [`terms=${"x".repeat(150)}`, "taken"],
      [`terms=${"x".repeat(151)}`, "invalid_arguments terms"],
      ["terms=tea,,mate", "invalid_arguments terms"],
      ["terms=%20", "invalid_arguments terms"],
      ["terms=%00", "invalid_arguments terms"],
      ["platform=android", "taken"],
      ["platform=windows", "invalid_arguments platform"],
      ["country=zz", "bad_country country"],
    ]
    for (const [query, expected] of cases) expect([query, await outcome(query)]).toEqual([query, expected])
    const empty = await service.tool("get_keyword_competition", { appId: path.split("/")[3], terms: [] }, { key })
    expect(empty.body).toMatchObject({ error: "invalid_arguments", field: "terms" })
  })

  test("competition costs one credit for any number of keywords, and a refused call is free", async () => {
    expect((await service.call(`${path}?terms=${many(100, "t").join()}`, { key })).credits.used).toBe(1)
    expect((await service.call(`${path}?terms=a,,b`, { key })).credits.used).toBe(1)
    const reviews = await service.key(workspaceId, { scopes: ["reviews:read"] })
    expect((await service.call(path, { key: reviews })).body).toMatchObject({
      error: "scope_required",
      scope: "apps:read",
    })
    workspaceId = await service.workspace({ plan: "free" })
    const free = await service.key(workspaceId)
    const answer = await service.tool("get_keyword_competition", { appId: await track() }, { key: free })
    expect(answer.body.notMeasured).toEqual(["tea", "mate"])
  })
})
