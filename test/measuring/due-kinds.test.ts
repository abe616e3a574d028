import { beforeEach, describe, expect, test } from "bun:test"
import type { Sql, Tx } from "../../src/database/types.ts"
import { kindsOf } from "../../src/due-kinds.ts"
import { deriveKeywordMetrics, readKeywordMetrics } from "../../src/keywords/store/keyword-metrics.ts"
import type { Kind, ReadPort, Subject } from "../../src/measuring/due-kind.ts"
import { trackApp } from "../../src/tracking/apps.ts"
import { freshDatabase } from "../database.ts"
import { record } from "../record.ts"
import { hintsReading, NOW, newWorkspace, reading } from "./record/measured.ts"
import { countRowsRead } from "./rows-read.ts"

const kinds = kindsOf({ egressCountry: undefined })
const tea = { platform: "ios", storefront: "us", subject: "tea" } as const
const AT = "2025-11-19T10:00:00Z"
let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
})

function kindOf(name: Subject["kind"]): Kind {
  return kinds.find((kind) => kind.name === name && kind.platform === "ios") as Kind
}

/** Collects the requests of a kind; every answer is the same. */
async function requestsOf(name: Subject["kind"], answer: object): Promise<unknown[]> {
  const requests: unknown[] = []
  const ask: ReadPort["ask"] = async (_, request) => {
    requests.push(request)
    return answer as never
  }
  const signal = new AbortController().signal
  const parts = { sql, now: () => NOW, signal, isOn: () => true, ask, askSite: noSites, readNamedCountry }
  const port = { ...parts, parseText: noSites as never }
  await kindOf(name).read([{ ...tea, kind: name }], port)
  return requests
}

const readNamedCountry: ReadPort["readNamedCountry"] = async () => null

const noSites: ReadPort["askSite"] = async () => {
  throw new Error("no site is asked")
}

function ids(count: number, from = 20_001): string[] {
  return Array.from({ length: count }, (_, i) => String(from + i))
}

async function difficultyDue() {
  await sql.begin((tx) => kindOf("search").derive!(tx as Tx, [{ ...tea, kind: "search" }], NOW))
  return [...(await sql`select subject, priority from due where kind = 'difficulty' order by subject`)]
}

describe("the difficulty of a keyword", () => {
  test("a term's difficulty becomes due with the first search results of the term if the term is tracked", async () => {
    await sql`insert into due (kind, platform, storefront, subject, priority) values ('search', 'ios', 'us', 'tea', 0)`
    expect(await difficultyDue()).toEqual([])
    const app = { workspaceId: await newWorkspace(sql), iosId: "20001", countries: ["us"], keywords: ["tea"] }
    await sql.begin((tx) => trackApp(tx as Tx, { ...app, origin: "own" }))
    expect(await difficultyDue()).toEqual([{ subject: "tea", priority: 1 }])
    expect(await difficultyDue()).toEqual([{ subject: "tea", priority: 1 }])
  })

  test("the difficulty of a term becomes due without a scan of all tracked terms", async () => {
    const workspaceId = await newWorkspace(sql)
    const app = { workspaceId, iosId: "20001", countries: ["us"], keywords: ["tea"], origin: "own" }
    const id = await sql.begin((tx) => trackApp(tx, app))
    await sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`
      await tx`
        insert into tracked_term (app_id, country, term, position)
        select ${id}, 'us', 'other ' || n, n
        from generate_series(2, 1000) n`
    })
    await sql`analyze tracked_term`
    const subjects = [{ ...tea, kind: "search" as const }]
    const read = await countRowsRead(sql, ["tracked_term"], (tx) => kindOf("search").derive!(tx, subjects, NOW))
    expect(read).toBeWithin(1, 20)
    expect([...(await sql`select subject from due where kind = 'difficulty'`)]).toEqual([{ subject: "tea" }])
  })

  test("a difficulty reading looks up the apps of the last deep search, despite a later shallow search", async () => {
    const deep = reading("tea", "2025-11-18T10:00:00Z", ids(12), { depth: 30 })
    await record(sql, [deep, reading("tea", AT, ids(3, 30_001))], () => NOW)
    expect(await requestsOf("difficulty", { apps: [] })).toEqual([{ storefront: "us", ids: ids(10) }])
  })
})

test("recently read suggestions are not requested again", async () => {
  const recently = new Date(Date.now() - 3_600_000).toISOString()
  expect(await requestsOf("hints", hintsReading("tea", recently, []))).toEqual([{ storefront: "us", prefix: "tea" }])
  await record(sql, [hintsReading("tea", recently, [])], () => new Date())
  expect(await requestsOf("hints", hintsReading("tea", recently, []))).toEqual([])
})

test("an untracked term takes one suggestion request, and a tracked term takes one per prefix", async () => {
  const answer = hintsReading("tea", new Date().toISOString(), ["tea"])
  expect(await requestsOf("hints", answer)).toEqual([{ storefront: "us", prefix: "tea" }])
  const app = { workspaceId: await newWorkspace(sql), iosId: "20001", countries: ["us"], keywords: ["tea"] }
  await sql.begin((tx) => trackApp(tx as Tx, { ...app, origin: "own" }))
  const prefixes = ["tea", "te", "t"].map((prefix) => ({ storefront: "us", prefix }))
  expect(await requestsOf("hints", answer)).toEqual(prefixes)
})

describe("metrics of a keyword", () => {
  const figures = async (...readings: Parameters<typeof record>[1]) => {
    await record(sql, readings, () => NOW)
    await sql.begin((tx) => deriveKeywordMetrics(tx as Tx, [{ ...tea, term: "tea" }], NOW))
    return (await readKeywordMetrics(sql, { ...tea, terms: ["tea"], today: "2025-11-20" })).get("tea")
  }
  const three = (depth: number) =>
    reading("tea", AT, [], { depth, results: ids(3).map((id) => ({ id, name: "tea", ratings: 5_000 })) })

  test("a keyword has no metrics if its search results were read to fewer than ten places", async () => {
    const unknown = { demand: null, difficulty: null, difficultyNone: false, popularity: null }
    expect(await figures(three(3))).toMatchObject(unknown)
    expect(await figures(reading("tea", AT, ids(9), { depth: 9 }))).toMatchObject(unknown)
  })

  test("a keyword has metrics if its search has fewer than ten results in total", async () => {
    expect(await figures(three(4))).toMatchObject({ demand: 43, difficulty: null, difficultyNone: true })
  })

  test("a keyword's metrics use the latest search of at least ten places, not an older, deeper search", async () => {
    const ten = (depth: number) => ids(10).map((id) => ({ id, name: "tea", ratings: depth }))
    const deep = reading("tea", "2025-11-17T10:00:00Z", [], { depth: 10, results: ten(1_000) })
    const other = reading("tea", "2025-11-16T10:00:00Z", [], { depth: 30, origin: "elsewhere", results: ten(9) })
    expect(await figures(deep, other, reading("tea", AT, ids(3)))).toMatchObject({ difficulty: expect.any(Number) })
    const [row] = await sql`select parts from keyword_metric where metric = 'difficulty'`
    expect(row?.parts.read[0].seenAt).toBe("2025-11-17T10:00:00.000Z")
  })
})
