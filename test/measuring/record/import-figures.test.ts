import { beforeEach, describe, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { deriveKeywordMetrics, readKeywordMetrics } from "../../../src/keywords/store/keyword-metrics.ts"
import { freshDatabase } from "../../database.ts"
import { cases, long, slow } from "../../long.ts"
import { importLines, parseLine, record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"
import { NOW, newWorkspace } from "./measured.ts"

let sql: Sql
const now = () => NOW

beforeEach(async () => {
  sql = await freshDatabase()
})

const place = { platform: "ios", storefront: "us" }
const TERMS = ["tea", "tea timer", "mate"]
/** Number of lines of an import that is one of several. */
const AT_ONCE = cases(21, 7)

/** Returns a day's search, ratings and suggestions of each term, as lines. */
function recorded(day: string, more = 0): object[] {
  return TERMS.flatMap((term, t) => {
    const ids = Array.from({ length: 10 }, (_, i) => String(20_001 + 10 * t + i))
    return [
      {
        kind: "search",
        source: "import",
        ...place,
        term,
        depth: 30,
        seenAt: `${day}T08:00:00Z`,
        results: ids.map((id, i) => ({ id, name: `${term} ${i}` })),
      },
      {
        kind: "apps",
        source: "itunes-lookup",
        ...place,
        seenAt: `${day}T09:00:00Z`,
        asked: ids,
        apps: ids.map((id, i) => ({
          id,
          name: `${term} ${i}`,
          ratings: 500 * (i + t + 1) + more,
          rating: 4.5,
          updatedAt: `${day}T00:00:00Z`,
        })),
      },
      ...[term, term.slice(0, 2), term[0]].map((prefix, i) => ({
        kind: "hints",
        source: "apple-hints",
        ...place,
        prefix,
        seenAt: `${day}T1${i}:00:00Z`,
        terms: [term, `${term} shop`, "tiktok"],
      })),
    ]
  })
}

async function* lines(values: readonly object[]): AsyncGenerator<string> {
  for (const value of values) yield JSON.stringify(value)
}

const load = (values: readonly object[], into = sql) => importLines(into, lines(values), { now, pause: async () => {} })

const figures = async (from = sql) => [
  ...(await readKeywordMetrics(from, { platform: "ios", storefront: "us", terms: TERMS, today: "2025-11-20" })),
]

/** Records readings like live ones: after each, its keyword's metrics are derived. */
async function readLive(values: readonly object[], into: Sql): Promise<void> {
  const parsed = values.map((value) => parseLine(JSON.stringify(value)))
  const observations = parsed.flatMap((line) => (line.kind === "observation" ? [line.observation] : []))
  for (const observation of observations) {
    const finish = (tx: Parameters<typeof deriveKeywordMetrics>[0]) =>
      deriveKeywordMetrics(
        tx,
        TERMS.map((term) => ({ platform: "ios" as const, storefront: "us", term })),
        observation.seenAt,
      )
    await record(into, [observation], now, { finish })
  }
}

describe("imported searches, app look-ups and suggestions", () => {
  slow("imported readings give the same demand, popularity, difficulty and hints as live ones", async () => {
    const days = [...recorded("2025-11-10"), ...recorded("2025-11-18", 70)]
    await load(days)
    const live = await freshDatabase()
    await readLive(days, live)
    const imported = await figures()
    expect(imported).toEqual(await figures(live))
    for (const [, { demand, popularityOrder, difficulty, hintCount }] of imported) {
      expect([demand, popularityOrder, difficulty, hintCount].map((figure) => typeof figure)).toEqual(
        Array(4).fill("number"),
      )
    }
  })

  long("imported readings of the last ninety days give the same metrics as live readings", async () => {
    await load(recorded("2025-09-01"))
    const live = await freshDatabase()
    await readLive(recorded("2025-09-01"), live)
    expect(await figures()).toEqual(await figures(live))
    expect((await figures())[0]![1].demand).not.toBeNull()
  })

  test("imported readings older than the ninety days that histories show give no metrics", async () => {
    await load(recorded("2025-08-01"))
    expect(await sql`select 1 from keyword_metric`).toHaveLength(0)
  })

  long("imported readings give the same metrics in any order, when repeated, and from two processes", async () => {
    const days = [...recorded("2025-10-01"), ...recorded("2025-11-10"), ...recorded("2025-11-18", 70)]
    await load(days)
    const expected = await figures()
    const orders = [[...days.slice(20), ...days.slice(0, 20), ...days], days.toReversed()]
    for (const order of orders.slice(0, cases(1, 2))) {
      const other = await freshDatabase()
      for (let at = 0; at < order.length; at += AT_ONCE) await load(order.slice(at, at + AT_ONCE), other)
      expect(await figures(other)).toEqual(expected)
    }
    const shared = await freshDatabase()
    await Promise.all(
      [0, 1].map((half) =>
        load(
          days.filter((_, i) => i % 2 === half),
          shared,
        ),
      ),
    )
    expect(await figures(shared)).toEqual(expected)
    const before = await sql`select * from keyword_metric order by list_id, metric, day, source`
    await load(days)
    expect([...(await sql`select * from keyword_metric order by list_id, metric, day, source`)]).toEqual([...before])
  })

  test("imported hints give metrics to a tracked keyword that was never searched", async () => {
    const app = { workspaceId: await newWorkspace(sql), iosId: "10001", countries: ["us"], origin: "own" }
    await trackOwn(sql, { ...app, keywords: ["tea"] })
    await sql`delete from due`
    await load(recorded("2025-11-18").filter((line) => (line as { kind: string }).kind === "hints"))
    const [[, tea]] = (await figures()) as [[string, object]]
    expect(tea).toMatchObject({ hintCount: 1, demand: null, difficulty: null, popularitySource: "estimate" })
  })

  slow("imported readings give the same metrics for every publisher", async () => {
    const scores = async () => (await figures()).map(([term, figure]) => [term, figure.demand, figure.difficulty])
    await load(recorded("2025-11-18"))
    const ownScores = await scores()
    sql = await freshDatabase()
    await load(recorded("2025-11-18").map((line) => ({ ...line, origin: "elsewhere" })))
    expect(await scores()).toEqual(ownScores)
  })
})
